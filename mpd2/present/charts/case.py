"""Charts of the Case page."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from mpd2.core.manifest import Task
from mpd2.core.text import decimal, percent
from mpd2.evaluation.explain import BEYOND, INSIDE, OUTSIDE
from mpd2.methods.base import Ground
from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.style import AI, ALARM, CATEGORIES, OTHER, READER, ROUTER, RULE, AltairChart, heading

_EVERY_NAME = alt.Axis(labelLimit=320, labelOverlap=False)
ROOM = 1.5  # of a share's axis, so that the label of a full bar has its place
CALM = CATEGORIES[4]  # towards negative, beside the alarm of positive
EDGE = 0.12  # how far outside the range a value is drawn at most
KINDS = {"AI": AI, "rule": RULE, "reader": READER, "not available": OTHER}
"""Who holds a share of a decision."""
FLAGS = {INSIDE: ROUTER, OUTSIDE: AI, BEYOND: ALARM}
"""How a case's own value is marked, by where it lies."""


def adds(ground: Ground, task: Task) -> tuple[str, str, dict[str, str]]:
    """What is taken apart, what its bars are, and the colours of more and of less."""
    return {
        "sending": (
            "Whether it is sent",
            "adds to the log-odds of sending",
            {"towards a reader": READER.colour, "towards the AI": AI.colour},
        ),
        "positive": (
            f"How likely {task.one} is",
            f"adds to the log-odds of {task.one}",
            {f"towards {task.positive}": ALARM.colour, f"towards {task.negative}": CALM},
        ),
        "asking": (
            "What asking saves",
            "adds to the expected saving of asking",
            {"towards asking": READER.colour, "towards not asking": AI.colour},
        ),
    }[ground]


@drawn_once
def policy_bars(actions: pd.DataFrame, task: Task, original: pd.DataFrame | None = None) -> AltairChart:
    """How much of the decision the AI and each available reader hold; a full diamond: chosen, an open one: next.

    `actions` is `explain.actions_frame`; with `original`, its shares are marked by a tick, and whoever was available
    there alone is named in grey.
    """
    rows = _labelled(actions)
    if original is None:
        rows = rows[rows["available"]]
    else:
        rows = rows[rows["available"] | original["available"].loc[rows.index]]
        original = original.loc[rows.index]
    order = rows["who"].tolist()
    share = alt.X("share:Q", title="share of the decision", scale=alt.Scale(domain=[0, ROOM]),
                  axis=alt.Axis(format="%", values=[0, 0.25, 0.5, 0.75, 1]))  # fmt: skip
    who = alt.Y("who:N", sort=order, title=None, axis=_EVERY_NAME)
    base = alt.Chart(rows).encode(y=who)
    kinds = {kind: mark.colour for kind, mark in KINDS.items() if (rows["kind"] == kind).any()}
    bars = base.mark_bar(height=13).encode(
        x=share,
        color=alt.Color(
            "kind:N",
            scale=alt.Scale(domain=list(kinds), range=list(kinds.values())),
            legend=None if original is None else alt.Legend(title=None, orient="top"),
        ),
        tooltip=[
            alt.Tooltip("who:N", title="who"),
            alt.Tooltip("share:Q", format=".1%", title="share"),
            alt.Tooltip("least:Q", format=".1%", title="least of any model"),
            alt.Tooltip("most:Q", format=".1%", title="most of any model"),
            alt.Tooltip("votes:Q", title="models that would choose it"),
            alt.Tooltip("expected_cost:Q", format=".3f", title="expected cost"),
            alt.Tooltip("fee:Q", format=".2f", title="of it the fee"),
            alt.Tooltip("wrong:Q", format=".1%", title="own answer expected to be wrong"),
            alt.Tooltip("says:Q", format=".1%", title=f"expected to say {task.positive}"),
        ],
    )
    spread = base.transform_filter("datum.available").mark_rule(color=OTHER.colour, strokeWidth=1.5)
    text = base.mark_text(align="left", dx=6, fontSize=11).encode(x="most:Q", text="text:N")
    ranks = [
        base.transform_filter(f"datum.{rank}")
        .mark_point(filled=filled, shape=ROUTER.shape, color=ROUTER.colour, size=110, opacity=1, strokeWidth=2)
        .encode(x=alt.datum(0))
        for rank, filled in (("chosen", True), ("runner_up", False))
    ]
    layers = [bars, spread.encode(x="least:Q", x2="most:Q"), *ranks, text]
    if original is not None:
        before = alt.Chart(original).mark_tick(color=OTHER.colour, thickness=3, height=18)
        layers.insert(1, before.encode(y=who, x="share:Q"))
    return alt.layer(*layers).properties(height=24 * len(rows) + (60 if original is None else 100))


