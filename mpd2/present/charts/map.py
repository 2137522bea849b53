"""The map of cases (Plotly, because Vega has no lasso) and the charts of a region chosen on it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from itertools import cycle
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import pandas as pd
from plotly import graph_objects as go
from plotly.subplots import make_subplots

from mpd2.core.cache import cached_by_content
from mpd2.core.manifest import Manifest
from mpd2.core.policy import DECIDED_BY, DECIDERS
from mpd2.core.state import PROBABILITY
from mpd2.core.text import capital
from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.style import AI as AI_MARK
from mpd2.present.charts.kit.style import (
    ALARM,
    CATEGORIES,
    DECIDER_MARKS,
    OTHER,
    READER,
    ROUTER,
    RULE,
    Mark,
    with_interval,
)

RIGHT_OR_WRONG = ((0.0, ALARM.colour), (0.5, "#B9B9B9"), (1.0, READER.colour))  # never white: points lie on any ground
AMOUNT = ((0.0, "#3D6CB0"), (0.5, "#98978F"), (1.0, "#E0AC00"))  # lighter means more, to anybody and on any ground
JUDGED, LEANING = ("wrong", "right"), ("d = 0", "d = 1")  # at the ends of the two
EDGE = "rgba(128, 128, 128, 0.55)"  # keeps the lightest and the darkest point visible
PLOTLY_SHAPES = {"cross": "x"}  # where Plotly's name of a Vega shape differs
LARGER = {"triangle-up": 1.4, "triangle-down": 1.4, "diamond": 1.25}  # shapes that look small for their size
FADED = 0.2
INK, PAPER = "#000037", "#000038"
"""Which Streamlit replaces by a text colour and the background of its page as a map is opened. Text brings its ground
along: when the page turns dark the map keeps what it has, and can still be read."""

HEIGHT = 375

REGION, REST = Mark(ROUTER.colour, "diamond"), Mark(OTHER.colour, "circle")


class Paint(NamedTuple):
    """A way to colour cases."""

    title: str
    column: str
    flipped: bool = False  # a share of errors is shown as a share of right answers


PANELS: Mapping[str, tuple[Paint, Mark]] = {
    "ai": (Paint("AI right", "ai_wrong", flipped=True), AI_MARK),
    "readers": (Paint("Readers right", "readers_wrong", flipped=True), READER),
    "run": (Paint("Active run right", "wrong", flipped=True), ROUTER),
    "defer": (Paint("Preference for a reader, d", "defer"), OTHER),
}
"""The four panels, each drawn with the shape of whom it is about."""


def paints(manifest: Manifest) -> dict[str, Paint]:
    """Everything the one large panel can be coloured by."""
    shown = {
        **{name: paint for name, (paint, _) in PANELS.items()},
        "decider": Paint("Who decides", "decider"),
        "action": Paint("Who is asked first", "action"),
        "truth": Paint("Truth", "truth"),
        "cohort": Paint("Cohort", "cohort"),
        "total": Paint("Total cost", "total"),
        PROBABILITY: Paint(f"AI's probability of {manifest.task.one}", PROBABILITY),
    }
    states = {name: Paint(capital(title), name) for name, title in manifest.layout.titles.items()}
    return shown | {name: paint for name, paint in states.items() if name not in shown}


@cached_by_content
def four_panels(table: pd.DataFrame, picked: Collection[str] = ()) -> go.Figure:
    """Who is right where, and what is deferred: four maps that move together. `table`: `regions.cases` with x and y."""
    titles = [paint.title for paint, _ in PANELS.values()]
    chart = make_subplots(2, 2, subplot_titles=titles, horizontal_spacing=0.03, vertical_spacing=0.09)
    chart.update_annotations(font={"size": 13, "color": INK}, bgcolor=PAPER)
    for position, (paint, mark) in enumerate(PANELS.values()):
        axis = "coloraxis" if paint.flipped else "coloraxis2"
        cases = table[table[paint.column].notna()]
        row, column = divmod(position, 2)
        chart.add_trace(_amounts(cases, paint, mark, axis, picked, size=5), row + 1, column + 1)
    chart.update_layout(
        coloraxis=_scale(RIGHT_OR_WRONG, JUDGED, {"len": 0.48, "y": 0.77}),
        coloraxis2=_scale(AMOUNT, LEANING, {"len": 0.48, "y": 0.23}),
    )
    chart.update_xaxes(matches="x")
    chart.update_yaxes(matches="y")
    return _finished(chart, height=HEIGHT)


@cached_by_content
def one_panel(table: pd.DataFrame, name: str, paint: Paint, picked: Collection[str] = ()) -> go.Figure:
    """One large map, coloured by one of `paints`, with its name."""
    cases = table[table[paint.column].notna()]
    chart = go.Figure()
    if isinstance(cases[paint.column].dtype, pd.CategoricalDtype):
        for kind, mark in kinds(cases[paint.column].cat.categories, name).items():
            chart.add_trace(_kind(cases[cases[paint.column] == kind], kind, mark, picked))
    else:
        mark = PANELS[name][1] if name in PANELS else OTHER
        ends = None if name not in PANELS else JUDGED if paint.flipped else LEANING
        chart.add_trace(_amounts(cases, paint, mark, "coloraxis", picked, size=8))
        chart.update_layout(coloraxis=_scale(RIGHT_OR_WRONG if paint.flipped else AMOUNT, ends, {"len": 0.9}))
    chart.update_layout(title=f"{paint.title} (n = {len(cases)})")
    return _finished(chart, height=HEIGHT)


def kinds(names: Iterable[str], paint: str) -> dict[str, Mark]:
    """A mark for each kind there can be, whether or not it is in sight, so that a mark stays the same in any slice."""
    if paint == "truth":
        marks = (
            Mark(READER.colour, "circle"),
            ALARM,
            OTHER,
        )  # negative, positive, unknown, as `regions.cases` has them
        return dict(zip(names, marks, strict=False))
    if paint in ("decider", "action"):
        shapes, taken = ("triangle-up", "triangle-down", "diamond"), {AI_MARK.colour, RULE.colour, OTHER.colour}
        known = dict(zip(DECIDERS if paint == "decider" else DECIDED_BY, DECIDER_MARKS, strict=True))
    else:
        shapes, taken, known = ("circle", "square", "diamond"), set(), {}
    free = cycle([Mark(colour, shape) for shape in shapes for colour in CATEGORIES if colour not in taken])
    return {name: known[name] if name in known else next(free) for name in names}


@drawn_once
def region_mix(mix: pd.DataFrame) -> alt.LayerChart:
    """Who reads the sent cases, in the region and in the rest. `mix`: `regions.reader_mix`."""
    places = ["region", "rest"]
    base = alt.Chart(mix).encode(
        y=alt.Y("reader:N", title=None, sort=mix["reader"].drop_duplicates().tolist()),
        yOffset=alt.YOffset("where:N", sort=places),
        color=alt.Color(
            "where:N",
            title=None,
            sort=places,
            scale=alt.Scale(domain=places, range=[REGION.colour, REST.colour]),
            legend=alt.Legend(orient="top"),
        ),
        tooltip=[
            alt.Tooltip("reader:N"),
            alt.Tooltip("where:N"),
            *with_interval("share", "share of readings", ".1%"),
            alt.Tooltip("readings:Q", title="readings", format=".1f"),
        ],
    )
    share = alt.X("share:Q", title="share of the readings there", axis=alt.Axis(format="%"))
    dots = base.mark_point(filled=True, size=70).encode(
        x=share,
        shape=alt.Shape(
            "where:N", sort=places, scale=alt.Scale(domain=places, range=[REGION.shape, REST.shape]), title=None
        ),
    )
    ends = base.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q", title="share of the readings there"), x2="high:Q")
    height = 120 + 28 * mix["reader"].nunique()  # title, legend and axis, then a line a reader
    return (ends + dots).properties(title="Who reads the sent cases", height=height)


def _amounts(
    cases: pd.DataFrame, paint: Paint, mark: Mark, axis: str, picked: Collection[str], size: int
) -> go.Scattergl:
    values = cases[paint.column].to_numpy(float)
    return _points(cases, picked, {"color": 1 - values if paint.flipped else values, "coloraxis": axis}, mark, size)


def _kind(cases: pd.DataFrame, kind: str, mark: Mark, picked: Collection[str]) -> go.Scattergl:
    points = _points(cases, picked, {"color": mark.colour}, mark, size=8)
    return points.update(name=f"{kind} ({len(cases)})", showlegend=len(cases) > 0)


def _points(
    cases: pd.DataFrame, picked: Collection[str], colour: Mapping[str, Any], mark: Mark, size: int
) -> go.Scattergl:
    chosen = np.flatnonzero(cases["case_id"].isin(list(picked))).tolist() if picked else None
    return go.Scattergl(
        x=cases["x"].to_numpy(np.float32),
        y=cases["y"].to_numpy(np.float32),
        mode="markers",
        customdata=cases["case_id"].to_numpy(object),
        text=_hover(cases),
        hovertemplate="<b>%{customdata}</b><br>%{text}<extra></extra>",
        marker={
            **colour,
            "symbol": PLOTLY_SHAPES.get(mark.shape, mark.shape),
            "size": size * LARGER.get(mark.shape, 1.0),
            "line": {"width": 0.5, "color": EDGE},
        },
        selectedpoints=chosen,
        selected={"marker": {"opacity": 1}},
        unselected={"marker": {"opacity": FADED}},
        showlegend=False,
    )


def _hover(cases: pd.DataFrame) -> list[str]:
    """What stands beside the pointer over each case."""
    return [
        f"{row['cohort']}, {row['truth']}<br>{'AI wrong' if row['ai_wrong'] else 'AI right'}"
        f"<br>decided by {row['action']}, d {row['defer']:.2f}"
        for row in cases.to_dict("records")
    ]


def _scale(colours: Any, ends: tuple[str, str] | None, bar: Mapping[str, Any]) -> dict[str, Any]:
    """A scale of colours with its bar: from 0 to 1 with words at its `ends`, or as far as the values go."""
    colorbar = {"tickfont": {"color": INK}, "bgcolor": PAPER, "thickness": 12, **bar}
    if ends is None:
        return {"colorscale": colours, "colorbar": colorbar}
    return {"colorscale": colours, "colorbar": {**colorbar, "tickvals": [0, 1], "ticktext": ends}, "cmin": 0, "cmax": 1}


def _finished(chart: go.Figure, height: int) -> go.Figure:
    """Without axes, for only nearness has a meaning; a drag draws a box."""
    chart.update_xaxes(visible=False)
    chart.update_yaxes(visible=False)
    return chart.update_layout(
        height=height,
        dragmode="select",
        margin={"l": 0, "r": 0, "t": 36, "b": 0},
        legend={"orientation": "h", "yanchor": "top", "y": 0, "itemsizing": "constant"},
        hovermode="closest",
    )
