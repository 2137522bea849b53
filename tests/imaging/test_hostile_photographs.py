"""Files that are damaged, made to do damage, or full of names: refused or stripped, in words that repeat nothing."""

from __future__ import annotations

import logging
import struct
import traceback
import tracemalloc
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imaging_files import (
    ALL_OF_THEM,
    JPEG,
    JPEG_2000_LOSSLESS,
    NAME,
    RLE,
    SECRETS,
    dicom,
    eye,
    grey_16,
    jpeg,
    jpeg_2000,
    png,
    png_16,
    png_claiming,
    several,
    tiff,
    tiff_claiming,
)
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from pydicom.data import get_testdata_file

from mpd2.core.errors import UserError
from mpd2.imaging.photograph import Photograph, read_photograph
from mpd2.imaging.pixels import MOST_BYTES

EYE = eye(80, 96)


def archive() -> bytes:
    """A zip archive."""
    target = BytesIO()
    with zipfile.ZipFile(target, "w") as file:
        file.writestr(f"{NAME}.txt", ALL_OF_THEM)
    return target.getvalue()


def png_with_much_text() -> bytes:
    """A small PNG with a text of 80 MB, compressed."""
    info, target = PngInfo(), BytesIO()
    info.add_text("Comment", ALL_OF_THEM + " " * 80_000_000, zip=True)
    Image.fromarray(EYE).save(target, "PNG", pnginfo=info)
    return target.getvalue()


def nested_dicom(depth: int = 5_000) -> bytes:
    """A DICOM file with sequences in sequences."""
    begin = struct.pack("<HH2sHI", 0x0008, 0x1140, b"SQ", 0, 0xFFFFFFFF) + struct.pack(
        "<HHI", 0xFFFE, 0xE000, 0xFFFFFFFF
    )
    whole = dicom(EYE)
    place = whole.index(struct.pack("<HH2s", 0x0010, 0x0010, b"PN"))
    return whole[:place] + begin * depth + whole[place:]


def endless_tiff() -> bytes:
    """A TIFF whose next page is always the first."""
    content = bytearray(tiff(EYE))
    (first,) = struct.unpack_from("<I", content, 4)
    (entries,) = struct.unpack_from("<H", content, first)
    struct.pack_into("<I", content, first + 2 + 12 * entries, first)
    return bytes(content)


STRIPPED: dict[str, bytes] = {
    "jpeg": jpeg(EYE),
    "cmyk-jpeg": jpeg(EYE, mode="CMYK"),
    "turned-jpeg": jpeg(EYE, orientation=6),
    "png": png(EYE),
    "palette-png": png(EYE, mode="P"),
    "tiff": tiff(EYE),
    "compressed-tiff": tiff(EYE, compression="tiff_lzw"),
    "dicom": dicom(EYE),
    "dicom-jpeg": dicom(EYE, "YBR_FULL_422", JPEG, jpeg(EYE)),
    "dicom-jpeg-2000": dicom(EYE, "YBR_RCT", JPEG_2000_LOSSLESS, jpeg_2000(EYE)),
    "dicom-rle": dicom(EYE, syntax=RLE),
    "dicom-burnt-in": dicom(eye(80, 96, text=True), BurnedInAnnotation="YES"),
    "dicom-odd-words": dicom(EYE, ImageLaterality=SECRETS[0].upper(), BurnedInAnnotation="MAYBE"),
}
"""Photographs with the names of a person in every place that there is for them."""

PLAIN: dict[str, bytes] = {
    "png-16": png_16(EYE),
    "grey-16-png": grey_16(EYE, "PNG"),
    "grey-16-tiff": grey_16(EYE, "TIFF"),
    "animated-png": several(EYE, "PNG"),
    "pages": several(EYE, "TIFF"),
    "endless-tiff": endless_tiff(),
    "dicom-lossless-jpeg": Path(get_testdata_file("SC_rgb_jpeg_gdcm.dcm", download=False)).read_bytes(),
    "dicom-jpeg-ls": Path(get_testdata_file("SC_rgb_jls_lossy_line.dcm", download=False)).read_bytes(),
}
"""Photographs that are unusual, and are read."""

