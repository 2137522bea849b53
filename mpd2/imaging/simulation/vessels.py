"""Vessels of a drawn eye: arcades that leave the disc, bend at the cup's margin and branch three times.

They are grown in a frame of their own: the disc's centre at 0, one disc height long, x towards the temple, y upwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from mpd2.core.arrays import Floats, Ints
from mpd2.imaging.ellipses import Ellipse

STEPS = 40  # points a vessel
PIECES = 5  # a vessel is drawn in so many pieces, each thinner than the one before
FINE = 2  # drawn at so many times the resolution, for smooth edges
VEIN, ARTERY = 255, 180  # how dark

# Arcades: degrees from the level line towards the temple at the start and far away, length, width
ARCADES = np.array(
    [
        [100, -14, 5.0, 0.085],
        [90, -10, 4.8, 0.065],
        [124, 152, 3.2, 0.065],
        [138, 168, 3.0, 0.050],
        [62, 4, 1.5, 0.028],
        [165, 182, 2.2, 0.030],
    ]
)
DARKNESS = np.array([VEIN, ARTERY, VEIN, ARTERY, ARTERY, VEIN])
BRANCHES = (5, 3)  # of every arcade, and of every branch


@dataclass(frozen=True, eq=False)
class Curves:
    """Vessels as polylines."""

    x: Floats  # [V, STEPS]
    y: Floats  # [V, STEPS]
    heading: Floats  # [V, STEPS] radians
    length: Floats  # [V]
    width: Floats  # [V] at the start
    dark: Ints  # [V]


def vessel_map(disc: Ellipse, cup: Ellipse, right: bool, random: np.random.Generator, side: int) -> NDArray[np.float32]:
    """How much of each pixel is vessel, [side, side] 0 to 1; the ellipses are in pixels of this picture."""
    canvas = Image.new("L", (FINE * side, FINE * side))
    draw = ImageDraw.Draw(canvas)
    grown = [_arcades(_trunk(disc, cup, right), random)]
    for count in BRANCHES:
        grown.append(_branches(grown[-1], count, random))
    for curves in reversed(grown):  # the widest on top
        _draw(draw, curves, disc, cup, right)
    small = canvas.reduce(FINE)
    return np.asarray(small, np.float32) / np.float32(255)


def _trunk(disc: Ellipse, cup: Ellipse, right: bool) -> tuple[float, float]:
    """Where the vessels come out: in the half of the cup towards the nose."""
    temple = -1 if right else 1
    across = temple * (cup.x - disc.x) - 0.3 * cup.horizontal
    return across / disc.vertical, (disc.y - cup.y) / disc.vertical


def _arcades(trunk: tuple[float, float], random: np.random.Generator) -> Curves:
    """The arcades above and below, [V] = twice ARCADES."""
    table = np.concatenate([ARCADES, ARCADES])
    above = np.repeat([1.0, -1.0], len(ARCADES))
    begin, end = above * np.radians(table[:, :2] + random.normal(0, [9, 6], (len(table), 2))).T
    length = table[:, 2] * random.uniform(0.9, 1.15, len(table))
    width = table[:, 3] * random.uniform(0.85, 1.15, len(table))
    reach = random.uniform(1.3, 1.8, len(table))  # how far it goes before it turns
    at = np.linspace(0, 1, STEPS) * length[:, None]  # [V, STEPS]
    heading = (
        end[:, None] + (begin - end)[:, None] * np.exp(-((at / reach[:, None]) ** 1.5)) + _wander(random, len(table))
    )
    start = random.normal(0, 0.02, (2, len(table))) + np.array(trunk)[:, None]
    return _grown(start[0], start[1], heading, length, width, np.concatenate([DARKNESS, DARKNESS]))


def _branches(parents: Curves, count: int, random: np.random.Generator) -> Curves:
    """`count` branches of every vessel, to either side in turn."""
    parent = np.repeat(np.arange(len(parents.length)), count)
    share = (np.tile(np.arange(count), len(parents.length)) + random.uniform(0.5, 1.1, len(parent))) / (count + 0.4)
    at = (np.clip(share, 0.12, 0.95) * (STEPS - 1)).astype(int)
    away = np.where(np.arange(len(parent)) % 2, 1.0, -1.0) * np.radians(random.uniform(28, 60, len(parent)))
    length = parents.length[parent] * random.uniform(0.22, 0.5, len(parent)) * (1.15 - share / 2)
    width = parents.width[parent] * random.uniform(0.4, 0.65, len(parent)) * (1.1 - share / 2)
    back = np.linspace(1, 0.35, STEPS) * away[:, None]  # it turns back towards its parent's way
    heading = parents.heading[parent, at][:, None] + back + _wander(random, len(parent))
    return _grown(parents.x[parent, at], parents.y[parent, at], heading, length, width, parents.dark[parent])


def _wander(random: np.random.Generator, vessels: int) -> Floats:
    """Small turns to and fro, radians [V, STEPS]."""
    steps = random.normal(0, 0.075, (vessels, STEPS)).cumsum(1)
    return steps - np.linspace(0, 1, STEPS) * steps[:, -1:]


def _grown(x: Floats, y: Floats, heading: Floats, length: Floats, width: Floats, dark: Ints) -> Curves:
    step = length[:, None] / (STEPS - 1)
    right, up = np.cos(heading) * step, np.sin(heading) * step
    x, y = (start[:, None] + way.cumsum(1) - way[:, :1] for start, way in ((x, right), (y, up)))
    return Curves(x, y, heading, length, width, dark)


def _draw(draw: ImageDraw.ImageDraw, curves: Curves, disc: Ellipse, cup: Ellipse, right: bool) -> None:
    size, temple = disc.vertical, -1.0 if right else 1.0  # in a right eye the temple is on the left of the picture
    x, y = _bent(disc.x + temple * size * curves.x, disc.y - size * curves.y, cup)
    points = FINE * (np.stack([x, y], -1) + 0.5)  # [V, STEPS, 2]
    ends = np.linspace(0, STEPS - 1, PIECES + 1).astype(int)
    widths = FINE * size * curves.width[:, None] * np.linspace(1, 0.5, PIECES)  # [V, PIECES]
    for path, thick, dark in zip(points, widths, curves.dark, strict=True):
        for piece in range(PIECES):
            line = path[ends[piece] : ends[piece + 1] + 1].ravel().tolist()
            draw.line(line, fill=int(dark * min(1.0, 0.4 + thick[piece] / 6)), width=max(1, round(thick[piece])))


def _bent(x: Floats, y: Floats, cup: Ellipse) -> tuple[Floats, Floats]:
    """Vessels turn aside as they climb out of the cup: points within it are turned about its centre."""
    turn = 0.9 * np.clip(1 - cup.radius(x, y), 0, 1)
    right, down = x - cup.x, y - cup.y
    return cup.x + right * np.cos(turn) - down * np.sin(turn), cup.y + right * np.sin(turn) + down * np.cos(turn)
