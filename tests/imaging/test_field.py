"""The field of view is found on any border, and what is beside it is black."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from imaging_files import eye

from mpd2.core.rng import Stream, stream
from mpd2.imaging.field import Field, crop, find_field
from mpd2.imaging.photograph import Photograph, blanked


def taken(
    height: int = 300, width: int = 400, x: float = 200, y: float = 150, radius: float = 130, level: float = 130,
    border: float = 2, noise: float = 3, vignette: float = 0.5, rows: tuple[int, int] = (0, 10_000),
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """A photograph, [H, W, 3], and its true field, [H, W]: a circle between two rows."""
    row, column = np.mgrid[:height, :width]
    distance = np.hypot(column - x, row - y)
    inside = (distance <= radius) & (row >= rows[0]) & (row < rows[1])
    light = np.where(inside, level * (1 - vignette * (distance / radius) ** 2), border)
    colours = np.stack([light, (light + border) / 2, (light + 3 * border) / 4], axis=-1)
    grain = stream(1, Stream.IMAGING).normal(0, noise, colours.shape)
    return np.clip(colours + grain, 0, 255).astype(np.uint8), inside


def overlap(found: np.ndarray, true: np.ndarray) -> float:
    """Intersection over union."""
    return float((found & true).sum() / (found | true).sum())


KINDS = {
    "plain": {},
    "dark": {"level": 14},
    "grainy": {"level": 80, "noise": 25},
    "grey-border": {"level": 60, "border": 12},
    "dark-on-grey-border": {"level": 30, "border": 10},
    "off-centre": {"x": 230, "y": 140},
    "cut-by-the-frame": {"radius": 170},
    "cut-by-the-frame-at-one-side": {"x": 90},
    "cut-by-bars": {"rows": (50, 260)},
    "vignetted": {"vignette": 0.8},
    "small": {"height": 64, "width": 64, "x": 32, "y": 31, "radius": 29},
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_field_is_found(kind):
    pixels, true = taken(**KINDS[kind])
    assert overlap(find_field(pixels).inside, true) > 0.97


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "small"])
def test_a_field_that_is_cut_off_keeps_its_scale(kind):
    options = {"radius": 130, "x": 200, "y": 150} | KINDS[kind]
    field = find_field(taken(**KINDS[kind])[0])
    assert field.side == pytest.approx(2 * options["radius"], rel=0.03)
    assert field.left == pytest.approx(options["x"] - options["radius"], abs=6)
    assert field.top == pytest.approx(options["y"] - options["radius"], abs=6)


@settings(max_examples=30)
@given(st.floats(180, 220), st.floats(140, 160), st.floats(90, 140), st.floats(20, 200))
def test_any_round_field_is_found(x, y, radius, level):
    pixels, true = taken(x=x, y=y, radius=radius, level=level)
    assert overlap(find_field(pixels).inside, true) > 0.97


@pytest.mark.parametrize("options", [{"vignette": 0.3}, {"vignette": 0.9}, {"level": 20}, {"noise": 30}, {"border": 0}])
def test_a_photograph_without_border_is_all_field(options):
    field = find_field(taken(radius=400, **options)[0])
    assert field.inside.all()
    assert (field.left, field.top, field.side) == (0, -50, 400)


@pytest.mark.parametrize("level", [0, 7, 128, 255])
def test_a_photograph_of_nothing_is_all_field(level):
    assert find_field(np.full((100, 120, 3), level, dtype=np.uint8)).inside.all()


def test_text_in_the_corners_is_outside_of_the_field():
    pixels, true = taken()
    random = stream(2, Stream.IMAGING)
    for rows, columns in product((slice(4, 18), slice(-18, -4)), (slice(4, 90), slice(-90, -4))):
        patch = pixels[rows, columns]
        patch[random.random(patch.shape[:2]) < 0.5] = 255
    assert overlap(find_field(pixels).inside, true) > 0.97


def test_text_across_the_edge_of_the_field_does_not_widen_it():
    pixels, true = taken()
    pixels[145:160, 2:110] = 255
    found = find_field(pixels).inside
    assert overlap(found, true) > 0.97
    assert not found[:, :60].any()


def test_a_field_of_another_shape_keeps_its_shape():
    row, column = np.mgrid[:300, :400]
    true = (np.abs(column - 200) < 120) & (np.abs(row - 150) < 90)
    pixels = np.where(true[..., None], np.uint8(120), np.uint8(1)) * np.ones(3, dtype=np.uint8)
    field = find_field(pixels)
    assert overlap(field.inside, true) > 0.95
    assert field.side == pytest.approx(239, abs=6)


def test_the_crop_is_the_square_and_black_outside_of_the_field():
    pixels, _ = taken(radius=170)
    field = find_field(pixels)
    square = crop(pixels, field)
    assert square.shape == (field.side, field.side, 3)
    assert field.top < 0
    np.testing.assert_array_equal(square[-field.top + 150, -field.left + 200], pixels[150, 200])
    assert not square[: -field.top].any()  # the frame ends there
    assert not square[:20, :20].any()
    assert not square[-20:, -20:].any()


def test_a_crop_has_every_pixel_of_the_field_once():
    pixels, _ = taken(x=60, y=40)
    field = find_field(pixels)
    assert int(crop(pixels, field).astype(int).sum()) == int(pixels[field.inside].astype(int).sum())


def test_a_square_beside_the_photograph_is_black():
    away = Field(np.ones((80, 80), dtype=np.bool_), left=70, top=-10, side=30)
    square = crop(np.full((80, 80, 3), 9, dtype=np.uint8), away)
    assert square[10:, :10].all()
    assert not square[:10].any()
    assert not square[:, 10:].any()


def test_a_blanked_photograph_has_lost_what_is_burnt_in_and_nothing_else():
    with_text = eye(240, 320, text=True)
    whole = Photograph(with_text, laterality="R", notes=("a note",))
    clean = blanked(whole)
    assert with_text[:20, :60].max() > 200
    assert not clean.pixels[:20, :60].any()
    assert not clean.pixels[-20:, -60:].any()
    np.testing.assert_array_equal(clean.pixels[60:180, 100:220], with_text[60:180, 100:220])
    assert (clean.laterality, clean.notes) == ("R", ("a note",))
    np.testing.assert_array_equal(whole.pixels, with_text)
