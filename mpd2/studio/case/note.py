"""A note on a case: kept for the visit alone, and downloaded with the case's facts."""

from __future__ import annotations

from datetime import date
from functools import partial

import streamlit as st

import mpd2
from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.exports import export_cases, keep_note
from mpd2.core.errors import UserError
from mpd2.core.text import numbered, verbatim
from mpd2.present.documents.briefing import Stamp
from mpd2.present.documents.case_sheet import case_sheet
from mpd2.present.words import case
from mpd2.studio.case import store as case_store
from mpd2.studio.case.store import Facts
from mpd2.studio.shell import identity

LONGEST = 2000  # characters of a note
PRIVACY = "Kept in this visit's memory alone, and gone with it. Leave out names and dates of birth."


def note(facts: Facts) -> None:
    """Where a note is written. It is shown nowhere else, so that nothing in it can pose as a link or a picture."""
    with st.popover("Note", icon=":material/edit_note:"):
        _write(facts)


@st.fragment
def _write(facts: Facts) -> None:
    with st.form("note", border=False):  # a download would otherwise be asked for before the last words arrive
        written = st.text_area(
            f"Note on case {verbatim(facts.id)}",
            max_chars=LONGEST,
            key=_key(facts),
            persist_state="session",
            placeholder="What should be looked at again?",
        )
        st.form_submit_button("Keep the note", width="stretch", on_click=_keep, args=(facts,),
                              **identity.permitted(Action.NOTE))  # fmt: skip
    st.download_button(
        "Case with the kept note (TXT)",
        data=identity.later(partial(_exported, facts, written)),
        file_name=f"case-{facts.id}.txt",
        mime="text/plain",
        icon=":material/download:",
        key="note:txt",
        on_click="ignore",
        width="stretch",
        **identity.permitted(Action.EXPORT_CASES),
    )
    # below the button: whoever can read that it is kept has the button that brings it
    st.caption(f":material/check: Kept: {numbered(len(written), 'character')}." if written else "No note is kept yet.")
    st.caption(f":material/lock: {PRIVACY}")


def _keep(facts: Facts) -> None:
    """Have it recorded that a note was written; it stays in this visit's memory."""
    try:
        keep_note(facts.id, str(st.session_state[_key(facts)]), by=identity.actor())
    except UserError as error:
        st.toast(verbatim(str(error)), icon=":material/error:")


def _key(facts: Facts) -> str:
    return f"note:{facts.workspace}:{facts.id}"


def _exported(facts: Facts, written: str, by: Actor) -> bytes:
    return export_cases(partial(_sheet, facts, written), "case sheet", facts.id, by=by)


def _sheet(facts: Facts, written: str) -> bytes:
    story = case.story(facts.case, facts.reason, facts.train, case_store.anatomy(facts.workspace))
    decider = case.who_decided(facts.case, facts.decisions, facts.positive, facts.costs)
    told = " ".join(filter(None, [story, decider, case.why_this_reader(facts.actions, facts.case.manifest.task)]))
    entry = facts.case.manifest.cohorts[facts.case.source[0]]
    about = f"a {facts.case.split[0]} case of {entry.name}, readings {entry.readings}"
    stamp = Stamp(facts.title, about, 1, facts.case.fingerprint, mpd2.__version__, date.today())
    return case_sheet(facts.case, facts.actions, told, written, stamp)
