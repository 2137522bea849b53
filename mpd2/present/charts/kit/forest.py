"""Dots with intervals, one below the other."""

from __future__ import annotations

import altair as alt
import pandas as pd

from mpd2.present.charts.kit.style import OTHER, AltairChart

ROW = 24  # height of one line
AROUND = 110  # height of title and axis
FEWEST = 7  # lines there is room for, so that short ones side by side are alike


def forest(
    rows: pd.DataFrame, axis: str, title: str, zero: bool = False, published: str = "in the paper"
) -> AltairChart:
    """A dot and its interval for each row, in the rows' order; where there is another figure, a hollow mark.

    `rows`: title, value, low, high, n, colour, shape, and published where there is one (NaN where not), which is what
    `published` says. With `zero` a line marks no difference.
    """
    order = rows["title"].tolist()
    base = alt.Chart(rows).encode(
        y=alt.Y(
            "title:N",
            sort=order,
            title=None,
            axis=alt.Axis(labelLimit=220, labelOverlap=False, ticks=False, domain=False),
        )
    )
    dot = base.encode(
        x=alt.X("value:Q", title=axis, scale=alt.Scale(zero=zero, padding=12)),
        color=alt.Color("colour:N", scale=None),
        tooltip=[
            alt.Tooltip("title:N", title=" "),
            alt.Tooltip("value:Q", title=axis, format=".3f"),
            alt.Tooltip("low:Q", title="interval from", format=".3f"),
            alt.Tooltip("high:Q", title="to", format=".3f"),
            alt.Tooltip("n:Q", title="n"),
        ],
    )
    layers = [alt.Chart(pd.DataFrame({"at": [0.0]})).mark_rule(color=OTHER.colour).encode(x="at:Q")] if zero else []
    layers += [
        dot.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=axis), x2="high:Q"),
        dot.mark_point(filled=True, size=90, opacity=1).encode(shape=alt.Shape("shape:N", scale=None)),
    ]
    if "published" in rows and rows["published"].notna().any():
        hollow = base.transform_filter("isValid(datum.published)").mark_point(filled=False, size=110, strokeWidth=1.5)
        layers.append(
            hollow.encode(
                x=alt.X("published:Q", title=axis),
                color=alt.Color("colour:N", scale=None),
                shape=alt.Shape("shape:N", scale=None),
                tooltip=[
                    alt.Tooltip("title:N", title=published),
                    alt.Tooltip("published:Q", title=axis, format=".3f"),
                ],
            )
        )
    return alt.layer(*layers).properties(title=title, height=ROW * max(len(rows), FEWEST) + AROUND)
