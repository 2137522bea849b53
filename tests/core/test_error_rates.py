"""Error probabilities of every action, and what they are good for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import STATE, cohorts, made_up_manifest

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.error_rates import ErrorRates, cross_fitted, expected_costs, fit_errors, stratified_folds
from mpd2.core.errors import EmptyCohort, UserError

FEW = settings(max_examples=8)


@pytest.fixture(scope="module")
def on_val(train, val) -> ErrorRates:
    return fit_errors(train).predict(val)


def happened(cohort: Cohort) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Misses, false alarms and where they could be seen, [N, 1 + M]."""
    truth, labels = cohort.truth[:, None], cohort.action_labels
    possible = np.column_stack([np.ones(len(cohort), bool), cohort.available])
    return (truth == 1) & (labels == 0), (truth == 0) & (labels == 1), possible


def log_loss(event: np.ndarray, rate: np.ndarray, where: np.ndarray) -> float:
    rate = np.clip(rate, 1e-6, 1 - 1e-6)
    return float(-np.where(event, np.log(rate), np.log(1 - rate))[where].mean())


def permuted(cohort: Cohort, order: np.ndarray) -> Cohort:
    manifest = cohort.manifest.model_copy(update={"readers": tuple(cohort.manifest.readers[j] for j in order)})
    return replace(
        cohort, manifest=manifest, decisions=cohort.decisions[:, order], available=cohort.available[:, order]
    )


def test_on_unseen_cases_the_rates_predict_better_than_each_actions_average(train, val, on_val):
    *seen, possible = happened(train)
    *events, where = happened(val)
    for event, rates, past in zip(events, on_val, seen, strict=True):
        average = past.mean(0, where=possible)
        assert log_loss(event, rates, where) < 0.85 * log_loss(event, np.broadcast_to(average, event.shape), where)


def test_on_unseen_cases_as_many_errors_happen_as_were_expected(val, on_val):
    *events, where = happened(val)
    for event, rates in zip(events, on_val, strict=True):
        assert rates[where].sum() == pytest.approx(event[where].sum(), rel=0.2)


def test_the_cheapest_expected_action_halves_the_cost_of_the_ai_alone_on_unseen_cases(val, on_val):
    costs = val.manifest.default_costs()
    real = costs.of_actions(val)
    expected = np.where(np.isfinite(real), expected_costs(on_val, costs), np.inf)
    chosen = np.take_along_axis(real, expected.argmin(1)[:, None], axis=1)
    assert chosen.mean() < 0.5 * real[:, 0].mean()


def test_cross_fitted_rates_are_honest_where_fitted_ones_flatter(train, on_val, val):
    def total(cohort: Cohort, errors: ErrorRates) -> float:
        missed, alarmed, where = happened(cohort)
        return log_loss(missed, errors.missed, where) + log_loss(alarmed, errors.alarmed, where)

    flattering, honest = total(train, fit_errors(train).predict(train)), total(train, cross_fitted(train))
    assert flattering < honest < 1.1 * total(val, on_val)


def test_a_case_has_no_say_in_its_own_cross_fitted_rates(small_cohort):
    fold = stratified_folds(small_cohort, 3, seed=1)
    mine = fold == fold[0]
    turned = replace(
        small_cohort,
        decisions=np.where(mine[:, None] & small_cohort.available, 1 - small_cohort.decisions, small_cohort.decisions),
    )
    before, after = cross_fitted(small_cohort, 3, seed=1), cross_fitted(turned, 3, seed=1)
    assert np.allclose(before.missed[mine], after.missed[mine], atol=1e-9)
    assert not np.allclose(before.missed[~mine], after.missed[~mine], atol=1e-3)


@FEW
@given(cohorts(readers=st.integers(1, 30)))
def test_any_cohort_however_small_gets_probabilities(cohort):
    for errors in (fit_errors(cohort).predict(cohort), cross_fitted(cohort)):
        for rates in errors:
            assert rates.shape == (len(cohort), 1 + cohort.readers)
            assert ((rates >= 0) & (rates <= 1)).all()
        assert (errors.missed + errors.alarmed <= 1 + 1e-12).all()


