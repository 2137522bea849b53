"""Pixels as a network wants them: resized, rescaled and normalised as its own preprocessor_config.json says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mpd2.core.errors import UserError
from mpd2.imaging.models.finding import PROCESSOR, read_json

Pixels = NDArray[np.uint8]
Inputs = NDArray[np.float32]

LARGEST = 4096  # pixels a side that a network may ask for


@dataclass(frozen=True)
class Processor:
    """From pictures [H, W, 3] to what a network takes, [N, 3, size, size]."""

    size: int  # a side in pixels
    resample: int = Image.Resampling.BILINEAR
    factor: float | None = 1 / 255  # None: not rescaled
    mean: tuple[float, float, float] | None = None  # None: not normalised
    sd: tuple[float, float, float] | None = None

    @classmethod
    def load(cls, folder: Path) -> Processor:
        """As the file says it, in the words of old and new releases."""
        path = folder / PROCESSOR
        try:
            return cls.of(read_json(path))
        except (TypeError, ValueError, KeyError) as error:
            raise UserError(
                f"{path}: found settings that cannot be used ({error}), expected size, mean and sd"
            ) from None

    @classmethod
    def of(cls, settings: dict[str, Any]) -> Processor:
        """The settings of a preprocessor_config.json; what networks differ in (size, mean, sd) is never guessed.

        >>> Processor.of({"size": 512, "resample": 2, "do_normalize": False}).size
        512
        >>> Processor.of({"size": {"height": 256, "width": 256}, "image_mean": [0.5] * 3, "image_std": [0.25] * 3}).sd
        (0.25, 0.25, 0.25)
        """
        size = _side(settings["size"])  # also where it says that nobody resizes: crops have any size
        if settings.get("do_center_crop", False):
            crop = _side(settings.get("crop_size", settings.get("size")))
            if crop != size:
                raise ValueError(f"a crop of {crop} from {size} pixels, which would cut the edge off")
        normalised = settings.get("do_normalize", True)
        rescaled = settings.get("do_rescale", True)
        return cls(
            size=size,
            resample=Image.Resampling(int(settings.get("resample", Image.Resampling.BILINEAR))),
            factor=float(settings.get("rescale_factor", 1 / 255)) if rescaled else None,
            mean=_triple(settings["image_mean"]) if normalised else None,
            sd=_triple(settings["image_std"]) if normalised else None,
        )

    def __call__(self, pictures: Sequence[Pixels]) -> Inputs:
        """Square pictures of any size as one batch, [N, 3, S, S]."""
        return np.stack([self._one(picture) for picture in pictures])

    def _one(self, picture: Pixels) -> Inputs:
        if picture.shape[:2] != (self.size, self.size):
            picture = np.asarray(Image.fromarray(picture).resize((self.size, self.size), self.resample))
        values: Inputs = picture.astype(np.float32) * np.float32(1 if self.factor is None else self.factor)
        if self.mean is not None and self.sd is not None:
            values = np.divide(np.subtract(values, np.array(self.mean, np.float32)), np.array(self.sd, np.float32))
        return np.ascontiguousarray(values.transpose(2, 0, 1), dtype=np.float32)


def _side(size: Any) -> int:
    """One side of a square: 512, {"height": 512, "width": 512}, {"shortest_edge": 512} or [512, 512]."""
    if isinstance(size, dict):
        sides = [size[name] for name in ("height", "width", "shortest_edge") if name in size]
    else:
        sides = list(size) if isinstance(size, list | tuple) else [size]
    if len(set(sides)) != 1 or not 16 <= int(sides[0]) <= LARGEST:
        raise ValueError(f"size {size}, not a square of 16 to {LARGEST} pixels")
    return int(sides[0])


def _triple(values: Any) -> tuple[float, float, float]:
    red, green, blue = (float(value) for value in values)
    return (red, green, blue)
