"""Decisions depend on ratios of costs alone: another currency changes the amounts and nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.error_rates import ErrorRates, expectations
from mpd2.core.policy import Policy
from mpd2.evaluation.curves import COSTS
from mpd2.evaluation.intervals import resample_weights
from mpd2.planning.arrivals import in_many_orders
from mpd2.planning.budget_sweep import SHOWN, sweep_budgets
from mpd2.planning.day import DaySetting
from mpd2.planning.plan import reroute
from mpd2.planning.ranked_cases import RankedCases, for_costs, most_urgent, rank_cases
from mpd2.planning.recosting import distance_in_words, exchange_rate, in_unit_of, recosted, savings
from mpd2.planning.roster_and_limits import Limits

SCALES = st.floats(-6, 6).map(lambda power: 10.0**power)
AMOUNTS = st.floats(0.05, 10)
SEEDS = st.integers(0, 999)


def times(costs: Costs, scale: float) -> Costs:
    return Costs(scale * costs.false_negative, scale * costs.false_positive, tuple(scale * fee for fee in costs.fees))


@st.composite
def wanted_costs(draw: st.DrawFn, readers: int) -> Costs:
    return Costs(draw(AMOUNTS), draw(AMOUNTS), tuple(draw(AMOUNTS) / 10 for _ in range(readers)))


def made_up(cohort: Cohort, seed: int) -> tuple[Policy, ErrorRates]:
    """A policy that follows the savings to some degree, and the errors it takes them from."""
    random = np.random.default_rng(seed)
    shape = (len(cohort), 1 + cohort.readers)
    errors = ErrorRates(random.random(shape) / 2, random.random(shape) / 2)
    saving = savings(errors, cohort.manifest.default_costs())
    scores = np.column_stack([np.zeros(len(cohort)), 3 * saving + random.normal(size=saving.shape)])
    return Policy.from_scores(scores, cohort.available), errors


def ranked(cohort: Cohort, seed: int) -> tuple[RankedCases, ErrorRates]:
    policy, errors = made_up(cohort, seed)
    saving = savings(errors, cohort.manifest.default_costs())
    return rank_cases(policy, cohort, "joint", np.ones(cohort.readers, bool), saving=saving), errors


def limited(cohort: Cohort) -> list[Limits]:
    few = tuple((column, 2) for column in cohort.manifest.columns[:2])
    return [Limits(), Limits(capacity=few), Limits(budget=0.4, capacity=few), Limits(budget=0.3, soft=True)]


@settings(max_examples=60, deadline=None)
@given(data=st.data(), seed=SEEDS, scale=SCALES)
def test_a_policy_is_routed_alike_whatever_the_unit_of_cost(small_cohort, data, seed, scale):
    desk, errors = ranked(small_cohort, seed)
    trained, wanted = small_cohort.manifest.default_costs(), data.draw(wanted_costs(small_cohort.readers))
    one, other = (for_costs(desk, errors, trained, costs) for costs in (wanted, times(wanted, scale)))
    rate = exchange_rate(desk.preference, savings(errors, trained))
    moved = recosted(desk.preference, errors, trained, times(wanted, scale), rate)
    np.testing.assert_allclose(moved, one.preference, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(other.order, one.order, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(other.defer, one.defer, rtol=1e-9, atol=1e-9)
    expected = [expectations(errors, small_cohort, costs) for costs in (wanted, times(wanted, scale))]
    np.testing.assert_array_equal(*(most_urgent(each, 5) for each in expected))
    for limits in limited(small_cohort):
        np.testing.assert_array_equal(other.plan(limits).action, one.plan(limits).action)


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, scale=SCALES)
def test_a_plan_is_the_same_whatever_the_unit_of_its_savings(small_cohort, seed, scale):
    policy, errors = made_up(small_cohort, seed)
    costs = small_cohort.manifest.default_costs()
    for limits in limited(small_cohort):
        plans = [
            reroute(policy, small_cohort, "joint", limits, saving=savings(errors, each))
            for each in (costs, times(costs, scale))
        ]
        np.testing.assert_array_equal(plans[0].action, plans[1].action)


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS, scale=SCALES, soft=st.booleans())
def test_a_sweep_sends_as_many_and_its_costs_are_in_the_new_unit(small_cohort, seed, scale, soft):
    desk, errors = ranked(small_cohort, seed)
    trained, weights = small_cohort.manifest.default_costs(), resample_weights(small_cohort, 20)
    kind = Limits(budget=1.0, soft=soft)
    one, other = (
        sweep_budgets(for_costs(desk, errors, trained, costs), DaySetting(costs, kind), weights)
        for costs in (trained, times(trained, scale))
    )
    np.testing.assert_array_equal(other.sent, one.sent)
    np.testing.assert_array_equal(other.readings, one.readings)
    unit = np.where(np.isin(SHOWN, COSTS), scale, 1.0)
    for end in ("value", "low", "high"):
        expected = getattr(one.metrics, end)
        np.testing.assert_allclose(getattr(other.metrics, end) / unit, expected, rtol=1e-6, atol=1e-8)


@settings(max_examples=8, deadline=None)
@given(seed=SEEDS, scale=SCALES)
def test_cases_that_arrive_one_by_one_are_decided_alike_whatever_the_unit(small_cohort, seed, scale):
    desk, errors = ranked(small_cohort, seed)
    trained, limits = small_cohort.manifest.default_costs(), Limits(budget=0.3)
    rows = []
    for costs in (trained, times(trained, scale)):
        routed = for_costs(desk, errors, trained, costs)
        rows.append(in_many_orders(routed, routed.order, limits, costs, 2))
    one, other = rows
    assert other[["sent", "otherwise"]].equals(one[["sent", "otherwise"]])
    np.testing.assert_allclose(other["regret"], one["regret"], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(other[list(COSTS)] / scale, one[list(COSTS)], rtol=1e-9)


@given(data=st.data(), scale=SCALES)
def test_the_same_costs_in_another_unit_come_back_to_the_trained_ones(small_cohort, data, scale):
    trained = small_cohort.manifest.default_costs()
    back = in_unit_of(trained, times(trained, scale))
    assert (back.false_negative, back.false_positive) == pytest.approx((2.0, 1.5), rel=1e-12)
    assert back.fees == pytest.approx(trained.fees, rel=1e-12)
    wanted = data.draw(wanted_costs(small_cohort.readers))
    assert in_unit_of(trained, times(wanted, scale)).fees == pytest.approx(in_unit_of(trained, wanted).fees, rel=1e-12)


def test_a_change_of_one_kind_of_cost_is_no_change_of_unit(small_cohort):
    trained = small_cohort.manifest.default_costs()
    for wanted in (
        replace(trained, false_negative=9.0),
        replace(trained, false_positive=0.0),
        replace(trained, fees=tuple(4 * fee for fee in trained.fees)),
        replace(trained, fees=tuple(0.0 for _ in trained.fees)),
    ):
        assert in_unit_of(trained, wanted) == wanted


def test_costs_of_nothing_have_no_unit(small_cohort):
    trained = small_cohort.manifest.default_costs()
    free = times(trained, 0.0)
    assert in_unit_of(trained, free) == free
    assert in_unit_of(free, trained) == trained


@pytest.mark.parametrize("scale", [1e-6, 0.01, 1000.0, 1e6])
def test_another_currency_is_not_far_from_the_trained_costs(small_cohort, scale):
    trained = small_cohort.manifest.default_costs()
    assert "in another unit" in distance_in_words(trained, times(trained, scale))
    dearer = replace(trained, false_negative=2 * trained.false_negative)
    assert distance_in_words(trained, times(dearer, scale)) == distance_in_words(trained, dearer)
