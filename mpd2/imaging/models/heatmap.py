"""What in a photograph moved the classifier, exactly as far as it can be said exactly, with two checks beside it.

The head is linear and takes the mean of the last tokens, so the log-odds are a sum over tokens: each has its part, and
nothing is smoothed or enlarged. A token has seen the whole photograph through the layers below, so its place is only
roughly where the evidence is. The share inside of the disc, and what greying the disc does, say how far to trust it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

import numpy as np

from mpd2.core.arrays import Floats
from mpd2.core.errors import UserError
from mpd2.imaging.ellipses import Ellipse
from mpd2.imaging.field import Field, crop
from mpd2.imaging.models.classifier import Answers, Classifier
from mpd2.imaging.models.processor import Pixels
from mpd2.imaging.models.square import Square

FINE = 8  # points a side by which a cell's part inside of the disc is measured
RING = 1.6  # times the disc: where the grey that covers it is taken from


@dataclass(frozen=True, eq=False)
class Heat:
    """One photograph as the classifier's head sees it."""

    contributions: Floats  # [G, G] over the square of the field; they sum to the log-odds
    log_odds: float  # ℓ₁ − ℓ₀
    inside: float | None  # share of all contributions, by size, that lies within the disc; None without a disc
    area: float | None  # share of the square that the disc takes: what `inside` would be if all were even
    probability: float
    covered: float | None  # the same probability with the disc greyed


def heat(classifier: Classifier, pixels: Pixels, field: Field, disc: Ellipse | None) -> Heat:
    """The map of one photograph [H, W, 3], whose disc is in its pixels."""
    square = Square.of_field(field)
    pictures = [crop(pixels, field)]
    if disc is not None:
        pictures.append(crop(greyed(pixels, disc), field))
    answers = classifier(pictures)
    parts = contributions(classifier, answers)[0]
    cover = None if disc is None else coverage(disc, square, len(parts))
    probability = answers.probability
    return Heat(
        contributions=parts,
        log_odds=float(answers.logits[0, 1] - answers.logits[0, 0]),
        inside=None if cover is None else float((np.abs(parts) * cover).sum() / max(np.abs(parts).sum(), 1e-12)),
        area=None if cover is None else float(cover.mean()),
        probability=float(probability[0]),
        covered=None if disc is None else float(probability[1]),
    )


def contributions(classifier: Classifier, answers: Answers) -> Floats:
    """Each token's part in the log-odds ℓ₁ − ℓ₀, [N, G, G]; the bias is shared evenly."""
    count = answers.tokens.shape[1]
    side = isqrt(count)
    if side * side != count:
        raise UserError(f"found {count} tokens, expected a square of them")
    direction = classifier.weight[1] - classifier.weight[0]  # [D]
    parts = (answers.tokens @ direction + (classifier.bias[1] - classifier.bias[0])) / count  # [N, T]
    return parts.reshape(-1, side, side)


def coverage(disc: Ellipse, square: Square, cells: int) -> Floats:
    """How much of each cell of a square lies within the disc, 0 to 1, [cells, cells]."""
    along = (np.arange(cells * FINE) + 0.5) * square.side / (cells * FINE) - 0.5
    x, y = np.meshgrid(along + square.left, along + square.top)
    inside = disc.contains(x, y).astype(np.float64)
    return inside.reshape(cells, FINE, cells, FINE).mean((1, 3))


def greyed(pixels: Pixels, disc: Ellipse) -> Pixels:
    """The photograph with its disc covered by the middle colour of the ring around it."""
    height, width = pixels.shape[:2]
    x, y = np.meshgrid(np.arange(width), np.arange(height))
    radius = disc.radius(x, y)
    ring = pixels[(radius > 1.1) & (radius < RING)]
    colour = np.median(ring, axis=0) if len(ring) else np.full(3, 128)
    return np.where((radius <= 1.1)[..., None], colour, pixels).astype(np.uint8)
