"""One case of a worklist: what is known of it, the reader's answer, who is asked next, a clinician's other choice."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pandas as pd
import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.clinic.shadow.answering import add_readings, override
from mpd2.clinic.shadow.columns import CASE, TIME
from mpd2.clinic.shadow.deciding import AI
from mpd2.clinic.shadow.keeping import Taken
from mpd2.clinic.shadow.rows import Key
from mpd2.core.cohort import UNKNOWN
from mpd2.core.errors import UserError
from mpd2.core.text import capital, percent, verbatim
from mpd2.lab.activation import LONGEST
from mpd2.studio.clinic import store, texts
from mpd2.studio.clinic.store import Clinic
from mpd2.studio.shell import identity

SAYS, SURE, TOLD, OTHERWISE, REASON = (
    "answer_says", "answer_sure", "answer_told", "override_choice", "override_reason",
)  # fmt: skip
"""Keys of the session."""
Told = tuple[str, str]
"""done or error, and what is said."""


def draw(clinic: Clinic, reader: str, key: Key) -> None:
    """The case, the answer of a reader who is asked about it, and what another choice takes."""
    told = st.session_state.pop(TOLD, None)
    if told is not None:
        tell(told)
    with st.container(border=True):
        st.markdown(f"**{capital(clinic.task.case)}** {verbatim(key.case)}, in since {key.time:%Y-%m-%d %H:%M} UTC")
        identity.once(Action.SEE_CASE, "the clinic", key.case)
        left, right = st.columns([3, 2], gap="large")
        with left:
            _about(clinic, key)
        with right:
            _answer(clinic, reader, key)
            _override(clinic, key)


def tell(told: Told) -> None:
    """What became of an answer."""
    kind, words = told
    (st.success if kind == "done" else st.error)(
        verbatim(words), icon=":material/check_circle:" if kind == "done" else ":material/error:"
    )


def one_row(values: dict[str, str]) -> pd.DataFrame:
    """A table of one row, as a file would have it."""
    return pd.DataFrame([values], index=[2], dtype=str)


def refusal_of(taken: Taken) -> Told | None:
    """Why a row was refused; none if it was not."""
    return ("error", taken.refused[0].sentence("The answer")) if taken.refused else None


def _about(clinic: Clinic, key: Key) -> None:
    """What was measured, and behind a click what the AI says and why the case is asked about."""
    row = clinic.row_of(key)
    cohort = clinic.snapshot.cohort
    stop = str(clinic.snapshot.stops[row])
    if stop:
        st.warning(capital(stop), icon=":material/do_not_disturb_on:")
    inputs = store.inputs(clinic, row)
    st.dataframe(inputs, hide_index=True, key="answer_inputs", alt=texts.INPUTS_ALT, column_config=texts.INPUT_COLUMNS)
    with st.expander("What the AI says, and why this reader is asked", icon=":material/visibility:"):
        st.caption(texts.BLIND)
        st.text(f"The AI: {percent(float(cohort.ai_probability[row]), 0)} {clinic.task.positive}")
        st.text(str(clinic.snapshot.reasons[row]) or texts.NO_REASON)
        for line in store.said(clinic, row):
            st.text(line)


def _answer(clinic: Clinic, reader: str, key: Key) -> None:
    name, task = verbatim(clinic.names[reader]), clinic.task
    words = {1: capital(task.positive), 0: capital(task.negative), UNKNOWN: texts.DECLINES}
    st.segmented_control(
        texts.ANSWER.format(reader=name), [1, 0, UNKNOWN], key=SAYS, format_func=words.__getitem__,
        help=texts.ANSWER_HELP,
    )  # fmt: skip
    st.slider(texts.CONFIDENCE, 50, 100, 80, 5, key=SURE, format="%d %%",
              disabled=st.session_state.get(SAYS) in (None, UNKNOWN))  # fmt: skip
    allowed = identity.permitted(Action.ANSWER_CASE, otherwise=texts.KEEPS)
    if st.session_state.get(SAYS) is None:
        allowed["disabled"] = True
    st.button("Save the answer", key="answer_save", type="primary", on_click=_save, args=(clinic, reader, key),
              **allowed)  # fmt: skip


def _save(clinic: Clinic, reader: str, key: Key) -> None:
    state = st.session_state
    says = state[SAYS]
    declines = says == UNKNOWN
    row = {
        CASE: key.case,
        TIME: key.time.isoformat(),
        "reader": reader,
        "at": datetime.now(UTC).isoformat(),
        "says": "" if declines else str(says),
        "confidence": "" if declines else f"{state[SURE] / 100:g}",
        "declined": "1" if declines else "",
    }
    try:
        taken = add_readings(one_row(row), clinic.shadow.store, clinic.shadow.deciders, by=identity.actor())
    except UserError as error:
        state[TOLD] = ("error", str(error))
        return
    store.seen_at_once(clinic)
    state[TOLD] = refusal_of(taken) or ("done", f"{key.case}: the answer is kept. {_next(clinic, key)}")
    state[SAYS] = None


def _next(clinic: Clinic, key: Key) -> str:
    """What follows from an answer that was just given."""
    now = clinic.again()
    row = now.row_of(key)
    waits, label = str(now.snapshot.waiting[row]), int(now.snapshot.decisions.label[row])
    if waits:
        return f"Now {now.names[waits]} is asked."
    words = {1: now.task.positive, 0: now.task.negative}
    return f"Nobody else is asked; the answer would be: {words.get(label, 'not known')}."


def _override(clinic: Clinic, key: Key) -> None:
    """Another choice than the run's."""
    names: dict[str, str] = {AI: "the AI's answer counts", **clinic.names}
    with st.popover(texts.OVERRIDE, icon=":material/alt_route:"):
        st.caption(texts.OVERRIDE_HELP)
        st.selectbox("Who should decide", list(names), key=OTHERWISE, format_func=names.__getitem__)
        st.text_input(texts.OVERRIDE_WHY, key=REASON, max_chars=LONGEST)
        st.button("Record it", key="override_save", on_click=_overridden, args=(clinic, key),
                  **identity.permitted(Action.OVERRIDE))  # fmt: skip


def _overridden(clinic: Clinic, key: Key) -> None:
    state: Any = st.session_state
    try:
        override(key, str(state[OTHERWISE]), str(state[REASON]), clinic.shadow.store, by=identity.actor())
        store.seen_at_once(clinic)
        state[TOLD] = (
            "done",
            f"{key.case}: the other choice is in the record. {texts.FOLLOWS}",
        )
    except UserError as error:
        state[TOLD] = ("error", str(error))
