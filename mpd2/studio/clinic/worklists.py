"""The worklist of each reader; a case that is chosen opens below, and is answered there."""

from __future__ import annotations

from datetime import UTC

import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.clinic.shadow.answering import to_be_named
from mpd2.clinic.shadow.rows import Key
from mpd2.core.text import count, verbatim
from mpd2.studio.clinic import answering, store, texts
from mpd2.studio.clinic.store import Clinic
from mpd2.studio.parts import paging, widgets
from mpd2.studio.shell import identity, link, session

LIST = "clinic_list"  # key of the session


def draw(clinic: Clinic) -> None:
    """Who waits for whom."""
    if not identity.is_allowed(Action.SEE_WORKLIST):
        st.caption(f":material/lock: {widgets.UNSEEN}")
        return
    waiting = store.waiting(clinic)
    mine = clinic.reader_of(identity.actor())
    columns = list(waiting) if mine is None else [mine] if mine in waiting else []
    if not columns:
        st.info(texts.NOT_MAPPED.format(line=verbatim(to_be_named(identity.actor()))), icon=":material/person_off:")
        return
    busiest = max(columns, key=waiting.__getitem__)
    reader = link.one(
        st.selectbox, "Reader", columns, key="clinic_reader", default=busiest,
        format_func=lambda column: f"{clinic.names[column]} ({count(waiting[column])} waiting)",
    )  # fmt: skip
    by = identity.actor()
    rows = session.kept(LIST, (clinic.snapshot.version, reader, by), lambda: store.worklist(clinic, reader, by))
    if rows.empty:
        st.info(texts.NOBODY_WAITS.format(reader=verbatim(clinic.names[reader])), icon=":material/task_alt:")
        return
    shown = paging.page_of(rows, f"clinic_worklist:{reader}")
    picked = widgets.data_table(
        shown.drop(columns=texts.KEPT_BACK, errors="ignore"), key=f"worklist_{reader}", alt_text=texts.WORKLIST_ALT,
        columns=texts.WORKLIST_COLUMNS, pick=True, csv=rows,
    )  # fmt: skip
    paging.turner(rows, f"clinic_worklist:{reader}")
    row = shown.iloc[picked[0] if picked else 0]
    answering.draw(clinic, reader, Key(str(row[store.CASE]), row["time"].to_pydatetime().replace(tzinfo=UTC)))
