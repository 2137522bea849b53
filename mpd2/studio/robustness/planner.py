"""How many cases would we need? What is planned, how sure numbers would be with it, and local cases until they pay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from mpd2.core.text import count, decimal, percent
from mpd2.evaluation.clinical.per_thousand import prevalence_of
from mpd2.evaluation.clinical.sample_size import Width, cases_for, curve, local_cases, widths
from mpd2.evaluation.metrics import load_of
from mpd2.present.charts import robustness as charts
from mpd2.studio.parts import widgets
from mpd2.studio.robustness import store as reads
from mpd2.studio.robustness import texts
from mpd2.studio.shell import link, results, store
from mpd2.studio.shell.scenario import DEFAULT_SPLIT, Scenario
from mpd2.study.claims import AI

CASES, PREVALENCE, WIDTH, READER = "plan_cases", "plan_prevalence", "plan_width", "plan_reader"
"""Keys of the session and names in the URL."""
USUAL = 1000  # cases to plan with at first


@st.fragment
def draw(chosen: Scenario) -> None:
    """The planner of the active run, from all test cases whatever the slice."""
    about = replace(chosen, split=DEFAULT_SPLIT, cohorts=())
    cohort = store.cases(about)
    cases, prevalence, wanted, reader = _controls(about)
    planned = widths(reads.spreads(about), prevalence, reads.seen(about, reader))
    name = cohort.manifest.readers[reader].name
    titles = {what: texts.PLANNED[what].format(reader=name) for what in planned}
    st.markdown(_sentence(planned, cases, prevalence, wanted, cohort.manifest.task.one))
    left, right = st.columns(2, gap="medium")
    with left:
        rows = curve(planned)
        rows = rows.assign(title=rows["what"].map(titles))
        widgets.chart(
            charts.sample_size(rows, cases, wanted),
            table=rows,
            key="sample-size",
            alt_text="Half-width of the interval of each number by the number of cases, with the cases planned",
        )
    with right:
        _table(planned, titles, cases, wanted)
    _local(chosen)
    spreads = reads.spreads(about)
    st.caption(
        texts.PLANNER_NOTE.format(n=count(len(cohort)), sick=count(spreads["Sens"].cases), one=cohort.manifest.task.one)
    )


def _controls(about: Scenario) -> tuple[int, float, float, int]:
    """Cases, prevalence, half-width (shares) and the reader's position."""
    cohort = store.cases(about)
    readers = {str(place): one.name for place, one in enumerate(cohort.manifest.readers)}
    load = load_of(store.outcome(about.run, about).decisions, cohort.readers).sum(0)
    own = round(100 * prevalence_of(cohort), 1)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        cases = widgets.whole_number("Cases", 50, 50_000, USUAL, 50, key=CASES, width=140, help=texts.PLAN_CASES)
        prevalence = st.number_input("Prevalence, %", 0.1, 99.0, own, 0.5, key=PREVALENCE, bind="query-params",
                                     width=140, format="%.1f", help=texts.PLAN_PREVALENCE)  # fmt: skip
        wanted = st.number_input("Wanted, ± points", 0.5, 20.0, 3.0, 0.5, key=WIDTH, bind="query-params", width=150,
                                 format="%.1f", help=texts.PLAN_WIDTH)  # fmt: skip
        reader = link.one(st.selectbox, "Reader", list(readers), key=READER, default=str(int(np.argmax(load))),
                          format_func=readers.__getitem__, width=200, help=texts.PLAN_READER)  # fmt: skip
    return USUAL if cases is None else cases, prevalence / 100, wanted / 100, int(reader)


def _sentence(planned: Mapping[str, Width], cases: int, prevalence: float, wanted: float, one: str) -> str:
    sens, apart = (_points(planned[what], cases) for what in ("Sens", "Sens less AI"))
    needed = cases_for(planned["Sens less AI"], wanted)
    return texts.PLANNER.format(
        cases=count(cases), prevalence=percent(prevalence), one=one, sens=sens, apart=apart,
        wanted=decimal(100 * wanted, 1), needed=texts.TOO_MANY if needed is None else f"{count(needed)} cases",
    )  # fmt: skip


def _table(planned: Mapping[str, Width], titles: Mapping[str, str], cases: int, wanted: float) -> None:
    """Every number: how sure with the cases planned, and how many cases the wanted half-width takes."""
    (points, about), (needed, fewest) = texts.PLAN_HEADS.values()
    rows = pd.DataFrame({
        "Number": [titles[what] for what in planned],
        points: [100 * float(width(np.array([cases]))[0]) for width in planned.values()],
        needed: [cases_for(width, wanted) for width in planned.values()],
    })  # fmt: skip
    number = st.column_config.NumberColumn
    heads = {points: number(format="%.1f", help=about), needed: number(format="localized", help=fewest)}
    widgets.data_table(rows, key="sample-size-table", columns=heads,
                       alt_text="A row for each number: its half-width, and the cases needed")  # fmt: skip


def _local(about: Scenario) -> None:
    """From how many labelled local cases on training on them pays, of the active run or the first that was tried."""
    if not results.has(about.workspace, "recalibration"):
        return
    tried = results.stored(about.workspace, "recalibration")
    methods = dict(zip(tried["method"], tried["title"], strict=True))
    if not set(methods) - {AI}:
        return
    method = about.run if about.run in methods and about.run != AI else next(name for name in methods if name != AI)
    rows = local_cases(tried, method)
    st.markdown(f"**{texts.LOCAL.format(method=methods[method])}**")
    shown = rows.assign(
        cohort=rows["cohort"].map(reads.study(about.workspace).cohorts),
        **{
            name: [texts.NOT_YET if np.isnan(n) else count(int(n)) for n in rows[name]]
            for name in ("cheaper", "sure", "most")
        },
    ).rename(columns={name: head for name, (head, _) in texts.LOCAL_HEADS.items()})
    helps = {head: st.column_config.Column(help=help_) for head, help_ in texts.LOCAL_HEADS.values()}
    widgets.data_table(shown, key="local-cases", columns=helps, csv=rows,
                       alt_text="A row for each new cohort: from how many labelled cases on they pay")  # fmt: skip


def _points(width: Width, cases: int) -> str:
    return decimal(100 * float(width(np.array([float(cases)]))[0]), 1)
