"""The part of About that sets every number of the paper beside ours."""

from __future__ import annotations

import streamlit as st

from mpd2.core.text import capital
from mpd2.present.charts.runs import less_paper
from mpd2.present.words import reproduction as words
from mpd2.studio.about import store as own
from mpd2.studio.about import texts
from mpd2.studio.parts import widgets
from mpd2.studio.shell import link, store
from mpd2.studio.shell.scenario import Scenario
from mpd2.study.definition import PAPER_RUN
from mpd2.study.reproduction import REASONS

FIRST = "TotalCost"  # the metric shown first where a table has it


@st.fragment
def draw(about: Scenario) -> None:
    """What came of all numbers, one metric as a chart, and the cells one by one."""
    every = words.named(own.reproduction(about.workspace), store.manifest(about.workspace))
    st.markdown(words.summary(every))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        table = link.one(st.selectbox, "Table of the paper", list(words.TABLES), key="paper-table", default="overall",
                         format_func=words.TABLES.__getitem__, width=260)  # fmt: skip
        rows = every[every["table"] == table]
        metrics = rows["metric"].drop_duplicates().tolist()
        metric = link.one(st.selectbox, "Metric", metrics, key=f"paper-metric-{table}",
                          default=FIRST if FIRST in metrics else metrics[0],
                          format_func=lambda name: capital(words.metric_name(name)), width=260)  # fmt: skip
        chosen = link.many(st.multiselect, "Reasons", [name for name in REASONS if name in set(rows["reason"])],
                           key=f"paper-reasons-{table}", placeholder="All reasons", width="stretch")  # fmt: skip
    shown = rows[rows["metric"] == metric]
    name = words.metric_name(metric)
    widgets.chart(
        less_paper(shown, name, PAPER_RUN),
        table=shown,
        key="paper-chart",
        alt_text=f"{capital(name)}: ours less the paper's for each row of the table, with our interval",
        note=texts.REPRODUCTION,
    )
    kept = rows[rows["reason"].isin(chosen)] if chosen else rows
    st.markdown("### Every number of this table")
    widgets.data_table(
        words.readable(kept),
        key="paper-cells",
        alt_text="Ours, our interval, the paper's number, the difference and its reason, a row for each number",
        columns={"Ours less the paper's": st.column_config.NumberColumn(format="%+.3f")},
        csv=kept,
    )
    st.markdown("### Reasons")
    st.table(words.reasons(every).set_index("Reason"), border="horizontal")
    st.caption(texts.REASONS)
    widgets.download(every, "paper-all", "All numbers as CSV")