@FEW
@given(cohorts(), st.integers(0, 99))
def test_an_unavailable_readers_word_changes_nothing(cohort, seed):
    noise = np.random.default_rng(seed).integers(0, 2, cohort.decisions.shape)
    garbled = replace(cohort, decisions=np.where(cohort.available, cohort.decisions, noise))
    assert np.array_equal(fit_errors(garbled).coefficients, fit_errors(cohort).coefficients)
    assert np.array_equal(cross_fitted(garbled).missed, cross_fitted(cohort).missed)


@FEW
@given(cohorts(), st.integers(0, 99))
def test_readers_in_another_order_get_the_same_rates_in_that_order(cohort, seed):
    order = np.random.default_rng(seed).permutation(cohort.readers)
    columns = np.append(0, 1 + order)
    for estimate in (cross_fitted, lambda c: fit_errors(c).predict(c)):
        for there, here in zip(estimate(permuted(cohort, order)), estimate(cohort), strict=True):
            assert there == pytest.approx(here[:, columns], abs=1e-8)


def test_the_ai_can_only_miss_what_it_calls_healthy_and_only_alarm_over_the_rest(val, on_val):
    says_glaucoma = val.ai_label == 1
    assert (on_val.missed[says_glaucoma, 0] == 0).all()
    assert (on_val.alarmed[~says_glaucoma, 0] == 0).all()


def test_a_reader_who_never_spoke_is_taken_for_an_average_one(train):
    silent = replace(train, available=train.available & (np.arange(train.readers) > 0))
    rates = fit_errors(silent).predict(silent).missed[:, 1:]
    assert rates[:, 1:].mean(0).min() < rates[:, 0].mean() < rates[:, 1:].mean(0).max()


def test_a_reader_with_three_faultless_readings_is_not_taken_for_faultless(train):
    right = np.flatnonzero((train.decisions[:, 0] == train.truth) & (train.truth == 1))[:3]
    few = train.available.copy()
    few[:, 0] = np.isin(np.arange(len(train)), right)
    model = fit_errors(replace(train, available=few))
    sick = train.rows(train.truth == 1)
    assert model.predict(sick).missed[:, 1].mean() > 0.05


def test_a_case_whose_truth_is_unknown_teaches_nothing(small_cohort):
    unknown = np.arange(len(small_cohort)) % 2 == 0
    hidden = replace(small_cohort, truth=np.where(unknown, UNKNOWN, small_cohort.truth))
    turned = replace(hidden, decisions=np.where(unknown[:, None] & hidden.available, 1, hidden.decisions))
    assert np.array_equal(fit_errors(hidden).coefficients, fit_errors(turned).coefficients)


def test_far_outside_the_training_range_the_rates_level_off(train):
    model = fit_errors(train)
    far, farther = (train.state.copy() for _ in range(2))
    far[:, STATE.index("vim_risk_z")], farther[:, STATE.index("vim_risk_z")] = 1e3, 1e6
    near, beyond = (model.predict(replace(train, state=state)).missed for state in (far, farther))
    assert near == pytest.approx(beyond, abs=1e-9)


def test_folds_share_out_every_cohort_and_truth_evenly_and_follow_the_seed(train):
    fold = stratified_folds(train, 5, seed=3)
    strata = 2 * train.source + train.truth
    counts = np.array([np.bincount(fold[strata == s], minlength=5) for s in np.unique(strata)])
    assert (np.ptp(counts, axis=1) <= 1).all()
    assert np.array_equal(fold, stratified_folds(train, 5, seed=3))
    assert not np.array_equal(fold, stratified_folds(train, 5, seed=4))


def test_expected_cost_is_the_price_of_both_errors_and_the_fee():
    errors = ErrorRates(missed=np.array([[0.5, 0.25]]), alarmed=np.array([[0.0, 0.5]]))
    assert expected_costs(errors, Costs(2.0, 1.5, (0.3,))).tolist() == [[1.0, pytest.approx(0.5 + 0.75 + 0.3)]]


def test_bad_input_is_named(small_cohort):
    with pytest.raises(UserError, match="folds: found 1, expected at least 2"):
        cross_fitted(small_cohort, folds=1)
    with pytest.raises(EmptyCohort, match="without cases"):
        fit_errors(small_cohort.rows(np.zeros(len(small_cohort), bool)))
    other = replace(
        small_cohort,
        manifest=made_up_manifest(3),
        decisions=small_cohort.decisions[:, :3],
        available=small_cohort.available[:, :3],
    )
    with pytest.raises(UserError, match=f"made for {small_cohort.readers} readers, given 3"):
        fit_errors(small_cohort).predict(other)
