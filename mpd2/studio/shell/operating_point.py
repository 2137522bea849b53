"""The operating point in the sidebar and in the link: what every run has to keep, and whom no rule may overrule."""

from __future__ import annotations

import streamlit as st

from mpd2.core import text
from mpd2.planning.floors import CONFIDENCE, KEPT, RATES, Choice, Floor
from mpd2.studio.shell import glossary, link, store
from mpd2.studio.shell.scenario import DEFAULT_FLOOR

POINT, LEVEL, RATE, SURE, BOUND, CONFIDENT = "point", "floor", "floor_of", "sure", "bound", "confident"
"""Keys of the session and names in the URL."""
CHEAPEST, AI, OWN = "cheapest", "ai", "own"
POINTS = {
    CHEAPEST: "Cheapest, as in the paper",
    AI: "The AI's sensitivity",
    OWN: "A floor of your own",
}
DEFAULT_POINT = CHEAPEST if DEFAULT_FLOOR is None else AI
LEAST, MOST, USUAL = 50.0, 99.9, 95.0  # per cent that a floor of one's own can be
CONFIDENT_FROM = 90.0
NO_FLOOR = "No floor can be kept here: it is chosen on the val cases, and these are all positive or all negative."
_NAMES = {str(rate): text.capital(name) for rate, name in RATES.items()}


def draw(workspace: str) -> None:
    """The choice of the point, and below it what belongs to a floor of one's own."""
    points = list(POINTS) if store.can_choose(workspace) else [CHEAPEST]
    link.one(st.selectbox, "Operating point", points, key=POINT, default=DEFAULT_POINT,
             format_func=POINTS.__getitem__, help=glossary.OPERATING_POINT)  # fmt: skip
    if points == [CHEAPEST]:
        st.caption(NO_FLOOR)
    if st.session_state[POINT] == OWN:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            link.one(st.selectbox, "Rate", list(RATES), key=RATE, default="Sens", format_func=_NAMES.get, width=125)
            st.number_input("At least, %", LEAST, MOST, USUAL, step=0.5, key=LEVEL, bind="query-params", width=120)
    if st.session_state[POINT] != CHEAPEST:
        st.toggle(
            f"With {text.percent(CONFIDENCE, 0)} confidence",
            key=SURE,
            bind="query-params",
            help=glossary.WITH_CONFIDENCE,
        )
    st.toggle("Never overrule a confident AI unread", key=BOUND, bind="query-params", help=glossary.CONFIDENT_AI)
    if st.session_state[BOUND]:
        st.slider("Confident from, %", 50.0, 100.0, CONFIDENT_FROM, 1.0, key=CONFIDENT, bind="query-params")
        st.caption("Budget says what this costs.")


def chosen() -> tuple[Floor | None, float | None]:
    """The floor in force, and from which probability on the AI is not overruled unread."""
    state = st.session_state
    confident = state.get(CONFIDENT, CONFIDENT_FROM) / 100 if state.get(BOUND) else None
    point, sure = state.get(POINT, DEFAULT_POINT), bool(state.get(SURE))
    if point == OWN:
        return Floor(round(state.get(LEVEL, USUAL) / 100, 4), state.get(RATE, "Sens"), sure), confident
    return (None if point == CHEAPEST else Floor(sure=sure)), confident


def refused() -> list[str]:
    """Why the operating point that the link names is none."""
    if POINT in st.session_state:
        return []
    asked = st.query_params.get(POINT)
    if asked is None or asked in POINTS:
        return []
    return [f"The link names an operating point that there is none of: {POINTS[DEFAULT_POINT]} is shown instead."]


def shortfall(choice: Choice | None) -> str:
    """What of a floor cannot be kept, by how much and why; empty if it is."""
    return "" if choice is None or choice.state == KEPT else choice.in_words()
