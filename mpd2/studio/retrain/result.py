"""The effect of a change: a finished run beside the active one and the paper's, and what to do with it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pandas as pd
import streamlit as st

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.core.cache import cached
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.policy import Decisions, decided_together
from mpd2.core.text import GAP, decimal, interval, percent, verbatim
from mpd2.evaluation import readers, tables
from mpd2.evaluation.evidence import Outcome
from mpd2.evaluation.metrics import label_of
from mpd2.evaluation.standings import standings
from mpd2.lab.jobs import grid, own_runs
from mpd2.lab.jobs.folder import LONGEST, Workshop
from mpd2.lab.owners import owner_of_run
from mpd2.planning import moved_cases
from mpd2.present.charts import readers as reader_charts
from mpd2.present.charts import runs as charts
from mpd2.present.words.side_by_side import BEST, TIED, side_by_side
from mpd2.studio.parts import method_table, widgets
from mpd2.studio.retrain import change, clinic, texts
from mpd2.studio.shell import frame, identity, store
from mpd2.studio.shell.scenario import Scenario
from mpd2.study.definition import PAPER_RUN

METRICS = ("TotalCost", "ClinicalCost", "ExpertCost", "Defer", "F1", "MCC", "Sens", "Spec", "Top1", "NEff", "Gini")
VAL, SIDEBAR = "val", "sidebar"


def judged_slice(about: Scenario, key: str) -> Scenario:
    """Which cases results are about: val unless a person asks for the sidebar's split."""
    names = {VAL: "Validation cases", SIDEBAR: f"As in the sidebar: {about.split}"}
    chosen = st.segmented_control("Measured on", list(names), default=VAL, required=True, key=f"judge:{key}",
                                  format_func=names.__getitem__)  # fmt: skip
    split = about.split if chosen == SIDEBAR else VAL
    st.caption(texts.JUDGED if split == VAL else texts.JUDGED_TEST)
    return replace(about, split=split).as_fitted()  # settings of a training are judged by the costs it was for


def draw(name: str, about: Scenario) -> None:
    """One run beside the active one and the paper's."""
    st.subheader(f"Effect of the change: {store.run_title(name)}", anchor=False)
    actions(name, about)
    judged = judged_slice(about, "result")
    there = store.run_names(about.workspace)
    names = tuple(dict.fromkeys((name, about.run, *(run for run in (PAPER_RUN,) if run in there))))
    facts, drawn = store.compared(names, judged), store.weights(judged)
    others = [other for other in names if other != name]
    st.markdown(" ".join(_difference(name, other, judged) for other in others))
    beside(names, judged, key="result", first=name)
    for other in others[:1]:
        _changed(name, other, judged)
    load = readers.load(facts.outcomes[name], facts.cohort, drawn)
    widgets.chart(reader_charts.load(load), table=load, key="result-load", alt_text="Cases each reader would get",
                  note=readers.busiest(load))  # fmt: skip


def beside(names: tuple[str, ...], about: Scenario, key: str, first: str) -> None:
    """A table of runs, with every metric and its interval."""
    rows = _overall(names, about)
    columns = method_table.heads(METRICS, tables.ALL)
    table = side_by_side(rows, columns, first=first, standing=_standing(names, about), intervals=True)
    method_table.wide_table(rows, table, columns, about, key=f"{key}-table", active=first, roomy=True,
                           alt_text="The runs side by side, a column for each metric")  # fmt: skip
    st.caption(
        f"n = {rows['n'].max()} cases; brackets hold 95{GAP}% intervals over resampled cases. "
        f"{BEST} best, {TIED} not clearly different from it. Green: {store.run_title(first)}."
    )


def paired_chart(names: tuple[str, ...], about: Scenario, reference: str, key: str) -> None:
    """How far runs are from one of them on the same cases, for a metric that can be chosen."""
    choices = [metric for metric in METRICS if metric in tables.REPORTED]
    metric = st.selectbox("Metric", choices, format_func=label_of, key=f"{key}-metric", width=260)
    rows = _paired(names, reference, about)
    rows = rows[rows["metric"] == metric]
    widgets.chart(charts.against(rows, store.run_title(reference)), table=rows, key=f"{key}-paired",
                  alt_text=f"{label_of(metric)} of each run less that of {store.run_title(reference)}",
                  note=f"{texts.AGAINST} n = {rows['n'].max()}.")  # fmt: skip


