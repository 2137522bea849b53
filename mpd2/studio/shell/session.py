"""What belongs to one visit only: kept in the session, never shared, gone when the visit ends."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import streamlit as st

Made = TypeVar("Made")
ALONG = "along"  # key of the session


def kept(key: str, made_from: Hashable, make: Callable[[], Made]) -> Made:
    """The thing under `key`, made anew when what it is made from is another."""
    entry = st.session_state.get(key)
    if entry is None or entry[0] != made_from:
        entry = st.session_state[key] = (made_from, make())
    return entry[1]


def forget(*keys: str) -> None:
    """Drop what was kept."""
    for key in keys:
        st.session_state.pop(key, None)


def along() -> dict[str, Any]:
    """What pages leave for documents that are made at a click, when no page runs: the same dict for the whole visit."""
    shared: dict[str, Any] = st.session_state.setdefault(ALONG, {})
    return shared
