"""Outlines of disc and cup, the ratios between them, and what makes one doubt them: never a silent number."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot, log

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from mpd2.core.arrays import Bools
from mpd2.imaging.ellipses import Ellipse, ellipse_of_mask

PEOPLE = 0.11  # careful people differ by .09 to .13 in vCDR on one photograph
SMALLEST = 50.0  # pixels of disc height in the picture that was segmented; below it a pixel is too much of the rim
PIECE = 0.05  # a second piece above this share of the largest is not dust
OUTSIDE = 0.05  # share of the cup that may lie outside of the disc by rounding
OVAL = 0.9  # a mask's area over that of its ellipse: 1 for an ellipse, less for a crescent or a ring
DISAGREE = log(1.2)  # how far aCDR may be from vCDR · hCDR, which it equals where both ellipses lie level
UNEQUAL = 2.0  # how many times vCDR may be hCDR, or the other way round

FLAGS = {
    "no disc": "No optic disc was found, so nothing could be measured.",
    "no cup": "No cup was found within the disc: it may be very small, or not visible.",
    "cup outside disc": "Part of the cup lies outside of the disc, which cannot be.",
    "in pieces": "The outline came in several pieces; the largest was measured.",
    "too small": f"The disc is less than {SMALLEST:.0f} pixels high: too small to measure well.",
    "not oval": "The area found is not oval, so an ellipse describes it badly.",
    "at the edge": "The disc reaches the edge of the picture and may be cut off.",
    "ratios do not fit": "The ratios by height, by width and by area do not fit together.",
}


@dataclass(frozen=True)
class CupToDisc:
    """Ratios between cup and disc."""

    vertical: float  # vCDR
    horizontal: float  # hCDR
    area: float  # aCDR
    decentration: float  # the paper's dec: distance between the centres over the disc's height
    margin: float  # ± of `vertical`: the error of measuring at this size, and how far careful people differ


@dataclass(frozen=True)
class Outlines:
    """Disc and cup of one photograph, in its pixels."""

    disc: Ellipse | None
    cup: Ellipse | None
    flags: tuple[str, ...] = ()  # keys of FLAGS
    resolution: float = 1.0  # pixels of the picture that was segmented to one of the photograph

    @property
    def ratios(self) -> CupToDisc | None:
        """The paper's vCDR, aCDR and dec, and hCDR; None unless both outlines are known."""
        if self.disc is None or self.cup is None:
            return None
        return cup_to_disc(self.disc, self.cup, self.disc.vertical * self.resolution)

    @property
    def doubts(self) -> tuple[str, ...]:
        """The flags as sentences."""
        return tuple(FLAGS[flag] for flag in self.flags)


def cup_to_disc(disc: Ellipse, cup: Ellipse, pixels: float | None = None) -> CupToDisc:
    """Ratios of two outlines; `pixels` is the disc's height where it was segmented.

    >>> cup_to_disc(Ellipse(0, 0, 70, 80), Ellipse(2, 0, 35, 48)).vertical
    0.6
    """
    vertical = cup.vertical / disc.vertical
    return CupToDisc(
        vertical=vertical,
        horizontal=cup.horizontal / disc.horizontal,
        area=cup.width * cup.height / (disc.width * disc.height),
        decentration=hypot(cup.x - disc.x, cup.y - disc.y) / disc.vertical,
        margin=hypot(PEOPLE, vertical * pixel_error(disc.vertical if pixels is None else pixels)),
    )


def pixel_error(height: float) -> float:
    """Relative error of vCDR from the pixel grid alone, 95th percentile, by disc height in pixels.

    Measured on drawn ellipses: 1.8 % at 36 pixels, .64 % at 72, .22 % at 144.

    >>> round(pixel_error(72), 4)
    0.0064
    """
    return float(0.0064 * (72 / height) ** 1.5)


def outlines_of_labels(labels: NDArray[np.integer], scale: float = 1.0) -> Outlines:
    """Outlines from a segmentation [H, W]: 0 background, 1 rim, 2 cup; the disc is rim and cup together.

    `scale` is how many pixels of the photograph one pixel of the segmentation is; the outlines are in the photograph's.
    """
    disc_mask, disc_broken = _largest(np.asarray(labels) >= 1)
    cup_mask, cup_broken = _largest(np.asarray(labels) == 2)
    disc, cup = ellipse_of_mask(disc_mask), ellipse_of_mask(cup_mask)
    flags = {
        "in pieces": disc_broken or cup_broken,
        "at the edge": disc is not None and _at_edge(disc_mask),
        "not oval": any(
            ellipse is not None and mask.sum() < OVAL * ellipse.area
            for mask, ellipse in ((disc_mask, disc), (cup_mask, cup))
        ),
    }
    seen = tuple(key for key, found in flags.items() if found)
    return outlines_of_ellipses(
        None if disc is None else disc.scaled(scale), None if cup is None else cup.scaled(scale), 1 / scale, seen
    )


def outlines_of_ellipses(
    disc: Ellipse | None, cup: Ellipse | None, resolution: float = 1.0, seen: tuple[str, ...] = ()
) -> Outlines:
    """Outlines from two ellipses, as a person draws them; `seen` are flags already known, say of a mask."""
    flags = {
        "no disc": disc is None,
        "no cup": disc is not None and cup is None,
        "too small": disc is not None and disc.vertical * resolution < SMALLEST,
        "cup outside disc": disc is not None and cup is not None and _leaves(cup, disc),
        "ratios do not fit": disc is not None and cup is not None and _disagree(cup_to_disc(disc, cup)),
    }
    found = {key for key, doubtful in flags.items() if doubtful} | set(seen)
    return Outlines(disc, cup, tuple(key for key in FLAGS if key in found), resolution)


def _largest(mask: Bools) -> tuple[Bools, bool]:
    """The largest connected piece with its holes filled, and whether another was not small."""
    pieces, count = ndimage.label(mask)
    if count == 0:
        return mask, False
    sizes = np.bincount(pieces.ravel())[1:]
    first = int(sizes.argmax())
    broken = count > 1 and np.delete(sizes, first).max() > PIECE * sizes[first]
    window = ndimage.find_objects(pieces)[first]
    largest = np.zeros_like(mask, bool)
    largest[window] = ndimage.binary_fill_holes(pieces[window] == first + 1)
    return largest, bool(broken)


def _at_edge(mask: Bools) -> bool:
    return bool(mask[0].any() or mask[-1].any() or mask[:, 0].any() or mask[:, -1].any())


def _leaves(cup: Ellipse, disc: Ellipse) -> bool:
    """Whether more of the cup lies outside of the disc than rounding explains."""
    inside = disc.contains(*cup.filling().T)
    return bool(1 - inside.mean() > OUTSIDE)


def _disagree(ratios: CupToDisc) -> bool:
    """Whether the ratios cannot belong to one cup and one disc of ordinary shape."""
    off = abs(log(ratios.area / (ratios.vertical * ratios.horizontal)))
    return off > DISAGREE or abs(log(ratios.vertical / ratios.horizontal)) > log(UNEQUAL)
