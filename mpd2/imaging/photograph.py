"""A photograph from a file that somebody brought: its pixels, and next to nothing else.

What a file is follows from its first bytes, never from its name. Nothing is written anywhere. Metadata is left behind
(EXIF, XMP, GPS, texts, thumbnails; of DICOM all but a few attributes), and no message repeats anything of the file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mpd2.core.errors import UserError
from mpd2.imaging.dicom import DicomPhotograph, read_dicom
from mpd2.imaging.field import find_field
from mpd2.imaging.pixels import MOST_BYTES, Refused, decode

ENDINGS = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".dcm")
EXPECTED = "expected a JPEG, PNG, TIFF or DICOM photograph"
DAMAGED = "found a file that is damaged or not complete, " + EXPECTED
DICOM = "DICOM"
KINDS = {".jpg": "JPEG", ".jpeg": "JPEG", ".png": "PNG", ".tif": "TIFF", ".tiff": "TIFF", ".dcm": DICOM}
BEGINNINGS = {
    b"\xff\xd8\xff": "JPEG",
    b"\x89PNG\r\n\x1a\n": "PNG",
    b"II*\x00": "TIFF",
    b"MM\x00*": "TIFF",
    b"II+\x00": "TIFF",
    b"MM\x00+": "TIFF",
}
OTHERS = {  # what else people bring; only said, never opened
    b"GIF8": "a GIF",
    b"BM": "a Windows bitmap",
    b"PK\x03\x04": "a zip archive or an office document",
    b"%PDF": "a PDF",
    b"\x00\x00\x00\x0cjP  ": "a JPEG 2000 outside of DICOM",
    b"8BPS": "a Photoshop file",
}


@dataclass(frozen=True, eq=False)
class Photograph:
    """One photograph, as far as it is kept."""

    pixels: NDArray[np.uint8]  # [H, W, 3] RGB, upright, without metadata
    laterality: str = ""  # "R", "L" or "" where it is not said
    device: str = ""  # camera model, from DICOM alone
    spacing: float | None = None  # mm a pixel
    notes: tuple[str, ...] = ()  # what was done to it, in words: "the first of 3 frames"


def read_photograph(source: bytes | Path, name: str = "") -> Photograph:
    """The photograph in a file; a `UserError` says why it is none.

    `name` is what messages call it. Of a path nothing is repeated, as people name files after patients.
    """
    try:
        content = source if isinstance(source, bytes) else _content(source)
        return _read(content, Path(name or (source.name if isinstance(source, Path) else "")).suffix.lower())
    except Refused as refused:
        reason = str(refused)
    except MemoryError:
        reason = "found a photograph too large for the memory of this machine, expected a smaller one"
    except Exception:  # decoders raise all sorts of things, and what they say may hold what the file says
        reason = DAMAGED
    raise UserError(f"{name or 'the photograph'}: {reason}")


def blanked(photograph: Photograph) -> Photograph:
    """The same in its own frame, black outside of the field of view, where names are burnt in."""
    inside = find_field(photograph.pixels).inside
    return replace(photograph, pixels=np.where(inside[..., None], photograph.pixels, np.uint8(0)))


def kind_of(content: bytes) -> str:
    """What a file is by its first bytes: "JPEG", "PNG", "TIFF", "DICOM", or "" for none of them.

    >>> kind_of(b"GIF89a"), kind_of(bytes([0xFF, 0xD8, 0xFF, 0xE0])), kind_of(bytes(128) + b"DICM")
    ('', 'JPEG', 'DICOM')
    """
    if content[128:132] == b"DICM":
        return DICOM
    return next((kind for beginning, kind in BEGINNINGS.items() if content.startswith(beginning)), "")


def _content(path: Path) -> bytes:
    """The bytes of a file, unless there are too many of them."""
    try:
        if not path.is_file():
            raise Refused("there is no such file; " + EXPECTED)
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except OSError:
        pass
    raise Refused("the file could not be opened; may it be read by whoever runs this?")


def _read(content: bytes, ending: str) -> Photograph:
    """The photograph in these bytes, whose file had this ending."""
    if not content:
        raise Refused("found an empty file, " + EXPECTED)
    if len(content) > MOST_BYTES:
        raise Refused(f"found more than {MOST_BYTES // 2**20} MB, expected less")
    kind = kind_of(content)
    if not kind:
        raise Refused(f"found {_other(content)}, {EXPECTED}")
    photograph = _of_kind(content, kind)
    said = KINDS.get(ending, kind)
    note = (f"a {kind} file whose name ends in {ending}",) if said != kind else ()
    return replace(photograph, notes=(*photograph.notes, *note))


def _of_kind(content: bytes, kind: str) -> Photograph:
    """The photograph in bytes of this kind."""
    if kind == DICOM:
        return _of_dicom(read_dicom(content))
    pixels, notes = decode(content, kind)
    return Photograph(pixels, notes=notes)


def _of_dicom(read: DicomPhotograph) -> Photograph:
    """What was read of a DICOM file, without text that stands beside the field of view."""
    photograph = Photograph(read.pixels, read.laterality, read.device, read.spacing, read.notes)
    return blanked(photograph) if read.burnt_in else photograph


def _other(content: bytes) -> str:
    """What a file that is no photograph seems to be."""
    if content.startswith(b"RIFF") and content[8:12] == b"WEBP":
        return "a WebP"
    if content[4:8] == b"ftyp":
        return "a film, or a HEIC or AVIF picture"
    if content.lstrip()[:1] == b"<":
        return "a web page or drawing"
    return next((words for beginning, words in OTHERS.items() if content.startswith(beginning)), "something else")
