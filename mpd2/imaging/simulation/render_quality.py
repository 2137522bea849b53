"""Photographs with known faults, and the default model of quality that is fitted on them."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mpd2.core.arrays import Bools, Floats
from mpd2.core.files import replacing
from mpd2.core.rng import Stream, stream
from mpd2.imaging.ellipses import Ellipse
from mpd2.imaging.field import find_field
from mpd2.imaging.quality import DARKEST, DEFAULT, QualityModel, fit_quality, parts_of
from mpd2.imaging.simulation.render import CAMERAS, FRAME, Eye, Shot, draw_eye, render

FAULTS = ("blur", "darkness", "haze", "crop")
MILD = 0.35  # a photograph all of whose faults are at most this can be judged
SPARED = 0.65  # share of photographs without a given fault
PHOTOGRAPHS = 400


@dataclass(frozen=True, eq=False)
class Faulty:
    """Parts measured of rendered photographs, and whether their faults are mild."""

    parts: Floats  # [N, P]
    usable: Bools  # [N]


def draw_shot(random: np.random.Generator) -> Shot:
    """A photograph by any camera, with every fault in some share of them."""
    faults = np.where(random.random(len(FAULTS)) < SPARED, 0.0, random.random(len(FAULTS)))
    named = dict(zip(FAULTS, faults.tolist(), strict=True))
    return Shot(CAMERAS[random.integers(len(CAMERAS))], noise=random.uniform(0, 0.6), **named)


def is_usable(shot: Shot) -> bool:
    """Whether every fault is mild."""
    return max(getattr(shot, fault) for fault in FAULTS) <= MILD


def faulty_photographs(seed: int, count: int, side: int = FRAME) -> Faulty:
    """Render `count` eyes with faults and measure the parts of quality of each."""
    random = stream(seed, Stream.IMAGING)
    parts, usable = [], []
    for _ in range(count):
        eye, shot = draw_eye(random.uniform(0.25, 0.85), random), draw_shot(random)
        pixels = render(eye, shot, side)
        parts.append(parts_of(pixels, find_field(pixels), _seen_disc(eye, pixels)))
        usable.append(is_usable(shot))
    return Faulty(np.array(parts), np.array(usable))


def fit_default_quality(seed: int = 0, count: int = PHOTOGRAPHS, side: int = FRAME) -> QualityModel:
    """The model of quality that is used unless another is given: about a minute of one core."""
    faulty = faulty_photographs(seed, count, side)
    return fit_quality(faulty.parts, faulty.usable)


def write_default_quality(seed: int = 0) -> None:
    """Fit the default model anew and keep it where the library reads it."""
    entries = fit_default_quality(seed).to_json()
    with replacing(DEFAULT) as draft:
        draft.write_text(json.dumps(entries, indent=2) + "\n", encoding="utf-8")


def _seen_disc(eye: Eye, pixels: NDArray[np.uint8]) -> Ellipse | None:
    """The disc in pixels of the photograph, None where its middle is hidden and nobody could find it."""
    disc = eye.disc.scaled(len(pixels) / FRAME)
    middle = pixels[round(disc.y), round(disc.x)]
    return disc if middle.max() > 255 * DARKEST else None
