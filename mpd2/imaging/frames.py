"""One frame of DICOM's pixels as RGB: uncompressed, run-length coded, JPEG or JPEG 2000.

Colours are converted here. Cameras mislabel them (the known green photographs), so that what a JPEG says of its own
colours goes before what the file around it says. The formats follow DICOM PS3.5, sections 8.1, 8.2 and annex G.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, JpegImagePlugin

from mpd2.imaging.pixels import Pixels, Refused, as_rgb, check_size, opened

COLOURS = ("RGB", "YBR_FULL", "YBR_FULL_422", "YBR_ICT", "YBR_RCT", "MONOCHROME1", "MONOCHROME2")
HALF_COLOUR = "YBR_FULL_422"  # two pixels share their colour
JPEG_START = b"\xff\xd8\xff"
JPEG_2000_STARTS = (b"\xff\x4f\xff\x51", b"\x00\x00\x00\x0cjP  ")
LOSSY, LOSSLESS, SCAN = (0xC0, 0xC1, 0xC2), (0xC3, 0xF7), 0xDA  # markers of JPEG's headers and of its data
CODING_STYLE, FIRST_TILE = b"\xff\x52", b"\xff\x90"  # markers of JPEG 2000
LEAST_SHARE = 0.002  # of the pixels that are black or white, to judge by them
RLE_HEADER = 64  # bytes: the number of segments, and where each begins


@dataclass(frozen=True)
class Layout:
    """How the pixels of a frame lie, in DICOM's terms."""

    rows: int
    columns: int
    samples: int  # channels
    colours: str  # photometric interpretation
    allocated: int  # bits a sample takes
    stored: int  # bits of it that are used
    high: int  # the highest of them
    signed: bool
    by_plane: bool  # all of red, all of green, all of blue (planar configuration 1)

    @property
    def pixels(self) -> int:
        """Pixels of a frame."""
        return self.rows * self.columns

    def check(self) -> None:
        """Refuse what is not read here."""
        if self.colours not in COLOURS:
            raise Refused("found colours coded in a way that is not read here, expected RGB, YBR_FULL or grey")
        if self.samples not in (1, 3) or (self.samples == 1) != self.colours.startswith("MONOCHROME"):
            raise Refused(f"found {self.samples} channels, expected 3 for colours or 1 for grey")
        if self.allocated not in (8, 16) or not 0 < self.stored <= self.high + 1 <= self.allocated:
            raise Refused("found samples of an unusual number of bits, expected 8 or up to 16")


def in_colours(samples: Pixels, colours: str) -> Pixels:
    """[H, W, 3] RGB of [H, W, S] samples that mean brightness, or brightness, blueness and redness, or RGB.

    >>> in_colours(np.array([[[76, 85, 255]]], dtype=np.uint8), "YBR_FULL").tolist()
    [[[254, 0, 0]]]
    """
    if colours.startswith("MONOCHROME"):
        level = samples if colours == "MONOCHROME2" else 255 - samples
        return np.repeat(level[..., :1], 3, axis=-1)
    if colours in ("YBR_FULL", HALF_COLOUR):  # the same conversion as JPEG's, DICOM PS3.3 C.7.6.3.1.2
        height, width = samples.shape[:2]
        return np.array(Image.frombytes("YCbCr", (width, height), samples.tobytes()).convert("RGB"), dtype=np.uint8)
    return samples  # RGB, and what the decoder of JPEG 2000 has made RGB


def looks_like_ybr(samples: Pixels) -> bool:
    """Whether [H, W, 3] samples are no RGB: what is black or white has no colour, which YBR writes as 128.

    >>> looks_like_ybr(np.full((4, 4, 3), (2, 127, 129), dtype=np.uint8)), looks_like_ybr(np.zeros((4, 4, 3), np.uint8))
    (True, False)
    """
    black_or_white = np.abs(samples[..., 0].astype(np.int16) - 127) > 110  # [H, W]
    if black_or_white.mean() < LEAST_SHARE:
        return False
    return bool(np.median(np.abs(samples[black_or_white][:, 1:].astype(np.int16) - 128)) < 24)