def actions(name: str, about: Scenario) -> None:
    """Make it the active run, name it, take it away, remove it."""
    place, folder = Workshop.here(), name.removeprefix(store.OWN)
    owner = owner_of_run(place.runs / folder)
    active = about.run == name
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button("Active for all pages" if active else "Make it the active run", key=f"activate:{name}",
                  on_click=_activate, args=(name,), disabled=active, icon=":material/check:",
                  type="primary")  # fmt: skip
        with st.popover("Name", icon=":material/edit:"):
            st.text_input("Name", store.run_title(name), key=f"title:{name}", max_chars=LONGEST, help=texts.NAME)
            st.button("Save this name", key=f"rename:{name}", on_click=_rename, args=(name, about),
                      **identity.permitted(Action.NAME_RUN, owner))  # fmt: skip
        st.download_button("Export", identity.later(partial(_zipped, folder, place)), f"{folder}.zip",
                           "application/zip", key=f"export:{name}", on_click="ignore", icon=":material/archive:",
                           **identity.permitted(Action.EXPORT_RUN, otherwise=texts.EXPORT))  # fmt: skip
        clinic.draw(folder, place)
        change.draw(folder, place)
        with st.popover("Delete", icon=":material/delete:"):
            st.caption("Weights, predictions and history are removed for everybody.")
            st.button("Delete it", key=f"delete:{name}", on_click=delete, args=(name,), type="primary",
                      **identity.permitted(Action.REMOVE_RUN, owner))  # fmt: skip


def draw_grid(name: str, about: Scenario) -> None:
    """A finished grid as tables of ablations, over seeds."""
    st.subheader(f"Effect of each cell: {store.run_title(name)}", anchor=False)
    judged = judged_slice(about, "grid")
    rows, changed = _grid_tables(name, judged)
    metric = st.selectbox("Metric", grid.EFFECTS, format_func=label_of, key="grid-metric", width=260)
    shown = changed[changed["metric"] == metric]
    widgets.data_table(shown.drop(columns="metric"), key="grid-effects", columns=_EFFECTS,
                       alt_text=f"Change in {label_of(metric)} of each cell against the first")  # fmt: skip
    columns = method_table.heads(tables.OBJECTIVE + tables.REGULARISATION[:6], tables.ALL)
    first = str(rows["method"].iloc[0])
    table = side_by_side(rows, columns, first=first, intervals=True)
    method_table.wide_table(rows, table, columns, about, key="grid-levels", active=first, head="Cell",
                           roomy=True, alt_text="Every cell of the grid, a column for each metric")  # fmt: skip
    st.caption(f"Student's 95{GAP}% intervals of the mean over {rows['n'].max()} seeds, on {judged.split} cases.")
    st.selectbox("Cell", list(rows["method"].unique()), key="grid-cell", width=420)
    owner = owner_of_run(store.run_folder(about.workspace, name))
    with st.container(horizontal=True):
        st.button("Keep this cell as a run of its own", key="grid-keep", on_click=_keep_cell, args=(name, about),
                  icon=":material/bookmark_add:")  # fmt: skip
        with st.popover("Delete the grid", icon=":material/delete:"):
            st.button("Delete it", key=f"delete:{name}", on_click=delete, args=(name,), type="primary",
                      **identity.permitted(Action.REMOVE_RUN, owner))  # fmt: skip


# ---------------------------------------------------------------------------------- tables


@cached
@st.spinner("Counting …")
def _overall(names: tuple[str, ...], about: Scenario) -> pd.DataFrame:
    facts, drawn = store.compared(names, about), store.weights(about)
    return pd.concat([tables.overall(facts, drawn), tables.collapse(facts, drawn)], ignore_index=True)


@cached
@st.spinner("Counting …")
def _standing(names: tuple[str, ...], about: Scenario) -> pd.DataFrame:
    facts, drawn = store.compared(names, about), store.weights(about)
    return pd.concat([standings(name, facts, drawn) for name in ("overall", "collapse")], ignore_index=True)


@cached
@st.spinner("Counting …")
def _paired(names: tuple[str, ...], reference: str, about: Scenario) -> pd.DataFrame:
    return tables.paired(store.compared(names, about), reference, store.weights(about))


@cached
@st.spinner("Counting …")
def _grid_tables(name: str, about: Scenario) -> tuple[pd.DataFrame, pd.DataFrame]:
    cases, run = store.cases(about), store.run(about.workspace, name)
    facts = grid.evidence(run, store.predictions(about.workspace, name)(cases), cases)
    return grid.levels(facts), grid.effects(facts)


