"""Charts of the Robustness page."""

from __future__ import annotations

import altair as alt
import pandas as pd

from mpd2.evaluation.metrics import label_of
from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.forest import cut, forest
from mpd2.present.charts.kit.style import AI as AI_MARK
from mpd2.present.charts.kit.style import CATEGORIES, OTHER, AltairChart, heading, with_interval, with_method_marks
from mpd2.study.robustness import AI

HEIGHT = 340
COST = "TotalCost"
TICKS, WIDTHS = (50, 200, 1000, 5000, 20000), (0.5, 1, 2, 5, 10, 20, 40)  # cases, points
DASHES = {"": [1, 0], "less AI": [6, 4], "reader": [2, 3]}  # of a run's rate, its difference to the AI, a reader's rate


@drawn_once
def resplits(rows: pd.DataFrame, metric: str, active: str) -> AltairChart:
    """One metric of every method over resplits, with its interval. `rows`: the table of resplits, all cases."""
    label = label_of(metric)
    shown = with_method_marks(_sorted(rows[rows["metric"] == metric]), active)
    return forest(shown, label, f"Mean {label} over resplits", metric=metric)


@drawn_once
def rivals(rows: pd.DataFrame, metric: str, active: str, against: str) -> AltairChart:
    """What every method has more than one of them, resplit by resplit. `rows`: the table of rivals."""
    shown = _sorted(rows[rows["metric"] == metric].rename(columns={"difference": "value"}))
    axis = f"{label_of(metric)}, less {against}"
    return forest(with_method_marks(shown, active), axis, f"Difference from {against}", zero=True)


@drawn_once
def transfer(rows: pd.DataFrame, cohort: str, active: str) -> AltairChart:
    """Total cost of every method in a cohort that it has not seen; hollow: when it was trained on it too.

    `rows`: the table of transfer, one cohort.
    """
    shown = with_method_marks(_sorted(rows[rows["metric"] == COST]), active)
    title, hollow = f"Total cost with {cohort} unseen; hollow: trained on it", ("known", f"trained on {cohort} too")
    return forest(shown, label_of(COST), title, metric=COST, hollow=hollow)


@drawn_once
def recalibration(rows: pd.DataFrame, cohort: str) -> AltairChart:
    """Total cost in a new cohort by the labelled cases of it, a line and a band each method; the AI is dashed.

    `rows`: the table of recalibration, one cohort.
    """
    rows, note, _ = cut(rows, COST)
    learned, alone = rows[rows["method"] != AI], rows[rows["method"] == AI]
    titles = learned["title"].drop_duplicates().tolist()
    ticks = sorted(rows["local"].unique().tolist())
    legend = alt.Legend(orient="top", labelLimit=0, symbolOpacity=1)
    across = alt.X(
        "local:Q",
        title="labelled local cases",
        scale=alt.Scale(type="symlog", constant=10),
        axis=alt.Axis(values=ticks, tickCount=len(ticks), grid=False, labelOverlap=False),
    )
    colour = alt.Scale(domain=titles, range=list(CATEGORIES[: len(titles)]))
    base = alt.Chart(learned).encode(x=across, color=alt.Color("title:N", title=None, scale=colour, legend=legend))
    cost = alt.Y("value:Q", title="total cost of a case")
    tooltip = [
        alt.Tooltip("title:N", title="method"),
        alt.Tooltip("local:Q", title="local cases"),
        *with_interval("value", "total cost"),
        alt.Tooltip("less_none:Q", title="less than with none", format="+.3f"),
        alt.Tooltip("n:Q", title="draws"),
    ]
    ai = alt.Chart(alone).mark_line(color=AI_MARK.colour, strokeDash=[6, 4], strokeWidth=2)
    layers = (
        base.mark_area(opacity=0.14).encode(y=alt.Y("low:Q", title="total cost of a case"), y2="high:Q"),
        ai.encode(x=across, y="value:Q"),
        base.mark_line(strokeWidth=2).encode(y=cost),
        base.mark_point(filled=True, size=80, opacity=1).encode(
            y=cost,
            shape=alt.Shape("title:N", title=None, scale=alt.Scale(domain=titles), legend=legend),
            tooltip=tooltip,
        ),
    )
    title = heading(f"Total cost in {cohort}; dashed: the AI alone", note)
    return alt.layer(*layers).properties(title=title, height=HEIGHT)


@drawn_once
def sample_size(rows: pd.DataFrame, cases: int, wanted: float) -> AltairChart:
    """How narrow intervals become with more cases; rules mark the planned number of cases and the wanted half-width.

    `rows`: `sample_size.curve` with a title for each number; `wanted` is a share, drawn in points like the rest.
    """
    titles = rows["title"].drop_duplicates().tolist()
    kinds = rows.drop_duplicates("title")["what"].str.partition(" ")
    colours = [CATEGORIES[0] if rate == "Sens" else CATEGORIES[1] for rate in kinds[0]]
    dashes = [DASHES[kind] for kind in kinds[2]]
    legend = alt.Legend(orient="top", labelLimit=0, labelFontSize=11, columns=2, columnPadding=6, symbolSize=240)
    across = alt.X(
        "cases:Q", title="cases", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(values=list(TICKS), grid=False)
    )
    scale = alt.Scale(type="log", nice=False)
    up = alt.Y("points:Q", title="± points, half of the 95 % interval", scale=scale, axis=alt.Axis(values=list(WIDTHS)))
    lines = (
        alt.Chart(rows.assign(points=100 * rows["half_width"]))
        .mark_line(strokeWidth=2)
        .encode(
            x=across,
            y=up,
            color=alt.Color("title:N", title=None, scale=alt.Scale(domain=titles, range=colours), legend=legend),
            strokeDash=alt.StrokeDash(
                "title:N", title=None, scale=alt.Scale(domain=titles, range=dashes), legend=legend
            ),
            tooltip=[
                alt.Tooltip("title:N", title=" "),
                alt.Tooltip("cases:Q", title="cases", format=","),
                alt.Tooltip("points:Q", title="± points", format=".1f"),
            ],
        )
    )
    marks = pd.DataFrame({"cases": [cases], "points": [100 * wanted]})
    rules = [
        alt.Chart(marks).mark_rule(color=OTHER.colour).encode(x="cases:Q"),
        alt.Chart(marks).mark_rule(color=OTHER.colour).encode(y="points:Q"),
    ]
    title = heading("How sure numbers are with more cases", "Grey: the cases planned, and the half-width wanted.")
    return alt.layer(*rules, lines).properties(title=title, height=HEIGHT + 80)  # for the legend


def _sorted(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.sort_values("value", kind="stable")
