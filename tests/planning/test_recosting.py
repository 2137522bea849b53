"""Other costs without training anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import cohorts, policies

from mpd2.core.costs import Costs
from mpd2.core.error_rates import ErrorRates
from mpd2.core.errors import UserError
from mpd2.core.policy import best_actions, choose, preferences
from mpd2.planning.recosting import distance_in_words, exchange_rate, recosted, reordered, savings


def errors(cohort, seed=0) -> ErrorRates:
    random = np.random.default_rng(seed)
    shape = (len(cohort), 1 + cohort.readers)
    return ErrorRates(random.random(shape) / 2, random.random(shape) / 2)


@settings(max_examples=40)
@given(st.data(), cohorts())
def test_at_the_trained_costs_nothing_moves(data, cohort):
    policy = data.draw(policies(cohort))
    costs = cohort.manifest.default_costs()
    preference = preferences(policy)
    moved = recosted(preference, errors(cohort), costs, costs, rate=7.0)
    np.testing.assert_array_equal(moved, preference)


@settings(max_examples=40)
@given(st.data(), cohorts(), st.floats(0.01, 5))
def test_a_dearer_reader_is_asked_no_more_often_than_before(data, cohort, more):
    policy = data.draw(policies(cohort))
    costs = cohort.manifest.default_costs()
    dearer = Costs(costs.false_negative, costs.false_positive, (costs.fees[0] + more, *costs.fees[1:]))
    before = preferences(policy)
    after = recosted(before, errors(cohort), costs, dearer, rate=3.0)
    assert (after[:, 0] <= before[:, 0]).all()
    np.testing.assert_allclose(after[:, 1:], before[:, 1:])
    first = choose(policy) == 1
    assert not ((after.argmax(-1) == 0) & (after[:, 0] > 0))[~first].any()


def test_the_exchange_rate_of_a_policy_that_follows_savings_is_found(small_cohort):
    saving = savings(errors(small_cohort), small_cohort.manifest.default_costs())
    noise = np.random.default_rng(1).normal(size=saving.shape) * 0.1
    follows = np.where(small_cohort.available, 4 * saving - 1 + noise, -np.inf)
    assert exchange_rate(follows, saving) == pytest.approx(4, abs=0.05)
    assert exchange_rate(-saving, saving) == 0
    assert exchange_rate(saving, np.zeros_like(saving)) == 0


def test_savings_too_alike_to_tell_apart_have_no_rate():
    preference, saving = np.array([[0.5, -0.5]]), np.array([[6.8e-213, 0.0]])  # its square is 0 to a computer
    assert exchange_rate(preference, saving) == 0


@settings(max_examples=60)
@given(st.data(), cohorts(), st.sampled_from([0.0, 10.0, 1e6]))
def test_another_order_changes_no_decision_however_dear_readers_are(data, cohort, more):
    policy, costs = data.draw(policies(cohort)), cohort.manifest.default_costs()
    dear = Costs(costs.false_negative, costs.false_positive, tuple(fee + more for fee in costs.fees))
    preference = preferences(policy)
    ordered = reordered(preference, savings(errors(cohort), dear))
    np.testing.assert_array_equal(np.isfinite(ordered), cohort.available)
    np.testing.assert_array_equal(best_actions(ordered), best_actions(preference))


@pytest.mark.parametrize("fee", [10.0, 1000.0])
def test_a_case_whose_reader_saves_nothing_is_still_sent(fee):
    random = np.random.default_rng(0)
    saving = 0.2 * random.normal(size=(30, 4))
    preference = 4 * saving + 0.1 * random.normal(size=saving.shape)  # follows the savings, and cares for no fee
    ordered = reordered(preference, saving - fee)
    np.testing.assert_array_equal(best_actions(ordered), best_actions(preference))


def test_the_case_that_would_save_most_is_the_next_to_be_sent():
    random = np.random.default_rng(0)
    preference = random.normal(size=(30, 4)) - 6.0  # all kept
    saving = 0.2 * preference + 0.1 * random.normal(size=preference.shape)
    ordered = reordered(preference, saving)
    rate = exchange_rate(preference, saving)
    assert rate > 0
    summed = preference + rate * saving
    np.testing.assert_array_equal(ordered.max(-1).argsort(), summed.max(-1).argsort())
    np.testing.assert_array_equal(ordered.argmax(-1), summed.argmax(-1))


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Costs(2.0, 1.5, (0.1, 0.2)), "trained for."),
        (Costs(2.4, 1.5, (0.1, 0.2)), "Close to the costs"),
        (Costs(4.0, 1.5, (0.1, 0.2)), "Up to 2.0 times off"),
        (Costs(2.0, 1.5, (0.1, 2.0)), "(10 times)"),
        (Costs(2.0, 0.0, (0.1, 0.2)), "beyond any factor"),
    ],
)
def test_how_far_the_costs_are_is_told(wanted, words):
    assert words in distance_in_words(Costs(2.0, 1.5, (0.1, 0.2)), wanted)


def test_another_number_of_fees_is_refused(small_cohort):
    costs = small_cohort.manifest.default_costs()
    with pytest.raises(UserError, match="fees: found 1"):
        recosted(np.zeros(small_cohort.available.shape), errors(small_cohort), costs, Costs(2.0, 1.5, (0.1,)), 1.0)
