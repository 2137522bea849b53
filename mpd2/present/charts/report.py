"""Charts of the report for a meeting."""

from __future__ import annotations

import altair as alt
import pandas as pd

from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.style import ALARM, READER, AltairChart, method_scales


@drawn_once
def cohort_costs(rows: pd.DataFrame, active: str) -> alt.FacetChart:
    """Total cost in each cohort, a point with its interval for each method; `rows` as in a briefing's `cohorts`."""
    methods, titles = (rows[name].drop_duplicates().tolist() for name in ("method", "title"))
    colour, shape = method_scales(methods, active)
    base = alt.Chart().encode(
        y=alt.Y("title:N", title=None, sort=titles),
        color=alt.Color("method:N", scale=colour, legend=None),
    )
    ends = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="total cost"), x2="high:Q")
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(
        x="value:Q", shape=alt.Shape("method:N", scale=shape, legend=None)
    )
    return (
        alt.layer(ends, dots, data=rows)
        .properties(width=600, height=80)
        .facet(row=alt.Row("cohort:N", title=None, sort=rows["cohort"].drop_duplicates().tolist()))
        .properties(title="Total cost in each cohort, with 95 % intervals")
    )


@drawn_once
def reader_load(load: pd.DataFrame) -> alt.Chart:
    """Which share of all readings each reader gives; `load` as in a briefing."""
    return (
        alt.Chart(load)
        .mark_bar(color=READER.colour)
        .encode(
            x=alt.X("share:Q", title="share of all readings", axis=alt.Axis(format="%")),
            y=alt.Y("reader:N", title=None, sort=None),
        )
        .properties(title="Share of all readings", width=600, height=alt.Step(20))
    )


@drawn_once
def plan_load(load: pd.DataFrame) -> AltairChart:
    """Readings a day of each reader, with a tick at the most they can give; `load` as in a plan of the day."""
    base = alt.Chart(load).encode(y=alt.Y("reader:N", title=None, sort=None))
    bars = base.mark_bar(color=READER.colour).encode(x=alt.X("a_day:Q", title="readings a day"))
    limits = (
        base.transform_filter("isValid(datum.at_most)")
        .mark_tick(color=ALARM.colour, thickness=3, size=16)
        .encode(x="at_most:Q")
    )
    title = "Readings a day" + ("; ticks: at most" if load["at_most"].notna().any() else "")
    return alt.layer(bars, limits).properties(title=title, width=600, height=alt.Step(20))
