"""The Budget page: the slider and what it moves on the first screen, then one topic, drawn when it is looked at."""

from __future__ import annotations

from functools import partial

import streamlit as st

from mpd2.core.text import verbatim
from mpd2.studio.budget import arrivals, controls, effects, floors, live, state, texts
from mpd2.studio.budget import store as budget_store
from mpd2.studio.shell import link
from mpd2.studio.shell.scenario import Scenario


def _moved(about: Scenario) -> None:
    live.more_numbers(about)
    effects.moved(about)


PARTS = {
    "roster": controls.draw,
    "moved": _moved,
    "cohorts": effects.cohorts,
    "compare": effects.side_by_side,
    "arrivals": arrivals.draw,
    "worklist": effects.worklist,
    "notes": live.explain,
}


def draw(about: Scenario) -> None:
    """The whole page."""
    state.follow_link(about, budget_store.size(about))
    state.settle(partial(floors.settled, about))
    if reason := state.refused():
        st.warning(verbatim(reason), icon=":material/block:")
    live.draw(about)
    topic = link.one(
        st.segmented_control,
        "Topic",
        list(texts.TOPICS),
        key="budget_topic",
        default="roster",
        required=True,
        format_func=texts.TOPICS.__getitem__,
        label_visibility="collapsed",
    )
    PARTS[topic](about)
