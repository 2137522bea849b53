"""One palette for every chart, on screen and in exports. Colour-blind safe (Okabe and Ito), and never colour alone."""

from __future__ import annotations

from typing import NamedTuple


class Mark(NamedTuple):
    """How something is drawn wherever it appears."""

    colour: str
    shape: str  # a Vega point shape


AI = Mark("#E69F00", "square")
READER = Mark("#0072B2", "triangle-up")
ROUTER = Mark("#009E73", "diamond")  # the active MPD² run
OTHER = Mark("#7A7A7A", "circle")  # every other method
ALARM = Mark("#D55E00", "cross")  # an error, a missed case

CATEGORIES = ("#009E73", "#0072B2", "#E69F00", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7A7A7A")
"""For cohorts and other kinds without a mark of their own, in this order."""

SEQUENCE = (
    "#f0f7f4", "#d6ebe2", "#b5dccc", "#8fcbb2", "#67b897", "#3fa47d", "#1f8d66", "#0f7452", "#0a5a3f", "#063f2c",
)  # fmt: skip
DIVERGENCE = (
    "#8c3a00", "#b85a1a", "#d98a52", "#efbd98", "#f9e6da", "#dfecf5", "#a9cde5", "#62a3cf", "#2277b0", "#084f80",
)  # fmt: skip
