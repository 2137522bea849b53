"""Who decides, as bars: the AI by its own word, the rule against it, a reader."""

from __future__ import annotations

import altair as alt
import pandas as pd

from mpd2.core.policy import DECIDERS
from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.style import AltairChart, decider_scale, heading

ROW, AROUND = 30, 140  # pixels of a bar, and of title, legend and axis


@drawn_once
def who_decides(rows: pd.DataFrame) -> AltairChart:
    """The share of cases that each decides, in all of them and in each cohort; `rows`: `readers.who_decides`."""
    shown = rows.assign(
        bar=[f"{part} (n = {n})" for part, n in zip(rows["part"], rows["n"], strict=True)],
        place=rows["who"].map({who: place for place, who in enumerate(DECIDERS)}),
    )
    bars = shown["bar"].drop_duplicates().tolist()
    return (
        alt.Chart(shown)
        .mark_bar()
        .encode(
            x=alt.X("share:Q", title="share of cases", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])),
            y=alt.Y("bar:N", title=None, sort=bars),
            color=alt.Color("who:N", title=None, scale=decider_scale(), legend=alt.Legend(orient="top", labelLimit=0)),
            order="place:O",
            tooltip=[
                alt.Tooltip("part:N", title="cases"),
                alt.Tooltip("who:N", title="decided by"),
                alt.Tooltip("cases:Q", title="number", format=".1f"),
                alt.Tooltip("share:Q", title="share", format=".1%"),
            ],
        )
        .properties(title=heading("Who decides"), height=AROUND + ROW * len(bars))
    )
