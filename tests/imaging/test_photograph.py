"""Photographs are read by what they are, upright, in RGB of eight bits."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from imaging_files import dicom, eye, grey_16, jpeg, png, png_16, several, tiff, tiff_of
from PIL import Image

from mpd2.core.errors import UserError
from mpd2.imaging.photograph import ENDINGS, KINDS, kind_of, read_photograph

EYE = eye()
GREY = EYE[..., 0]
ALPHA = np.dstack([EYE, np.full(GREY.shape, 255, dtype=np.uint8)])
TURNS = {
    1: lambda upright: upright,
    2: lambda upright: upright[:, ::-1],
    3: lambda upright: upright[::-1, ::-1],
    4: lambda upright: upright[::-1],
    5: lambda upright: upright.transpose(1, 0, 2),
    6: lambda upright: upright.transpose(1, 0, 2)[::-1],
    7: lambda upright: upright[::-1, ::-1].transpose(1, 0, 2),
    8: lambda upright: upright.transpose(1, 0, 2)[:, ::-1],
}
"""How pixels lie in a file of each EXIF orientation whose photograph is upright."""


def off_by(pixels: np.ndarray, expected: np.ndarray) -> float:
    """Levels by which pixels differ on average."""
    assert pixels.shape == expected.shape
    return float(np.abs(pixels.astype(int) - expected).mean())


FILES: dict[str, tuple[bytes, float]] = {
    "jpeg": (jpeg(EYE), 2),
    "progressive-jpeg": (jpeg(EYE, progressive=True), 2),
    "cmyk-jpeg": (jpeg(EYE, mode="CMYK"), 2),
    "png": (png(EYE), 0),
    "interlaced-png": (png(EYE, interlace=True), 0),
    "palette-png": (png(EYE, mode="P"), 20),
    "png-16": (png_16(EYE), 0),
    "alpha-png": (png(ALPHA, mode="RGBA"), 0),
    "tiff": (tiff(EYE), 0),
    "lzw-tiff": (tiff(EYE, compression="tiff_lzw"), 0),
    "deflated-tiff": (tiff(EYE, compression="tiff_adobe_deflate"), 0),
    "jpeg-tiff": (tiff(EYE, compression="jpeg", quality=95), 3),
    "cmyk-tiff": (tiff(EYE, mode="CMYK"), 1),
    "palette-tiff": (tiff(EYE, mode="P"), 20),
    "lab-tiff": (tiff(EYE, mode="LAB"), 1),
    "ycbcr-tiff": (tiff(EYE, mode="YCbCr"), 1),
}
GREYS: dict[str, bytes] = {
    "jpeg": jpeg(EYE[..., 0], mode="L"),
    "png": png(GREY, mode="L"),
    "png-16": grey_16(EYE, "PNG"),
    "png-alpha": png(GREY, mode="LA"),
    "tiff": tiff(GREY, mode="L"),
    "tiff-16": grey_16(EYE, "TIFF"),
    "tiff-16-big-endian": tiff_of(Image.fromarray((GREY.astype(np.uint16) * 257).astype(">u2"))),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_photograph_in_colour_comes_out_as_it_went_in(kind):
    content, tolerance = FILES[kind]
    photograph = read_photograph(content)
    assert photograph.pixels.dtype == np.uint8
    assert off_by(photograph.pixels, EYE) <= tolerance
    assert (photograph.laterality, photograph.device, photograph.spacing, photograph.notes) == ("", "", None, ())


@pytest.mark.parametrize("kind", GREYS)
def test_a_grey_photograph_has_three_equal_channels(kind):
    assert off_by(read_photograph(GREYS[kind]).pixels, GREY[..., None].repeat(3, axis=-1)) <= 1


@pytest.mark.parametrize("orientation", TURNS)
@pytest.mark.parametrize("write", [jpeg, png, tiff])
def test_a_photograph_is_upright_however_the_camera_was_held(write, orientation):
    lying = np.ascontiguousarray(TURNS[orientation](EYE))
    assert off_by(read_photograph(write(lying, orientation)).pixels, EYE) <= 2


def test_a_compressed_tiff_is_turned_once():
    content = tiff(np.ascontiguousarray(TURNS[6](EYE)), 6, compression="tiff_lzw")
    assert off_by(read_photograph(content).pixels, EYE) == 0


def test_what_is_transparent_is_black():
    clear = ALPHA.copy()
    clear[..., :3] = 200
    clear[:20, :, 3] = 0
    pixels = read_photograph(png(clear, mode="RGBA")).pixels
    assert not pixels[:20].any()
    assert (pixels[20:] == 200).all()


@pytest.mark.parametrize(("kind", "note"), [("PNG", "the first of 3 frames"), ("TIFF", "the first of several pages")])
def test_of_several_frames_the_first_is_read_and_said(kind, note):
    photograph = read_photograph(several(EYE, kind))
    assert off_by(photograph.pixels, EYE) == 0
    assert photograph.notes == (note,)


def test_the_content_says_what_a_file_is_and_a_wrong_ending_is_noted():
    photograph = read_photograph(png(EYE), "eye.JPG")
    assert off_by(photograph.pixels, EYE) == 0
    assert photograph.notes == ("a PNG file whose name ends in .jpg",)
    assert read_photograph(png(EYE), "eye.secret").notes == ()


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_ending_is_read_from_disk(tmp_path, ending):
    contents = {"JPEG": jpeg(EYE), "PNG": png(EYE), "TIFF": tiff(EYE), "DICOM": dicom(EYE)}
    path = tmp_path / f"eye{ending}"
    path.write_bytes(contents[KINDS[ending]])
    photograph = read_photograph(path)
    assert off_by(photograph.pixels, EYE) <= 2
    assert photograph.notes == ()
    assert kind_of(path.read_bytes()) == KINDS[ending]


def test_a_file_that_is_not_there_or_is_a_folder_is_said_without_its_name(tmp_path):
    for path in (tmp_path / "Wustenhagen.jpg", tmp_path):
        with pytest.raises(UserError, match=r"^the photograph: there is no such file; expected a JPEG") as refused:
            read_photograph(path)
        assert "Wustenhagen" not in str(refused.value)


def test_a_message_calls_the_file_what_the_caller_calls_it():
    with pytest.raises(UserError, match=r"^case 12: found an empty file, expected a JPEG, PNG, TIFF or DICOM"):
        read_photograph(b"", "case 12")


def test_the_pixels_are_the_readers_own():
    pixels = read_photograph(png(EYE)).pixels
    pixels[:] = 0
    assert pixels.flags.owndata


def test_importing_the_reader_brings_in_neither_pydicom_nor_torch():
    code = "import sys, mpd2.imaging.photograph; print(sorted({'pydicom', 'torch', 'transformers'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
