"""Charts of calibration: predicted against observed, and slopes."""

from __future__ import annotations

import altair as alt
import pandas as pd

from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.forest import forest
from mpd2.present.charts.kit.style import AI, CATEGORIES, OTHER, READER, AltairChart, heading, with_interval

HEIGHT = 340
COLOURS = (AI.colour, *(colour for colour in CATEGORIES if colour != AI.colour))
SHAPES = ("square", "circle", "diamond", "triangle-up", "cross")


@drawn_once
def reliability(rows: pd.DataFrame, what: str) -> AltairChart:
    """Predicted against observed shares of an event, a line a forecast with Wilson's intervals; dashed: calibrated.

    `rows`: as of `evaluation.clinical.calibration.reliability`, at most five forecasts, a reader's
    alone; `what` completes "share …".
    """
    titles = rows["title"].drop_duplicates().tolist()
    share = alt.Scale(domain=[0, 1])
    percents = alt.Axis(format="%")
    across = alt.X("predicted:Q", title=f"predicted share {what}", scale=share, axis=percents)
    upright = alt.Y("observed:Q", title=f"observed share {what}", scale=share, axis=percents)
    legend = alt.Legend(orient="top", labelLimit=0, symbolOpacity=1, columns=2) if len(titles) > 1 else None
    colours, shapes = (COLOURS, SHAPES) if len(titles) > 1 else ([READER.colour], [READER.shape])
    painted, shaped = (alt.Scale(domain=titles, range=list(looks[: len(titles)])) for looks in (colours, shapes))
    colour = alt.Color("title:N", title=None, scale=painted, legend=legend)
    shape = alt.Shape("title:N", title=None, scale=shaped, legend=legend)
    base = alt.Chart(rows).encode(
        x=across,
        color=colour,
        tooltip=[
            alt.Tooltip("title:N", title=" "),
            alt.Tooltip("predicted:Q", title="predicted", format=".1%"),
            *with_interval("observed", "observed", ".1%"),
            alt.Tooltip("n:Q", title="n"),
        ],
    )
    ends = pd.DataFrame({"predicted": [0.0, 1.0], "observed": [0.0, 1.0]})
    layers = (
        alt.Chart(ends).mark_line(color=OTHER.colour, strokeDash=[6, 4]).encode(x=across, y=upright),
        base.mark_rule(strokeWidth=1.5, opacity=0.7).encode(y=alt.Y("low:Q"), y2="high:Q"),
        base.mark_line(strokeWidth=1.5).encode(y=upright),
        base.mark_point(filled=True, size=70, opacity=1).encode(y=upright, shape=shape),
    )
    title = heading(f"Predicted and observed share {what}")
    return alt.layer(*layers).properties(title=title, height=HEIGHT)


@drawn_once
def slopes(rows: pd.DataFrame) -> AltairChart:
    """The calibration slope of each forecast with its interval; 1 is calibrated.

    `rows`: as of `evaluation.clinical.calibration.quality`; what has too few cases for a slope is left out.
    """
    shown = rows.dropna(subset="slope")[["title", "n", "slope", "slope_low", "slope_high"]]
    shown = shown.set_axis(["title", "n", "value", "low", "high"], axis=1)
    shown = shown.assign(colour=COLOURS[1], shape=SHAPES[1])
    one = alt.Chart(pd.DataFrame({"at": [1.0]})).mark_rule(color=OTHER.colour, strokeDash=[6, 4]).encode(x="at:Q")
    return forest(shown, "calibration slope", "Calibration slope; dashed: perfectly calibrated") + one
