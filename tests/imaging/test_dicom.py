"""Photographs in DICOM files: every way of storing pixels, and the little that is kept of the rest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from imaging_files import (
    IMPLICIT,
    JPEG,
    JPEG_2000,
    JPEG_2000_LOSSLESS,
    RLE,
    dicom,
    eye,
    halved,
    jpeg,
    jpeg_2000,
    ybr,
)
from pydicom.data import get_testdata_file

from mpd2.core.errors import UserError
from mpd2.imaging.dicom import KEPT, LAYOUT
from mpd2.imaging.photograph import Photograph, read_photograph

EYE = eye()
GREY = EYE[..., 0]
GREY_12 = (GREY.astype(np.uint16) * 16).astype(np.uint16)
HEADER = b"\xff\xc0\x00\x0b\x08\x00\x50\x00\x60\x01\x01\x11\x00"  # of a JPEG, a second one

STORED: dict[str, tuple[bytes, float]] = {
    "rgb": (dicom(EYE), 0),
    "implicit": (dicom(EYE, syntax=IMPLICIT), 0),
    "by-plane": (dicom(EYE, by_plane=True), 0),
    "ybr": (dicom(ybr(EYE), "YBR_FULL"), 1),
    "ybr-by-plane": (dicom(ybr(EYE), "YBR_FULL", by_plane=True), 1),
    "ybr-422": (dicom(EYE, "YBR_FULL_422", content=halved(EYE)), 2),
    "ybr-422-not-halved": (dicom(ybr(EYE), "YBR_FULL_422"), 1),
    "rgb-16": (dicom(EYE.astype(np.uint16) * 257), 0),
    "jpeg": (dicom(EYE, "YBR_FULL_422", JPEG, jpeg(EYE)), 2),
    "jpeg-halved": (dicom(EYE, "YBR_FULL_422", JPEG, jpeg(EYE, subsampling=1)), 3),
    "jpeg-said-to-be-rgb": (dicom(EYE, "RGB", JPEG, jpeg(EYE)), 2),
    "jpeg-halved-said-to-be-rgb": (dicom(EYE, "RGB", JPEG, jpeg(EYE, subsampling=2)), 3),
    "jpeg-in-rgb": (dicom(EYE, "RGB", JPEG, jpeg(EYE, keep_rgb=True)), 2),
    "jpeg-in-rgb-said-to-be-ybr": (dicom(EYE, "YBR_FULL_422", JPEG, jpeg(EYE, keep_rgb=True)), 2),
    "jpeg-2000": (dicom(EYE, "YBR_ICT", JPEG_2000, jpeg_2000(EYE, irreversible=True, mct=1)), 2),
    "jpeg-2000-lossless": (dicom(EYE, "YBR_RCT", JPEG_2000_LOSSLESS, jpeg_2000(EYE, mct=1)), 0),
    "jpeg-2000-said-to-be-ybr": (dicom(EYE, "YBR_FULL", JPEG_2000_LOSSLESS, jpeg_2000(EYE, mct=1)), 0),
    "jpeg-2000-in-rgb": (dicom(EYE, "RGB", JPEG_2000_LOSSLESS, jpeg_2000(EYE, mct=0)), 0),
    "jpeg-2000-in-ybr": (dicom(EYE, "YBR_FULL", JPEG_2000_LOSSLESS, jpeg_2000(ybr(EYE), mct=0)), 1),
    "rle": (dicom(EYE, syntax=RLE), 0),
    "rle-16": (dicom(EYE.astype(np.uint16) * 257, syntax=RLE), 0),
    "rle-ybr": (dicom(ybr(EYE), "YBR_FULL", RLE), 1),
}
"""How an eye in colour is stored, and by how many levels it may differ on average."""

GREYS: dict[str, bytes] = {
    "grey": dicom(GREY, "MONOCHROME2"),
    "inverted": dicom(255 - GREY, "MONOCHROME1"),
    "16-bit": dicom(GREY.astype(np.uint16) * 257, "MONOCHROME2"),
    "12-bit": dicom(GREY_12, "MONOCHROME2", BitsStored=12, HighBit=11),
    "12-bit-high": dicom(GREY_12 * 16, "MONOCHROME2", BitsStored=12, HighBit=15),
    "signed": dicom((GREY.astype(np.int16) - 128).astype(np.int8), "MONOCHROME2", PixelRepresentation=1),
    "jpeg": dicom(GREY, "MONOCHROME2", JPEG, jpeg(GREY, mode="L")),
    "jpeg-inverted": dicom(GREY, "MONOCHROME1", JPEG, jpeg(255 - GREY, mode="L")),
    "jpeg-2000": dicom(GREY, "MONOCHROME2", JPEG_2000_LOSSLESS, jpeg_2000(GREY)),
    "jpeg-2000-16-bit": dicom(
        GREY.astype(np.uint16), "MONOCHROME2", JPEG_2000_LOSSLESS, jpeg_2000(GREY.astype(np.uint16) * 257)
    ),
    "rle": dicom(GREY, "MONOCHROME2", RLE),
}
"""How an eye in grey is stored."""


def off_by(photograph: Photograph, pixels: np.ndarray) -> float:
    """Levels by which a photograph differs on average."""
    return float(np.abs(photograph.pixels.astype(int) - pixels).mean())


@pytest.mark.parametrize("stored", STORED)
def test_colours_come_out_as_they_went_in(stored):
    content, tolerance = STORED[stored]
    photograph = read_photograph(content)
    assert photograph.pixels.dtype == np.uint8
    assert off_by(photograph, EYE) <= tolerance


@pytest.mark.parametrize("stored", GREYS)
def test_grey_comes_out_as_three_equal_channels(stored):
    assert off_by(read_photograph(GREYS[stored]), GREY[..., None].repeat(3, axis=-1)) <= 1


def test_a_jpeg_that_says_nothing_of_its_colours_is_what_the_file_around_it_says():
    bare = without_markers(jpeg(ybr(EYE), keep_rgb=True))  # channels as they are, and no marker that says so
    assert off_by(read_photograph(dicom(EYE, "YBR_FULL", JPEG, bare)), EYE) <= 2
    assert off_by(read_photograph(dicom(EYE, "RGB", JPEG, without_markers(jpeg(EYE, keep_rgb=True)))), EYE) <= 2


def test_a_jpeg_that_says_nothing_and_is_said_to_be_rgb_is_believed_by_its_looks():
    bare = without_markers(jpeg(ybr(EYE), keep_rgb=True))
    assert off_by(read_photograph(dicom(EYE, "RGB", JPEG, bare)), EYE) <= 2


def without_markers(content: bytes) -> bytes:
    """A JPEG without application markers and comments, its channels called 1, 2 and 3."""
    kept, place = bytearray(content[:2]), 2
    while content[place + 1] != 0xDA:
        end = place + 2 + int.from_bytes(content[place + 2 : place + 4], "big")
        kept += b"" if content[place + 1] >= 0xE0 else content[place:end]
        place = end
    return (
        bytes(kept + content[place:])
        .replace(b"R\x11\x00G\x11\x00B\x11", b"\x01\x11\x00\x02\x11\x00\x03\x11")
        .replace(b"\x03R\x00G\x00B\x00", b"\x03\x01\x00\x02\x00\x03\x00")
    )


BARS = (
    "SC_rgb_rle.dcm", "SC_rgb_rle_16bit.dcm", "SC_rgb_rle_2frame.dcm", "SC_rgb_gdcm_KY.dcm", "SC_rgb_jpeg_dcmtk.dcm",
    "SC_rgb_jpeg_gdcm.dcm", "SC_rgb_jpeg_lossy_gdcm.dcm", "SC_rgb_jls_lossy_line.dcm", "SC_rgb_jls_lossy_sample.dcm",
    "SC_ybr_full_422_uncompressed.dcm",
    *(f"SC_rgb_dcmtk_+eb+{way}.dcm" for way in ("cr", "cy+n1", "cy+n2", "cy+np", "cy+s2", "cy+s4")),
)  # fmt: skip
"""One picture of coloured bars as other programs write it; pydicom brings the files along."""


@pytest.mark.parametrize("file", BARS)
def test_files_of_other_programs_show_the_same_colours(file):
    path = get_testdata_file(file, download=False)
    bars = np.array([[255, 0, 0], [255, 128, 128], [0, 255, 0], [128, 255, 128], [0, 0, 255], [128, 128, 255]])
    found = read_photograph(Path(path)).pixels[5:60:10, 50].astype(int)
    assert np.abs(found - bars).max() <= 6


@pytest.mark.parametrize("file", ["SC_rgb_jpeg.dcm", "SC_jpeg_no_color_transform.dcm", "SC_rgb_jpeg_app14_dcmd.dcm"])
def test_paper_is_white_in_files_of_other_programs_that_say_little_of_their_colours(file):
    paper = read_photograph(Path(get_testdata_file(file, download=False))).pixels[:20, 50]
    assert paper.min() > 230


def test_grey_of_sixteen_bits_is_scaled_the_same_however_another_program_compressed_it():
    files = ("MR_small.dcm", "MR_small_RLE.dcm", "MR_small_jp2klossless.dcm", "MR_small_jpeg_ls_lossless.dcm")
    plain, *others = (read_photograph(Path(get_testdata_file(file, download=False))).pixels for file in files)
    assert plain.std() > 1
    for other in others:
        assert np.abs(plain.astype(int) - other).max() <= 1


@pytest.mark.parametrize("stored", [dicom(EYE, frames=3), dicom(EYE, "YBR_FULL", JPEG, jpeg(EYE), frames=3)])
def test_of_several_frames_the_first_is_read_and_said(stored):
    photograph = read_photograph(stored)
    assert off_by(photograph, EYE) <= 2
    assert photograph.notes == ("the first of 3 frames",)


def test_what_a_camera_leaves_out_is_told_from_the_rest():
    bare = (
        "SOPClassUID", "Modality", "PhotometricInterpretation", "PlanarConfiguration", "BitsStored", "HighBit",
        "PixelRepresentation", "NumberOfFrames", "PatientName",
    )  # fmt: skip
    assert off_by(read_photograph(dicom(EYE, without=bare)), EYE) == 0
    assert off_by(read_photograph(dicom(EYE, "YBR_FULL", JPEG, jpeg(EYE), without=("SamplesPerPixel",))), EYE) <= 2


def test_eye_camera_and_scale_are_kept():
    photograph = read_photograph(
        dicom(EYE, ImageLaterality="L", Laterality="R", ManufacturerModelName="TRC-NW8", PixelSpacing=[0.008, 0.008])
    )
    assert (photograph.laterality, photograph.device, photograph.spacing) == ("L", "TRC-NW8", 0.008)
    assert photograph.notes == ()


@pytest.mark.parametrize(
    ("said", "kept"), [({"Laterality": "R"}, "R"), ({"ImageLaterality": "B", "Laterality": "L"}, "L"), ({}, "")]
)
def test_the_series_says_which_eye_it_is_where_the_picture_does_not(said, kept):
    assert read_photograph(dicom(EYE, **said)).laterality == kept


@pytest.mark.parametrize("spacing", [[0.008, 0.02], [0, 0], [-1, -1]])
def test_a_scale_that_cannot_be_is_none(spacing):
    assert read_photograph(dicom(EYE, PixelSpacing=spacing)).spacing is None


def test_text_burnt_in_outside_of_the_field_goes_where_the_camera_says_that_there_is_some():
    with_text = eye(text=True)
    beside = EYE.max(axis=-1) == 0
    photograph = read_photograph(dicom(with_text, BurnedInAnnotation="YES"))
    assert with_text[beside].max() > 200
    assert photograph.pixels[beside].max() < 60  # but for a fringe at the field's edge
    assert "text is burnt in" in photograph.notes[0]


def test_about_ten_attributes_are_read_beside_the_pixels_and_none_of_a_person():
    assert len({*LAYOUT, *KEPT} - {"PixelData"}) <= 15
    assert not any(
        word in keyword
        for keyword in (*LAYOUT, *KEPT)
        for word in ("Patient", "Date", "ID", "Operator", "Physician", "Institution")
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (dicom(EYE, without=("PixelData",)), "without a picture"),
        (dicom(EYE, without=("Rows",)), "160 × 0 pixels, expected at least 64"),
        (dicom(EYE, Rows=60_000, Columns=60_000), "expected at most 50 million"),
        (dicom(EYE, Rows=1_000, Columns=1_000), "fewer pixels than the file says"),
        (dicom(EYE, "PALETTE COLOR"), "colours coded in a way that is not read here"),
        (dicom(EYE, SamplesPerPixel=4), "found 4 channels"),
        (dicom(EYE, BitsAllocated=32), "unusual number of bits"),
        (dicom(EYE, "YBR_FULL", JPEG, jpeg(EYE)[:400]), "damaged or not complete"),
        (dicom(EYE, "YBR_FULL", JPEG, b"\xff\xd8\xff\xc3\x00\x11" + bytes(40)), "0 × 0 pixels|a damaged picture"),
        (dicom(EYE, "YBR_FULL", JPEG, jpeg(EYE)[:2] + HEADER + jpeg(EYE)[2:]), "a damaged picture"),
        (dicom(EYE, "YBR_FULL", JPEG, jpeg(eye(60, 80))), "80 × 60 pixels, expected at least 64"),
        (dicom(EYE, "YBR_FULL", JPEG, bytes(200)), "compressed in a way that is not read here"),
        (dicom(EYE).replace(b"1.2.840.10008.1.2.1\0", b"1.2.840.10008.1.2.1.99\0"), "compressed as a whole"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(content, reason):
    with pytest.raises(UserError, match=reason):
        read_photograph(content)
