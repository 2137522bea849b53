"""The rim between cup and disc by direction: twelve clock sectors, and the four quadrants of the ISNT rule.

A width is a fraction of the disc's radius in the same direction, seen from the disc's centre: 0 where the cup touches
the disc's edge, 1 where there is no cup. Clock hours are as on the photograph, twelve at the top.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpd2.core.arrays import Floats, frozen
from mpd2.core.errors import UserError
from mpd2.core.text import decimal
from mpd2.imaging.ellipses import Ellipse
from mpd2.imaging.outlines import Outlines

HOURS = 12
RAYS = 5  # directions a sector
QUADRANTS = (
    "inferior",
    "superior",
    "nasal",
    "temporal",
)  # the order of the ISNT rule, widest first in most healthy eyes
LATERALITIES = ("R", "L", "")


@dataclass(frozen=True, eq=False)
class Rim:
    """Widths of the rim."""

    hours: Floats  # [12] one, two, … twelve o'clock
    quadrants: dict[str, float]  # by QUADRANTS; empty where nobody says which eye it is

    @property
    def thinnest(self) -> int:
        """The hour at which the rim is thinnest, 1 to 12."""
        return int(self.hours.argmin()) + 1

    @property
    def follows_isnt(self) -> bool | None:
        """Whether inferior ≥ superior ≥ nasal ≥ temporal; None where the eye's side is not known."""
        widths = [self.quadrants[name] for name in QUADRANTS] if self.quadrants else []
        return all(np.diff(widths) <= 0) if widths else None

    def sentences(self) -> tuple[str, ...]:
        """The rim in words."""
        least = self.hours[self.thinnest - 1]
        said = [f"The rim is thinnest at {self.thinnest} o'clock: {decimal(least, 2)} of the disc's radius there."]
        if not self.quadrants:
            said.append("Which eye it is is not known, so nasal and temporal cannot be told apart.")
            return tuple(said)
        said.append(", ".join(f"{name} {decimal(self.quadrants[name], 2)}" for name in QUADRANTS).capitalize() + ".")
        if self.follows_isnt:
            said.append("Inferior, superior, nasal, temporal: it gets thinner in the order usual in healthy eyes.")
        else:
            said.append(
                "It does not get thinner in the order inferior, superior, nasal, temporal usual in healthy eyes."
            )
        return tuple(said)


def rim_of(outlines: Outlines, laterality: str = "") -> Rim | None:
    """The rim of measured outlines; None without a disc or a cup. `laterality` is "R", "L" or "" where nobody says."""
    if outlines.disc is None or outlines.cup is None:
        return None
    return rim_between(outlines.disc, outlines.cup, laterality)


def rim_between(disc: Ellipse, cup: Ellipse, laterality: str = "") -> Rim:
    """The rim between two ellipses, each sector the mean over directions within it.

    >>> rim = rim_between(Ellipse(0, 0, 80, 80), Ellipse(0, 0, 40, 40), "R")
    >>> rim.hours.round(3).tolist() == [0.5] * 12, round(rim.quadrants["nasal"], 3)
    (True, 0.5)
    """
    if laterality not in LATERALITIES:
        raise UserError(f"Laterality: found {laterality!r}, expected R, L or nothing.")
    hour = np.arange(1, HOURS + 1)[:, None] + (np.arange(RAYS) - (RAYS - 1) / 2) / RAYS  # [12, RAYS], by the clock
    width = _width(disc, cup, hour * 2 * np.pi / HOURS - np.pi / 2)  # twelve o'clock is up, against y
    quadrants: dict[str, float] = {}
    if laterality:
        nose = 3 if laterality == "R" else 9  # a right eye's nose is on the right of its photograph
        middles = {"inferior": 6, "superior": 12, "nasal": nose, "temporal": 12 - nose}
        quadrants = {name: _quadrant(disc, cup, middle) for name, middle in middles.items()}
    return Rim(frozen(width.mean(-1)), quadrants)


def _quadrant(disc: Ellipse, cup: Ellipse, hour: int) -> float:
    """Mean width within an hour and a half to either side."""
    hours = hour + np.linspace(-1.5, 1.5, 3 * RAYS, endpoint=False) + 0.5 / RAYS
    return float(_width(disc, cup, hours * 2 * np.pi / HOURS - np.pi / 2).mean())


def _width(disc: Ellipse, cup: Ellipse, directions: Floats) -> Floats:
    """Rim over disc radius along each direction from the disc's centre, 0 to 1.

    A cup that leaves out the disc's centre leaves rim on both of its sides; both are counted.
    """
    outer = disc.reach(directions)
    near, far = cup.crossings(directions, disc.x, disc.y)  # nothing of the cup beyond the disc, nor behind the centre
    near, far = np.clip(near, 0, outer), np.clip(far, 0, outer)
    return 1 - (far - near) / outer