def plain_frame(content: bytes, layout: Layout, frames: int) -> Pixels:
    """The first of several uncompressed frames."""
    layout.check()
    size = layout.allocated // 8
    full = layout.pixels * layout.samples * size
    halved = layout.colours == HALF_COLOUR and len(content) < full * frames  # some say so and do not halve
    wanted = layout.pixels * 2 * size if halved else full
    if len(content) < wanted:
        raise Refused("found fewer pixels than the file says it has, expected all of them")
    raw = np.frombuffer(content[:wanted], dtype=f"<u{size}")
    if halved:
        samples = _both_with_colour(raw, layout)
    elif layout.by_plane:
        samples = raw.reshape(layout.samples, layout.rows, layout.columns).transpose(1, 2, 0)
    else:
        samples = raw.reshape(layout.rows, layout.columns, layout.samples)
    return in_colours(_eight_bits(samples, layout), layout.colours)


def compressed_frame(content: bytes, layout: Layout) -> Pixels:
    """One compressed frame. What it is compressed with is told by its first bytes; the rest is run-length coded."""
    if content.startswith(JPEG_START):
        return _jpeg(content, layout)
    if content.startswith(JPEG_2000_STARTS):
        return _jpeg_2000(content, layout)
    layout.check()
    planes = _run_lengths(content, layout)  # [S, H, W]
    return in_colours(_eight_bits(planes.transpose(1, 2, 0), layout), layout.colours)


