"""Choices that stand in the address by their keys, so that a link outlives the wording of a label.

Streamlit's own binding writes what a person reads. It is left to numbers, switches and ids, which have no other name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

IN_ADDRESS = "link"  # key of the session: what stands in the address, by key


def one(
    widget: Callable[..., Any], label: str, options: Sequence[str], *, key: str, default: str, **settings: Any
) -> str:
    """The option chosen with a widget that has a `default`; what is no option counts for nothing.

    It may be none because of the address, or because the options are others since it was chosen.
    """
    if key not in st.session_state or st.session_state[key] not in options:
        st.session_state[key] = next((asked for asked in st.query_params.get_all(key) if asked in options), default)
    if st.session_state[key] not in options:
        st.session_state[key] = next(iter(options), default)
    chosen = str(widget(label, options, key=key, **settings))
    _write(key, [chosen], [default])
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
        there = [option for option in options if option in asked]
        st.session_state[key] = there if there or asked == [""] else list(default)
    elif any(option not in options for option in st.session_state[key]):
        st.session_state[key] = [option for option in st.session_state[key] if option in options]
    chosen = list(widget(label, options, key=key, **settings))
    _write(key, chosen, list(default))
    return chosen


def free(key: str) -> list[str]:
    """Words that are no option of a widget, such as a region of the map: those of the visit, or of the address."""
    if key not in st.session_state:
        st.session_state[key] = [word for word in st.query_params.get_all(key) if word]
    words = list(st.session_state[key])
    _write(key, words, [])
    return words


def forget(*keys: str) -> None:
    """Drop what was chosen, in the visit and in the address."""
    written: dict[str, list[str]] = st.session_state.get(IN_ADDRESS, {})
    for key in keys:
        st.session_state.pop(key, None)
        st.query_params.pop(key, None)
        written.pop(key, None)


def carry(*keys: str) -> None:
    """Write into the address of a page opened from the menu what was chosen around the page before."""
    written: dict[str, list[str]] = st.session_state.get(IN_ADDRESS, {})
    lost = {key: written[key] for key in keys if key in written and key not in st.query_params}
    if lost:
        st.query_params.update(lost)


def _write(key: str, chosen: list[str], default: list[str]) -> None:
    """Let the address name what was chosen, unless that is the default; another message only where it is news."""
    written: dict[str, list[str]] = st.session_state.setdefault(IN_ADDRESS, {})
    words = chosen or [""]
    if chosen == default:
        written.pop(key, None)
        if key in st.query_params:
            del st.query_params[key]
    else:
        written[key] = words
        if st.query_params.get_all(key) != words:
            st.query_params[key] = words
