"""What if: the same case with other inputs or readers, or a new case by hand."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote, unquote

import numpy as np
import streamlit as st

from mpd2.core.arrays import Bools
from mpd2.core.cohort import Cohort
from mpd2.core.state import PROBABILITY
from mpd2.core.text import capital, chance, decimal, interval
from mpd2.evaluation import explain
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
ROSTER, CHOSEN = "roster", "chosen"  # end the keys of what is no input
MOST_SLIDERS, FIRST_SLIDERS = 12, 6  # all inputs at once up to so many; of more, so many at first


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
    before = facts if start == "this" else store.of_case(about, explain.typical_case(facts.train))
    edit, result = st.columns([2, 3], gap="large")
    with edit:
        edited = _edited(facts, before.case)
    after = store.of_case(about, edited)
    with result:
        view.decision(after)
        widgets.chart(
            charts.policy_bars(after.actions, after.case.manifest.task, before.actions),
            table=after.actions,
            key="whatif",
            alt_text=f"The edited case: {after.chosen['who']} decides; before, {before.chosen['who']}",
            note=f"Before: {_in_words(before)}. Now: {_in_words(after)}. Upright ticks mark the shares before.",
        )


def to_link(case: Cohort, values: dict[str, float], available: Bools, cohort: str) -> str:
    """What is changed of a case, as a word of the link; empty where nothing is."""
    parts = [f"{quote(name)}:{value:.6g}" for name, value in values.items() if value != case.column(name)[0]]
    if cohort != case.sources[0]:
        parts.append(f"{COHORT}:{quote(cohort)}")
    if (available != case.available[0]).any():
        parts.append(f"{THERE}:{AMONG.join(quote(column) for column in np.array(case.manifest.columns)[available])}")
    return BETWEEN.join([quote(str(case.ids[0])), *parts]) if parts else ""


def from_link(text: str, case: Cohort) -> tuple[dict[str, float], Bools, str]:
    """Measured inputs, roster, [M], and cohort a link is about; what it does not say, or wrongly, is the case's own."""
    values, available = {name: float(case.column(name)[0]) for name in case.layout.measured}, case.available[0]
    cohort = str(case.sources[0])
    named, *parts = text.split(BETWEEN)
    if unquote(named) != case.ids[0]:
        return values, available, cohort
    for name, _, value in (part.partition(":") for part in parts):
        if name == THERE:
            available = np.isin(case.manifest.columns, [unquote(column) for column in value.split(AMONG)])
        elif name == COHORT and unquote(value) in _cohorts(case):
            cohort = unquote(value)
        elif unquote(name) in case.layout.measured and _is_number(value):
            values[unquote(name)] = float(value)
    return values, available, cohort


def _edited(facts: Facts, case: Cohort) -> Cohort:
    """The controls, and the case they describe; a cohort to choose where the run looks at it."""
    place = f"whatif:{facts.workspace}:{case.ids[0]}"
    keys = {name: f"{place}:{name}" for name in (*case.layout.measured, COHORT, ROSTER, CHOSEN)}
    asked_for, roster, cohort = from_link(st.query_params.get(LINK, ""), case)
    values = {}
    for name in _shown(facts, case, asked_for, keys[CHOSEN]):
        values[name] = _slider(case, facts.train, name, asked_for[name], keys[name])
    differing = {name: value for name, value in values.items() if value != case.column(name)[0]}
    state = explain.changed(case, differing) if differing else case.state[0]
    cohort = _cohort(case, cohort, keys[COHORT]) if COHORT in facts.inputs else str(case.sources[0])
    available = _roster(case, roster, keys[ROSTER])
    _write_link(to_link(case, values, available, cohort))
    st.caption(
        f"The AI's probability of {case.manifest.task.one}, {chance(state[case.layout.position(PROBABILITY)])}, "
        "and its uncertainty follow from its score."
    )
    st.button("Reset", icon=":material/restart_alt:", on_click=_forget, args=(list(keys.values()),))
    changed = explain.copies_with(case, state[None], available)
    return replace(changed, source=np.array([list(_cohorts(case)).index(cohort)]))


def _shown(facts: Facts, case: Cohort, asked_for: dict[str, float], key: str) -> list[str]:
    """The inputs that can be changed: all that vary in training, or of many a few that are chosen."""
    spans = np.ptp(facts.train.state, axis=0)
    vary = [name for name in case.layout.measured if spans[case.layout.position(name)] > 0]
    if len(vary) <= MOST_SLIDERS:
        return vary
    changed = [name for name in vary if asked_for[name] != case.column(name)[0]]
    looked_at = [name for name in vary if name in facts.inputs]
    first = list(dict.fromkeys([*case.layout.scores, *changed, *looked_at, *vary]))
    st.session_state.setdefault(key, [name for name in first if name in vary][:FIRST_SLIDERS])
    titles = {name: capital(case.layout.titles[name]) for name in vary}
    return st.multiselect(f"Inputs to change, of {len(vary)}", vary, key=key, format_func=titles.__getitem__)


def _slider(case: Cohort, train: Cohort, name: str, asked_for: float, key: str) -> float:
    """One input, from the least to the most of the training cases, or what it is here."""
    now, known = float(case.column(name)[0]), train.column(name)
    least, most = min(float(known.min()), now), max(float(known.max()), now)
    st.session_state.setdefault(key, min(max(asked_for, least), most))
    unit = next((f", {each.unit}" for each in case.layout.variables if each.name == name and each.unit), "")
    return st.slider(
        f"{capital(case.layout.titles[name])}{unit}",
        least,
        most,
        step=step_of(most - least),
        key=key,
        help=f"Training cases reach from {interval(known.min(), known.max(), 2)}; here it is {decimal(now, 2)}.",
    )


def step_of(span: float) -> float:
    """How fine an input can be changed: a hundredth, or where it spans much or little a few hundred steps.

    >>> step_of(8.0), step_of(900.0), step_of(0.004)
    (0.01, 1.0, 1e-05)
    """
    return 0.01 if 0.5 <= span <= 50 else float(10.0 ** np.floor(np.log10(span / 200)))


def _cohort(case: Cohort, chosen: str, key: str) -> str:
    """Whose devices and people the case is of."""
    names = _cohorts(case)
    st.session_state.setdefault(key, chosen)
    helped = (
        f"This run expects {case.manifest.task.positives} to be more common, and readers to err otherwise, in one "
        "cohort than in another."
    )
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