REFUSED: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "found an empty file"),
    "one-byte": (b"\xff", "found something else"),
    "words": (ALL_OF_THEM.encode(), "found something else"),
    "zip": (archive(), "found a zip archive or an office document"),
    "html": (f"<!DOCTYPE html><p>{ALL_OF_THEM}".encode(), "found a web page or drawing"),
    "svg": (f"\n <svg><text>{ALL_OF_THEM}</text></svg>".encode(), "found a web page or drawing"),
    "pdf": (b"%PDF-1.7 " + ALL_OF_THEM.encode(), "found a PDF"),
    "gif": (several(EYE, "GIF"), "found a GIF"),
    "webp": (several(EYE, "WEBP"), "found a WebP"),
    "heic": (b"\x00\x00\x00\x18ftypheic" + bytes(100), "HEIC"),
    "jpeg-2000": (b"\x00\x00\x00\x0cjP  \r\n\x87\n" + bytes(100), "JPEG 2000 outside of DICOM"),
    "too-many-bytes": (jpeg(EYE) + bytes(MOST_BYTES), "found more than 64 MB"),
    "too-small": (png(eye(40, 50)), "found 50 × 40 pixels, expected at least 64 each way"),
    "a-strip": (png(np.zeros((64, 600, 3), np.uint8)), "at most 3 times as long as wide"),
    "png-bomb": (png_claiming(60_000, 60_000), "expected at most 50 million"),
    "large-png": (png_claiming(12_000, 10_000), "found 12000 × 10000 pixels, expected at most 50 million"),
    "half-a-png": (png_claiming(200, 200), "damaged or not complete"),
    "no-width": (png_claiming(0, 0), "damaged or not complete"),
    "tiff-tag": (tiff_claiming(2**32 - 1), "damaged or not complete"),
    "much-text": (png_with_much_text(), "damaged or not complete"),
    "jpeg-start": (b"\xff\xd8\xff\xe0" + ALL_OF_THEM.encode(), "damaged or not complete"),
    "tiff-start": (b"II*\x00" + ALL_OF_THEM.encode(), "damaged or not complete"),
    "float-tiff": (tiff(EYE[..., 0], mode="F"), "found 32 bits a channel"),
    "dicom-start": (bytes(128) + b"DICM" + ALL_OF_THEM.encode(), "damaged or not complete|without a picture"),
    "nested-dicom": (nested_dicom(), "damaged or not complete|without a picture"),
    "dicom-no-picture": (dicom(EYE, without=("PixelData",)), "without a picture"),
    "dicom-bomb": (dicom(EYE, Rows=65_535, Columns=65_535), "expected at most 50 million"),
    "dicom-jpeg-bomb": (
        dicom(EYE, "YBR_FULL", JPEG, jpeg(EYE).replace(struct.pack(">HH", 80, 96), struct.pack(">HH", 60_000, 60_000))),
        "expected at most 50 million|damaged or not complete",
    ),
    "half-a-jpeg": (jpeg(EYE)[:-600], "damaged or not complete"),
    "half-a-png-with-names": (png(EYE)[:-900], "damaged or not complete"),
    "half-a-tiff": (tiff(EYE, compression="tiff_lzw")[:-900], "damaged or not complete"),
    "half-a-dicom": (dicom(EYE)[:-900], "damaged or not complete|fewer pixels|without a picture"),
}
"""What is refused, and what is said of it."""


def outcome(source: bytes | Path, name: str = "") -> Photograph | UserError:
    """What becomes of a file: a photograph as it should be, or a refusal; anything else fails."""
    try:
        photograph = read_photograph(source, name)
    except UserError as refusal:
        return refusal
    assert photograph.pixels.dtype == np.uint8
    assert photograph.pixels.ndim == 3
    assert photograph.pixels.shape[2] == 3
    return photograph


def everything_said(result: Photograph | UserError) -> bytes:
    """All that a result holds, as bytes."""
    if isinstance(result, UserError):
        return "".join(traceback.format_exception(result, chain=True)).encode() + repr(result.__context__).encode()
    said = f"{result!r} {result.laterality} {result.device} {result.spacing} {' '.join(result.notes)}"
    return said.encode() + result.pixels.tobytes()


def names_in(content: bytes) -> list[str]:
    """Secrets in some bytes, in any case and also in two bytes a letter."""
    lower = content.lower()
    return [
        secret for secret in SECRETS if any(secret.lower().encode(code) in lower for code in ("ascii", "utf-16-le"))
    ]


