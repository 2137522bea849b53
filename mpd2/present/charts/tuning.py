"""Charts of a study of tuning."""

from __future__ import annotations

import altair as alt
import pandas as pd

from mpd2.evaluation.metrics import label_of
from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.style import OTHER, ROUTER, AltairChart

HEIGHT = 340
BEST = 0.1  # share of trials that stand out


@drawn_once
def history(rows: pd.DataFrame) -> AltairChart:
    """Score of each trial and the best so far. `rows`: as `tuning.tables.history` gives them."""
    base = alt.Chart(rows).encode(x=alt.X("trial:Q", title="trial", axis=alt.Axis(tickMinStep=1)))
    y = alt.Y("Score:Q", title="score, val (less is better)", scale=alt.Scale(zero=False))
    tooltip = ["trial:Q", alt.Tooltip("Score:Q", format=".4f")]
    dots = base.mark_point(filled=True, size=45, color=OTHER.colour, shape=OTHER.shape).encode(y=y, tooltip=tooltip)
    best = base.mark_line(interpolate="step-after", color=ROUTER.colour, strokeWidth=2).encode(y="best:Q")
    return alt.layer(dots, best).properties(title="Every trial, and the best so far within its budget", height=HEIGHT)


@drawn_once
def front(rows: pd.DataFrame, score: str, cost: str) -> AltairChart:
    """Trials by a score and a cost; those nobody beats in both stand out. `rows`: as `tuning.tables.front`."""
    x = alt.X(f"{cost}:Q", title=f"{label_of(cost)}, val (less is better)", scale=alt.Scale(zero=False, padding=15))
    y = alt.Y(f"{score}:Q", title=f"{label_of(score)}, val (more is better)", scale=alt.Scale(zero=False, padding=15))
    tooltip = ["trial:Q", *(alt.Tooltip(f"{name}:Q", format=".3f") for name in (score, cost, "Score"))]
    base = alt.Chart(rows)
    line = base.transform_filter("datum.on_front").mark_line(
        interpolate="step-after", strokeDash=[4, 3], color=OTHER.colour
    )
    dots = base.mark_point(filled=True, opacity=1).encode(
        x=x,
        y=y,
        size=alt.condition("datum.on_front", alt.value(130), alt.value(60)),
        color=alt.condition("datum.on_front", alt.value(ROUTER.colour), alt.value(OTHER.colour)),
        shape=alt.condition("datum.on_front", alt.value(ROUTER.shape), alt.value(OTHER.shape)),
        tooltip=tooltip,
    )
    return alt.layer(line.encode(x=x, y=y), dots).properties(title="Pareto front of all trials", height=HEIGHT)


@drawn_once
def importances(rows: pd.DataFrame) -> AltairChart:
    """Which settings the score depends on. `rows`: as `tuning.tables.importances` gives them."""
    return (
        alt.Chart(rows)
        .mark_bar(color=ROUTER.colour)
        .encode(
            x=alt.X("importance:Q", title="share of the spread of scores", axis=alt.Axis(format="%")),
            y=alt.Y("symbol:N", sort=rows["symbol"].tolist(), title=None, axis=alt.Axis(labelOverlap=False)),
            tooltip=["symbol:N", "meaning:N", alt.Tooltip("importance:Q", format=".1%")],
        )
        .properties(title="What the score depends on", height=HEIGHT)
    )


@drawn_once
def parallel(rows: pd.DataFrame) -> AltairChart:
    """Each trial as a line through its settings; the best tenth stands out. `rows`: as `tuning.tables.parallel`."""
    order = rows["symbol"].unique().tolist()
    shown = rows.assign(best=rows["rank"] <= max(1, round(BEST * rows["trial"].nunique())))
    return (
        alt.Chart(shown)
        .mark_line()
        .encode(
            x=alt.X("symbol:N", sort=order, title=None, axis=alt.Axis(labelAngle=-35, labelOverlap=False)),
            y=alt.Y("place:Q", title="place in the setting's range"),
            detail="trial:N",
            order=alt.Order("best:N"),
            color=alt.condition("datum.best", alt.value(ROUTER.colour), alt.value(OTHER.colour)),
            opacity=alt.condition("datum.best", alt.value(0.9), alt.value(0.25)),
            tooltip=["trial:Q", "rank:Q", "symbol:N", alt.Tooltip("value:Q", format=".4g"),
                     alt.Tooltip("Score:Q", format=".4f")],
        )
        .properties(title="Where trials lie; green: the best tenth", height=HEIGHT)
    )  # fmt: skip
