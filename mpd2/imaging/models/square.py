"""Squares of a photograph: what a network is shown, and the way back to the photograph's pixels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpd2.imaging.ellipses import Ellipse
from mpd2.imaging.field import Field
from mpd2.imaging.models.processor import Pixels

AROUND = 2.2  # disc heights a side of the square that is segmented a second time


@dataclass(frozen=True)
class Square:
    """A square of a photograph, in its pixels; it may reach beyond the edges."""

    left: int
    top: int
    side: int

    @classmethod
    def of_field(cls, field: Field) -> Square:
        """The one that holds the field of view."""
        return cls(field.left, field.top, field.side)

    @classmethod
    def around(cls, disc: Ellipse, heights: float = AROUND) -> Square:
        """The one around a disc, so many disc heights a side."""
        side = max(16, round(heights * max(disc.vertical, disc.horizontal)))
        return cls(round(disc.x - side / 2), round(disc.y - side / 2), side)

    def cut(self, pixels: Pixels) -> Pixels:
        """Its pixels, black beyond the edges, [side, side, 3]."""
        height, width = pixels.shape[:2]
        cut = np.zeros((self.side, self.side, 3), np.uint8)
        top, left = max(self.top, 0), max(self.left, 0)
        bottom, right = min(self.top + self.side, height), min(self.left + self.side, width)
        if bottom > top and right > left:
            part = pixels[top:bottom, left:right]
            cut[top - self.top : bottom - self.top, left - self.left : right - self.left] = part
        return cut

    def outward(self, ellipse: Ellipse, size: int) -> Ellipse:
        """An ellipse of this square, shrunk or grown to `size` pixels a side, in pixels of the photograph."""
        return ellipse.scaled(self.side / size).moved(self.left, self.top)
