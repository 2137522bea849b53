"""Charts of the Overview page."""

from __future__ import annotations

import altair as alt
import pandas as pd

from mpd2.core.text import percent
from mpd2.evaluation.metrics import label_of
from mpd2.methods.registry import NOT_DEPLOYABLE
from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.forest import forest
from mpd2.present.charts.kit.style import OTHER, ROUTER, AltairChart, method_scales, with_method_marks
from mpd2.study.claims import AI

HEIGHT = 380  # pixels: on a beamer it ends above the fold


@drawn_once
def tradeoff(plane: pd.DataFrame, active: str, printed: bool = False) -> AltairChart:
    """A score against a cost, one point a method, with the Pareto front as a step.

    `plane`: the rows of one score and one cost of `curves.tradeoff`. Named are the AI and the active run, as names of
    all on the front would cover each other; `printed` adds what the paper prints, hollow.
    """
    score, cost = label_of(plane["score"].iloc[0]), label_of(plane["cost"].iloc[0])
    colour, shape = method_scales(plane["method"].tolist(), active)
    base = alt.Chart(plane).encode(
        x=alt.X("cost_value:Q", title=f"{cost} (less is better)", scale=alt.Scale(zero=False, padding=25)),
        y=alt.Y("score_value:Q", title=f"{score} (more is better)", scale=alt.Scale(zero=False, padding=25)),
    )
    own = base.transform_filter(alt.datum.method == active)
    layers = [
        base.transform_filter("datum.on_front").mark_line(
            interpolate="step-after", strokeDash=[4, 3], color=OTHER.colour
        ),
        own.mark_rule(color=ROUTER.colour).encode(x=alt.X("cost_low:Q"), x2="cost_high:Q"),
        own.mark_rule(color=ROUTER.colour).encode(y=alt.Y("score_low:Q"), y2="score_high:Q"),
        base.mark_point(filled=True, size=100).encode(
            opacity=alt.condition("datum.on_front", alt.value(1.0), alt.value(0.6)),
            color=alt.Color("method:N", scale=colour, legend=None),
            shape=alt.Shape("method:N", scale=shape, legend=None),
            tooltip=[
                alt.Tooltip("title:N", title="method"),
                alt.Tooltip("score_value:Q", title=score, format=".3f"),
                alt.Tooltip("score_low:Q", title="interval from", format=".3f"),
                alt.Tooltip("score_high:Q", title="to", format=".3f"),
                alt.Tooltip("cost_value:Q", title=cost, format=".3f"),
                alt.Tooltip("cost_low:Q", title="interval from", format=".3f"),
                alt.Tooltip("cost_high:Q", title="to", format=".3f"),
                alt.Tooltip("front_share:Q", title="on the front in resamples", format=".0%"),
                alt.Tooltip("n:Q", title="n"),
            ],
        ),
        base.transform_filter((alt.datum.method == AI) & (alt.datum.method != active))
        .mark_text(align="left", dx=9, dy=-7, fontSize=11)
        .encode(text="title:N"),
        own.mark_text(dy=-8, fontSize=11).encode(y=alt.Y("score_high:Q"), text="title:N"),
    ]
    if printed:
        layers.append(
            base.transform_filter("isValid(datum.score_published)")
            .mark_point(filled=False, size=100, strokeWidth=1.5)
            .encode(
                x=alt.X("cost_published:Q"),
                y=alt.Y("score_published:Q"),
                color=alt.Color("method:N", scale=colour, legend=None),
                shape=alt.Shape("method:N", scale=shape, legend=None),
                tooltip=[
                    alt.Tooltip("title:N", title="in the paper"),
                    alt.Tooltip("score_published:Q", title=score, format=".3f"),
                    alt.Tooltip("cost_published:Q", title=cost, format=".3f"),
                ],
            )
        )
    return alt.layer(*layers).properties(title=f"{score} against {cost}", height=HEIGHT)


def front_in_words(plane: pd.DataFrame) -> str:
    """Who is on the front, from cheap to dear, and in how many resamples."""
    front = plane[plane["on_front"]].sort_values("cost_value")
    names = [
        f"{title} ({percent(share, 0)})" for title, share in zip(front["title"], front["front_share"], strict=True)
    ]
    return f"On the front, with the share of resamples in which they are: {', '.join(names)}."


@drawn_once
def differences(paired: pd.DataFrame, active: str) -> AltairChart:
    """How far every other method is from the active run on the same cases; what cannot be deployed comes last.

    `paired`: the rows of one metric of `tables.paired` that have the active run as reference.
    """
    metric = label_of(paired["metric"].iloc[0])
    rows = with_method_marks(paired.rename(columns={"difference": "value"}), active)
    axis = f"{metric}, method less active run"
    rows = rows.assign(apart=rows["method"].isin(NOT_DEPLOYABLE)).sort_values(["apart", "value"])
    return forest(rows, axis, f"Difference in {metric} to the active run", zero=True)
