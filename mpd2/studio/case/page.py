"""How the Case page is laid out: one screen that is always drawn, and tabs of which only the open one is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.core.text import verbatim
from mpd2.methods.base import AsksOn
from mpd2.studio.case import enquiry, find, history, note, photograph, store, tabs, view, whatif
from mpd2.studio.case.store import Facts
from mpd2.studio.parts.case_pictures import has_pictures
from mpd2.studio.shell import identity
from mpd2.studio.shell.scenario import Scenario

TAB = "case_tab"  # key of the session
WHAT_IF = "What if"


def draw(about: Scenario) -> None:
    """What is done with a case and why."""
    rows, case_id = find.choose_case(about)
    identity.once(Action.SEE_CASE, about.workspace, case_id)
    facts = store.kept_facts(about, case_id)
    left, right = st.columns(2, gap="medium")
    with right:
        view.policy(facts)
        if not has_pictures(about.workspace):  # of which the drawing is the substitute
            view.drawing(facts)
    with left:
        view.decision(facts)
        view.story(facts)
        with st.container(horizontal=True):
            note.note(facts)
            other = find.choose_pinned(about, case_id)
    whatif.forget_others(case_id)
    _tabs(_panels(facts, about, other) | {"Worklist": partial(find.table, rows)}, case_id)


def _panels(facts: Facts, about: Scenario, other: str | None) -> dict[str, Callable[[], None]]:
    """What each tab draws, by its label; a tab that has nothing to say of the run is not there."""
    panels: dict[str, Callable[[], None]] = {}
    pictures = has_pictures(about.workspace)
    if pictures:
        panels[photograph.TAB] = partial(photograph.panel, facts, about)
    if facts.asks_on is not None:
        panels["Step by step"] = partial(_steps, facts, about, facts.asks_on)
    panels["Why"] = partial(tabs.why, facts, about)
    panels["What would change it"] = partial(tabs.changes, facts, about)
    panels["Inputs"] = partial(tabs.inputs, facts)
    panels["Similar cases"] = partial(photograph.similar if pictures else tabs.similar, facts, about)
    panels[WHAT_IF] = partial(whatif.what_if, facts, about)
    panels |= history.panels(facts)
    if other is not None:
        panels[f"Beside {verbatim(other)}"] = lambda: tabs.comparison(facts, store.facts(about, other))
    return panels


def _steps(facts: Facts, about: Scenario, method: AsksOn) -> None:
    enquiry.chain(facts, method, store.steps(about, facts.id, method))


def _tabs(panels: dict[str, Callable[[], None]], case_id: str) -> None:
    if TAB not in st.session_state and whatif.in_link(case_id):
        st.session_state[TAB] = WHAT_IF
    if st.session_state.get(TAB) not in panels:
        st.session_state.pop(TAB, None)
    for area, panel in zip(st.tabs(list(panels), key=TAB, on_change="rerun"), panels.values(), strict=True):
        if area.open:
            with area:
                panel()
