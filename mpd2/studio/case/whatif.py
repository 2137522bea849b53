"""What if: the same case with other inputs or readers, or a new case by hand."""

from __future__ import annotations

import numpy as np
import streamlit as st

from mpd2.core.arrays import Bools
from mpd2.core.cohort import MEASURED, STATE, Cohort
from mpd2.core.text import capital, chance, decimal, interval
from mpd2.evaluation import explain
from mpd2.evaluation.explain import INPUT_NAMES
from mpd2.present.charts import case as figures
from mpd2.studio.case import store, view
from mpd2.studio.case.store import Facts
from mpd2.studio.parts import widgets
from mpd2.studio.shell.scenario import Scenario

STARTS = {"this": "This case", "new": "A new case"}


@st.fragment
def what_if(facts: Facts, about: Scenario) -> None:
    """Edit every input and the roster; the decision is worked out anew beside the original."""
    st.subheader("What if", anchor=False, help="Nothing here changes the table.")
    if not explain.has_router(facts.run):
        st.info(f"{facts.title} has no router to ask again. Choose an MPD² run in the sidebar.", icon=":material/info:")
        return
    start = st.segmented_control(
        "Start from",
        list(STARTS),
        default="this",
        required=True,
        format_func=STARTS.__getitem__,
        key="whatif_start",
        help="A new case starts at the median of every input, with every reader there.",
    )
    before = facts if start == "this" else store.of_case(about.run, explain.typical_case(store.train()))
    edit, result = st.columns([2, 3], gap="large")
    with edit:
        changed = _edited(before.case)
    after = store.of_case(about.run, changed)
    with result:
        view.decision(after)
        widgets.chart(
            figures.policy_bars(after.actions, before.actions),
            table=after.actions,
            key="whatif",
            alt_text=f"The edited case: {after.chosen['who']} decides; before, {before.chosen['who']}",
            note=f"Before: {_in_words(before)}. Now: {_in_words(after)}. Upright ticks mark the shares before.",
        )


def _edited(case: Cohort) -> Cohort:
    """The controls, and the case they describe."""
    marked = f"whatif:{case.ids[0]}"
    keys = {name: f"{marked}:{name}" for name in (*MEASURED, "roster")}
    low, high = store.train().state.min(0), store.train().state.max(0)
    values = {}
    for name in MEASURED:
        position = STATE.index(name)
        now = float(case.state[0, position])
        values[name] = st.slider(
            capital(INPUT_NAMES[name]),
            min(float(low[position]), now),
            max(float(high[position]), now),
            now,
            step=0.01,
            key=keys[name],
            help=f"Training cases reach from {interval(low[position], high[position], 2)}; "
            f"here it is {decimal(now, 2)}.",
        )
    state = explain.changed(case.state[0], values) if _differs(case, values) else case.state[0]
    available = _roster(case, keys["roster"])
    st.caption(
        f"The AI's probability of glaucoma, {chance(state[STATE.index('prob_1')])}, and its uncertainty follow from "
        "its two scores."
    )
    st.button("Reset", icon=":material/restart_alt:", on_click=_forget, args=(list(keys.values()),))
    return explain.variants(case, state[None], available)


def _differs(case: Cohort, values: dict[str, float]) -> bool:
    return any(case.column(name)[0] != value for name, value in values.items())


def _roster(case: Cohort, key: str) -> Bools:
    """Who is there, [M]."""
    names = [reader.name for reader in case.manifest.readers]
    there = [name for name, present in zip(names, case.available[0], strict=True) if present]
    chosen = st.pills("Readers there", names, selection_mode="multi", default=there, key=key, wrap=True)
    return np.isin(names, chosen)


def _in_words(facts: Facts) -> str:
    return f"{facts.chosen['who']}, expected cost {facts.chosen['expected_cost']:.2f}"


def _forget(keys: list[str]) -> None:
    for key in keys:
        st.session_state.pop(key, None)
