"""Charts of a training as it goes: the mean of all routers, and each of them thin behind it."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import pandas as pd

from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.style import AI, ALARM, CATEGORIES, OTHER, READER, ROUTER, SEQUENCE, AltairChart

HEIGHT = 350
ROW, AROUND = 17, 190  # pixels of a reader's row, and of all that is around the rows
MOST_THIN = 20  # routers drawn one by one

LOSSES = {
    "loss": "whole loss",
    "routing_cost": "routing cost",
    "gsdp": "GSDP, unweighted",
    "rank_js": "Rank-JS, unweighted",
    "budget_penalty": "budget penalty",
}
DEFERRAL = {"val_soft_deferral": "soft, val", "soft_deferral": "soft, train", "val_hard_deferral": "hard, val"}
MULTIPLIER = {"multiplier": "λ"}
COST = {"val_total": "total cost, val"}

DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [4, 4])


@drawn_once
def losses(rows: pd.DataFrame) -> AltairChart:
    """The loss and its parts, means over training steps."""
    return _together(_curves(rows, LOSSES, "mean over an epoch", "loss"), "Loss and its parts")


@drawn_once
def deferral(rows: pd.DataFrame, target: float | None) -> AltairChart:
    """Soft and hard deferral, with the budget as a line."""
    layers = _curves(rows, DEFERRAL, "share of cases", "val_hard_deferral", "%")
    if target is None:
        return _together(layers, "Share deferred")
    line = alt.Chart(pd.DataFrame({"at": [target]})).mark_rule(color=ALARM.colour, strokeDash=[2, 3]).encode(y="at:Q")
    return _together([*layers, line], "Share deferred against the budget")


@drawn_once
def multiplier(rows: pd.DataFrame) -> AltairChart:
    """The budget's multiplier λ."""
    return _together(_curves(rows, MULTIPLIER, "λ", "multiplier"), "Multiplier of the budget, λ")


@drawn_once
def validation(rows: pd.DataFrame, chosen: pd.DataFrame) -> AltairChart:
    """Validation cost, and the checkpoint of each router that is kept so far. `chosen`: epoch, value."""
    marks = (
        alt.Chart(chosen)
        .mark_point(filled=True, size=70, opacity=0.9, color=ALARM.colour, shape=ROUTER.shape)
        .encode(x="epoch:Q", y="value:Q", tooltip=["epoch:Q", alt.Tooltip("value:Q", format=".4f")])
    )
    layers = _curves(rows, COST, "total cost, val", "val_total")
    return _together([*layers, marks], "Validation cost and the checkpoints kept")


@drawn_once
def load(rows: pd.DataFrame) -> AltairChart:
    """The share of the soft load each reader has, epoch by epoch. `rows`: as `History.load_frame` gives them."""
    last = rows[rows["epoch"] == rows["epoch"].max()].sort_values("value", ascending=False)
    return (
        alt.Chart(rows)
        .mark_rect()
        .encode(
            x=alt.X("epoch:O", title="epoch", axis=alt.Axis(labelOverlap=True, labelAngle=0)),
            y=alt.Y("reader:N", sort=last["reader"].tolist(), title=None,
                    axis=alt.Axis(labelLimit=140, labelOverlap=False)),
            color=alt.Color("value:Q", title="share", scale=alt.Scale(range=list(SEQUENCE), domainMin=0),
                            legend=alt.Legend(format="%", orient="top", gradientLength=160)),
            tooltip=["reader:N", "epoch:Q", alt.Tooltip("value:Q", title="share", format=".1%")],
        )
        .properties(title="Each reader's share of the workload, val", height=max(HEIGHT, ROW * len(last) + AROUND))
    )  # fmt: skip


def _curves(rows: pd.DataFrame, names: Mapping[str, str], axis: str, thin: str, number: str = "") -> list[alt.Chart]:
    """Lines over epochs: the mean over routers of each of `names`, and every router's `thin` behind it.

    `rows`: as `History.frame` gives them; `number`: the format of values. Of many routers only some are drawn singly.
    """
    kinds = list(names.values())
    shown = rows.assign(kind=rows["name"].map(names))
    step = -(-(int(rows["member"].max()) + 1) // MOST_THIN) if len(rows) else 1
    single = shown[(shown["name"] == thin) & (shown["member"] % step == 0)]
    mean = shown.groupby(["epoch", "kind"], as_index=False)["value"].mean()
    palette = [ROUTER.colour, READER.colour, AI.colour, CATEGORIES[3], OTHER.colour][: len(kinds)]
    legend = alt.Legend(orient="top", columns=2, labelLimit=0) if len(kinds) > 1 else None
    colour = alt.Color("kind:N", title=None, scale=alt.Scale(domain=kinds, range=palette), legend=legend)
    dash = alt.StrokeDash("kind:N", scale=alt.Scale(domain=kinds, range=list(DASHES[: len(kinds)])), legend=None)
    x = alt.X("epoch:Q", title="epoch", axis=alt.Axis(tickMinStep=1), scale=alt.Scale(nice=False))
    y = alt.Y("value:Q", title=axis, axis=alt.Axis(format=number), scale=alt.Scale(zero=False))
    thin_lines = (
        alt.Chart(single[["epoch", "member", "value"]])
        .mark_line(strokeWidth=0.7, opacity=0.35, color=palette[kinds.index(names[thin])])
        .encode(x=x, y=y, detail="member:N")
    )
    thick = (
        alt.Chart(mean)
        .mark_line(strokeWidth=2.2)
        .encode(x=x, y=y, color=colour, strokeDash=dash,
                tooltip=["kind:N", "epoch:Q", alt.Tooltip("value:Q", format=".4f")])
    )  # fmt: skip
    return [thin_lines, thick]


def _together(layers: list[alt.Chart], title: str) -> AltairChart:
    return alt.layer(*layers).properties(title=title, height=HEIGHT)