def _eight_bits(raw: NDArray[Any], layout: Layout) -> Pixels:
    """Samples of eight bits of those stored: the bits in use, signed ones moved up."""
    most = 2**layout.stored - 1
    used = (raw >> (layout.high + 1 - layout.stored)) & most
    if layout.signed:
        used = used ^ (1 << (layout.stored - 1))
    scaled = used if most == 255 else (used.astype(np.uint32) * 255 + most // 2) // most
    return np.ascontiguousarray(scaled, dtype=np.uint8)


def _both_with_colour(raw: NDArray[Any], layout: Layout) -> NDArray[Any]:
    """[H, W, 3] of pairs of pixels stored as brightness, brightness, blueness, redness."""
    if layout.columns % 2:
        raise Refused("found an odd number of columns where two pixels share a colour, expected an even one")
    pairs = raw.reshape(layout.rows, layout.columns // 2, 4)
    brightness = pairs[..., :2].reshape(layout.rows, layout.columns, 1)
    return np.concatenate([brightness, np.repeat(pairs[..., 2:], 2, axis=1)], axis=-1)


def _jpeg(content: bytes, layout: Layout) -> Pixels:
    """A JPEG frame; its own markers say whether its channels are RGB, and only without any the file does."""
    header = _jpeg_header(content)
    check_size(header.width, header.height)
    if header.lossless or header.bits != 8:
        return _unusual_jpeg(content, header, layout)
    with opened(content, "JPEG") as image:
        check_size(*image.size)
        if layout.colours == "RGB" and isinstance(image, JpegImagePlugin.JpegImageFile) and _says_nothing(image):
            image.draft("YCbCr", image.size)  # so that nothing is converted
            samples = np.array(image, dtype=np.uint8)
            return in_colours(samples, "YBR_FULL" if looks_like_ybr(samples) else "RGB")
        return _decoded(image, layout)


@dataclass(frozen=True)
class _JpegHeader:
    """What the header of a JPEG says."""

    lossless: bool
    bits: int
    height: int
    width: int


def _jpeg_header(content: bytes) -> _JpegHeader:
    """The one header of a JPEG before its data."""
    found, place = [], 2
    while content[place] == 0xFF and content[place + 1] != SCAN:
        marker, length = content[place + 1], int.from_bytes(content[place + 2 : place + 4], "big")
        if marker in (*LOSSY, *LOSSLESS):
            bits, height, width = struct.unpack_from(">BHH", content, place + 4)
            found.append(_JpegHeader(marker in LOSSLESS, bits, height, width))
        place += 2 + length
    if len(found) != 1:
        raise Refused("found a damaged picture inside of DICOM, expected one that is whole")
    return found[0]


def _unusual_jpeg(content: bytes, header: _JpegHeader, layout: Layout) -> Pixels:
    """A JPEG without losses, or of more than eight bits, which Pillow does not read."""
    from libjpeg.utils import decode

    samples = np.atleast_3d(decode(content))  # [H, W, S]
    stored = replace(layout, samples=samples.shape[2], stored=header.bits, high=header.bits - 1)
    stored.check()
    return in_colours(_eight_bits(samples, stored), layout.colours)


def _says_nothing(image: JpegImagePlugin.JpegImageFile) -> bool:
    """Whether a JPEG leaves open what its three channels are; channels of unequal size are no RGB."""
    names = bytes(layer[0] for layer in image.layer)
    sizes = {layer[1:3] for layer in image.layer}
    marked = "jfif" in image.info or "adobe_transform" in image.info or names.upper() == b"RGB"
    return len(image.layer) == 3 and len(sizes) == 1 and not marked


def _jpeg_2000(content: bytes, layout: Layout) -> Pixels:
    """A JPEG 2000 frame, whose decoder undoes its own change of colours."""
    with opened(content, "JPEG2000") as image:
        check_size(*image.size)
        pixels = _decoded(image, layout)
        in_colour = len(image.getbands()) == 3
    return pixels if not in_colour or _converts_colours(content) else in_colours(pixels, layout.colours)


def _converts_colours(content: bytes) -> bool:
    """Whether a JPEG 2000 stream changes the colours itself: the multiple component transformation of its header."""
    header = content[: content.find(FIRST_TILE)]
    place = header.find(CODING_STYLE)
    return 0 <= place < len(header) - 8 and header[place + 8] == 1


def _decoded(image: Image.Image, layout: Layout) -> Pixels:
    """An image as RGB, grey being turned round where the file says that black is bright."""
    pixels = as_rgb(image)
    return 255 - pixels if len(image.getbands()) == 1 and layout.colours == "MONOCHROME1" else pixels


def _run_lengths(content: bytes, layout: Layout) -> NDArray[Any]:
    """[S, H, W] of a run-length coded frame: for each channel a segment for each byte, the highest first."""
    size = layout.allocated // 8
    header = np.frombuffer(content[:RLE_HEADER], dtype="<u4")
    if len(header) < 16 or header[0] != layout.samples * size:
        raise Refused("found a picture that is compressed in a way that is not read here")
    places = [*(int(place) for place in header[1 : 1 + header[0]]), len(content)]
    planes = np.zeros((layout.samples, layout.pixels), dtype=np.uint16)
    for k, (start, end) in enumerate(pairwise(places)):
        segment = np.frombuffer(_unpacked(content[start:end], layout.pixels), dtype=np.uint8)
        planes[k // size] = (planes[k // size] << 8) | segment
    return planes.reshape(layout.samples, layout.rows, layout.columns)


def _unpacked(packed: bytes, length: int) -> bytes:
    """PackBits: so many bytes as they are, or one byte so many times.

    >>> _unpacked(bytes([1, 7, 8, 254, 9]), 5)
    b'\\x07\\x08\\t\\t\\t'
    """
    unpacked, place = bytearray(), 0
    while len(unpacked) < length and place < len(packed) - 1:
        count = packed[place]
        if count < 128:
            unpacked += packed[place + 1 : place + 2 + count]
            place += 2 + count
        else:
            unpacked += packed[place + 1 : place + 2] * (257 - count if count > 128 else 0)
            place += 2 if count > 128 else 1
    if len(unpacked) < length:
        raise Refused("found fewer pixels than the file says it has, expected all of them")
    return bytes(unpacked[:length])
