"""The tabs of the Overview, each drawn when it is looked at: tables of methods, subgroups, calibration, trade-offs."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from mpd2.core.cache import cached
from mpd2.evaluation.curves import COSTS, SCORES
from mpd2.evaluation.metrics import label_of
from mpd2.evaluation.tables import ALL, COLLAPSE, RETAINED
from mpd2.methods.registry import NOT_DEPLOYABLE
from mpd2.present.charts import overview as charts
from mpd2.present.words.side_by_side import NOTED, SideBySide, side_by_side, with_difference
from mpd2.studio.overview import calibration, decision_curve, subgroups, texts
from mpd2.studio.overview import store as reads
from mpd2.studio.parts import method_table, widgets
from mpd2.studio.shell import link, results, store
from mpd2.studio.shell.scenario import Scenario

COSTS_FIRST = ("TotalCost", "ClinicalCost", "ExpertCost", "Defer", "F1", "MCC", "Sens", "Spec", "Prec", "Acc")
RATES_FIRST = ("Sens", "Spec", "Defer", "TotalCost", "ClinicalCost", "ExpertCost", "F1", "MCC", "Prec", "Acc")
METRICS = {
    "overall": RATES_FIRST,
    "paper": COSTS_FIRST,
    "cohorts": RATES_FIRST,
    "collapse": COLLAPSE,
    "retention": RETAINED,
}
BESIDE = {"cohorts": ("Sens", "Spec", "Defer", "TotalCost"), "retention": RETAINED}  # shown of all cohorts at once
TABLES = {"paper": "overall"}  # tabs that show a table of another name
EVERY_COHORT = "every"
MOST_PILLS = 13  # cohorts side by side in a row; more are chosen from a list
GAP = "Δ total"
OPENED_BY = {
    "paired": "paired", "cost": "tradeoff", "tradeoff-published": "tradeoff", "methods-published": "paper",
    "subgroup_metric": "cohorts", "calibrated_reader": "calibration", "curve_part": "curve",
}  # fmt: skip
"""Tabs that a link opens by what it says of them; such links were made before there were these tabs."""


@st.fragment
def draw(about: Scenario) -> None:
    """The chosen tab."""
    default = next((view for key, view in OPENED_BY.items() if key in st.query_params), "overall")
    view = link.one(st.segmented_control, "View", list(texts.VIEWS), key="view", default=default, required=True,
                    format_func=partial(_called, about), label_visibility="collapsed")  # fmt: skip
    if view == "paired":
        differences(about)
    elif view == "tradeoff":
        tradeoffs(about)
    elif view == "paper":
        as_in_the_paper(about.as_fitted())
    elif view == "curve":
        decision_curve.draw(about)
    elif view == "calibration":
        calibration.draw(about)
    else:
        methods(about, view)
    if view == "cohorts":
        st.subheader(texts.SUBGROUPS, anchor=False)
        subgroups.draw(about)


def _called(about: Scenario, view: str) -> str:
    """A tab's name: the first says at what methods are compared."""
    if view != "overall" or about.floor is None:
        return texts.VIEWS[view]
    return texts.AT_FLOOR.format(rate=label_of(about.floor.rate))


def as_in_the_paper(about: Scenario) -> None:
    """Every method at the paper's own operating point, and what that comes to in cost."""
    said = results.answer(about)
    st.markdown(f"{said.headline} {said.errors} {said.rival}")
    methods(about, "paper")


