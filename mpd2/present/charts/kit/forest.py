"""Dots with intervals, one below the other."""

from __future__ import annotations

import altair as alt
import pandas as pd

from mpd2.evaluation.metrics import METRICS
from mpd2.present.charts.kit.style import OTHER, AltairChart, heading, with_interval

ROW, AROUND = 13, 110  # pixels of a row, and of title and axis
FEWEST = 11  # rows there is room for, so that short charts side by side are alike


def forest(
    rows: pd.DataFrame,
    axis: str,
    title: str,
    *,
    metric: str | None = None,
    zero: bool = False,
    hollow: tuple[str, str] | None = None,
) -> AltairChart:
    """A dot and its interval for each row, in the rows' order.

    `rows`: title, value, low, high, n, colour, shape. With a `metric` no interval reaches beyond what it can be; with
    `zero` a line marks no difference. `hollow` is a column of other values to compare with, drawn hollow where there
    are any, and what they are.
    """
    rows, note, bounded = cut(rows, metric) if metric else (rows, "", None)
    base = alt.Chart(rows).encode(
        y=alt.Y("title:N", sort=rows["title"].tolist(), title=None), color=alt.Color("colour:N", scale=None)
    )
    scale = bounded or alt.Scale(zero=zero, padding=12)
    shape = alt.Shape("shape:N", scale=None)
    tooltip = [
        alt.Tooltip("title:N", title=" "),
        *with_interval("value", axis),
        alt.Tooltip("n:Q", title="n"),
    ]
    layers = [alt.Chart(pd.DataFrame({"at": [0.0]})).mark_rule(color=OTHER.colour).encode(x="at:Q")] if zero else []
    layers += [
        base.mark_rule(strokeWidth=2).encode(
            x=alt.X("low:Q", title=axis, scale=scale, axis=alt.Axis(format="%") if "share" in axis else alt.Axis()),
            x2="high:Q",
            tooltip=tooltip,
        ),
        base.mark_point(filled=True, size=90, opacity=1).encode(x="value:Q", shape=shape, tooltip=tooltip),
    ]
    if hollow is not None and rows[hollow[0]].notna().any():
        column, meaning = hollow
        layers.append(
            base.transform_filter(f"isValid(datum.{column})")
            .mark_point(filled=False, size=110, strokeWidth=1.5, opacity=1)
            .encode(
                x=f"{column}:Q",
                shape=shape,
                tooltip=[
                    alt.Tooltip("title:N", title=meaning),
                    alt.Tooltip(f"{column}:Q", title=axis, format=".3f"),
                ],
            )
        )
    return alt.layer(*layers).properties(title=heading(title, note), height=ROW * max(len(rows), FEWEST) + AROUND)


def cut(rows: pd.DataFrame, metric: str) -> tuple[pd.DataFrame, str, alt.Scale | None]:
    """Rows whose intervals end where a metric does; if one was cut, a sentence that says so and a scale up to there.

    Student's interval over a few resplits knows nothing of bounds and may reach below a cost of 0.

    >>> rows, note, _ = cut(pd.DataFrame({"low": [-0.1, 0.2], "high": [0.3, 0.4]}), "TotalCost")
    >>> rows["low"].tolist(), note
    ([0.0, 0.2], 'Intervals are cut at 0: total cost cannot be lower.')
    """
    lowest, highest = METRICS[metric].bounds
    low, high = rows["low"].clip(lower=lowest), rows["high"].clip(upper=highest)
    words = {"lower": (lowest, (low > rows["low"]).any()), "higher": (highest, (high < rows["high"]).any())}
    ends = {word: end for word, (end, was_cut) in words.items() if was_cut}
    if not ends:
        return rows, "", None
    places = " and ".join(f"{end:g}" for end in ends.values())
    note = f"Intervals are cut at {places}: {METRICS[metric].label} cannot be {' or '.join(ends)}."
    first, last = (ends.get(word, alt.Undefined) for word in words)
    return rows.assign(low=low, high=high), note, alt.Scale(zero=False, domainMin=first, domainMax=last)
