"""Charts of the Clinic page: what would have been done against what was done, and what is watched."""

from __future__ import annotations

import altair as alt
import pandas as pd

from mpd2.core.text import capital
from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.forest import forest
from mpd2.present.charts.kit.style import ALARM, OTHER, READER, ROUTER, AltairChart, with_interval

HEIGHT = 300
MOST_DATES = 5  # named on an axis, as many as every axis has ticks
MOST_POINTS = 400  # of a path that are drawn


@drawn_once
def weekly(rows: pd.DataFrame, label: str, axis: str, against: bool = True) -> AltairChart:
    """A number as it was known at the end of each week, with an interval that allows for looking every week.

    `rows`: week (a date), value, low, high, n; `against`: whether it is a difference, so that 0 means none.
    """
    rows = rows.assign(week=rows["week"].astype(str)).sort_values("week")
    known = rows.dropna(subset=["low", "high"])
    across = _dates(rows["week"], "week", "week until")
    base = alt.Chart(known).encode(x=across)
    tooltip = [
        alt.Tooltip("week:O", title="week until"),
        *with_interval("value", axis, ".1f"),
        alt.Tooltip("n:Q", title="people"),
    ]
    up, scale = alt.Y("value:Q", title=axis), alt.Scale(zero=against)
    layers = [
        base.mark_area(opacity=0.18, color=ROUTER.colour).encode(
            y=alt.Y("low:Q", title=axis, scale=scale), y2="high:Q"
        ),
        base.mark_line(strokeWidth=2, color=ROUTER.colour).encode(y=up),
        base.mark_point(filled=True, size=60, opacity=1, color=ROUTER.colour, shape=ROUTER.shape).encode(
            y=up, tooltip=tooltip
        ),
    ]
    if len(known) == 1:  # a band has no width then
        layers[0] = base.mark_rule(color=ROUTER.colour).encode(y=alt.Y("low:Q", title=axis, scale=scale), y2="high:Q")
    if against:
        none = alt.Chart(pd.DataFrame({"at": [0.0]})).mark_rule(color=OTHER.colour)
        layers.insert(1, none.encode(y=alt.Y("at:Q", title=axis)))
    return alt.layer(*layers).properties(title=f"{label}, week by week", height=HEIGHT)


@drawn_once
def by_part(rows: pd.DataFrame, label: str, axis: str, against: bool = True) -> AltairChart:
    """A number in every part of the cases with its interval. `rows`: part, value, low, high, n; `against` as above."""
    names = [f"{part} (n = {n})" for part, n in zip(rows["part"], rows["n"], strict=True)]
    shown = rows.assign(title=names, colour=ROUTER.colour, shape=ROUTER.shape)
    return forest(shown, axis, f"{label}, in each part", zero=against)


@drawn_once
def monitored(rows: pd.DataFrame, threshold: float, name: str) -> AltairChart:
    """The evidence of a monitor that something has changed, case by case, and the limit at which it rings.

    `rows`: number (of values so far), value (as a part of an alarm), day. Where it rings first is marked.
    """
    step = -(-len(rows) // MOST_POINTS) if len(rows) else 1
    last = len(rows) - 1
    over = rows.index[rows["value"] >= threshold][:1]
    kept = rows[(rows.index % step == 0) | (rows.index == last) | rows.index.isin(over)]
    across = alt.X("number:Q", title="values so far", scale=alt.Scale(nice=False, zero=False))
    title = "evidence, 1 rings"
    base = alt.Chart(kept).encode(x=across)
    limit = alt.Chart(pd.DataFrame({"at": [threshold]}))
    layers = [
        limit.mark_rule(color=ALARM.colour, strokeDash=[6, 4], strokeWidth=2).encode(
            y=alt.Y("at:Q", title=title), tooltip=alt.Tooltip("at:Q", title="alarm at", format=".2f")
        ),
        base.mark_line(color=READER.colour, strokeWidth=2).encode(
            y=alt.Y("value:Q", title=title, scale=alt.Scale(zero=True)),
            tooltip=[alt.Tooltip("day:N"), alt.Tooltip("number:Q"), alt.Tooltip("value:Q", format=".2f")],
        ),
    ]
    if len(over):
        layers.append(
            alt.Chart(rows.loc[over])
            .mark_point(filled=True, size=110, opacity=1, color=ALARM.colour, shape=ALARM.shape)
            .encode(x=across, y="value:Q", tooltip=[alt.Tooltip("day:N", title="first alarm on")])
        )
    return alt.layer(*layers).properties(title=f"{capital(name)}; dashed: an alarm", height=HEIGHT)


@drawn_once
def reader_rates(rows: pd.DataFrame, label: str) -> AltairChart:
    """Each reader's rate of today with its interval; hollow: as it was learned.

    `rows`: reader, value, low, high, learned, n (outcomes of today's cases).
    """
    names = [f"{reader} (n = {n})" for reader, n in zip(rows["reader"], rows["n"], strict=True)]
    shown = rows.assign(title=names, colour=READER.colour, shape=READER.shape)
    return forest(shown, label, f"{capital(label)} of each reader", hollow=("learned", "as learned"))


def _dates(dates: pd.Series[str], field: str, title: str) -> alt.X:
    """Dates from left to right, of which some are named."""
    there = dates.drop_duplicates().tolist()
    step = -(-len(there) // MOST_DATES)
    return alt.X(f"{field}:O", title=title, axis=alt.Axis(values=there[::-step], labelAngle=0, labelOverlap=False))