@pytest.fixture
def told(tmp_path, monkeypatch, caplog, capfd):
    """A function that reads a file and gives all that came of it: results, logs, output, and files left behind."""
    caplog.set_level(logging.DEBUG)
    for name in ("PIL", "PIL.TiffImagePlugin", "PIL.PngImagePlugin", "pydicom"):
        caplog.set_level(logging.DEBUG, logger=name)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("TMPDIR", str(work))

    def tell(content: bytes) -> tuple[Photograph | UserError, bytes]:
        file = tmp_path / f"{SECRETS[0]} {SECRETS[1]}.jpg"
        file.write_bytes(content)
        results = [outcome(content), outcome(file)]
        left = [path.read_bytes() + path.name.encode() for path in work.rglob("*") if path.is_file()]
        assert not left
        output = capfd.readouterr()
        return results[0], b"\n".join(
            [*map(everything_said, results), caplog.text.encode(), output.out.encode(), output.err.encode(), *left]
        )

    return tell


@pytest.mark.parametrize("kind", STRIPPED)
def test_no_name_comes_out_of_a_photograph(told, kind):
    assert names_in(STRIPPED[kind])
    result, said = told(STRIPPED[kind])
    assert isinstance(result, Photograph)
    assert not names_in(said)


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_photograph_is_refused_and_nothing_of_it_repeated(told, kind):
    content, reason = REFUSED[kind]
    result, said = told(content)
    assert isinstance(result, UserError)
    assert not names_in(said)
    with pytest.raises(UserError, match=reason):
        raise result


@pytest.mark.parametrize("kind", PLAIN)
def test_an_unusual_photograph_is_read(told, kind):
    assert isinstance(told(PLAIN[kind])[0], Photograph)


@pytest.mark.parametrize("kind", STRIPPED)
def test_a_file_cut_off_anywhere_is_read_or_refused(told, kind):
    content = STRIPPED[kind]
    for share in (0.001, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
        assert not names_in(told(content[: int(share * len(content))])[1])


@pytest.mark.parametrize("kind", ["png-bomb", "large-png", "tiff-tag", "dicom-bomb", "much-text"])
def test_a_bomb_costs_nothing(kind):
    content = REFUSED[kind][0]
    outcome(dicom(EYE))  # so that what is imported is not counted
    tracemalloc.start()
    outcome(content)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 8 * 2**20


def test_the_decoders_would_have_talked(caplog):
    caplog.set_level(logging.DEBUG, logger="PIL.TiffImagePlugin")
    Image.open(BytesIO(STRIPPED["tiff"])).load()
    assert names_in(caplog.text.encode())


def test_loggers_and_warnings_are_as_before_after_reading():
    logger, filters = logging.getLogger("PIL.TiffImagePlugin"), list(warnings.filters)
    outcome(STRIPPED["tiff"])
    outcome(REFUSED["tiff-tag"][0])
    assert not logger.disabled
    assert list(warnings.filters) == filters


def test_many_threads_read_at_once_and_leave_all_as_it_was():
    filters = list(warnings.filters)
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(outcome, [*STRIPPED.values(), REFUSED["tiff-tag"][0]] * 3))
    assert sum(isinstance(result, Photograph) for result in results) == 3 * len(STRIPPED)
    assert list(warnings.filters) == filters
    assert not logging.getLogger("PIL.TiffImagePlugin").disabled


def test_text_burnt_in_is_blank_where_the_camera_says_so():
    with_text = eye(80, 96, text=True)
    photograph = read_photograph(STRIPPED["dicom-burnt-in"])
    assert with_text[:12, :20].max() > 150
    assert not photograph.pixels[:12, :20].any()


WHOLE = [*STRIPPED.values(), *PLAIN.values()]


@settings(max_examples=100)
@given(
    st.sampled_from(WHOLE),
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), max_size=20),
    st.none() | st.floats(0, 1),
)
def test_any_bytes_changed_or_cut_give_a_photograph_or_a_refusal(content, changes, cut):
    damaged = bytearray(content)
    for place, value in changes:
        damaged[int(place * len(damaged))] = value
    result = outcome(bytes(damaged[: len(damaged) if cut is None else int(cut * len(damaged))]))
    assert not names_in(everything_said(result))


@settings(max_examples=50)
@given(st.sampled_from(WHOLE), st.lists(st.tuples(st.integers(0, 700), st.integers(0, 255)), min_size=1, max_size=8))
def test_any_damaged_header_gives_a_photograph_or_a_refusal(content, changes):
    damaged = bytearray(content)
    for place, value in changes:
        damaged[place] = value
    outcome(bytes(damaged))
