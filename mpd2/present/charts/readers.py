"""Charts of the Readers page."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.labels import PLACES, places
from mpd2.present.charts.kit.style import AI, ALARM, DARK, INK, OTHER, READER, ROUTER, SEQUENCE, Mark

SHARES = alt.Scale(domain=[0, 1])
EVERY_LABEL = alt.Axis(labelLimit=220, labelOverlap=False)
ROW = 22  # pixels a reader
AROUND = 130  # pixels for title, legend and axis
READER_ALONE = "reader alone"
HEIGHT = 400
NARROW, INNER_HEIGHT = 300, 250  # pixels at least between the axes of a chart of that height


@drawn_once
def f1_barbell(sheet: pd.DataFrame, run: str) -> alt.LayerChart:
    """Each reader's F1 and the run's on the same cases, joined; the largest gap on top. `sheet`: `readers.sheet`."""
    rows = sheet.assign(who_read=sheet["title"] + " (n = " + sheet["n"].astype(str) + ")")
    order = rows["who_read"].tolist()
    place = alt.Y("who_read:N", title=None, sort=order, axis=EVERY_LABEL)
    tooltip = [
        alt.Tooltip("title:N", title="reader"),
        alt.Tooltip("n:Q", title="cases"),
        alt.Tooltip("F1:Q", title="reader's F1", format=".3f"),
        alt.Tooltip("method_f1:Q", title=f"F1 of {run}", format=".3f"),
        alt.Tooltip("difference:Q", title="difference", format="+.3f"),
        alt.Tooltip("low:Q", title="95 % from", format="+.3f"),
        alt.Tooltip("high:Q", title="to", format="+.3f"),
    ]
    both = rows.melt(
        id_vars=["who_read", "title", "n", "difference", "low", "high"], value_vars=["F1", "method_f1"], value_name="f1"
    ).assign(who=lambda long: long["variable"].map({"F1": READER_ALONE, "method_f1": run}))
    both = both.merge(rows[["who_read", "F1", "method_f1"]], on="who_read")
    bar = alt.Chart(rows).mark_rule(color=OTHER.colour, strokeWidth=2).encode(x="F1:Q", x2="method_f1:Q", y=place)
    colour, shape = _marked({READER_ALONE: READER, run: ROUTER})
    dots = (
        alt.Chart(both)
        .mark_point(filled=True, size=120, opacity=1)
        .encode(
            x=alt.X("f1:Q", title="F1 on the reader's own cases", scale=SHARES),
            y=place,
            color=colour,
            shape=shape,
            tooltip=tooltip,
        )
    )
    return (bar + dots).properties(title="F1 on the same cases", height=_height(rows))


@drawn_once
def operating_points(points: pd.DataFrame, run: str) -> alt.LayerChart:
    """Sensitivity against specificity of readers, the AI and the run. `points`: `readers.operating_points`."""
    names = {"reader": READER_ALONE, "ai": "AI alone", "run": run}
    marks = {"reader": READER, "ai": AI, "run": ROUTER}
    colour, shape = _marked({names[kind]: marks[kind] for kind in names if (points["kind"] == kind).any()})
    across_scale, upright_scale = (_up_to_one(points[f"{metric}_low"]) for metric in ("Spec", "Sens"))
    base = alt.Chart(points.assign(who=points["kind"].map(names), label=label_places(points))).encode(
        x=alt.X("Spec:Q", title="specificity", scale=across_scale),
        y=alt.Y("Sens:Q", title="sensitivity", scale=upright_scale),
        color=colour,
        tooltip=[
            alt.Tooltip("title:N", title="who"),
            alt.Tooltip("n:Q", title="cases"),
            *(
                alt.Tooltip(f"{metric}{part}:Q", title=f"{name}{words}", format=".3f")
                for metric, name in (("Sens", "sensitivity"), ("Spec", "specificity"))
                for part, words in (("", ""), ("_low", ", 95 % from"), ("_high", ", to"))
            ),
        ],
    )
    across = base.mark_rule(opacity=0.35).encode(x=alt.X("Spec_low:Q", scale=across_scale), x2="Spec_high:Q")
    upright = base.mark_rule(opacity=0.35).encode(y=alt.Y("Sens_low:Q", scale=upright_scale), y2="Sens_high:Q")
    dots = base.mark_point(filled=True, size=120, opacity=1).encode(shape=shape)
    labels = [
        base.transform_filter(f"datum.label == '{side}'")
        .mark_text(**place.mark())
        .encode(text="title:N", color=alt.value(INK))
        for side, place in PLACES.items()
    ]
    title = "Sensitivity against specificity"
    return alt.LayerChart(layer=[across, upright, dots, *labels]).properties(title=title, height=HEIGHT)


def label_places(points: pd.DataFrame) -> list[str]:
    """Where each reader's name stands, in a narrow chart as on a wide screen; the legend names the AI and the run."""
    corner = np.array([_floor(points[f"{metric}_low"]) for metric in ("Spec", "Sens")])
    shares = (points[["Spec", "Sens"]].to_numpy(float) - corner) / (1 - corner)
    pixels = np.column_stack([NARROW * shares[:, 0], INNER_HEIGHT * (1 - shares[:, 1])])
    names = points["title"].where(points["kind"] == "reader", "").tolist()
    return places(pixels, names, NARROW, INNER_HEIGHT)


