"""Names beside points and at the ends of lines: each where it covers nothing, or nowhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression

from mpd2.core.arrays import Floats

SIZE = 10  # of the letters, in pixels
HIGH = SIZE + 2  # with the space that keeps two lines apart
LETTER = 0.58 * SIZE  # width of one, on average
POINT = 6  # half the width of a mark
NOWHERE = ""


class Place(NamedTuple):
    """A side of a point: how far its text is moved, in pixels, and which end of the text is there."""

    dx: int
    dy: int
    align: str

    def mark(self) -> dict[str, Any]:
        """As Vega's properties of a text."""
        return {"dx": self.dx, "dy": self.dy, "align": self.align, "fontSize": SIZE, "baseline": "middle"}


PLACES: Mapping[str, Place] = {
    "above right": Place(7, -9, "left"),
    "below right": Place(7, 9, "left"),
    "above left": Place(-7, -9, "right"),
    "below left": Place(-7, 9, "right"),
    "right": Place(9, 0, "left"),
    "left": Place(-9, 0, "right"),
    "above": Place(0, -13, "center"),
    "below": Place(0, 13, "center"),
}
"""The sides of a point in the order they are tried: first those that no upright or level line through it crosses."""

_START = {"left": 0.0, "center": -0.5, "right": -1.0}  # of a text, in its own width


def places(points: Floats, names: Sequence[str], width: float, height: float) -> list[str]:
    """For each point, [N, 2] in pixels from the upper left, the side its name stands on; NOWHERE if none is free.

    A name covers no point, no other name, and ends within the chart. An empty name needs no place.
    """
    taken = [_box(x, y, 2 * POINT, 2 * POINT) for x, y in points]
    sides = []
    for (x, y), name in zip(points, names, strict=True):
        length = LETTER * len(name)
        for side, place in PLACES.items() if name else ():
            middle = x + place.dx + (_START[place.align] + 0.5) * length
            box = _box(middle, y + place.dy, length, HIGH)
            inside = box[0] >= 0 and box[1] >= 0 and box[2] <= width and box[3] <= height
            if inside and not any(_overlap(box, other) for other in taken):
                taken.append(box)
                sides.append(side)
                break
        else:
            sides.append(NOWHERE)
    return sides


def spread(values: Floats, gap: float, top: float) -> Floats:
    """Places from 0 to `top` in the order of `values`, [N] ascending, each as near to its value as can be.

    They are `gap` apart, or as far as there is room for.
    """
    steps = min(gap, top / max(len(values) - 1, 1)) * np.arange(len(values))
    return np.asarray(np.clip(isotonic_regression(values - steps).x, 0, top - steps[-1])) + steps


def _box(x: float, y: float, width: float, height: float) -> Floats:
    """Left, top, right and bottom of what is centred there, [4]."""
    return np.array([x - width / 2, y - height / 2, x + width / 2, y + height / 2])


def _overlap(one: Floats, other: Floats) -> bool:
    return bool((one[:2] < other[2:]).all() and (other[:2] < one[2:]).all())
