"""Quality: its parts, its probability and its map."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

from mpd2.core.errors import UserError
from mpd2.imaging.field import find_field
from mpd2.imaging.quality import PARTS, Quality, QualityModel, assess, fit_quality, quality_map
from mpd2.imaging.simulation.render import FRAME, Eye, Shot, draw_eye, render
from mpd2.imaging.simulation.render_quality import faulty_photographs, fit_default_quality

LEVELS = (0.0, 0.25, 0.5, 0.75, 1.0)
FALLS = {"blur": "focus", "darkness": "illumination", "haze": "haze", "crop": "field"}


def eyes() -> list[Eye]:
    random = np.random.default_rng(7)
    return [draw_eye(ratio, random) for ratio in (0.35, 0.5, 0.65, 0.8)]


def quality_of(eye: Eye, shot: Shot, side: int = 384) -> Quality:
    pixels = render(eye, shot, side)
    return assess(pixels, find_field(pixels), eye.disc.scaled(side / FRAME), QualityModel.default())


@pytest.fixture(scope="module")
def by_level() -> dict[str, list[list[Quality]]]:
    """Quality of every eye, by fault and level."""
    clean = [quality_of(eye, Shot()) for eye in eyes()]
    return {
        fault: [clean, *([quality_of(eye, Shot(**{fault: level})) for eye in eyes()] for level in LEVELS[1:])]
        for fault in FALLS
    }


@pytest.mark.parametrize("fault", FALLS)
def test_quality_falls_with_every_fault_and_so_does_the_part_that_names_it(by_level, fault):
    good = [np.mean([quality.good for quality in level]) for level in by_level[fault]]
    part = [np.mean([quality.parts[FALLS[fault]] for quality in level]) for level in by_level[fault]]
    assert (np.diff(good) < 0).all(), good
    assert (np.diff(part) < 0).all(), part
    assert good[0] > 0.85
    assert good[-1] < 0.1


@pytest.mark.parametrize(
    ("fault", "others"), [("blur", ("field", "illumination", "haze")), ("darkness", ("focus", "haze"))]
)
def test_one_fault_does_not_pass_for_another(by_level, fault, others):
    for part in others:
        clean, worst = (np.mean([one.parts[part] for one in by_level[fault][level]]) for level in (0, -1))
        assert worst == pytest.approx(clean, abs=0.05)


def test_haze_takes_contrast_too(by_level):
    contrast = [np.mean([quality.parts["contrast"] for quality in level]) for level in by_level["haze"]]
    assert (np.diff(contrast) < 0).all()


def test_parts_and_probability_lie_between_0_and_1(by_level):
    for levels in by_level.values():
        for quality in (one for level in levels for one in level):
            assert tuple(quality.parts) == PARTS
            assert all(0 <= value <= 1 for value in [*quality.parts.values(), quality.good])
            assert quality.risk == pytest.approx(1 - quality.good)


def test_the_worst_part_names_the_fault(by_level):
    for fault in ("blur", "darkness"):
        assert all(quality.worst == FALLS[fault] for quality in by_level[fault][-1])


def test_usable_photographs_never_seen_are_told_from_unusable_ones():
    faulty = faulty_photographs(seed=11, count=48, side=384)
    good = QualityModel.default().good(faulty.parts)
    usable, unusable = good[faulty.usable], good[~faulty.usable]
    auc = (usable[:, None] > unusable[None, :]).mean()
    assert auc > 0.92, auc


def test_a_larger_copy_of_a_photograph_has_the_same_quality():
    eye = eyes()[1]
    pixels = render(eye, Shot(blur=0.3))
    larger = np.asarray(Image.fromarray(pixels).resize((1400, 1400), Image.Resampling.BICUBIC))
    found = [
        assess(picture, find_field(picture), eye.disc.scaled(len(picture) / FRAME), QualityModel.default())
        for picture in (pixels, larger)
    ]
    for part in PARTS:
        assert found[0].parts[part] == pytest.approx(found[1].parts[part], abs=0.06)


def test_a_photograph_without_a_disc_is_worse():
    eye = eyes()[0]
    pixels = render(eye, Shot())
    field, model = find_field(pixels), QualityModel.default()
    without = assess(pixels, field, None, model)
    assert without.parts["disc"] == 0
    assert without.good < assess(pixels, field, eye.disc, model).good


@pytest.mark.parametrize("level", [0, 128, 255])
def test_a_blank_picture_is_assessed_without_complaint(level):
    pixels = np.full((120, 160, 3), level, np.uint8)
    found = assess(pixels, find_field(pixels), None, QualityModel.default())
    assert found.good < 0.05
    assert quality_map(pixels, find_field(pixels)).shape == (16, 16)


def test_the_map_shows_where_it_is_bad():
    eye = eyes()[2]
    pixels = render(eye, Shot())
    pixels[:, : FRAME // 2] = render(eye, Shot(blur=0.9))[:, : FRAME // 2]
    found = quality_map(pixels, find_field(pixels))
    assert found.shape == (16, 16)
    assert np.isnan(found[0, 0])  # a corner lies outside of the round field
    shown = found[~np.isnan(found)]
    assert shown.min() >= 0
    assert shown.max() <= 1
    assert np.nanmean(found[:, :6]) + 0.25 < np.nanmean(found[:, 10:])


def test_the_map_s_darkness_is_where_it_is_dark():
    pixels = render(eyes()[2], Shot()).astype(float)
    pixels[FRAME // 2 :] *= 0.25
    found = quality_map(pixels.astype(np.uint8), find_field(pixels.astype(np.uint8)))
    assert np.nanmean(found[10:]) + 0.25 < np.nanmean(found[:6])


def test_fitting_finds_the_weights_that_made_the_labels():
    random = np.random.default_rng(3)
    parts = random.random((20_000, len(PARTS)))
    true = QualityModel(np.array([3.0, 1.0, 2.0, 0.0, 4.0, 0.5]), -5.0)
    found = fit_quality(parts, random.random(20_000) < true.good(parts))
    np.testing.assert_allclose(found.weights, true.weights, atol=0.25)
    assert found.intercept == pytest.approx(true.intercept, abs=0.3)


def test_a_better_part_never_makes_a_photograph_worse():
    random = np.random.default_rng(4)
    parts = random.random((500, len(PARTS)))
    assert (fit_quality(parts, parts[:, 0] < 0.5).weights >= 0).all()


def test_quality_is_not_fitted_on_usable_photographs_alone():
    with pytest.raises(UserError, match="3 of 3 usable"):
        fit_quality(np.ones((3, len(PARTS))), np.ones(3, bool))


def test_a_model_comes_back_from_its_json():
    model = QualityModel.default()
    back = QualityModel.from_json(json.loads(json.dumps(model.to_json())))
    np.testing.assert_array_equal(back.weights, model.weights)
    assert back.intercept == model.intercept
    with pytest.raises(UserError, match="a weight for each of field, focus"):
        QualityModel.from_json({"intercept": 1.0, "weights": {"focus": 1.0}})


def test_the_default_model_is_made_the_same_way_every_time():
    first, second = (fit_default_quality(seed=5, count=8, side=128) for _ in range(2))
    np.testing.assert_array_equal(first.weights, second.weights)
