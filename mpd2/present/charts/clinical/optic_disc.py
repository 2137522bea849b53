"""The optic disc, drawn to scale from its cup-to-disc ratios: for tables whose manifest names these."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from mpd2.core.text import decimal
from mpd2.present.charts.kit.drawing import drawn_once
from mpd2.present.charts.kit.style import AI, ALARM, AltairChart

SIDE = 150  # pixels of the drawing
ALT = "Optic disc with its cup: {said}"
NOTE = "Cup: {said}. Drawn from ratios: the table has no picture."
DOUBTFUL = "The ratios do not fit together: disc or cup may be outlined wrongly."


def outlines(vertical: float, horizontal: float) -> pd.DataFrame:
    """Outlines of disc and cup, in vertical disc diameters: part, order, x, y. A missing width is taken as the height.

    >>> outlines(0.6, float("nan")).groupby("part")["x"].max().round(2).to_dict()
    {'cup': 0.3, 'disc': 0.5}
    """
    angle = np.linspace(0, 2 * np.pi, 73)
    width = vertical if np.isnan(horizontal) else horizontal
    parts = [
        pd.DataFrame({"part": part, "order": range(len(angle)), "x": x * np.cos(angle) / 2, "y": y * np.sin(angle) / 2})
        for part, x, y in (("disc", 1.0, 1.0), ("cup", width, vertical))
    ]
    return pd.concat(parts, ignore_index=True)


def in_words(vertical: float, horizontal: float) -> str:
    """How large the cup is.

    >>> in_words(0.6, float("nan"))
    "0.60 of the disc's height, its width is not known"
    """
    width = "its width is not known" if np.isnan(horizontal) else f"{decimal(horizontal, 2)} of its width"
    return f"{decimal(vertical, 2)} of the disc's height, {width}"


@drawn_once
def optic_disc(outline: pd.DataFrame) -> AltairChart:
    """Disc and cup to scale; `outline` is `outlines`."""
    scale = alt.Scale(domain=[-0.55, 0.55])
    base = alt.Chart(outline).encode(
        x=alt.X("x:Q", axis=None, scale=scale), y=alt.Y("y:Q", axis=None, scale=scale), order="order:O"
    )
    colours = {"disc": AI.colour, "cup": ALARM.colour}
    layers = [
        base.transform_filter(alt.datum.part == part).mark_line(
            fill=colour, fillOpacity=0.3, stroke=colour, strokeWidth=2
        )
        for part, colour in colours.items()
    ]
    names = pd.DataFrame({"part": ["disc", "cup"], "x": [0.0, 0.0], "y": [-0.43, 0.0]})
    labels = alt.Chart(names).mark_text(fontSize=12, fontWeight="bold")
    layers.append(labels.encode(x="x:Q", y="y:Q", text="part:N"))
    # "pad" keeps the plot itself square whatever a page puts around it
    return alt.layer(*layers).properties(width=SIDE, height=SIDE, autosize="pad")
