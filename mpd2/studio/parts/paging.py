"""Long tables, a page at a time: what is not looked at is not sent."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from mpd2.core.text import count

ROWS = 50  # on a page


def page_of(rows: pd.DataFrame, key: str) -> pd.DataFrame:
    """The rows of the page that is looked at, which is turned with the buttons below; the first if there are fewer."""
    first = int(st.session_state.get(key, 0))
    if first >= len(rows):
        first = st.session_state[key] = 0
    return rows.iloc[first : first + ROWS].reset_index(drop=True)


def turner(rows: pd.DataFrame, key: str) -> None:
    """The buttons that turn the page, where there is more than one."""
    if len(rows) <= ROWS:
        return
    first = int(st.session_state.get(key, 0))
    last = min(first + ROWS, len(rows))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button("Back", key=f"{key}:back", disabled=first == 0, on_click=_turn, args=(key, first - ROWS),
                  icon=":material/chevron_left:")  # fmt: skip
        st.caption(f"{count(first + 1)} to {count(last)} of {count(len(rows))}", width="content")
        st.button("On", key=f"{key}:on", disabled=last >= len(rows), on_click=_turn, args=(key, first + ROWS),
                  icon=":material/chevron_right:")  # fmt: skip


def _turn(key: str, first: int) -> None:
    st.session_state[key] = max(0, first)
