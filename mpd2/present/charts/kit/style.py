"""What all charts share: one palette, and how a method is drawn wherever it appears.

The palette is colour-blind safe (Okabe and Ito), and no meaning depends on colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import altair as alt
import pandas as pd

from mpd2.core.policy import DECIDERS

AltairChart = alt.Chart | alt.LayerChart | alt.FacetChart | alt.HConcatChart | alt.VConcatChart | alt.ConcatChart


class Mark(NamedTuple):
    """How something is drawn wherever it appears."""

    colour: str
    shape: str  # a Vega point shape


AI = Mark("#E69F00", "square")
READER = Mark("#0072B2", "triangle-up")
RULE = Mark("#CC79A7", "diamond")  # the run's own rule against the AI, with nobody asked
ROUTER = Mark("#009E73", "diamond")  # the active MPD² run
OTHER = Mark("#7A7A7A", "circle")  # every other method
ALARM = Mark("#D55E00", "cross")  # an error, a missed case

DECIDER_MARKS = (AI, RULE, READER)  # in the order of `policy.DECIDERS`

CATEGORIES = ("#009E73", "#0072B2", "#E69F00", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7A7A7A")
"""For cohorts and other kinds without a mark of their own, in this order."""

SEQUENCE = (
    "#f0f7f4", "#d6ebe2", "#b5dccc", "#8fcbb2", "#67b897", "#3fa47d", "#1f8d66", "#0f7452", "#0a5a3f", "#063f2c",
)  # fmt: skip

ON_LIGHT, ON_DARK = "#0e1917", "#e4ecea"  # text on a light and on a dark page
DARK = 0.179  # relative luminance of a ground below which white can be read better than black
INK = alt.ExprRef(f"luminance(background) < {DARK} ? '{ON_DARK}' : '{ON_LIGHT}'")
"""Colour of text: no single one can be read on both pages, so each chart asks what it is drawn on."""

_TEXT = {"labelColor": INK.to_dict(), "titleColor": INK.to_dict()}
CONFIG = {
    "axis": {**_TEXT, "labelFlush": False, "tickCount": 5, "ticks": False, "domain": False},
    "axisDiscrete": {"labelOverlap": False, "labelLimit": 220},
    "header": _TEXT,
    "legend": _TEXT,
    "text": {"color": INK.to_dict()},
    "title": {"color": INK.to_dict(), "subtitleColor": INK.to_dict(), "offset": 12},
    "view": {"stroke": "transparent", "continuousWidth": 600, "continuousHeight": 300},  # in a file; a page stretches
}
"""Settings of every chart, on a page and in a file: labels stand where their rows and lines are, none is left out."""


def heading(title: str, subtitle: str = "") -> alt.Title:
    """A chart's title, with a sentence below it if there is one."""
    return alt.Title(title, subtitle=subtitle) if subtitle else alt.Title(title)


def with_interval(field: str, title: str, number: str = ".3f") -> list[alt.Tooltip]:
    """A value and its 95 % interval, the columns low and high, beside the pointer."""
    parts = ((field, title), ("low", "95 % from"), ("high", "to"))
    return [alt.Tooltip(f"{name}:Q", title=words, format=number) for name, words in parts]


def mark_of(method: str, active: str) -> Mark:
    """How a method is drawn wherever it appears."""
    if method == active:
        return ROUTER
    return {"ai": AI, "mean-reader": READER}.get(method, OTHER)


def decider_scale() -> alt.Scale:
    """The colour of each who decides, the same in all charts."""
    return alt.Scale(domain=list(DECIDERS), range=[mark.colour for mark in DECIDER_MARKS])


def method_scales(methods: list[str], active: str) -> tuple[alt.Scale, alt.Scale]:
    """Colour and shape of every method, the same in all charts."""
    marks = [mark_of(method, active) for method in methods]
    colour = alt.Scale(domain=methods, range=[mark.colour for mark in marks])
    shape = alt.Scale(domain=methods, range=[mark.shape for mark in marks])
    return colour, shape


def with_marks(rows: pd.DataFrame, marks: Iterable[Mark]) -> pd.DataFrame:
    """Rows with the colour and the shape of their marks."""
    colours, shapes = zip(*marks, strict=True)
    return rows.assign(colour=colours, shape=shapes)


def with_method_marks(rows: pd.DataFrame, active: str) -> pd.DataFrame:
    """Rows with the colour and the shape of their methods."""
    return with_marks(rows, (mark_of(method, active) for method in rows["method"]))
