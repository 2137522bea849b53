"""Charts of the Budget page. What moves with the slider is named data, so that the chart itself is drawn once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import altair as alt
import numpy as np
import pandas as pd
import pyarrow as pa

from mpd2.evaluation.intervals import Estimate
from mpd2.evaluation.metrics import label_of
from mpd2.present.charts.ablations import condition_name
from mpd2.present.charts.kit.drawing import Drawing, drawn_once
from mpd2.present.charts.kit.style import ALARM, OTHER, READER, ROUTER, AltairChart

MARKER, LOAD = "marker", "load"  # names of data that move
NOW, BEFORE = "now", "before"
LINES = {"TotalCost": (ROUTER, [1, 0]), "ClinicalCost": (ALARM, [6, 3]), "ExpertCost": (READER, [2, 2])}
OFFSET = 6  # pixels between title and chart
HEIGHT = 238  # pixels: slider, numbers and curve fit on a screen of 1280 × 720
ROW, AROUND = 14, 70  # pixels of a reader, and of everything around them
CLOSE = 4  # pixels from the numbers of an axis to its title
HEADROOM = 1.06
EVERY_LABEL = alt.Axis(labelOverlap=False, labelFlush=False, labelLimit=140)


def at(backdrop: Drawing, settings: Mapping[str, tuple[float, Mapping[str, Estimate]]]) -> Drawing:
    """A `cost_curve` with the setting NOW and the one BEFORE: the share of cases sent under each, and its metrics."""
    rows = [
        {"when": when, "metric": metric, "share": share, "value": cost.value, "low": cost.low, "high": cost.high}
        for when, (share, metrics) in settings.items()
        for metric, cost in ((metric, metrics[metric]) for metric in LINES)
    ]
    return _holding(backdrop, MARKER, pa.Table.from_pylist(rows))


def load(rows: pa.Table, most: int, cases: int) -> Drawing:
    """Readings of each reader, now and before, and their capacity, on so many cases.

    `rows`: columns name, now, before, capacity (NaN without a limit), here, and the first three per day as now_a_day,
    before_a_day and capacity_a_day; `most` is how far the axis goes.
    """
    return _holding(_load(rows["name"].to_pylist(), most, cases), LOAD, rows)


@drawn_once
def cost_curve(curve: pd.DataFrame, optimum: tuple[float, str] | None, trained: pd.DataFrame | None) -> AltairChart:
    """Clinical, expert and total cost against the share of cases sent, with bands; the setting comes with `at`.

    `curve`: `ranked_cases.operating_curve`; `optimum`: the share sent at the cheapest budget and its name; `trained`:
    routers trained for a budget, with method, deferral, metric, value, low and high.
    """
    rows = curve.assign(share=curve["sent"] / curve["n"])[["share", "budget", "metric", "value", "low", "high"]]
    names = list(LINES)
    legend = alt.Legend(
        title=None, orient="top", offset=4, labelExpr=_named("datum.label"), symbolType="stroke", symbolOpacity=1,
        symbolStrokeWidth=3, symbolSize=300,
    )  # fmt: skip
    colour = alt.Color(
        "metric:N", scale=alt.Scale(domain=names, range=[mark.colour for mark, _ in LINES.values()]), legend=legend
    )
    dash = alt.StrokeDash(
        "metric:N", scale=alt.Scale(domain=names, range=[dash for _, dash in LINES.values()]), legend=legend
    )
    top = float(np.nanmax(rows["high"].fillna(rows["value"]))) * HEADROOM
    x = alt.X(
        "share:Q",
        title="share of cases sent",
        axis=alt.Axis(format="%", titlePadding=CLOSE),
        scale=alt.Scale(domain=[0, 1]),
    )
    y = alt.Y("value:Q", title="cost of a case", scale=alt.Scale(domain=[0, top], nice=False))
    tooltip = [
        alt.Tooltip("share:Q", title="share sent", format=".1%"),
        alt.Tooltip("value:Q", title="cost", format=".3f"),
        alt.Tooltip("low:Q", title="95 % from", format=".3f"),
        alt.Tooltip("high:Q", title="to", format=".3f"),
    ]
    base = alt.Chart(rows).encode(x=x, color=colour)
    layers: list[AltairChart] = [
        base.mark_area(opacity=0.14).encode(y=alt.Y("low:Q", title="cost of a case"), y2="high:Q"),
        base.mark_line(strokeWidth=2.5).encode(y=y, strokeDash=dash, tooltip=tooltip),
    ]
    if trained is not None:
        shown = trained.rename(columns={"deferral": "share"}).assign(
            name=[condition_name(method, budget=True) for method in trained["method"]]
        )
        layers.append(
            alt.Chart(shown)
            .mark_point(shape="diamond", size=110, strokeWidth=1.8, filled=False)
            .encode(x="share:Q", y="value:Q", color=colour, tooltip=[alt.Tooltip("name:N", title="trained"), *tooltip])
        )
    if optimum is not None:
        place = pd.DataFrame({"share": [optimum[0]], "name": [f"★ {optimum[1]}"], "top": [top]})
        at = alt.Chart(place).encode(x="share:Q")
        layers += [
            at.mark_rule(color=OTHER.colour, strokeDash=[4, 4], strokeWidth=1.5),
            at.mark_text(align="left", baseline="top", dx=5, fontSize=12).encode(y=alt.Y("top:Q"), text="name:N"),
        ]
    marker = alt.Chart(alt.NamedData(MARKER)).encode(x="share:Q", color=colour)
    is_now = alt.datum.when == NOW
    layers += [
        marker.transform_filter(is_now & (alt.datum.metric == names[0]))
        .mark_rule(strokeWidth=1.5, opacity=0.6)
        .encode(x="share:Q"),
        marker.transform_filter(is_now).mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q"), y2="high:Q"),
        marker.transform_filter(is_now)
        .mark_point(filled=True, size=130, opacity=1)
        .encode(y="value:Q", tooltip=tooltip),
        marker.transform_filter(alt.datum.when == BEFORE)
        .mark_point(filled=False, size=90, strokeWidth=2, opacity=0.8)
        .encode(y="value:Q", tooltip=tooltip),
    ]
    return alt.layer(*layers).properties(
        title=alt.Title("Cost against the share of cases sent", offset=OFFSET), height=HEIGHT
    )


@drawn_once
def _load(names: list[str], most: int, cases: int) -> AltairChart:
    reader = alt.Y("name:N", title=None, sort=names, axis=EVERY_LABEL)
    across = alt.Scale(domain=[0, most], nice=False, clamp=True)
    tooltip = [
        alt.Tooltip("name:N", title="reader"),
        *(
            alt.Tooltip(f"{column}{day}:Q", title=f"{title}{', a day' if day else ''}", format=".1f" if day else "d")
            for column, title in (("now", "readings"), ("before", "in the setting before"), ("capacity", "capacity"))
            for day in ("", "_a_day")
        ),
    ]
    base = alt.Chart(alt.NamedData(LOAD)).encode(y=reader)
    limited = base.transform_filter("isValid(datum.capacity)")
    layers = [
        base.mark_bar(color=READER.colour, height={"band": 0.62}).encode(
            x=alt.X("now:Q", title=f"readings (n = {cases} cases)", scale=across, axis=alt.Axis(titlePadding=CLOSE)),
            tooltip=tooltip,
        ),
        base.mark_tick(color=OTHER.colour, thickness=2, size=12).encode(x=alt.X("before:Q", scale=across)),
        limited.mark_tick(color=ALARM.colour, thickness=3, size=14).encode(
            x=alt.X("capacity:Q", scale=across), tooltip=tooltip
        ),
        base.transform_filter("!datum.here")
        .mark_text(align="left", dx=4, fontSize=11)
        .encode(x=alt.datum(0), text=alt.value("away")),
    ]
    return alt.layer(*layers).properties(
        title=alt.Title("Readings of each reader", offset=OFFSET), height=max(HEIGHT, AROUND + ROW * len(names))
    )


def _named(expression: str) -> str:
    """The metric's name in words, as a Vega expression."""
    return " : ".join([*(f"{expression} == '{key}' ? '{label_of(key)}'" for key in LINES), "''"])


def _holding(drawing: Drawing, name: str, rows: pa.Table) -> Drawing:
    """The same chart with its named data."""
    return replace(drawing, data={**drawing.data, name: rows})