def _difference(name: str, other: str, about: Scenario) -> str:
    """Total cost against another run, in words."""
    rows = _paired((name, other), other, about)
    (row,) = rows[rows["metric"] == "TotalCost"].to_dict("records")
    return (
        f"Against {store.run_title(other)}, total cost {decimal(row['difference'], signed=True)} (95{GAP}% interval "
        f"{interval(row['low'], row['high'], signed=True)}; better in {percent(row['favours_method'], 0)} of "
        "resamples)."
    )


def _changed(name: str, other: str, about: Scenario) -> None:
    """What is decided otherwise than by another run, all members of each deciding together."""
    facts = store.compared((name, other), about)
    before, after = (_together(facts.outcomes[run], facts.cohort) for run in (other, name))
    rows = moved_cases.moved(facts.cohort, facts.costs, before, after)
    st.markdown(f"**Against {store.run_title(other)}, {len(rows)} of {len(facts.cohort)} decisions changed.** "
                f"{moved_cases.in_words(rows)}")  # fmt: skip
    if len(rows):
        with st.expander(f"The {len(rows)} decisions that changed", icon=":material/list:"):
            widgets.data_table(rows, key="changed", columns=_CHANGED,
                               alt_text="The cases that are decided otherwise, and by whom")  # fmt: skip


def _together(outcome: Outcome, cohort: Cohort) -> Decisions:
    """What the members decide as one; a method without a soft policy has a single member."""
    if outcome.policy is None:
        return Decisions(outcome.decisions.consulted[0], outcome.decisions.label[0])
    return decided_together(outcome.policy, cohort, outcome.rule, outcome.continuations)


# ---------------------------------------------------------------------------------- what buttons do


def _activate(name: str) -> None:
    st.session_state[frame.RUN] = name


def _rename(name: str, about: Scenario) -> None:
    """Call it what stands in the field at the press."""
    title = st.session_state[f"title:{name}"]
    taken = {store.run_title(other) for other in store.run_names(about.workspace) if other != name}
    try:
        own_runs.rename(name.removeprefix(store.OWN), title, Workshop.here(), taken, by=identity.actor())
    except UserError as error:
        st.toast(verbatim(str(error)), icon=":material/error:")


def delete(name: str) -> None:
    """Delete an own run; what speaks against it is said."""
    try:
        own_runs.delete(name.removeprefix(store.OWN), Workshop.here(), by=identity.actor())
    except UserError as error:
        st.toast(verbatim(str(error)), icon=":material/error:")


def _zipped(folder: str, place: Workshop, by: Actor) -> bytes:
    return own_runs.zipped(folder, place, by=by)


def _keep_cell(name: str, about: Scenario) -> None:
    """Make the cell chosen at the press a run."""
    cell = st.session_state["grid-cell"]
    run, whole = store.run(about.workspace, name), store.cohort(about.workspace)
    taken = {store.run_title(other) for other in store.run_names(about.workspace)}
    title = own_runs.unique(f"{store.run_title(name)}: {cell}"[:LONGEST], taken)
    try:
        policy = store.predictions(about.workspace, name)(whole)
        folder, place = name.removeprefix(store.OWN), Workshop.here()
        own_runs.keep_cell(folder, run, policy, cell, title, whole, place, by=identity.actor())
    except UserError as error:
        st.toast(verbatim(str(error)), icon=":material/error:")
    else:
        st.toast(f"Kept as {verbatim(title)}", icon=":material/bookmark_added:")


_CHANGED = {
    "case_id": "Case",
    "cohort": "Cohort",
    "from": "Decided by, before",
    "to": "Decided by, now",
    "kind": "Change",
    "error": "Error",
    "clinical": st.column_config.NumberColumn("Clinical cost", format="%+.2f", help="Now less before"),
    "fees": st.column_config.NumberColumn("Fees", format="%+.2f", help="Now less before"),
}
_EFFECTS = {
    "first": "Cell",
    "second": "Against",
    "difference": st.column_config.NumberColumn("Difference", format="%+.3f"),
    "sd": st.column_config.NumberColumn("± sd", format="%.3f"),
    "se": None,
    "low": st.column_config.NumberColumn("From", format="%+.3f"),
    "high": st.column_config.NumberColumn("to", format="%+.3f"),
    "n": "Seeds",
}
