"""Pixels of JPEG, PNG and TIFF files as [H, W, 3] RGB of eight bits, upright and without anything else of the file.

What a decoder says of a file (warnings, logs, texts of exceptions) may hold what is written in it, such as a name. So
it is kept quiet here, and what is wrong is said in words of our own.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, JpegImagePlugin, MpoImagePlugin, PngImagePlugin, TiffImagePlugin

from mpd2.core.errors import UserError
from mpd2.core.text import numbered

Pixels = NDArray[np.uint8]

MOST_BYTES = 64 * 2**20  # of a file
MOST_PIXELS = 50_000_000  # of a photograph
LEAST_SIDE = 64  # pixels: the disc would be ten of them
MOST_ELONGATED = 3  # the longer side over the shorter
ORIENTATION = 0x0112  # EXIF's tag of how the camera was held
BITS_PER_SAMPLE = 0x0102  # TIFF's tag
PLUGINS = (JpegImagePlugin, MpoImagePlugin, PngImagePlugin, TiffImagePlugin)  # imported, so that their loggers exist
TALKATIVE = ("PIL", "pydicom", "pylibjpeg", "libjpeg", "openjpeg")  # packages whose loggers are kept quiet

_one_at_a_time = threading.RLock()


class Refused(UserError):
    """Why something is not taken as a photograph, in words that hold nothing of the file."""


@contextmanager
def quietly() -> Iterator[None]:
    """A block in which decoders neither warn nor log; one thread at a time, as Python's warnings are everybody's."""
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loggers = [
            logger
            for name, logger in list(logging.root.manager.loggerDict.items())
            if name.split(".")[0] in TALKATIVE and isinstance(logger, logging.Logger) and not logger.disabled
        ]
        try:
            for logger in loggers:
                logger.disabled = True
            yield
        finally:
            for logger in loggers:
                logger.disabled = False


def check_size(width: int, height: int) -> None:
    """Refuse what is too large or too small, by what the header says and before anything is decoded."""
    if width * height > MOST_PIXELS:
        raise Refused(f"found {width} × {height} pixels, expected at most {MOST_PIXELS // 10**6} million")
    if min(width, height) < LEAST_SIDE:
        raise Refused(f"found {width} × {height} pixels, expected at least {LEAST_SIDE} each way")
    if max(width, height) > MOST_ELONGATED * min(width, height):
        raise Refused(
            f"found {width} × {height} pixels, expected a photograph at most {MOST_ELONGATED} times as long as wide"
        )


def decode(content: bytes, kind: str) -> tuple[Pixels, tuple[str, ...]]:
    """Pixels of a file of this kind, Pillow's name of a format, and what was done to them."""
    with quietly(), opened(content, kind) as image:
        check_size(*image.size)
        notes = _frames_note(image)
        image.load()
        upright = ImageOps.exif_transpose(image) if _orientation(image) != 1 else image
        return as_rgb(upright), notes


def as_rgb(image: Image.Image) -> Pixels:
    """[H, W, 3] of an image of any mode; what is transparent is black."""
    if image.mode.startswith("I;16"):
        return grey(np.asarray(image, dtype=np.float64) / (2 ** _bits(image) - 1))
    if image.mode in ("I", "F"):
        raise Refused("found 32 bits a channel, expected 8 or 16")
    if image.mode in ("LA", "PA", "RGBA", "RGBa", "La") or "transparency" in image.info:
        seen = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", seen.size, (0, 0, 0, 255)), seen)
    return np.array(image.convert("RGB"), dtype=np.uint8)


def grey(brightness: NDArray[np.float64]) -> Pixels:
    """[H, W] from 0 to 1 as [H, W, 3] of equal channels."""
    level = np.rint(255 * np.clip(brightness, 0.0, 1.0)).astype(np.uint8)  # [H, W]
    return np.repeat(level[..., None], 3, axis=-1)


def opened(content: bytes, kind: str) -> Image.Image:
    """The image with its header read and nothing decoded."""
    try:
        return Image.open(BytesIO(content), formats=[kind])
    except Image.DecompressionBombError:
        pass
    raise Refused(f"found more pixels than can be read, expected at most {MOST_PIXELS // 10**6} million")


def _frames_note(image: Image.Image) -> tuple[str, ...]:
    """That there are more frames than the one used. Pages of a TIFF are not counted: there may be millions."""
    if isinstance(image, TiffImagePlugin.TiffImageFile):
        return ("the first of several pages",) if image.is_animated else ()
    frames = int(getattr(image, "n_frames", 1))
    return (f"the first of {numbered(frames, 'frame', 'frames')}",) if frames > 1 else ()


def _orientation(image: Image.Image) -> int:
    """EXIF's orientation, 1 being upright; 1 as well where EXIF cannot be read."""
    try:
        return int(image.getexif().get(ORIENTATION, 1))
    except Exception:  # damaged metadata is no reason to refuse pixels that are whole
        return 1


def _bits(image: Image.Image) -> int:
    """Bits a pixel of a grey image of more than eight: those a TIFF says, else 16."""
    if not isinstance(image, TiffImagePlugin.TiffImageFile):
        return 16
    said = image.tag_v2.get(BITS_PER_SAMPLE, (16,))
    return int(said[0]) if 8 < int(said[0]) <= 16 else 16