@drawn_once
def input_ranges(ranges: pd.DataFrame) -> AltairChart:
    """Every input of a case on the training cases of its cohort; `ranges` is `explain.range_frame`."""
    order = ranges["input"].tolist()
    rows = ranges.assign(
        zero=0.0,
        one=1.0,
        shown=ranges["place"].clip(-EDGE, 1 + EDGE),
        text=[decimal(value, 2) for value in ranges["value"]],
    )
    flags = [flag for flag in FLAGS if (rows["flag"] == flag).any()]
    base = alt.Chart(rows).encode(y=alt.Y("input:N", sort=order, title=None, axis=_EVERY_NAME))
    axis = alt.Axis(values=[0, 1], labelExpr="datum.value == 0 ? 'lowest' : 'highest'", grid=False)
    scale = alt.Scale(domain=[-EDGE - 0.02, 1 + EDGE + 0.06])
    bands = [
        base.mark_bar(height=height, color=READER.colour, opacity=opacity).encode(
            x=alt.X(first, scale=scale, axis=axis, title="training cases of the same cohort"), x2=second
        )
        for first, second, height, opacity in (
            ("zero:Q", "one:Q", 3, 0.35), ("q5:Q", "q95:Q", 9, 0.3), ("q25:Q", "q75:Q", 15, 0.4),
        )
    ]  # fmt: skip
    median = base.mark_tick(color=READER.colour, thickness=2, height=17).encode(x="q50:Q")
    points = base.mark_point(filled=True, size=120, opacity=1).encode(
        x="shown:Q",
        color=alt.Color(
            "flag:N",
            scale=alt.Scale(domain=flags, range=[FLAGS[flag].colour for flag in flags]),
            legend=alt.Legend(title=None, orient="top", direction="vertical", labelLimit=400),
        ),
        shape=alt.Shape("flag:N", scale=alt.Scale(domain=flags, range=[FLAGS[flag].shape for flag in flags])),
        tooltip=[
            alt.Tooltip("input:N"),
            alt.Tooltip("value:Q", format=".3f", title="this case"),
            alt.Tooltip("low:Q", format=".3f", title="lowest in training"),
            alt.Tooltip("high:Q", format=".3f", title="highest in training"),
            alt.Tooltip("rank:Q", format=".0%", title="training cases no higher"),
            alt.Tooltip("flag:N"),
        ],
    )
    value = base.mark_text(dy=-12, fontSize=11).encode(x="shown:Q", text="text:N")
    return alt.layer(*bands, median, points, value).properties(height=42 * len(rows) + 90)


@drawn_once
def attribution_bars(rows: pd.DataFrame, ground: Ground, task: Task) -> AltairChart:
    """What each input adds to a number a case is decided by; `rows` is `explain.attribution_frame`."""
    name, across, towards = adds(ground, task)
    names = list(towards)
    rows = rows.assign(
        towards=np.where(rows["adds"] >= 0, *names),
        named=rows["input"] + " = " + rows["value"],
        text=[decimal(added, 2, signed=True) for added in rows["adds"]],
        end=np.where(rows["adds"] >= 0, rows["most"], rows["least"]),
    )
    order = rows.sort_values("adds", key=np.abs, ascending=False)["named"].tolist()
    base = alt.Chart(rows).encode(y=alt.Y("named:N", sort=order, title=None, axis=_EVERY_NAME))
    bars = base.mark_bar(height=14).encode(
        x=alt.X("adds:Q", title=across, scale=alt.Scale(padding=30)),
        color=alt.Color(
            "towards:N",
            scale=alt.Scale(domain=names, range=list(towards.values())),
            legend=alt.Legend(title=None, orient="top"),
        ),
        tooltip=[
            alt.Tooltip("named:N", title="input"),
            alt.Tooltip("adds:Q", format="+.3f", title="adds"),
            alt.Tooltip("least:Q", format="+.3f", title="least of any model"),
            alt.Tooltip("most:Q", format="+.3f", title="most of any model"),
        ],
    )
    spread = base.mark_rule(color=OTHER.colour, strokeWidth=1.5).encode(x="least:Q", x2="most:Q")
    text = base.encode(x="end:Q", text="text:N")
    above = text.transform_filter("datum.adds >= 0").mark_text(align="left", dx=5, fontSize=11)
    below = text.transform_filter("datum.adds < 0").mark_text(align="right", dx=-5, fontSize=11)
    return alt.layer(bars, spread, above, below).properties(title=heading(name), height=32 * len(rows) + 100)


def _labelled(actions: pd.DataFrame) -> pd.DataFrame:
    """With a kind and a label; the AI first, then readers by their share, then whoever is not available."""
    is_ai = actions["action"] == "ai"
    kind = np.where(is_ai, actions["who"], np.where(actions["available"], "reader", "not available"))
    text = [
        f"{percent(share, 0)}, cost {decimal(cost, 2)}" if there else "not available"
        for share, cost, there in zip(actions["share"], actions["expected_cost"], actions["available"], strict=True)
    ]
    rows = actions.assign(kind=kind, text=text)
    return rows.iloc[np.lexsort((-rows["share"], ~rows["available"], ~is_ai))]
