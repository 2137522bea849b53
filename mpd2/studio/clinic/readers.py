"""Readers by now: their rates from what was learned and what has turned out since."""

from __future__ import annotations

import streamlit as st

from mpd2.core.text import capital, numbered
from mpd2.evaluation.metrics import METRICS
from mpd2.present.charts.clinical import clinic as charts
from mpd2.studio.clinic import store, texts
from mpd2.studio.clinic.store import Clinic
from mpd2.studio.parts import widgets


def draw(clinic: Clinic) -> None:
    """Sensitivity and specificity of each reader, before and now."""
    rows = store.rates(clinic)
    st.caption(f"{texts.RATES} {texts.HARDER}")
    for place, (metric, part) in zip(st.columns(2, gap="large"), rows.groupby("metric", sort=False), strict=False):
        label, new = METRICS[str(metric)].label, numbered(int(part["n"].sum()), "new answer")
        with place:
            widgets.chart(
                charts.reader_rates(part, label),
                table=part,
                key=f"clinic_rate_{metric}",
                alt_text=f"{capital(label)} of each reader, as learned and by now; {new}",
                note=texts.HOLLOW,
            )
    shown = rows.assign(
        metric=rows["metric"].map(lambda name: METRICS[name].heading),
        **{name: 100 * rows[name] for name in ("value", "low", "high", "learned")},
    )
    widgets.data_table(
        shown.drop(columns="column"),
        csv=rows,
        key="clinic_rates",
        alt_text=texts.RATES_ALT,
        columns=texts.RATE_COLUMNS,
    )
