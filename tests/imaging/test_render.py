"""Rendered photographs."""

from __future__ import annotations

import numpy as np
import pytest

from mpd2.core.errors import UserError
from mpd2.imaging.outlines import outlines_of_labels
from mpd2.imaging.simulation.render import CAMERAS, FRAME, Shot, draw_eye, labels_of, render

SIDE = 256


def eye(ratio: float = 0.6, seed: int = 4):
    return draw_eye(ratio, np.random.default_rng(seed))


def test_the_same_eye_and_shot_give_the_same_pixels():
    shot = Shot("B", blur=0.2, haze=0.3, crop=0.2)
    first = render(eye(), shot, SIDE)
    assert first.shape == (SIDE, SIDE, 3)
    assert first.dtype == np.uint8
    np.testing.assert_array_equal(first, render(eye(), shot, SIDE))
    assert (first != render(eye(seed=5), shot, SIDE)).any()


@pytest.mark.parametrize("ratio", [0.1, 0.35, 0.6, 0.85, 0.97])
def test_an_eye_has_the_ratio_asked_for_and_its_cup_within_the_disc(ratio):
    random = np.random.default_rng(0)
    for _ in range(30):
        drawn = draw_eye(ratio, random)
        assert drawn.ratio == pytest.approx(ratio)
        assert drawn.disc.contains(*drawn.cup.points().T).all()


def test_discs_are_as_high_as_in_public_photographs():
    random = np.random.default_rng(0)
    heights = [draw_eye(0.5, random).disc.vertical for _ in range(400)]
    assert np.mean(heights) == pytest.approx(82, abs=1.5)
    assert np.quantile(heights, 0.05) == pytest.approx(70, abs=2.5)
    assert draw_eye(0.5, random, disc_height=45).disc.vertical == pytest.approx(45)


@pytest.mark.parametrize("side", [256, FRAME, 800])
def test_true_outlines_come_back_from_the_true_labels_at_any_size(side):
    random = np.random.default_rng(1)
    for ratio in (0.4, 0.7):
        drawn = draw_eye(ratio, random, disc_height=90)
        found = outlines_of_labels(labels_of(drawn, side), scale=FRAME / side)
        assert found.ratios.vertical == pytest.approx(ratio, rel=0.03)
        assert (found.disc.x, found.disc.y) == (
            pytest.approx(drawn.disc.x, abs=0.4),
            pytest.approx(drawn.disc.y, abs=0.4),
        )


def test_the_disc_is_brighter_than_the_retina_and_the_cup_than_the_rim():
    for seed in range(6):
        drawn = eye(0.55, seed)
        for camera in CAMERAS:
            green, marks = render(drawn, Shot(camera))[..., 1], labels_of(drawn)
            near = drawn.disc.scaled(1).radius(np.arange(FRAME)[None, :], np.arange(FRAME)[:, None])
            retina = np.median(green[(near > 1.4) & (near < 2)])
            assert retina + 12 < np.median(green[marks == 1]) < np.median(green[marks == 2]) - 12


def test_the_macula_is_dark_and_lies_towards_the_temple():
    drawn = eye()
    towards = -1 if drawn.right else 1
    pixels = render(drawn, Shot()).astype(float)
    size, row = drawn.disc.vertical, round(drawn.disc.y + 0.25 * drawn.disc.vertical)
    brightness = [
        np.median(pixels[row - 9 : row + 9, round(at) - 9 : round(at) + 9].mean(-1))
        for at in (drawn.disc.x + towards * 2.5 * size, drawn.disc.x + towards * 1.3 * size)
    ]
    assert brightness[0] < 0.9 * brightness[1]


def test_a_right_eye_has_its_disc_on_the_right():
    random = np.random.default_rng(2)
    drawn = [draw_eye(0.5, random) for _ in range(30)]
    assert {True, False} == {one.right for one in drawn}
    assert all(one.right == (one.disc.x > FRAME / 2) for one in drawn)


def colour(camera: str) -> np.ndarray:
    pixels = np.concatenate([render(eye(seed=seed), Shot(camera), SIDE).reshape(-1, 3) for seed in range(4)])
    shown = pixels[pixels.max(-1) > 30].astype(float)
    return shown.mean(0) / shown.mean()


def test_camera_c_is_unlike_a_and_b():
    a, b, c = map(colour, CAMERAS)
    assert np.abs(a - b).max() < 0.1 < np.abs(a - c).max()
    shapes = [render(eye(), Shot(camera), SIDE).max(-1) > 15 for camera in CAMERAS]
    assert (shapes[0] != shapes[1]).mean() < 0.05 < (shapes[0] != shapes[2]).mean()


@pytest.mark.parametrize("fault", ["blur", "darkness", "haze", "crop"])
def test_a_fault_changes_more_the_worse_it_is(fault):
    drawn = eye()
    clean = render(drawn, Shot(), SIDE).astype(float)
    change = [np.abs(render(drawn, Shot(**{fault: level}), SIDE) - clean).mean() for level in (0.25, 0.5, 0.75, 1.0)]
    assert change[0] > 0.3
    assert (np.diff(change) > 0).all()


def test_beyond_the_field_it_is_black():
    pixels = render(eye(), Shot(haze=1.0, noise=1.0), SIDE)
    assert pixels[:20, :20].max() == 0


def test_a_small_picture_is_the_large_one_made_smaller():
    drawn = eye()
    large, small = render(drawn, Shot(noise=0.0)).astype(float), render(drawn, Shot(noise=0.0), SIDE).astype(float)
    halved = large.reshape(SIDE, 2, SIDE, 2, 3).mean((1, 3))
    assert np.abs(halved - small).mean() < 3


@pytest.mark.parametrize("ratio", [0.0, 1.0, -0.2, float("nan")])
def test_an_impossible_ratio_is_refused(ratio):
    with pytest.raises(UserError, match="more than 0 and less than 1"):
        draw_eye(ratio, np.random.default_rng(0))


def test_an_impossible_shot_is_refused():
    with pytest.raises(UserError, match="A, B, C"):
        Shot("D")
    with pytest.raises(UserError, match="blur of a shot: found 2"):
        Shot(blur=2)