@drawn_once
def load(rows: pd.DataFrame, capacity: int | None = None) -> alt.LayerChart:
    """Cases each reader gets: bars where they are asked, diamonds what the models prefer. `rows`: `readers.load`."""
    names = {"hard": "cases sent", "soft": "preferred by the models"}
    rows = rows.assign(what=rows["kind"].map(names))
    order = rows[rows["kind"] == "hard"].sort_values("cases", ascending=False)["title"].tolist()
    base = alt.Chart(rows).encode(
        y=alt.Y("title:N", title=None, sort=order, axis=EVERY_LABEL),
        color=alt.Color(
            "what:N",
            scale=alt.Scale(domain=list(names.values()), range=[READER.colour, ROUTER.colour]),
            legend=alt.Legend(title=None, orient="top"),
        ),
        tooltip=[
            alt.Tooltip("title:N", title="reader"),
            alt.Tooltip("tier:N"),
            alt.Tooltip("fee:Q", format=".3f"),
            alt.Tooltip("what:N", title="kind"),
            alt.Tooltip("cases:Q", format=".1f"),
            alt.Tooltip("low:Q", title="95 % from", format=".1f"),
            alt.Tooltip("high:Q", title="to", format=".1f"),
        ],
    )
    amount = alt.X("cases:Q", title="cases", scale=alt.Scale(zero=True))
    hard, soft = (base.transform_filter(alt.datum.kind == kind) for kind in names)
    layers: list[alt.Chart] = [
        hard.mark_bar(opacity=0.8, height={"band": 0.62}).encode(x=amount),
        hard.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", color=alt.value(OTHER.colour)),
        soft.mark_point(filled=True, size=90, shape=ROUTER.shape, opacity=1).encode(x=amount),
    ]
    if capacity is not None:
        limit = pd.DataFrame({"capacity": [capacity]})
        layers.append(
            alt.Chart(limit)
            .mark_rule(color=ALARM.colour, strokeDash=[6, 4], strokeWidth=2)
            .encode(x="capacity:Q", tooltip=alt.Tooltip("capacity:Q", title="a reader can take"))
        )
    return alt.LayerChart(layer=layers).properties(title="Cases each reader gets", height=_height(order))


@drawn_once
def availability(rows: pd.DataFrame) -> alt.LayerChart:
    """Share of a cohort's cases each reader can be asked about. `rows`: `readers.availability`."""
    rows = rows.assign(group=rows["cohort_title"] + "|n = " + rows["n"].astype(str))
    two_lines = "split(datum.label, '|')"
    heads = alt.Axis(labelAngle=0, labelAlign="center", labelOverlap=False, orient="top", labelExpr=two_lines)
    base = alt.Chart(rows).encode(
        x=alt.X("group:N", title=None, sort=rows["group"].unique().tolist(), axis=heads),
        y=alt.Y("title:N", title=None, sort=rows["title"].unique().tolist(), axis=EVERY_LABEL),
        tooltip=[
            alt.Tooltip("title:N", title="reader"),
            alt.Tooltip("cohort_title:N", title="cohort"),
            alt.Tooltip("readings:N", title="answers are"),
            alt.Tooltip("cases:Q"),
            alt.Tooltip("n:Q", title="of"),
            alt.Tooltip("share:Q", format=".0%"),
        ],
    )
    scale = alt.Scale(domain=[0, 1], range=list(SEQUENCE))
    cells = base.mark_rect().encode(color=alt.Color("share:Q", scale=scale, legend=None))
    words = base.mark_text(fontSize=12).encode(text=alt.Text("share:Q", format=".0%"), color=_on("share"))
    title = "Cases in which a reader can be asked"
    return (cells + words).properties(title=title, height=_height(rows["title"].unique()))


