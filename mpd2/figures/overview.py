"""Charts of the Overview page."""

from __future__ import annotations

import altair as alt
import pandas as pd

from mpd2.figures.common import METRIC_NAMES, method_scales
from mpd2.theme import OTHER


def tradeoff(plane: pd.DataFrame, active: str) -> alt.LayerChart:
    """A score against a cost, one labelled point a method, with the Pareto front as a step.

    `plane`: the rows of one score and one cost of `curves.tradeoff`.
    """
    score, cost = METRIC_NAMES[plane["score"].iloc[0]], METRIC_NAMES[plane["cost"].iloc[0]]
    colour, shape = method_scales(plane["method"].tolist(), active)
    base = alt.Chart(plane).encode(
        x=alt.X("cost_value:Q", title=cost, scale=alt.Scale(zero=False, padding=20)),
        y=alt.Y("score_value:Q", title=score, scale=alt.Scale(zero=False, padding=20)),
    )
    front = base.transform_filter("datum.on_front").mark_line(
        interpolate="step-after", strokeDash=[4, 3], color=OTHER.colour
    )
    dots = base.mark_point(filled=True, size=110, opacity=0.95).encode(
        color=alt.Color("method:N", scale=colour, legend=None),
        shape=alt.Shape("method:N", scale=shape, legend=None),
        tooltip=[
            alt.Tooltip("title:N", title="method"),
            alt.Tooltip("score_value:Q", title=score, format=".3f"),
            alt.Tooltip("cost_value:Q", title=cost, format=".3f"),
            alt.Tooltip("front_share:Q", title="on the front in resamples", format=".0%"),
        ],
    )
    names = base.mark_text(align="left", dx=9, dy=-4, fontSize=11).encode(
        text="title:N", color=alt.Color("method:N", scale=colour, legend=None)
    )
    title = f"{score} against {cost}; dashed: nobody is better in both"
    return (front + dots + names).properties(title=title, height=340)
