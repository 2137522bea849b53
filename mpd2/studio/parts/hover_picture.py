"""A small picture beside the pointer while it rests on a point of a Plotly chart.

The chart carries no pictures: the browser says which case is pointed at, and only that one's is sent. What was sent is
kept in the browser for as long as the page is open.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from mpd2.studio.parts.live_slider import STATIC

NAME = "mpd2_hover_picture"  # of the component
REST = 60  # milliseconds the pointer has to rest on a point
HTML = '<div id="card" hidden><img id="picture" alt=""></div>'

_hover = st.components.v2.component(
    NAME,
    html=HTML,
    css=(STATIC / "hover_picture.css").read_text(encoding="utf-8"),
    js=(STATIC / "hover_picture.js").read_text(encoding="utf-8"),
)


@st.fragment
def hover_picture(chart: str, picture_of: Callable[[str], str]) -> None:
    """Show pictures for the chart of this key, whose points have their case id as `customdata`.

    `picture_of` gives a case's picture as a data URI, or "" where there is none.
    """
    key = f"{chart}_hover"
    asked = (st.session_state.get(key) or {}).get("hovered")
    case_id = str(asked) if asked else ""
    _hover(
        key=key,
        data={"chart": chart, "id": case_id, "image": picture_of(case_id) if case_id else "", "rest": REST},
        default={"hovered": None},
        on_hovered_change=lambda: None,
    )
