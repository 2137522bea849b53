"""Outlines that people drew, from the pictures in which cohorts publish them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mpd2.core.errors import UserError
from mpd2.imaging.outlines import Outlines, outlines_of_labels

Labels = NDArray[np.uint8]
MATLAB = ".mat"
ENDINGS = (".bmp", ".png", ".tif", ".tiff", ".jpg", ".jpeg", ".gif", MATLAB)
MOST_PIXELS = 100_000_000
BROKEN = "cannot be read as a picture"


@dataclass(frozen=True)
class Masks:
    """One annotator's outlines of one case: disc and cup in one picture, or a picture each."""

    disc: Path
    cup: Path | None = None

    @property
    def files(self) -> tuple[Path, ...]:
        """Its pictures."""
        return (self.disc,) if self.cup is None else (self.disc, self.cup)

    def problem(self, size: tuple[int, int]) -> str:
        """Why they do not fit a photograph of this width and height, "" if they do; only heads of files are read."""
        for path in self.files:
            try:
                found = picture_size(path)
            except UserError as error:
                return f"mask {error}"
            if found not in (size, size[::-1]):  # a photograph may be turned upright by what its file says
                return f"mask of another size than its photograph: {found[0]} × {found[1]}, not {size[0]} × {size[1]}"
        return ""

    def labels(self) -> Labels:
        """[H, W] 0 background, 1 rim, 2 cup."""
        if self.cup is None:
            return labels_of(_grey(self.disc))
        disc, cup = (_foreground(_grey(path)) for path in (self.disc, self.cup))
        if disc.shape != cup.shape:
            raise UserError(f"{self.cup.name}: found a cup of another size than its disc")
        return np.where(cup, 2, disc).astype(np.uint8)

    def outlines(self) -> Outlines:
        """The ellipses of disc and cup."""
        return outlines_of_labels(self.labels())


def picture_size(path: Path) -> tuple[int, int]:
    """Width and height, from a file's head."""
    if path.suffix.lower() == MATLAB:
        rows, columns = _matlab(path).shape
        return int(columns), int(rows)
    try:
        with Image.open(path) as picture:
            return picture.size
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise UserError(BROKEN) from None


def labels_of(grey: Labels) -> Labels:
    """A picture of disc and cup as 0 background, 1 rim, 2 cup, [H, W]; published ones come in three codes.

    0, 1, 2 as they are; 0, 128, 255 for background, rim, cup; or the other way round, 0 being the cup. Background is
    what the border of the picture shows; in-between greys count to the nearest.

    >>> labels_of(np.array([[255, 255, 255], [255, 0, 128], [255, 255, 255]], np.uint8)).tolist()
    [[0, 0, 0], [0, 2, 1], [0, 0, 0]]
    """
    levels = grey if grey.max(initial=0) <= 2 else np.rint(grey / 127.5).astype(np.uint8)
    border = np.concatenate([levels[0], levels[-1], levels[:, 0], levels[:, -1]])
    inverted = np.bincount(border, minlength=3).argmax() == 2
    return (2 - levels if inverted else levels).astype(np.uint8)


def _foreground(grey: Labels) -> NDArray[np.bool_]:
    """What a binary picture marks, whichever number it uses; the border is background."""
    marked = grey > grey.max(initial=0) / 2
    border = np.concatenate([marked[0], marked[-1], marked[:, 0], marked[:, -1]])
    return ~marked if border.mean() > 0.5 else marked


def _grey(path: Path) -> Labels:
    """[H, W] one number a pixel; of a picture with a palette the places in it where these are classes."""
    if path.suffix.lower() == MATLAB:
        return _matlab(path)
    try:
        with Image.open(path) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise UserError(f"{path.name}: found {picture.width} × {picture.height} pixels, expected fewer")
            raw = np.asarray(picture) if picture.mode in ("P", "1", "L") else None
            if raw is not None and raw.max(initial=0) <= 2:
                return raw.astype(np.uint8)
            return np.asarray(picture.convert("L"))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise UserError(f"{path.name}: {BROKEN}") from None


def _matlab(path: Path) -> Labels:
    """The array `mask` of a MATLAB file, else the only one of two dimensions."""
    from scipy.io import loadmat

    try:
        content = loadmat(path)
    except Exception:  # whatever a damaged file brings about in there
        raise UserError("cannot be read as a MATLAB file") from None
    arrays = [content["mask"]] if "mask" in content else [each for each in content.values() if _is_mask(each)]
    if len(arrays) != 1 or not _is_mask(arrays[0]):
        raise UserError("found no array called mask in it, expected one with 0, 1 and 2")
    return np.asarray(arrays[0]).astype(np.uint8)


def _is_mask(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 2 and value.size > 1 and value.dtype.kind in "biuf"
