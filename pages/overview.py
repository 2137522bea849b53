"""Overview: is it worth it?"""

import pandas as pd
import streamlit as st

from mpd2.core.text import GAP
from mpd2.evaluation.curves import COSTS, SCORES
from mpd2.evaluation.metrics import METRICS, label_of
from mpd2.evaluation.tables import ALL, COLLAPSE, REPORTED, RETAINED
from mpd2.methods import NOT_DEPLOYABLE
from mpd2.present.charts import overview as figures
from mpd2.present.charts.kit.sparkline import WIDTH, sparkline
from mpd2.present.words import answer as headlines
from mpd2.present.words.side_by_side import side_by_side, with_difference
from mpd2.studio.budget import state
from mpd2.studio.budget import store as budget_store
from mpd2.studio.parts import method_table, widgets
from mpd2.studio.shell import frame, link, store

VIEWS = {"overall": "Overall", "cohorts": "By cohort", "collapse": "Collapse", "retention": "AI-retained"}
EXPLAINED = {
    "overall": "Every method on every case of the slice.",
    "cohorts": "The same in each cohort: photographs from other cameras, of other people.",
    "collapse": "How the cases sent are spread over the readers. A router that always asks the same one has collapsed.",
    "retention": "How safe the cases are that no reader sees; accuracy, MCC and cost are of those cases alone.",
}
COSTS_FIRST = tuple(name for name in METRICS if name in REPORTED)
SHOWN = {"overall": COSTS_FIRST, "cohorts": COSTS_FIRST, "collapse": COLLAPSE, "retention": RETAINED}
BESIDE = {"cohorts": ("TotalCost", "Defer", "F1"), "retention": RETAINED}  # shown of all cohorts at once
EVERY_COHORT = "every"
TOTAL_GAP = "Δ total"
COLOURS = {headlines.BETTER_WORD: "green", headlines.WORSE_WORD: "red", headlines.CHANCE_WORD: "gray"}

about = frame.open_page("overview")
manifest = store.cohort().manifest


def answer() -> None:
    """The sentence and the five numbers."""
    told, curves = store.answer(about), budget_store.small_curves(about)
    own = budget_store.day(about, state.usual()).share
    st.markdown(f"**{told.headline}** {told.errors}")
    with st.container(horizontal=True):
        for number in told.numbers:
            with st.container(border=True, width="stretch", height="stretch"):
                st.metric(number.label, number.value, help=method_table.help_of(number.metric))
                curve = sparkline(curves[number.metric], own)
                st.image(curve, alt=f"{number.label} as more cases are sent", width=WIDTH)
                st.markdown(_in_small(number))  # one text, not a caption: that would fade the colours
    st.caption(
        f"{told.rival} is the cheapest other method that can be deployed. Differences are on the same resampled cases, "
        "so chance that hits both cancels out; the busiest reader's is not, and its interval is wider than it need be. "
        "Small curves: the same number as more cases are sent, from none (left) to all (right); dot: as many as now."
    )


def _in_small(number: headlines.KeyNumber) -> str:
    """A number's interval, and how far it is from others."""
    paragraphs = [[f":gray[95{GAP}% interval {number.span}]" if number.span else ":gray[Nobody is asked.]"]]
    for apart in number.differences:
        sense = f" :{COLOURS[apart.sense]}[{apart.sense}]" if apart.sense else ""
        paragraphs.append([f"Against {apart.against}", f"**{apart.change}**{sense}", apart.span])
    return "\n\n".join("  \n".join(f":small[{line}]" for line in lines) for lines in paragraphs)


