"""Charts of subgroups: how a run does in each, and how far that is from all other cases."""

from __future__ import annotations

import altair as alt
import pandas as pd

from mpd2.core.text import capital
from mpd2.evaluation.metrics import label_of
from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.forest import forest
from mpd2.present.charts.kit.style import OTHER, ROUTER, AltairChart


@drawn_once
def levels(rows: pd.DataFrame) -> AltairChart:
    """One metric in every group with its interval; hollow: the AI alone.

    `rows`: one metric of `evaluation.clinical.subgroups`.
    """
    metric = rows["metric"].iloc[0]
    title = f"{capital(label_of(metric))} in each group; hollow: the AI alone"
    return forest(_named(rows), label_of(metric), title, metric=metric, hollow=("beside", "AI alone"))


@drawn_once
def gaps(rows: pd.DataFrame) -> AltairChart:
    """How far every group is from all other cases; thick: its own interval, thin: one that holds for all together."""
    label = label_of(rows["metric"].iloc[0])
    shown = _named(rows).dropna(subset="gap")
    shown = shown.assign(value=shown["gap"], low=shown["gap_low"], high=shown["gap_high"])
    axis = f"{label}, group less all others"
    thin = (
        alt.Chart(shown)
        .mark_rule(strokeWidth=1, color=OTHER.colour)
        .encode(
            y=alt.Y("title:N", sort=shown["title"].tolist(), title=None),
            x=alt.X("wide_low:Q", title=axis),
            x2="wide_high:Q",
            tooltip=[
                alt.Tooltip("title:N", title=" "),
                alt.Tooltip("wide_low:Q", title="all together, 95 % from", format=".3f"),
                alt.Tooltip("wide_high:Q", title="to", format=".3f"),
            ],
        )
    )
    return forest(shown, axis, f"Gap in {label} to all other cases", zero=True) + thin


def _named(rows: pd.DataFrame) -> pd.DataFrame:
    """With how many cases the metric is about in the group's name, and the colour and shape of the run."""
    negatives = rows["n"] - rows["positives"]
    about = rows["n"].where(rows["metric"] != "Sens", rows["positives"]).where(rows["metric"] != "Spec", negatives)
    names = [f"{capital(group)} (n = {n})" for group, n in zip(rows["group"], about, strict=True)]
    return rows.assign(title=names, n=about, colour=ROUTER.colour, shape=ROUTER.shape)
