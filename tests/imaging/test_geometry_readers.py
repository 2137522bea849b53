"""Semi-synthetic readers follow from outlines and truth, and nothing is fitted on test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, log_expit

from mpd2.core.errors import UserError
from mpd2.core.rng import Stream, stream
from mpd2.imaging.ellipses import Ellipse
from mpd2.imaging.labelling.geometry_readers import PanelSettings, fit_panel, geometry, youden_cutoff
from mpd2.imaging.outlines import Outlines

SPLIT = np.repeat(["train", "val", "test"], 200)


def outlines(ratio: float, height: float = 100.0, off: float = 3.0) -> Outlines:
    disc = Ellipse(50, 50, 0.9 * height, height)
    return Outlines(disc, Ellipse(50 + off, 50, ratio * 90, ratio * height))


def eyes(seed: int = 0, cases: int = 600, annotators: int = 1) -> tuple[list[list[Outlines]], np.ndarray]:
    random = np.random.default_rng(seed)
    truth = (np.arange(cases) % 4 == 0).astype(int)
    ratios = np.clip(random.normal(np.where(truth == 1, 0.65, 0.42), 0.1), 0.1, 0.95)
    drawn = [
        [
            outlines(
                float(np.clip(ratio + random.normal(0, 0.03), 0.05, 0.99)),
                80 + 40 * random.random(),
                5 * random.random(),
            )
        ]
        * annotators
        for ratio in ratios
    ]
    return drawn, truth


@pytest.fixture(scope="module")
def panel_data() -> tuple[np.ndarray, np.ndarray]:
    drawn, truth = eyes()
    return geometry(drawn, 7), truth


def test_the_geometry_is_the_papers_five_numbers():
    found = geometry([[outlines(0.5, 100, 4)]], 1)[0, 0]
    np.testing.assert_allclose(found, [1.0, 0.5, 0.25 * 100 / 100, np.log(100), 0.04], rtol=1e-12)


def test_one_annotation_is_every_readers_and_a_reader_without_one_has_the_median():
    one = geometry([[outlines(0.5)]], 7)[0]
    assert (one == one[0]).all()
    three = geometry([[outlines(0.3), outlines(0.5), outlines(0.6), Outlines(None, None)]], 5)[0, :, 1]
    np.testing.assert_allclose(three, [0.3, 0.5, 0.6, 0.5, 0.5])


def test_a_disc_without_a_cup_has_ratio_nought_and_a_case_without_a_disc_has_no_geometry():
    disc = Ellipse(0, 0, 90, 100)
    found = geometry([[Outlines(disc, None)], [Outlines(None, None)], []], 2)
    assert found[0, :, 1].tolist() == [0.0, 0.0]
    assert np.isnan(found[1:]).all()


def test_nothing_that_is_fitted_depends_on_test(panel_data):
    features, truth = panel_data
    before = fit_panel(features, truth, SPLIT)
    other, wrong = features.copy(), truth.copy()
    other[SPLIT == "test"] *= 3.0
    wrong[SPLIT == "test"] = 1 - wrong[SPLIT == "test"]
    after = fit_panel(other, wrong, SPLIT)
    np.testing.assert_array_equal(after.weights, before.weights)
    np.testing.assert_array_equal(after.temperatures, before.temperatures)
    assert after.cutoff == before.cutoff
    same = SPLIT != "test"
    said = [p.read(f, y, stream(3, Stream.LABELLING)) for p, f, y in ((before, features, truth), (after, other, wrong))]
    np.testing.assert_array_equal(said[0][same], said[1][same])


def test_train_alone_makes_weights_and_cutoff_and_val_alone_the_temperature(panel_data):
    features, truth = panel_data
    before = fit_panel(features, truth, SPLIT)
    other = features.copy()
    other[SPLIT == "val", :, 1] += 0.1
    after = fit_panel(other, truth, SPLIT)
    np.testing.assert_array_equal(after.weights, before.weights)
    assert after.cutoff == before.cutoff
    assert (after.temperatures != before.temperatures).all()


def test_weights_are_at_the_maximum_of_the_likelihood_of_train(panel_data):
    features, truth = panel_data
    train = SPLIT == "train"
    weights = fit_panel(features, truth, SPLIT).weights[0]
    slope = (truth[train] - expit(features[train, 0] @ weights)) @ features[train, 0]
    np.testing.assert_allclose(slope / train.sum(), 0, atol=1e-4)


def test_the_temperature_has_the_smallest_loss_on_val(panel_data):
    features, truth = panel_data
    panel = fit_panel(features, truth, SPLIT)
    val = SPLIT == "val"
    scores = (2 * truth[val] - 1) * (features[val, 0] @ panel.weights[0])
    losses = [-log_expit(scores / t).sum() for t in panel.temperatures[0] * np.array([0.9, 1.0, 1.1])]
    assert losses[1] < min(losses[0], losses[2])


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=30))
def test_no_cutoff_has_a_larger_youden_index(pairs):
    values, truth = np.array([v for v, _ in pairs]), np.array([int(t) for _, t in pairs])
    truth[:2] = (0, 1)

    def index(cut: float) -> float:
        return float((values[truth == 1] >= cut).mean() - (values[truth == 0] >= cut).mean())

    found = youden_cutoff(values, truth)
    assert index(found) >= max((index(cut) for cut in values if cut > values.min()), default=-1.0) - 1e-12


def test_difficulty_is_one_at_the_cutoff_and_falls_on_both_sides(panel_data):
    features, truth = panel_data
    panel = fit_panel(features, truth, SPLIT)
    near = geometry([[outlines(panel.cutoff + off)] for off in (-0.2, -0.1, 0.0, 0.1, 0.2)], 7)
    hard = panel.difficulty(near)
    assert hard[2] == pytest.approx(1.0)
    np.testing.assert_allclose(hard, hard[::-1], rtol=1e-6)
    assert hard[0] < hard[1] < hard[2]
    assert hard[1] == pytest.approx(np.exp(-1.0))


def test_more_evidence_finds_more_and_clears_less(panel_data):
    features, truth = panel_data
    flat = PanelSettings(difficulty_on_sensitivity=0.0, difficulty_on_specificity=0.0)
    sensitivity, specificity = fit_panel(features, truth, SPLIT, flat).rates(
        geometry([[outlines(ratio)] for ratio in (0.2, 0.5, 0.8)], 7)
    )
    assert (np.diff(sensitivity, axis=0) > 0).all()
    assert (np.diff(specificity, axis=0) < 0).all()


def test_without_evidence_and_difficulty_every_reader_keeps_the_baseline(panel_data):
    features, truth = panel_data
    none = PanelSettings(
        evidence_on_sensitivity=0.0,
        evidence_on_specificity=0.0,
        difficulty_on_sensitivity=0.0,
        difficulty_on_specificity=0.0,
    )
    sensitivity, specificity = fit_panel(features, truth, SPLIT, none).rates(features)
    np.testing.assert_allclose(sensitivity, np.tile(none.sensitivity, (600, 1)))
    np.testing.assert_allclose(specificity, np.tile(none.specificity, (600, 1)))


@settings(max_examples=20)
@given(st.integers(0, 7), st.integers(0, 2**31))
def test_at_least_as_many_readers_as_asked_for_say_the_truth(at_least, seed):
    drawn, truth = eyes(cases=60)
    features = geometry(drawn, 7)
    panel = fit_panel(features, truth, np.repeat(["train", "val", "test"], 20), PanelSettings(at_least=at_least))
    said = panel.read(features, truth, stream(seed, Stream.LABELLING))
    assert set(np.unique(said)) <= {0, 1}
    assert ((said == truth[:, None]).sum(1) >= at_least).all()


def test_hard_cases_are_read_worse(panel_data):
    features, truth = panel_data
    panel = fit_panel(features, truth, SPLIT, replace(PanelSettings(), at_least=0))
    often = np.repeat(features, 20, axis=0), np.repeat(truth, 20)
    wrong = (panel.read(*often, stream(1, Stream.LABELLING)) != often[1][:, None]).mean(1)
    hard = panel.difficulty(often[0])
    assert wrong[hard > 0.7].mean() > wrong[hard < 0.3].mean() + 0.05


def test_data_that_can_be_separated_and_a_number_that_never_changes_have_finite_weights():
    truth = np.tile([0, 1], 30)
    features = geometry([[outlines(0.3 + 0.4 * each)] for each in truth], 7)
    panel = fit_panel(features, truth, np.repeat(["train", "val", "test"], 20))
    assert np.isfinite(panel.weights).all()
    assert panel.weights[0, 3] == 0.0
    assert panel.cutoff == pytest.approx(0.5)


def test_what_cannot_be_fitted_is_said():
    drawn, truth = eyes(cases=60)
    features = geometry(drawn, 7)
    with pytest.raises(UserError, match="expected val cases of both kinds"):
        fit_panel(features, truth, np.repeat(["train", "train", "test"], 20))
    with pytest.raises(UserError, match="geometry of 7 readers, expected 2"):
        fit_panel(features, truth, SPLIT[:60], PanelSettings((0.8, 0.8), (0.9, 0.9)))
    with pytest.raises(UserError, match="between 0 and 1"):
        PanelSettings((1.0,), (0.9,))
