"""Which parts of a photograph moved the classifier, and two checks of that."""

from __future__ import annotations

import numpy as np
import pytest
from imaging_models import save_classifier
from imaging_pipelines import RIM, flat_photograph

from mpd2.imaging.ellipses import Ellipse
from mpd2.imaging.field import crop, find_field
from mpd2.imaging.models.classifier import Classifier
from mpd2.imaging.models.heatmap import contributions, coverage, greyed, heat
from mpd2.imaging.models.square import Square

DISC, CUP = Ellipse(380, 290, 80, 92), Ellipse(380, 290, 40, 50)


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    return Classifier.load(save_classifier(tmp_path_factory.mktemp("network") / "classifier"))


@pytest.fixture(scope="module")
def pixels():
    return flat_photograph(DISC, CUP, 600)


@pytest.fixture(scope="module")
def found(classifier, pixels):
    return heat(classifier, pixels, find_field(pixels), DISC)


def test_contributions_of_16_by_16_tokens_sum_to_the_log_odds(classifier):
    pictures = list(np.random.default_rng(0).integers(0, 256, (3, 100, 100, 3), dtype=np.uint8))
    answers = classifier(pictures)
    parts = contributions(classifier, answers)
    assert parts.shape == (3, 16, 16)
    assert np.allclose(parts.sum((1, 2)), answers.logits[:, 1] - answers.logits[:, 0], atol=1e-5)


def test_the_map_of_a_photograph_says_the_classifiers_own_answer(classifier, pixels, found):
    answers = classifier([crop(pixels, find_field(pixels))])
    assert found.log_odds == pytest.approx(found.contributions.sum(), abs=1e-5)
    assert found.probability == pytest.approx(answers.probability[0])


def test_the_share_inside_of_the_disc_is_that_of_its_cells(pixels, found):
    field = find_field(pixels)
    cover = coverage(DISC, Square.of_field(field), 16)
    size = np.abs(found.contributions)
    assert found.inside == pytest.approx((size * cover).sum() / size.sum())
    assert found.area == pytest.approx(DISC.area / field.side**2, rel=0.02)


def test_a_disc_that_fills_the_square_covers_it_all():
    assert (coverage(Ellipse(50, 50, 1000, 1000), Square(0, 0, 100), 4) == 1).all()
    left = coverage(Ellipse(0, 50, 100, 1000), Square(0, 0, 100), 2)
    assert left[:, 1].max() < 0.05
    assert left[:, 0].min() > 0.9


def test_greying_takes_the_disc_and_nothing_else_away(pixels):
    covered = greyed(pixels, DISC)
    x, y = np.meshgrid(np.arange(600), np.arange(600))
    assert not (covered == RIM).all(-1).any()
    assert (covered[DISC.contains(x, y)] == (120, 60, 30)).all()
    away = DISC.radius(x, y) > 1.2
    assert np.array_equal(covered[away], pixels[away])


def test_the_occlusion_check_asks_the_classifier_again(classifier, pixels, found):
    field = find_field(pixels)
    again = classifier([crop(greyed(pixels, DISC), field)]).probability[0]
    assert found.covered == pytest.approx(again)
    assert found.covered != found.probability


def test_without_a_disc_there_is_a_map_but_no_check(classifier, pixels):
    bare = heat(classifier, pixels, find_field(pixels), None)
    assert bare.contributions.shape == (16, 16)
    assert (bare.inside, bare.area, bare.covered) == (None, None, None)
