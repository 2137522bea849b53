"""Pipelines to test with: one of tiny networks in a folder, and one whose segmenter reads colours."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from imaging_models import save_classifier, save_segmenter

from mpd2.imaging.ellipses import Ellipse
from mpd2.imaging.models.finding import Found
from mpd2.imaging.models.processor import Processor
from mpd2.imaging.models.segmenter import Segmenter
from mpd2.imaging.pipeline import make_pipeline

RETINA, RIM, CUP = (120, 60, 30), (200, 120, 60), (250, 220, 160)


def save_pipeline(folder: Path, size: int = 64, **more: object) -> Path:
    """Tiny networks with drawn weights, as a pipeline's folder."""
    parts = folder.parent / f"{folder.name}-parts"
    networks = save_classifier(parts / "classifier", size=size), save_segmenter(parts / "segmenter", size=size)
    return make_pipeline(folder, *networks, **more)


def flat_photograph(disc: Ellipse | None, cup: Ellipse | None, side: int = 1200) -> np.ndarray:
    """A round field of one colour on black, with a disc and a cup of two others."""
    x, y = np.meshgrid(np.arange(side), np.arange(side))
    pixels = np.zeros((side, side, 3), np.uint8)
    pixels[(x - side / 2) ** 2 + (y - side / 2) ** 2 < (0.48 * side) ** 2] = RETINA
    for outline, colour in ((disc, RIM), (cup, CUP)):
        if outline is not None:
            pixels[outline.contains(x, y)] = colour
    return pixels


def reading_colours(size: int = 512) -> Segmenter:
    """A segmenter that knows the colours of a flat photograph."""
    colours = np.float32([RETINA, RIM, CUP])  # [3 labels, 3]

    def run(inputs):
        apart = inputs[:, None] - colours[None, :, :, None, None]  # [N, labels, 3, S, S]
        return (-(apart**2).sum(2),)

    return Segmenter(Processor(size, factor=None), run, Found(Path(), Path()))
