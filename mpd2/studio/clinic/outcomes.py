"""What turned out, and readers' answers from elsewhere: a file, or one case after the other."""

from __future__ import annotations

from functools import partial

import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.clinic.shadow import columns
from mpd2.clinic.shadow.answering import add_outcomes, add_readings
from mpd2.core.errors import UserError
from mpd2.core.text import capital, count, verbatim
from mpd2.studio.clinic import answering, samples, sending, store, texts
from mpd2.studio.clinic.sending import Sent
from mpd2.studio.clinic.store import Clinic
from mpd2.studio.shell import identity

OUTCOMES = Sent("outcomes", "Outcomes", Action.ADD_OUTCOMES, "outcome", "outcomes", "Add {rows}")
READINGS = Sent("readings", "Readers' answers", Action.ANSWER_CASE, "answer", "answers", "Add {rows}")
CASE, WHEN, TRUTH, DONE, TOLD = "outcome_case", "outcome_time", "outcome_truth", "outcome_done", "outcome_told"
"""Keys of the session."""


def draw(clinic: Clinic) -> None:
    """What is known so far, a file of outcomes, one outcome by hand, and a file of readers' answers."""
    known = int((clinic.snapshot.cohort.truth >= 0).sum())
    st.markdown(f"{texts.OUTCOMES} **Known of {count(known)} of {count(len(clinic.snapshot))} cases.**")
    left, right = st.columns(2, gap="large")
    with left:
        sending.draw(OUTCOMES, clinic, lambda cells, by: add_outcomes(cells, clinic.shadow.store, by=by))
        sending.sample("Example outcomes", partial(samples.outcomes, clinic), texts.EXAMPLE_OUTCOMES)
    with right:
        _by_hand(clinic)
    with st.expander("Readers' answers from a file", icon=":material/rate_review:"):
        st.markdown(texts.READINGS)
        sending.draw(
            READINGS, clinic, lambda cells, by: add_readings(cells, clinic.shadow.store, clinic.shadow.deciders, by=by)
        )
        sending.sample("Example answers", partial(samples.readings, clinic), texts.EXAMPLE_ANSWERS)


def _by_hand(clinic: Clinic) -> None:
    """One outcome."""
    if not identity.is_allowed(Action.ADD_OUTCOMES):
        return
    case = st.text_input("Case", key=CASE, max_chars=100, help=texts.OUTCOME_CASE).strip()
    if not case:
        return
    times = clinic.shadow.store.times_of([case]).get(case, [])
    if not times:
        st.warning(f"{verbatim(case)}: no case with this id has come in.", icon=":material/search_off:")
        return
    st.selectbox("Came in (UTC)", times[::-1], key=WHEN, format_func=lambda time: f"{time:%Y-%m-%d %H:%M:%S}")
    task = clinic.task
    words = {1: capital(task.positive), 0: capital(task.negative)}
    st.segmented_control("Truth", list(words), key=TRUTH, format_func=words.__getitem__)
    st.segmented_control("What was acted on", list(words), key=DONE, format_func=words.__getitem__, help=texts.DONE)
    st.button("Add the outcome", key="outcome_add", type="primary", on_click=_add, args=(clinic,),
              **identity.permitted(Action.ADD_OUTCOMES))  # fmt: skip
    told = st.session_state.pop(TOLD, None)
    if told is not None:
        answering.tell(told)


def _add(clinic: Clinic) -> None:
    state = st.session_state
    row = {
        columns.CASE: str(state[CASE]).strip(),
        columns.TIME: state[WHEN].isoformat(),
        "truth": "" if state.get(TRUTH) is None else str(state[TRUTH]),
        "done": "" if state.get(DONE) is None else str(state[DONE]),
    }
    try:
        taken = add_outcomes(answering.one_row(row), clinic.shadow.store, by=identity.actor())
        store.seen_at_once(clinic)
        state[TOLD] = answering.refusal_of(taken) or ("done", "The outcome is kept.")
    except UserError as error:
        state[TOLD] = ("error", str(error))