def methods(about: Scenario, view: str) -> None:
    """Every method in one of the tables."""
    table_name = TABLES.get(view, view)
    rows = results.table(table_name, about)
    columns = _by_cohort(about, view) if view in BESIDE else method_table.heads(METRICS[view], ALL)
    intervals, printed = method_table.switches("methods", results.as_published(about))
    table = _laid_out(table_name, about, tuple(columns.items()), intervals, printed)
    if table_name == "overall":
        columns = {**columns, (ALL, "TotalGap"): GAP}
    method_table.wide_table(
        rows,
        table,
        columns,
        about,
        key=f"methods-{view}",
        active=about.run,
        grey=NOT_DEPLOYABLE,
        roomy=intervals,
        alt_text=f"{texts.VIEWS[view]}: a row for each method, a column for each metric. {texts.EXPLAINED[view]}",
    )
    st.caption(f"{texts.EXPLAINED[view]} {method_table.LEGEND}")
    for title, readers, cohorts in reads.nobody_to_ask(about):
        st.caption(texts.NOBODY_TO_ASK.format(mark=NOTED, title=title, readers=readers, cohorts=cohorts))


@cached
def _laid_out(
    table_name: str, about: Scenario, heads: tuple[tuple[tuple[str, str], str], ...], intervals: bool, printed: bool
) -> SideBySide:
    """A table of methods with these columns; the first one also has how far the cost is from that of the active run."""
    columns = dict(heads)
    table = side_by_side(
        results.table(table_name, about),
        columns,
        first=about.run,
        last=NOT_DEPLOYABLE,
        standing=reads.standing(table_name, about),
        noted=reads.never_available(about)["method"].tolist(),
        intervals=intervals,
        printed=printed,
    )
    if table_name != "overall":
        return table
    return with_difference(table, reads.paired(about, "TotalCost"), GAP, columns[ALL, "TotalCost"], intervals)


def differences(about: Scenario) -> None:
    """Every method against the active run."""
    metric = link.one(st.selectbox, "Metric", COSTS_FIRST, key="paired", default=COSTS_FIRST[0],
                      format_func=label_of, width=260)  # fmt: skip
    paired = reads.paired(about, metric)
    widgets.chart(
        charts.differences(paired, about.run),
        table=paired,
        key="paired-chart",
        alt_text=f"Dots with intervals: {label_of(metric)} of each method less that of the active run",
        note=texts.DIFFERENCES.format(help=method_table.help_of(metric, about), n=paired["n"].max()),
    )


def tradeoffs(about: Scenario) -> None:
    """Both scores against a cost."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        cost = link.one(st.segmented_control, "Cost", COSTS, key="cost", default="TotalCost", required=True,
                        format_func=label_of)  # fmt: skip
        printed = method_table.published_switch("tradeoff", results.as_published(about))
    planes = {score: reads.plane(about, score, cost) for score in SCORES}
    for column, (score, plane) in zip(st.columns(2), planes.items(), strict=True):
        with column:
            widgets.chart(
                charts.tradeoff(plane, about.run, printed),
                table=plane,
                key=f"tradeoff-{score}",
                alt_text=f"{score} of every deployable method against its {label_of(cost)}, with the Pareto front",
                note=charts.front_in_words(plane),
            )
    n = next(iter(planes.values()))["n"].max()
    st.caption(f"{texts.MAIN_CHART.format(n=n)} {texts.HOLLOW}")


def _by_cohort(about: Scenario, view: str) -> dict[tuple[str, str], str]:
    """The columns of one cohort, or a few of each."""
    rows, cohorts = results.table(view, about), store.manifest(about.workspace).cohorts
    sizes = dict(zip(rows["cohort"], rows["n"], strict=True))
    names = {item.key: f"{item.name} (n = {sizes[item.key]})" for item in cohorts if item.key in sizes}
    names[EVERY_COHORT] = "Side by side"
    widget: Any = partial(st.pills, required=True) if len(names) <= MOST_PILLS else partial(st.selectbox, width=320)
    chosen = link.one(widget, "Cohort", [EVERY_COHORT, *list(names)[:-1]], key=f"cohort-{view}", default=EVERY_COHORT,
                      format_func=names.__getitem__, label_visibility="collapsed")  # fmt: skip
    if chosen != EVERY_COHORT:
        return method_table.heads(METRICS[view], chosen)
    parts = [method_table.heads(BESIDE[view], item.key, item.name) for item in cohorts if item.key in sizes]
    return {place: head for part in parts for place, head in part.items()}
