"""Many logistic regressions at once."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from mpd2.core.error_rates.logistic import fit_logistic, predict_logistic, sigmoid
from mpd2.core.errors import UserError


def random_problem(seed, cases=300, width=6, targets=4):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(cases, width)) * rng.uniform(0.3, 3, width)
    rates = sigmoid(features @ rng.normal(size=(width, targets)) - 1)
    labels = (rng.random((cases, targets)) < rates).astype(float)
    weights = rng.uniform(0, 2, (cases, targets)) * (rng.random((cases, targets)) < 0.7)
    return features, labels, weights


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("penalty", [0.1, 1.0, 30.0])
def test_every_target_gets_the_coefficients_it_would_get_alone_from_scikit_learn(seed, penalty):
    features, labels, weights = random_problem(seed)
    ours = fit_logistic(features, labels, weights, penalty)
    for target, row in enumerate(ours):
        theirs = LogisticRegression(C=1 / penalty, tol=1e-12, max_iter=10_000)
        theirs.fit(features, labels[:, target], sample_weight=weights[:, target])
        assert row == pytest.approx(np.append(theirs.coef_, theirs.intercept_), abs=1e-5)


def test_a_fractional_target_is_the_two_labels_in_that_proportion():
    features, _, weights = random_problem(0, targets=1)
    shares = np.random.default_rng(1).random((len(features), 1))
    fractional = fit_logistic(features, shares, weights, 1.0)
    twice = np.vstack([features, features])
    labels = np.vstack([np.ones_like(shares), np.zeros_like(shares)])
    split = fit_logistic(twice, labels, np.vstack([weights * shares, weights * (1 - shares)]), 1.0)
    assert fractional == pytest.approx(split, abs=1e-7)


def test_a_row_of_weight_zero_plays_no_part():
    features, labels, weights = random_problem(2)
    garbage = np.where(weights > 0, labels, np.nan)
    assert np.array_equal(fit_logistic(features, garbage, weights, 1.0), fit_logistic(features, labels, weights, 1.0))


@pytest.mark.parametrize("penalty", [1e-6, 1e-3, 1.0])
def test_separable_classes_are_separated_with_finite_coefficients_at_the_optimum(penalty):
    features = np.linspace(-100, 100, 41)[:, None] + 2.5
    labels = (features > 0).astype(float)
    coefficients = fit_logistic(features, labels, np.ones_like(labels), penalty)
    rates = predict_logistic(coefficients, features)
    slope_gradient = ((rates - labels) * features).sum() + penalty * coefficients[0, 0]
    assert np.isfinite(coefficients).all()
    assert ((rates > 0.5) == (labels == 1)).all()
    assert slope_gradient == pytest.approx(0, abs=1e-4)


@pytest.mark.parametrize("penalty", [1e-3, 0.1])
def test_rare_positives_far_out_where_a_full_newton_step_diverges_still_end_at_the_optimum(penalty):
    features = np.append(np.zeros(1000), [3.0, 3.0, -3.0])[:, None]
    labels = np.append(np.zeros(1000), [1.0, 1.0, 0.0])[:, None]
    coefficients = fit_logistic(features, labels, np.ones_like(labels), penalty)
    excess = predict_logistic(coefficients, features) - labels
    assert excess.sum() == pytest.approx(0, abs=1e-4)
    assert (excess * features).sum() + penalty * coefficients[0, 0] == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_a_target_that_never_varies_gets_a_finite_rate_close_to_it(label):
    features, labels, _ = random_problem(3)
    coefficients = fit_logistic(features, np.full_like(labels, label), np.ones_like(labels), 1.0)
    assert np.isfinite(coefficients).all()
    assert predict_logistic(coefficients, features) == pytest.approx(label, abs=1e-6)


def test_a_target_without_rows_gets_one_half_and_leaves_the_others_alone():
    features, labels, weights = random_problem(4)
    alone = fit_logistic(features, labels[:, 1:], weights[:, 1:], 1.0)
    weights[:, 0] = 0
    together = fit_logistic(features, labels, weights, 1.0)
    assert (predict_logistic(together[:1], features) == 0.5).all()
    assert together[1:] == pytest.approx(alone, abs=1e-9)


def test_without_features_the_rate_is_the_weighted_share():
    labels, weights = np.array([[1.0], [0.0], [0.0]]), np.array([[2.0], [1.0], [1.0]])
    coefficients = fit_logistic(np.empty((3, 0)), labels, weights, 1.0)
    assert predict_logistic(coefficients, np.empty((1, 0))).item() == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize("penalty", [0.0, -1.0, float("nan")])
def test_a_penalty_that_is_not_positive_is_refused_by_its_value(penalty):
    features, labels, weights = random_problem(5, cases=10)
    with pytest.raises(UserError, match=f"found {penalty}, expected a number above 0"):
        fit_logistic(features, labels, weights, penalty)


def test_the_sigmoid_holds_at_both_ends():
    assert sigmoid(np.array([-1e4, 0.0, 1e4])).tolist() == [0.0, 0.5, 1.0]
