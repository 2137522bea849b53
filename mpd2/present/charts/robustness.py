"""Charts of the Robustness page."""

from __future__ import annotations

import altair as alt
import pandas as pd

from mpd2.evaluation.metrics import label_of
from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.forest import forest
from mpd2.present.charts.kit.style import AI as AI_MARK
from mpd2.present.charts.kit.style import CATEGORIES, AltairChart, mark_of
from mpd2.study.resplits import AI

HEIGHT = 380


@drawn_once
def resplits(rows: pd.DataFrame, metric: str, active: str) -> AltairChart:
    """One metric of every method over resplits, with its interval. `rows`: the table of resplits, all cases."""
    name = label_of(metric)
    shown = rows[rows["metric"] == metric].sort_values("value", kind="stable")
    return forest(_marked(shown, active), name, f"Mean {name} over resplits")


@drawn_once
def rivals(rows: pd.DataFrame, metric: str, active: str, against: str) -> AltairChart:
    """What every method has more than one of them, resplit by resplit. `rows`: the table of rivals."""
    name = label_of(metric)
    shown = rows[rows["metric"] == metric].rename(columns={"difference": "value"}).sort_values("value", kind="stable")
    return forest(_marked(shown, active), f"{name}, less {against}", f"Difference from {against}", zero=True)


@drawn_once
def transfer(rows: pd.DataFrame, cohort: str, active: str) -> AltairChart:
    """Total cost of every method in a cohort that is new to it; hollow: when it has learned from it.

    `rows`: the table of transfer, one cohort.
    """
    shown = rows[rows["metric"] == "TotalCost"].rename(columns={"known": "published"})
    shown = shown.sort_values("value", kind="stable")
    return forest(_marked(shown, active), "total cost", f"With {cohort} new; hollow: known", published="known")


@drawn_once
def recalibration(rows: pd.DataFrame, cohort: str) -> AltairChart:
    """Total cost in a new cohort by the labelled cases of it, a line and a band each method; the AI is dashed.

    `rows`: the table of recalibration, one cohort.
    """
    learned = rows[rows["method"] != AI]
    alone = rows[rows["method"] == AI]
    titles = learned["title"].drop_duplicates().tolist()
    ticks = sorted(rows["local"].unique().tolist())
    base = alt.Chart(learned).encode(
        x=alt.X(
            "local:Q",
            title="labelled local cases",
            scale=alt.Scale(type="symlog", constant=10),
            axis=alt.Axis(values=ticks, grid=False),
        ),
        color=alt.Color(
            "title:N",
            title=None,
            scale=alt.Scale(domain=titles, range=list(CATEGORIES[: len(titles)])),
            legend=alt.Legend(orient="top", labelLimit=0),
        ),
    )
    above = alt.Scale(domainMin=0, clamp=True)  # no case costs less, whatever an interval over few draws says
    cost = alt.Y("value:Q", title="total cost of a case", scale=above)
    told = [
        alt.Tooltip("title:N", title="method"),
        alt.Tooltip("local:Q", title="local cases"),
        alt.Tooltip("value:Q", title="total cost", format=".3f"),
        alt.Tooltip("low:Q", title="95 % from", format=".3f"),
        alt.Tooltip("high:Q", title="to", format=".3f"),
        alt.Tooltip("less_none:Q", title="less than with none", format="+.3f"),
        alt.Tooltip("n:Q", title="draws"),
    ]
    ai = alt.Chart(alone).mark_line(color=AI_MARK.colour, strokeDash=[6, 4], strokeWidth=2)
    layers = (
        base.mark_area(opacity=0.14).encode(y=alt.Y("low:Q", title="total cost of a case", scale=above), y2="high:Q"),
        ai.encode(x="local:Q", y="value:Q"),
        base.mark_line(strokeWidth=2).encode(y=cost),
        base.mark_point(filled=True, size=80, opacity=1).encode(
            y=cost, shape=alt.Shape("title:N", title=None), tooltip=told
        ),
    )
    return alt.layer(*layers).properties(title=f"Total cost in {cohort}; dashed: the AI alone", height=HEIGHT)


def _marked(rows: pd.DataFrame, active: str) -> pd.DataFrame:
    marks = [mark_of(method, active) for method in rows["method"]]
    return rows.assign(colour=[mark.colour for mark in marks], shape=[mark.shape for mark in marks])