@drawn_once
def kappa(rows: pd.DataFrame) -> alt.LayerChart:
    """Cohen's κ of every two, grey where there are too few common cases. `rows`: `readers.agreement`."""
    base = alt.Chart(rows).encode(
        x=alt.X(
            "first_title:N",
            title=None,
            sort=rows["first_title"].unique().tolist(),
            axis=alt.Axis(labelAngle=-40, labelOverlap=False),
        ),
        y=alt.Y("second_title:N", title=None, sort=rows["second_title"].unique().tolist(), axis=EVERY_LABEL),
        tooltip=[
            alt.Tooltip("first_title:N", title="one"),
            alt.Tooltip("second_title:N", title="other"),
            alt.Tooltip("n:Q", title="cases both have read"),
            alt.Tooltip("agree:Q", title="same answer", format=".0%"),
            alt.Tooltip("kappa:Q", title="κ", format=".2f"),
            alt.Tooltip("low:Q", title="95 % from", format=".2f"),
            alt.Tooltip("high:Q", title="to", format=".2f"),
        ],
    )
    known, unknown = (base.transform_filter(f"{sign}isValid(datum.kappa)") for sign in ("", "!"))
    scale = alt.Scale(domain=[0, 1], range=list(SEQUENCE), clamp=True)
    wide_enough = alt.ExprRef("width < 460 ? 0 : 1")  # on a telephone the colours have to do
    return (
        unknown.mark_rect(color=OTHER.colour, opacity=0.22)
        + unknown.mark_text(fontSize=10, opacity=wide_enough).encode(text=alt.Text("n:Q", format="d"))
        + known.mark_rect().encode(color=alt.Color("kappa:Q", scale=scale, legend=None))
        + known.mark_text(fontSize=12, dy=-6, opacity=wide_enough).encode(
            text=alt.Text("kappa:Q", format=".2f"), color=_on("kappa")
        )
        + known.mark_text(fontSize=10, dy=8, opacity=wide_enough).encode(
            text=alt.Text("n:Q", format="d"), color=_on("kappa")
        )
    ).properties(title="Agreement beyond chance (κ)", height=520)


@drawn_once
def disagreement(rows: pd.DataFrame) -> alt.Chart:
    """How often each reader disagrees with the AI, by who is right. `rows`: `readers.against_ai`."""
    rows = rows[rows["n"] > 0]
    order = rows.sort_values("differ", ascending=False)["title"].tolist()
    names = {"reader_right": "the reader is right", "ai_right": "the AI is right"}
    long = rows.melt(
        id_vars=["title", "n", "differ", "low", "high", "reader_right_share", "reader_right_low", "reader_right_high"],
        value_vars=list(names), var_name="who", value_name="cases",
    )  # fmt: skip
    long = long.assign(share=long["cases"] / long["n"], who=long["who"].map(names))
    return (
        alt.Chart(long)
        .mark_bar(height={"band": 0.62})
        .encode(
            x=alt.X("share:Q", title="share of the reader's cases", axis=alt.Axis(format="%", tickCount=6), stack=True),
            y=alt.Y("title:N", title=None, sort=order, axis=EVERY_LABEL),
            color=alt.Color(
                "who:N",
                scale=alt.Scale(domain=list(names.values()), range=[READER.colour, AI.colour]),
                legend=alt.Legend(title=None, orient="top"),
            ),
            order=alt.Order("who:N", sort="descending"),
            tooltip=[
                alt.Tooltip("title:N", title="reader"),
                alt.Tooltip("n:Q", title="cases read"),
                alt.Tooltip("who:N", title="disagrees, and"),
                alt.Tooltip("cases:Q"),
                alt.Tooltip("differ:Q", title="disagrees with the AI", format=".1%"),
                alt.Tooltip("low:Q", title="95 % from", format=".1%"),
                alt.Tooltip("high:Q", title="to", format=".1%"),
                alt.Tooltip("reader_right_share:Q", title="then the reader is right", format=".1%"),
                alt.Tooltip("reader_right_low:Q", title="95 % from ", format=".1%"),
                alt.Tooltip("reader_right_high:Q", title="to ", format=".1%"),
            ],
        )
        .properties(title="Disagreement with the AI: who is right?", height=_height(rows))
    )


def _marked(marks: Mapping[str, Mark]) -> tuple[alt.Color, alt.Shape]:
    """Colour and shape of the field `who`, with one legend on top."""
    names = list(marks)
    colours = alt.Scale(domain=names, range=[mark.colour for mark in marks.values()])
    shapes = alt.Scale(domain=names, range=[mark.shape for mark in marks.values()])
    legend = alt.Legend(title=None, orient="top", columns=3, symbolOpacity=1, symbolSize=90, labelFontSize=12)
    return alt.Color("who:N", scale=colours, legend=legend), alt.Shape("who:N", scale=shapes, legend=legend)


def _up_to_one(values: pd.Series[float]) -> alt.Scale:
    return alt.Scale(domain=[_floor(values), 1.0], nice=False)


def _floor(values: pd.Series[float]) -> float:
    """The tenth below the least value."""
    return float(np.floor(10 * values.min()) / 10)


def _on(field: str) -> Any:
    """Black text on light cells, white on dark ones, in any theme: the cell is the background."""
    is_dark = f"luminance(scale('color', datum['{field}'])) < {DARK}"
    return alt.when(is_dark).then(alt.value("white")).otherwise(alt.value("black"))


def _height(readers: Sized) -> int:
    return AROUND + ROW * len(readers)
