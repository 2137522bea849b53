"""Charts of the Your data page: new cases beside those a router learned from."""

from __future__ import annotations

import altair as alt
import pandas as pd

from mpd2.evaluation.shift import CLEAR
from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.style import CATEGORIES, OTHER, with_interval

YOURS, TRAINING = CATEGORIES[3], OTHER.colour
HEIGHT = 380
NAMES = {"cases": "your cases", "training": "training cases"}


@drawn_once
def differences(rows: pd.DataFrame) -> alt.LayerChart:
    """How far the mean of each input has moved, with its interval. `rows`: `shift.shift`."""
    order = rows.sort_values("distance", ascending=False)["title"].tolist()
    base = alt.Chart(rows).encode(
        y=alt.Y("title:N", title=None, sort=order, axis=alt.Axis(labelLimit=220, labelOverlap=False)),
        tooltip=[
            alt.Tooltip("title:N", title="input"),
            alt.Tooltip("mean:Q", title="your mean", format=".3f"),
            alt.Tooltip("training_mean:Q", title="training mean", format=".3f"),
            *with_interval("difference", "difference in standard deviations", "+.2f"),
            alt.Tooltip("distance:Q", title="Kolmogorov-Smirnov distance", format=".2f"),
            alt.Tooltip("by_chance:Q", title="by chance up to", format=".2f"),
            alt.Tooltip("outside:Q", title="outside the range of training", format=".1%"),
        ],
    )
    reach = max(1.0, float(rows[["low", "high", "difference"]].abs().max().max()))
    scale = alt.Scale(domain=[-reach, reach], nice=True)
    alike = alt.Chart(pd.DataFrame({"from": [-CLEAR], "to": [CLEAR]})).mark_rect(color=TRAINING, opacity=0.14)
    return (
        alike.encode(x=alt.X("from:Q", scale=scale), x2="to:Q")
        + alt.Chart(pd.DataFrame({"none": [0]})).mark_rule(color=TRAINING).encode(x="none:Q")
        + base.mark_rule(color=YOURS, strokeWidth=2).encode(x="low:Q", x2="high:Q")
        + base.mark_point(filled=True, size=110, color=YOURS, opacity=1).encode(
            x=alt.X("difference:Q", title="training standard deviations", scale=scale)
        )
    ).properties(title="How far each input has moved", height=HEIGHT)


@drawn_once
def distributions(bins: pd.DataFrame, title: str) -> alt.LayerChart:
    """One input of both as shares of cases. `bins`: `shift.distributions`."""
    rows = bins.assign(whose=bins["who"].map(NAMES))
    base = alt.Chart(rows).encode(
        x=alt.X("start:Q", bin="binned", title=None, scale=alt.Scale(zero=False, nice=False)),
        x2="end:Q",
        color=alt.Color(
            "whose:N",
            scale=alt.Scale(domain=list(NAMES.values()), range=[YOURS, TRAINING]),
            legend=alt.Legend(title=None, orient="top", symbolOpacity=1),
        ),
        tooltip=[
            alt.Tooltip("whose:N", title="whose"),
            alt.Tooltip("start:Q", title="from", format=".3f"),
            alt.Tooltip("end:Q", title="to", format=".3f"),
            alt.Tooltip("share:Q", format=".1%"),
            alt.Tooltip("n:Q", title="cases in all"),
        ],
    )
    height = alt.Y("share:Q", title="share of cases", axis=alt.Axis(format="%"))
    training, yours = (base.transform_filter(alt.datum.who == who) for who in ("training", "cases"))
    return (
        training.mark_bar(opacity=0.4).encode(y=height)
        + yours.mark_bar(filled=False, strokeWidth=2, opacity=1).encode(y=height)
    ).properties(title=title, height=HEIGHT)
