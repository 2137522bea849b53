"""Rendered photographs to learn from and to be judged on: eyes with known geometry, disease and camera.

Disease is drawn first, then the cup-to-disc ratio given disease, so that the best possible classifier is known: its
log-odds are those of two overlapping densities. Nothing here looks at a patient.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mpd2.core.rng import Stream, stream
from mpd2.imaging.field import Field, crop, find_field
from mpd2.imaging.models.processor import Pixels
from mpd2.imaging.models.square import AROUND, Square
from mpd2.imaging.simulation.render import Eye, Shot, draw_eye, render

HEALTHY, DISEASED = (0.40, 0.08), (0.66, 0.09)  # mean and sd of vCDR in each class
RATIOS = (0.15, 0.92)  # what is drawn beyond is set to the end
KNOWN, FOREIGN = ("A", "B"), ("C",)  # cameras that are learnt from, and the one that never is
USUAL = (0.35, 0.35, 0.35, 0.25)  # worst blur, darkness, haze and loss of field in an ordinary photograph
CLOSE_UPS, OFF, ZOOM = 2, 0.2, (0.75, 1.3)  # of each eye; off by so much of the disc's height, and so much wider
CLOSE_UP_DRAWS = 3  # an address of the eye's own random numbers that its renderer leaves free
MOST_ODDS = 5.0  # log-odds beyond say no more

_View = tuple[Pixels, Pixels]  # pixels and labels
Tell = Callable[[str], None]


def silent(text: str) -> None:
    """Says nothing."""


class Part(IntEnum):
    """What examples are for; no two parts share an eye."""

    TRAIN = 0
    HELD_OUT = 1  # chooses the epoch
    REFERENCE = 2  # which photographs are usual
    STANDARD = 3  # how far from those other usual ones are
    JUDGED = 4
    FOREIGN = 5


@dataclass(frozen=True)
class Example:
    """An eye, how it was taken, and whether it is diseased."""

    eye: Eye
    shot: Shot
    diseased: bool
    ratio: float  # true vCDR

    def photograph(self) -> Pixels:
        """[512, 512, 3]."""
        return render(self.eye, self.shot)


def draw(n: int, part: Part, seed: int = 0) -> list[Example]:
    """`n` examples of a part; more of them begin with the same ones."""
    random = stream(seed, Stream.RENDER, part)
    cameras = FOREIGN if part is Part.FOREIGN else KNOWN
    return [_one(random, cameras) for _ in range(n)]


def _one(random: np.random.Generator, cameras: Sequence[str]) -> Example:
    diseased = bool(random.random() < 0.5)
    ratio = float(np.clip(random.normal(*(DISEASED if diseased else HEALTHY)), *RATIOS))
    camera = cameras[int(random.integers(len(cameras)))]
    faults = (
        random.random(4) * (random.random(4) < 0.5) * np.array(USUAL)
    )  # blur, darkness, haze, crop: half of them none
    blur, darkness, haze, lost = map(float, faults)
    shot = Shot(camera, blur, darkness, haze, lost, noise=float(random.uniform(0.05, 0.3)))
    return Example(draw_eye(ratio, random), shot, diseased, ratio)


def log_odds(ratio: float) -> float:
    """Log-odds of disease given the true vCDR, both classes being as frequent; what the best classifier would say.

    >>> log_odds(0.40) < -2 and log_odds(0.66) > 2
    True
    """
    (m0, s0), (m1, s1) = HEALTHY, DISEASED
    odds = 0.5 * ((ratio - m0) / s0) ** 2 - 0.5 * ((ratio - m1) / s1) ** 2 + np.log(s0 / s1)
    return float(np.clip(odds, -MOST_ODDS, MOST_ODDS))


@dataclass(frozen=True, eq=False)
class Views:
    """What a network learns from, a row a view."""

    pixels: Pixels  # [N, size, size, 3]
    labels: Pixels  # [N, size, size] 0 background, 1 rim, 2 cup
    odds: NDArray[np.float32]  # [N] log-odds of disease

    def __len__(self) -> int:
        return len(self.odds)


def views_of(
    examples: Sequence[Example], field_size: int, view_size: int, workers: int = 1, tell: Tell = silent
) -> tuple[Views, Views]:
    """Whole fields for the classifier; for the segmenter of every eye its whole field and CLOSE_UPS of its disc."""
    fields, views = [], []
    cut = partial(_cut, field_size=field_size, view_size=view_size)
    with _mapping(workers) as mapping:
        for done, (field, near) in enumerate(mapping(cut, examples), 1):
            fields.append(field)
            views.extend(near)
            tell(f"{done} of {len(examples)} photographs rendered")
    odds = np.array([log_odds(example.ratio) for example in examples], np.float32)
    return _gathered(fields, odds), _gathered(views, odds.repeat(1 + CLOSE_UPS))


def squares_of(example: Example, field: Field) -> list[Square]:
    """The whole field, and CLOSE_UPS of the disc as a first pass may find it: off, too wide or too narrow."""
    random = stream(example.eye.seed, Stream.RENDER, CLOSE_UP_DRAWS)
    disc, squares = example.eye.disc, [Square.of_field(field)]
    for _ in range(CLOSE_UPS):
        right, down = random.uniform(-OFF, OFF, 2) * disc.vertical
        squares.append(Square.around(disc.moved(right, down), AROUND * random.uniform(*ZOOM)))
    return squares


def labels_in(square: Square, size: int, eye: Eye) -> Pixels:
    """The truth of a square seen at `size` pixels a side, exact at any size, [size, size]."""
    steps = (np.arange(size) + 0.5) * square.side / size - 0.5
    x, y = (square.left + steps)[None, :], (square.top + steps)[:, None]
    disc = eye.disc.contains(x, y)
    return disc.astype(np.uint8) + (disc & eye.cup.contains(x, y))


def _cut(example: Example, field_size: int, view_size: int) -> tuple[_View, list[_View]]:
    """The views of one eye: for the classifier, and for the segmenter."""
    pixels = example.photograph()
    field = find_field(pixels)
    squares = squares_of(example, field)
    whole = _resized(crop(pixels, field), field_size), labels_in(squares[0], field_size, example.eye)
    return whole, [
        (_resized(square.cut(pixels), view_size), labels_in(square, view_size, example.eye)) for square in squares
    ]


def _resized(pixels: Pixels, size: int) -> Pixels:
    """As the networks' own processors do it."""
    return np.asarray(Image.fromarray(pixels).resize((size, size), Image.Resampling.BILINEAR))


def _gathered(views: Sequence[_View], odds: NDArray[np.float32]) -> Views:
    return Views(np.stack([pixels for pixels, _ in views]), np.stack([labels for _, labels in views]), odds)


@contextmanager
def _mapping(workers: int) -> Iterator[Callable[..., Iterable[tuple[_View, list[_View]]]]]:
    """`map` in this process or in several, in the order of what is given."""
    if workers < 2:
        yield map
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        yield partial(pool.map, chunksize=16)
