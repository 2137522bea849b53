"""What would have been done against what was done: in all, in each part, and week by week."""

from __future__ import annotations

import streamlit as st

from mpd2.clinic.shadow.evidence.comparison import against
from mpd2.core.text import capital
from mpd2.present.charts.clinical import clinic as charts
from mpd2.present.words import clinic as words
from mpd2.present.words.clinic import COMPARED
from mpd2.studio.clinic import store, texts
from mpd2.studio.clinic.store import Clinic
from mpd2.studio.parts import widgets
from mpd2.studio.shell import link


def draw(clinic: Clinic) -> None:
    """One number in charts, and every number in a table."""
    rows, missing = store.compared(clinic, "cohort"), store.not_counted(clinic)
    said = words.left_out_in_words(missing.cases, missing.ranges, clinic.task)
    if not rows.loc[rows["metric"] == "missed", "n"].any():
        st.info(said or texts.NO_OUTCOME, icon=":material/hourglass_empty:")
        return
    if said:
        st.info(said, icon=":material/hourglass_top:")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        metric = link.one(
            st.segmented_control, "Number", list(COMPARED), key="clinic_number", default="missed", required=True,
            format_func=lambda name: capital(COMPARED[name].label), label_visibility="collapsed",
        )  # fmt: skip
        by = link.one(
            st.selectbox, "In each part", list(clinic.parts), key="clinic_by", default="cohort",
            format_func=clinic.parts.__getitem__, label_visibility="collapsed", width=190,
        )  # fmt: skip
    _charts(clinic, metric, by)
    table = store.compared(clinic, by)
    widgets.data_table(
        words.compared_table(table),
        key="compared",
        alt_text=texts.COMPARED_ALT,
        columns=texts.COMPARED_COLUMNS,
        csv=table,
    )
    st.caption(f"{against(clinic.figures.snapshot)} {texts.COMPARED}")


def _charts(clinic: Clinic, metric: str, by: str) -> None:
    told = COMPARED[metric]
    left, right = st.columns(2, gap="large")
    with left:
        weeks = store.weeks(clinic)
        weeks = weeks[weeks["metric"] == metric]
        widgets.chart(
            charts.weekly(weeks, told.title, told.axis, told.against),
            table=weeks,
            key="clinic_weeks",
            alt_text=f"{told.title}, {told.unit}, as known at the end of each week, with a band",
            note=texts.WEEKLY,
        )
    with right:
        parts = store.compared(clinic, by)
        parts = parts[(parts["metric"] == metric) & (parts["n"] > 0)]
        widgets.chart(
            charts.by_part(parts, told.title, told.axis, told.against),
            table=parts,
            key="clinic_parts",
            alt_text=f"{told.title}, {told.unit}, in each part, with intervals",
            note=texts.PARTS,
        )
