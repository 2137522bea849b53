"""What if: the same case with other inputs or readers, or a new case by hand."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote, unquote

import numpy as np
import streamlit as st

from mpd2.core.arrays import Bools
from mpd2.core.cohort import MEASURED, STATE, Cohort
from mpd2.core.text import capital, chance, decimal, interval
from mpd2.evaluation import explain
from mpd2.evaluation.explain import INPUT_NAMES
from mpd2.methods.base import COHORT
from mpd2.present.charts import case as charts
from mpd2.studio.case import store, tabs, view
from mpd2.studio.case.store import Facts
from mpd2.studio.parts import widgets
from mpd2.studio.shell.scenario import Scenario

LINK = "whatif"  # name in the URL: the case, then what is changed
START = "whatif_start"
STARTS = {"this": "This case", "new": "A new case"}
THERE, BETWEEN, AMONG = "there", ";", "+"


def in_link(case_id: str) -> bool:
    """Whether the link changes this case, or enters a new one."""
    return _link_id() in (case_id, explain.NEW_CASE)


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
        st.session_state[START] = "new" if _link_id() == explain.NEW_CASE else "this"
    start = st.segmented_control(
        "Start from",
        list(STARTS),
        required=True,
        format_func=STARTS.__getitem__,
        key=START,
        help="A new case starts at the median of every input, with every reader there. Nothing here changes the table.",
    )
    before = facts if start == "this" else store.of_case(about, explain.typical_case(store.train()))
    edit, result = st.columns([2, 3], gap="large")
    with edit:
        edited = _edited(before.case, COHORT in facts.inputs)
    after = store.of_case(about, edited)
    with result:
        view.decision(after)
        widgets.chart(
            charts.policy_bars(after.actions, before.actions),
            table=after.actions,
            key="whatif",
            alt_text=f"The edited case: {after.chosen['who']} decides; before, {before.chosen['who']}",
            note=f"Before: {_in_words(before)}. Now: {_in_words(after)}. Upright ticks mark the shares before.",
        )


def to_link(case: Cohort, values: dict[str, float], available: Bools, cohort: str) -> str:
    """What is changed of a case, as a word of the link; empty where nothing is."""
    parts = [f"{name}:{value:.6g}" for name, value in values.items() if value != case.column(name)[0]]
    if cohort != case.sources[0]:
        parts.append(f"{COHORT}:{quote(cohort)}")
    if (available != case.available[0]).any():
        parts.append(f"{THERE}:{AMONG.join(quote(column) for column in np.array(case.manifest.columns)[available])}")
    return BETWEEN.join([quote(str(case.ids[0])), *parts]) if parts else ""


def from_link(text: str, case: Cohort) -> tuple[dict[str, float], Bools, str]:
    """Measured inputs, roster, [M], and cohort a link is about; what it does not say, or wrongly, is the case's own."""
    values, available = {name: float(case.column(name)[0]) for name in MEASURED}, case.available[0]
    cohort = str(case.sources[0])
    named, *parts = text.split(BETWEEN)
    if unquote(named) != case.ids[0]:
        return values, available, cohort
    for name, _, value in (part.partition(":") for part in parts):
        if name == THERE:
            available = np.isin(case.manifest.columns, [unquote(column) for column in value.split(AMONG)])
        elif name == COHORT and unquote(value) in _cohorts(case):
            cohort = unquote(value)
        elif name in MEASURED and _is_number(value):
            values[name] = float(value)
    return values, available, cohort


def _edited(case: Cohort, sees_cohort: bool) -> Cohort:
    """The controls, and the case they describe; a cohort to choose where the run looks at it."""
    keys = {name: f"whatif:{case.ids[0]}:{name}" for name in (*MEASURED, COHORT, "roster")}
    low, high = store.train().state.min(0), store.train().state.max(0)
    asked_for, roster, cohort = from_link(st.query_params.get(LINK, ""), case)
    values = {}
    for name in MEASURED:
        now, least, most = (float(part[STATE.index(name)]) for part in (case.state[0], low, high))
        least, most = min(least, now), max(most, now)
        st.session_state.setdefault(keys[name], min(max(asked_for[name], least), most))
        values[name] = st.slider(
            capital(INPUT_NAMES[name]),
            least,
            most,
            step=0.01,
            key=keys[name],
            help=f"Training cases reach from {interval(low[STATE.index(name)], high[STATE.index(name)], 2)}; "
            f"here it is {decimal(now, 2)}.",
        )
    differs = any(case.column(name)[0] != value for name, value in values.items())
    state = explain.changed(case.state[0], values) if differs else case.state[0]
    cohort = _cohort(case, cohort, keys[COHORT]) if sees_cohort else str(case.sources[0])
    available = _roster(case, roster, keys["roster"])
    _write_link(to_link(case, values, available, cohort))
    st.caption(
        f"The AI's probability of glaucoma, {chance(state[STATE.index('prob_1')])}, and its uncertainty follow from "
        "its two scores."
    )
    st.button("Reset", icon=":material/restart_alt:", on_click=_forget, args=(list(keys.values()),))
    changed = explain.copies_with(case, state[None], available)
    return replace(changed, source=np.array([list(_cohorts(case)).index(cohort)]))


def _cohort(case: Cohort, chosen: str, key: str) -> str:
    """Whose camera and people the case is of."""
    names = _cohorts(case)
    st.session_state.setdefault(key, chosen)
    helped = "This run expects glaucoma to be more common, and readers to err otherwise, in one cohort than in another."
    return str(st.selectbox("Cohort", list(names), key=key, format_func=names.__getitem__, help=helped))


def _cohorts(case: Cohort) -> dict[str, str]:
    return {entry.key: entry.name for entry in case.manifest.cohorts}


def _roster(case: Cohort, there: Bools, key: str) -> Bools:
    """Who is there, [M]."""
    names = [reader.name for reader in case.manifest.readers]
    st.session_state.setdefault(key, [name for name, present in zip(names, there, strict=True) if present])
    chosen = st.pills("Readers there", names, selection_mode="multi", key=key, wrap=True)
    return np.isin(names, chosen)


def _in_words(facts: Facts) -> str:
    return f"{facts.chosen['who']}, expected cost {decimal(facts.chosen['expected_cost'], 2)}"


def _link_id() -> str:
    return unquote(st.query_params.get(LINK, "").split(BETWEEN)[0])


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _write_link(word: str) -> None:
    if word and st.query_params.get(LINK) != word:
        st.query_params[LINK] = word
    elif not word and LINK in st.query_params:
        del st.query_params[LINK]


def _forget(keys: list[str]) -> None:
    for key in keys:
        st.session_state.pop(key, None)
    st.query_params.pop(LINK, None)
