"""Ellipses: the outline of a disc or a cup in five numbers, the paper's e = (w, h, θ, c_x, c_y).

Pixel (row r, column c) has its centre at x = c, y = r; y grows downwards, and an angle turns from x towards y.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import atan2, cos, hypot, isfinite, pi, sin

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mpd2.core.arrays import Bools, Floats
from mpd2.core.errors import UserError

THINNEST = 1 / 12  # pixels²: the second moment of one pixel as a square, below which no mask can know its width


@dataclass(frozen=True)
class Ellipse:
    """One outline. Turned by `angle`, `width` is the full axis that lies sideways at angle 0, `height` the upright one.

    >>> Ellipse(0, 0, width=60, height=80).vertical
    80.0
    """

    x: float  # pixels
    y: float
    width: float  # pixels, the paper's w = 2a
    height: float  # pixels, the paper's h = 2b
    angle: float = 0.0  # radians, the paper's θ

    def __post_init__(self) -> None:
        numbers = (self.x, self.y, self.width, self.height, self.angle)
        if not all(map(isfinite, numbers)) or min(self.width, self.height) <= 0:
            raise UserError(
                f"An ellipse of width {self.width:g} and height {self.height:g} at ({self.x:g}, {self.y:g}): "
                "expected finite numbers, both axes above 0."
            )

    @property
    def vertical(self) -> float:
        """Extent from top to bottom, the paper's VD(w, h, θ) = 2 √(a² sin² θ + b² cos² θ)."""
        return hypot(self.width * sin(self.angle), self.height * cos(self.angle))

    @property
    def horizontal(self) -> float:
        """Extent from side to side."""
        return hypot(self.width * cos(self.angle), self.height * sin(self.angle))

    @property
    def area(self) -> float:
        """π a b, in pixels²."""
        return pi * self.width * self.height / 4

    def moved(self, dx: float, dy: float) -> Ellipse:
        """The same outline elsewhere."""
        return replace(self, x=self.x + dx, y=self.y + dy)

    def scaled(self, factor: float) -> Ellipse:
        """The same outline in the same picture at `factor` times its resolution; what stays is its corner.

        >>> Ellipse(0, 0, 10, 10).scaled(2)
        Ellipse(x=0.5, y=0.5, width=20, height=20, angle=0.0)
        """
        x, y = (factor * (at + 0.5) - 0.5 for at in (self.x, self.y))
        return Ellipse(x, y, factor * self.width, factor * self.height, self.angle)

    def radius(self, x: ArrayLike, y: ArrayLike) -> Floats:
        """How far points are from the centre: 0 there, 1 on the outline, 2 at twice its size."""
        right, down = np.asarray(x, float) - self.x, np.asarray(y, float) - self.y
        along = (right * cos(self.angle) + down * sin(self.angle)) / (self.width / 2)
        across = (down * cos(self.angle) - right * sin(self.angle)) / (self.height / 2)
        return np.hypot(along, across)

    def contains(self, x: ArrayLike, y: ArrayLike) -> Bools:
        """Which points lie inside or on the outline."""
        return self.radius(x, y) <= 1

    def mask(self, rows: int, columns: int) -> Bools:
        """Which pixels of a picture have their centre inside, [rows, columns]."""
        return self.contains(np.arange(columns)[None, :], np.arange(rows)[:, None])

    def points(self, count: int = 64) -> Floats:
        """Points along the outline, [count, 2] as x and y; the first is not repeated."""
        turn = 2 * pi * np.arange(count) / count
        return self._at(np.ones(count), turn)

    def filling(self, count: int = 256) -> Floats:
        """Points spread evenly over the inside, [count, 2]: a sunflower's seeds."""
        seed: Floats = np.arange(count, dtype=float) + 0.5
        return self._at(np.sqrt(seed / count), seed * pi * (3 - 5**0.5))

    def reach(self, directions: ArrayLike) -> Floats:
        """Distance from the centre to the outline, by direction in radians, pixels."""
        return self.crossings(directions, self.x, self.y)[1]

    def crossings(self, directions: ArrayLike, x: float, y: float) -> tuple[Floats, Floats]:
        """Where lines from a point cross the outline, by direction in radians: two signed distances in pixels.

        Where a line does not meet the ellipse both are 0.
        """
        direction = np.asarray(directions, float) - self.angle  # in the frame of the axes
        along, across = 2 * np.cos(direction) / self.width, 2 * np.sin(direction) / self.height  # a step of one pixel
        right, down = x - self.x, y - self.y
        start_along = 2 * (right * cos(self.angle) + down * sin(self.angle)) / self.width
        start_across = 2 * (down * cos(self.angle) - right * sin(self.angle)) / self.height
        a, b = along**2 + across**2, start_along * along + start_across * across  # |start + t step|² = 1
        inside = b**2 - a * (start_along**2 + start_across**2 - 1)
        root = np.sqrt(np.maximum(inside, 0))
        meets = inside > 0
        return np.where(meets, (-b - root) / a, 0.0), np.where(meets, (root - b) / a, 0.0)

    def _at(self, radius: Floats, turn: Floats) -> Floats:
        along, across = radius * np.cos(turn) * self.width / 2, radius * np.sin(turn) * self.height / 2
        x = self.x + along * cos(self.angle) - across * sin(self.angle)
        y = self.y + along * sin(self.angle) + across * cos(self.angle)
        return np.stack([x, y], axis=-1)


def ellipse_of_mask(mask: NDArray[np.bool_] | Floats) -> Ellipse | None:
    """The ellipse with the second moments of a mask [H, W]; None if nothing is in it.

    Along an axis of a uniform ellipse the variance is a²/4, so a = 2 √eigenvalue. Weights between 0 and 1 count as
    shares of a pixel. Where pixels are marked by their centre, as a network marks them, these moments have no bias; a
    pixel's own 1/12 is therefore not added, and serves as the least a mask one pixel wide can have.

    >>> found = ellipse_of_mask(Ellipse(50, 40, 30, 60).mask(100, 100))
    >>> round(found.width, 1), round(found.height, 1)
    (29.8, 60.2)
    """
    weight = np.clip(np.nan_to_num(np.asarray(mask, float)), 0, None)  # [H, W]
    across, down = weight.sum(0), weight.sum(1)  # [W], [H]
    total = across.sum()
    if total <= 0:
        return None
    column, row = np.arange(len(across)), np.arange(len(down))
    x, y = across @ column / total, down @ row / total
    column, row = column - x, row - y
    xx, yy, xy = across @ column**2 / total, down @ row**2 / total, row @ weight @ column / total
    return _of_moments(x, y, xx, yy, xy)


def _of_moments(x: float, y: float, xx: float, yy: float, xy: float) -> Ellipse:
    """From centre and covariance; the axis nearer to level is called the width, so the angle stays within ±45°."""
    middle, spread = (xx + yy) / 2, hypot((xx - yy) / 2, xy)
    long, short = (4 * max(value, THINNEST) ** 0.5 for value in (middle + spread, middle - spread))
    angle = atan2(2 * xy, xx - yy) / 2  # of the long axis, -90° to 90°
    if abs(angle) <= pi / 4:
        return Ellipse(float(x), float(y), float(long), float(short), float(angle))
    return Ellipse(float(x), float(y), float(short), float(long), float(angle - np.copysign(pi / 2, angle)))
