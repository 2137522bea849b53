"""A new case by hand, with the controls of What if."""

from __future__ import annotations

import streamlit as st

from mpd2.evaluation import explain
from mpd2.studio.case import store as case_store
from mpd2.studio.case import view as case_view
from mpd2.studio.new_case import texts
from mpd2.studio.parts import case_controls
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario


@st.fragment
def draw(about: Scenario) -> None:
    """Every input and the roster, and what would be done; the link carries the numbers."""
    train = store.train(about.workspace)
    typical = explain.typical_case(train)
    looked_at = case_store.inputs_of(case_store.deciding(about), typical.layout)
    st.caption(texts.BY_HAND.format(case=typical.manifest.task.case))
    edit, result = st.columns([2, 3], gap="large")
    with edit:
        edited = case_controls.edited(typical, train, looked_at, f"new_case:{about.workspace}")
    facts = case_store.kept_of_case(about, edited)
    with result:
        case_view.decision(facts)
        st.caption(texts.DECIDED.format(point=about.point_in_words()))
        case_view.story(facts)
        case_view.policy(facts)
        case_view.drawing(facts)
