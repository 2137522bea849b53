"""Cases taken in: a file, what became of each row, and the cases that came in last."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial

import pandas as pd
import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.exports import export_figures
from mpd2.clinic.shadow.columns import TIME
from mpd2.clinic.shadow.intake import take_in
from mpd2.core.text import count
from mpd2.studio.clinic import samples, sending, store, texts
from mpd2.studio.clinic.sending import Sent
from mpd2.studio.clinic.store import Clinic
from mpd2.studio.parts import paging, widgets


def timed(cells: pd.DataFrame) -> pd.DataFrame:
    """Cells with a time for every case: now, where a file has none; pressed twice, it is the same time."""
    return cells if TIME in cells else cells.assign(**{TIME: datetime.now(UTC).isoformat(timespec="seconds")})


SENT = Sent("intake", "Cases", Action.ROUTE_CASE, "case", "cases", "Take in {rows}", timed)


def draw(clinic: Clinic) -> None:
    """A file of cases, and what came in before."""
    st.markdown(f"{texts.INTAKE} {texts.TIMES}")
    sending.draw(SENT, clinic, lambda cells, by: take_in(cells, clinic.shadow.store, clinic.shadow.deciders, by=by))
    with st.container(horizontal=True):
        sending.sample("Template", partial(_template, clinic), texts.TEMPLATE)
        sending.sample("Example day", partial(samples.example, clinic), texts.EXAMPLE)
    _arrivals(clinic)


def _template(clinic: Clinic, by: Actor) -> bytes:
    return export_figures(lambda: samples.template(clinic), "template of the clinic", by=by)


def _arrivals(clinic: Clinic) -> None:
    """The cases that came in, the newest first."""
    rows = store.arrivals(clinic)
    if rows.empty:
        return
    st.subheader(f"Came in: {count(len(rows))}", anchor=False)
    widgets.data_table(
        paging.page_of(rows, "clinic_arrivals"),
        key="arrivals",
        alt_text=texts.ARRIVALS_ALT,
        columns=texts.ARRIVAL_COLUMNS,
        csv=rows,
    )
    paging.turner(rows, "clinic_arrivals")
