"""Choices that stand in the address by their keys, so that a link outlives the wording of a label.

Streamlit's own binding writes what a person reads. It is left to numbers, switches and ids, which have no other name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

SAID = "link"  # key of the session: what the address says, by name


def one(
    widget: Callable[..., Any], label: str, options: Sequence[str], *, key: str, default: str, **settings: Any
) -> str:
    """The option chosen with a widget that has a `default`; what is no option in the address counts for nothing."""
    if key not in st.session_state:
        st.session_state[key] = next((asked for asked in st.query_params.get_all(key) if asked in options), default)
    chosen = str(widget(label, options, key=key, **settings))
    _say(key, [chosen], [default])
    return chosen


def many(
    widget: Callable[..., Any],
    label: str,
    options: Sequence[str],
    *,
    key: str,
    default: Sequence[str] = (),
    **settings: Any,
) -> list[str]:
    """The options chosen with a widget for any number of them; none of them is an empty word in the address."""
    if key not in st.session_state:
        asked = st.query_params.get_all(key)
        known = [option for option in options if option in asked]
        st.session_state[key] = known if known or asked == [""] else list(default)
    chosen = list(widget(label, options, key=key, **settings))
    _say(key, chosen, list(default))
    return chosen


def free(key: str) -> list[str]:
    """Words that are no option of a widget, such as a region of the map: those of the visit, or of the address."""
    if key not in st.session_state:
        st.session_state[key] = [word for word in st.query_params.get_all(key) if word]
    words = list(st.session_state[key])
    _say(key, words, [])
    return words


def carry(*keys: str) -> None:
    """Say again, on a page opened from the menu, what was chosen around the page before."""
    said: dict[str, list[str]] = st.session_state.get(SAID, {})
    lost = {key: said[key] for key in keys if key in said and key not in st.query_params}
    if lost:
        st.query_params.update(lost)


def _say(key: str, chosen: list[str], default: list[str]) -> None:
    """Let the address name what was chosen, unless that is the default; another message only where it is news."""
    said: dict[str, list[str]] = st.session_state.setdefault(SAID, {})
    words = chosen or [""]
    if chosen == default:
        said.pop(key, None)
        if key in st.query_params:
            del st.query_params[key]
    else:
        said[key] = words
        if st.query_params.get_all(key) != words:
            st.query_params[key] = words
