"""What if: the same case with other inputs or readers, or a new case by hand."""

from __future__ import annotations

import streamlit as st

from mpd2.core.text import decimal
from mpd2.evaluation import explain
from mpd2.present.charts import case as charts
from mpd2.studio.case import store, tabs, view
from mpd2.studio.case.store import Facts
from mpd2.studio.parts import case_controls, widgets
from mpd2.studio.parts.case_controls import LINK
from mpd2.studio.shell.scenario import Scenario

START = "whatif_start"
STARTS = {"this": "This case", "new": "A new case"}


def in_link(case_id: str) -> bool:
    """Whether the link changes this case, or enters a new one."""
    return case_controls.link_id() in (case_id, explain.NEW_CASE)


def forget_others(case_id: str) -> None:
    """Take changes of a case that is no longer on screen out of the link."""
    if LINK in st.query_params and not in_link(case_id):
        del st.query_params[LINK]


@st.fragment
def what_if(facts: Facts, about: Scenario) -> None:
    """Edit every input and the roster; the decision is worked out anew beside the original."""
    if not facts.deployable:
        st.info(tabs.BY_THE_ANSWERS.format(title=facts.title), icon=":material/info:")
        return
    if START not in st.session_state:
        st.session_state[START] = "new" if case_controls.link_id() == explain.NEW_CASE else "this"
    start = st.segmented_control(
        "Start from",
        list(STARTS),
        required=True,
        format_func=STARTS.__getitem__,
        key=START,
        help="A new case starts at the median of every input, with every reader there. Nothing here changes the table.",
    )
    before = facts if start == "this" else store.of_case(about, explain.typical_case(facts.train))
    edit, result = st.columns([2, 3], gap="large")
    with edit:
        place = f"whatif:{facts.workspace}:{before.case.ids[0]}"
        edited = case_controls.edited(before.case, facts.train, facts.inputs, place)
    with result:
        decided_anew(before, store.of_case(about, edited))


def decided_anew(before: Facts, after: Facts) -> None:
    """What is done with an edited case, its shares beside those of the case it was."""
    view.decision(after)
    widgets.chart(
        charts.policy_bars(after.actions, after.case.manifest.task, before.actions),
        table=after.actions,
        key="whatif",
        alt_text=f"The edited case: {after.chosen['who']} decides; before, {before.chosen['who']}",
        note=f"Before: {_in_words(before)}. Now: {_in_words(after)}. Upright ticks mark the shares before.",
    )


def _in_words(facts: Facts) -> str:
    return f"{facts.chosen['who']}, expected cost {decimal(facts.chosen['expected_cost'], 2)}"
