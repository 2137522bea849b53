"""What was recorded about a case: a tab that is there where a record is kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from mpd2.clinic.installation import kept_record
from mpd2.clinic.record import reading
from mpd2.clinic.record.search import PAGE
from mpd2.core.text import numbered
from mpd2.studio.case.store import Facts
from mpd2.studio.record import table, texts
from mpd2.studio.shell import identity

TAB = "History"


def panels(facts: Facts) -> dict[str, Callable[[], None]]:
    """The tab, by its label; none where nothing is recorded."""
    return {} if kept_record() is None else {TAB: partial(panel, facts)}


def panel(facts: Facts) -> None:
    """The newest entries about the case."""
    entries = reading.history(facts.id, by=identity.actor())
    if not entries:
        st.caption(texts.NO_HISTORY)
        return
    st.caption(texts.HISTORY)
    table.shown(entries, "case_history")
    if len(entries) == PAGE:
        st.caption(f"The newest {numbered(PAGE, 'entry', 'entries')}; the Record page has the others.")