@st.fragment
def methods() -> None:
    """Every method in the chosen view."""
    view = link.one(st.segmented_control, "Table", list(VIEWS), key="view", default="overall", required=True,
                    format_func=VIEWS.__getitem__, label_visibility="collapsed")  # fmt: skip
    rows = store.table(view, about)
    columns = _by_cohort(view) if view in BESIDE else method_table.heads(SHOWN[view], ALL)
    intervals, printed = method_table.switches("methods", about.is_whole)
    table = side_by_side(rows, columns, first=about.run, unranked=NOT_DEPLOYABLE, intervals=intervals, printed=printed)
    if view == "overall":
        table = with_difference(table, _apart("TotalCost"), TOTAL_GAP, intervals)
        columns = {**columns, (ALL, "TotalGap"): TOTAL_GAP}
    method_table.wide_table(
        rows,
        table,
        columns,
        key=f"methods-{view}",
        active=about.run,
        unranked=NOT_DEPLOYABLE,
        roomy=intervals,
        alt_text=f"{VIEWS[view]}: a row for each method, a column for each figure. {EXPLAINED[view]}",
    )
    st.caption(f"{EXPLAINED[view]} {method_table.LEGEND}")


def _by_cohort(view: str) -> dict[tuple[str, str], str]:
    """The columns of one cohort, or a few of each."""
    rows = store.table(view, about)
    sizes = dict(zip(rows["cohort"], rows["n"], strict=True))
    names = {item.key: f"{item.name} (n = {sizes[item.key]})" for item in manifest.cohorts if item.key in sizes}
    names[EVERY_COHORT] = "Side by side"
    chosen = link.one(st.pills, "Cohort", [EVERY_COHORT, *list(names)[:-1]], key=f"cohort-{view}", default=EVERY_COHORT,
                      required=True, format_func=names.__getitem__, label_visibility="collapsed")  # fmt: skip
    if chosen != EVERY_COHORT:
        return method_table.heads(SHOWN[view], chosen)
    parts = [method_table.heads(BESIDE[view], item.key, item.name) for item in manifest.cohorts if item.key in sizes]
    return {place: head for part in parts for place, head in part.items()}


def _apart(metric: str) -> pd.DataFrame:
    """Every other method less the active run."""
    paired = store.table("paired", about)
    return paired[(paired["reference"] == about.run) & (paired["metric"] == metric)]


@st.fragment
def differences() -> None:
    """Every method against the active run."""
    st.subheader("Against the active run, case by case", anchor=False)
    metric = link.one(st.selectbox, "Metric", COSTS_FIRST, key="paired", default=COSTS_FIRST[0],
                      format_func=label_of, width=260)  # fmt: skip
    paired = _apart(metric)
    widgets.chart(
        figures.differences(paired, about.run),
        table=paired,
        key="paired-chart",
        alt_text=f"Dots with intervals: {label_of(metric)} of each method less that of the active run",
        note=f"Where an interval leaves out the line, the two differ beyond chance. {method_table.help_of(metric)} "
        f"n = {paired['n'].max()}.",
    )


@st.fragment
def tradeoff() -> None:
    """Scores against costs."""
    st.subheader("What a better score costs", anchor=False)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        cost = link.one(st.segmented_control, "Cost", COSTS, key="cost", default="TotalCost", required=True,
                        format_func=label_of)  # fmt: skip
        printed = method_table.published_switch("tradeoff", about.is_whole)
    planes = store.table("tradeoff", about)
    planes = planes[planes["cost"] == cost]
    for column, score in zip(st.columns(2), SCORES, strict=True):
        plane = planes[planes["score"] == score]
        with column:
            widgets.chart(
                figures.tradeoff(plane, about.run, printed),
                table=plane,
                key=f"tradeoff-{score}",
                alt_text=f"{score} of every deployable method against its {label_of(cost)}, with the Pareto front",
                note=figures.front_in_words(plane),
            )
    st.caption(
        "Dashed: the front, on which no method is better in both ways at once. Diamond: the active run with its "
        "intervals; square: the AI alone; circles: other methods, pale behind the front, named on hover. Hollow: in "
        f"the paper. The oracle is left out. n = {planes['n'].max()}."
    )


answer()
methods()
differences()
tradeoff()
