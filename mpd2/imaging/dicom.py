"""A photograph in a DICOM file, by whitelist: of some hundred attributes those below are read, and four are kept.

Any file with pixels is taken, whatever it calls itself: cameras leave out attributes that the standard requires, and
what can be told without them is. Names, numbers and dates of persons are skipped while reading and never in memory.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from io import BytesIO
from math import isclose, isfinite
from typing import TYPE_CHECKING

from mpd2.core.text import numbered
from mpd2.imaging.frames import Layout, compressed_frame, plain_frame
from mpd2.imaging.packages import HOW, is_here
from mpd2.imaging.pixels import Pixels, Refused, check_size, quietly

if TYPE_CHECKING:
    from pydicom import Dataset

LAYOUT = (
    "Rows", "Columns", "SamplesPerPixel", "PhotometricInterpretation", "PlanarConfiguration",
    "BitsAllocated", "BitsStored", "HighBit", "PixelRepresentation", "NumberOfFrames", "PixelData",
)  # fmt: skip
"""What says how the pixels lie; used to read them, then dropped."""
KEPT = ("ImageLaterality", "Laterality", "PixelSpacing", "ManufacturerModelName", "BurnedInAnnotation")
DEFLATED = b"1.2.840.10008.1.2.1.99"  # the whole file compressed: a small one may hold terabytes
BIG_ENDIAN = "1.2.840.10008.1.2.2"
BURNT_IN = "the camera says that text is burnt in: all outside of the field of view is black"
SPELLED_OUT = 40  # characters of a camera's model


@dataclass(frozen=True, eq=False)
class DicomPhotograph:
    """All that is kept of a DICOM file."""

    pixels: Pixels  # [H, W, 3] RGB
    laterality: str
    device: str
    spacing: float | None  # mm a pixel
    burnt_in: bool  # whether the file says that text stands in the picture
    notes: tuple[str, ...]


def read_dicom(content: bytes) -> DicomPhotograph:
    """The first photograph in a DICOM file's bytes; `Refused` says why not."""
    if not is_here("pydicom"):
        raise Refused(f"found a DICOM file, which cannot be read without the package pydicom. {HOW}")
    from pydicom import dcmread

    if DEFLATED in content:
        raise Refused("found a DICOM file that is compressed as a whole, expected one whose picture alone is")
    with quietly():
        dataset = dcmread(BytesIO(content), specific_tags=[*LAYOUT, *KEPT])
        frames = max(1, _number(dataset, "NumberOfFrames", 1))
        pixels = _first_frame(dataset, frames)
        burnt_in = _text(dataset, "BurnedInAnnotation").upper() == "YES"
        notes = [f"the first of {numbered(frames, 'frame')}"] if frames > 1 else []
        return DicomPhotograph(
            pixels=pixels,
            laterality=_laterality(dataset),
            device=_device(dataset),
            spacing=_spacing(dataset),
            burnt_in=burnt_in,
            notes=(*notes, *([BURNT_IN] if burnt_in else [])),
        )


def _first_frame(dataset: Dataset, frames: int) -> Pixels:
    """The first frame, decoded."""
    if "PixelData" not in dataset or not dataset.PixelData:
        raise Refused("found a DICOM file without a picture, expected a photograph")
    layout = _layout(dataset)
    check_size(layout.columns, layout.rows)
    syntax = str(dataset.file_meta.get("TransferSyntaxUID", ""))
    if syntax == BIG_ENDIAN:
        raise Refused("found a DICOM file with its bytes the other way round (big endian), which is retired")
    if not dataset["PixelData"].is_undefined_length:
        return plain_frame(bytes(dataset.PixelData), layout, frames)

    from pydicom.encaps import get_frame

    return compressed_frame(get_frame(dataset.PixelData, 0, number_of_frames=frames), layout)


def _layout(dataset: Dataset) -> Layout:
    """How the pixels lie, with the usual where the camera does not say."""
    colours = _text(dataset, "PhotometricInterpretation").upper()
    samples = _number(dataset, "SamplesPerPixel", 1 if colours.startswith("MONOCHROME") else 3)
    allocated = _number(dataset, "BitsAllocated", 8)
    stored = _number(dataset, "BitsStored", allocated)
    return Layout(
        rows=_number(dataset, "Rows", 0),
        columns=_number(dataset, "Columns", 0),
        samples=samples,
        colours=colours or ("RGB" if samples == 3 else "MONOCHROME2"),
        allocated=allocated,
        stored=stored,
        high=_number(dataset, "HighBit", stored - 1),
        signed=_number(dataset, "PixelRepresentation", 0) == 1,
        by_plane=_number(dataset, "PlanarConfiguration", 0) == 1,
    )


def _number(dataset: Dataset, keyword: str, otherwise: int) -> int:
    """A whole number, or another where none is given."""
    try:
        return int(dataset[keyword].value)
    except (KeyError, TypeError, ValueError, OverflowError):
        return otherwise


def _text(dataset: Dataset, keyword: str) -> str:
    """A word, or "" where none is given."""
    try:
        value = dataset[keyword].value
    except (KeyError, TypeError, ValueError):
        return ""
    return value.strip() if isinstance(value, str) else ""


def _laterality(dataset: Dataset) -> str:
    """Which eye: the picture's own word, else that of its series."""
    said = (_text(dataset, keyword).upper() for keyword in ("ImageLaterality", "Laterality"))
    return next((word for word in said if word in ("R", "L")), "")


def _device(dataset: Dataset) -> str:
    """The camera's model, in letters, digits and a few signs."""
    return re.sub(r"[^\w .+/()-]+", " ", _text(dataset, "ManufacturerModelName"))[:SPELLED_OUT].strip()


def _spacing(dataset: Dataset) -> float | None:
    """Millimetres a pixel, where they are the same in both directions."""
    try:
        down, across = (float(value) for value in dataset["PixelSpacing"].value)
    except (KeyError, TypeError, ValueError):
        return None
    usable = isfinite(down) and down > 0 and isclose(down, across, rel_tol=0.01)
    return (down + across) / 2 if usable else None
