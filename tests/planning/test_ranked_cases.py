"""A worklist at every budget."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import cohorts, policies

from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.error_rates import expected_costs, fit_errors
from mpd2.core.policy import RULES, Policy
from mpd2.evaluation.curves import COSTS
from mpd2.evaluation.intervals import percentiles, resample_weights
from mpd2.evaluation.metrics import METRICS, metrics_of, tally
from mpd2.planning.limits import Limits
from mpd2.planning.plan import reroute
from mpd2.planning.ranked_cases import (
    RankedCases,
    cheapest,
    desk_of,
    for_costs,
    most_urgent,
    operating_curve,
    plan_at,
    soft_deferral,
)

EVERY_RULE = pytest.mark.parametrize("rule", RULES)
POINTS = 11


def everybody(cohort: Cohort) -> np.ndarray:
    return np.ones(cohort.readers, bool)


def random_policy(cohort: Cohort, seed: int = 0) -> Policy:
    scores = np.random.default_rng(seed).normal(size=(len(cohort), 1 + cohort.readers))
    return Policy.from_scores(2 * scores, cohort.available)


def costs_of(desk: RankedCases, limits: Limits, costs: Costs) -> list[float]:
    """The COSTS of routing under limits."""
    counts = tally(desk.cohort, plan_at(desk, limits).decisions(desk.cohort, desk.continuations), costs).counts
    values = dict(zip(METRICS, metrics_of(counts), strict=True))
    return [float(values[name]) for name in COSTS]


@EVERY_RULE
@settings(max_examples=30)
@given(cohort=cohorts(), data=st.data(), soft=st.booleans(), by_cohort=st.booleans())
def test_every_point_of_a_curve_is_what_routing_at_that_budget_costs(rule, cohort, data, soft, by_cohort):
    saving = data.draw(st.none() | hnp.arrays(float, cohort.available.shape, elements=st.floats(-1, 1)))
    desk = desk_of(data.draw(policies(cohort)), cohort, rule, everybody(cohort), saving=saving)
    kind = Limits(budget=1.0, soft=soft, by_cohort=by_cohort)
    costs = cohort.manifest.default_costs()
    curve = operating_curve(desk, kind, costs, points=POINTS)
    for budget, rows in curve.groupby("budget"):
        limits = replace(kind, budget=float(budget))
        assert rows["value"].tolist() == pytest.approx(costs_of(desk, limits, costs))
        assert rows["sent"].iloc[0] == (plan_at(desk, limits).action > 0).sum()


def test_a_band_holds_the_resamples_of_routing(small_cohort):
    desk = desk_of(random_policy(small_cohort), small_cohort, "joint", everybody(small_cohort))
    costs, weights = small_cohort.manifest.default_costs(), resample_weights(small_cohort, 200)
    curve = operating_curve(desk, Limits(), costs, weights, POINTS)
    third = curve[np.isclose(curve["budget"], 0.3)]
    counted = tally(small_cohort, plan_at(desk, Limits(budget=0.3)).decisions(small_cohort), costs)
    ends = percentiles(metrics_of(counted.weighted(weights)))[:, [METRICS.index(name) for name in COSTS]]
    band = third[["low", "high"]].to_numpy().T
    assert band == pytest.approx(ends)


@EVERY_RULE
@settings(max_examples=30)
@given(cohort=cohorts(), data=st.data())
def test_a_desk_plans_as_its_policy_is_rerouted(rule, cohort, data):
    policy = data.draw(policies(cohort))
    away = tuple(data.draw(st.sets(st.sampled_from(cohort.manifest.columns))))
    budget = data.draw(st.none() | st.floats(0, 1))
    limits = Limits(budget=budget, soft=budget is not None and data.draw(st.booleans()), away=away)
    saving = data.draw(st.none() | hnp.arrays(float, cohort.available.shape, elements=st.floats(-1, 1)))
    desk = desk_of(policy, cohort, rule, limits.present(cohort.manifest), saving=saving)
    expected = reroute(policy, cohort, rule, limits, saving=saving)
    assert plan_at(desk, limits).action.tolist() == expected.action.tolist()
    assert desk.soft(np.zeros(len(cohort))) == pytest.approx(desk.defer, abs=1e-9)


def test_the_trained_costs_leave_a_worklist_as_it_is_and_dearer_readers_get_less(benchmark):
    cases, train = benchmark.subset(split="val"), benchmark.subset(split="train")
    errors, costs = fit_errors(train).predict(cases), benchmark.manifest.default_costs()
    saved = expected_costs(errors, costs)
    scores = 8 * np.concatenate([np.zeros((len(cases), 1)), saved[:, :1] - saved[:, 1:]], axis=1)
    desk = desk_of(Policy.from_scores(scores, cases.available), cases, "joint", everybody(cases))
    same = for_costs(desk, errors, costs, costs)
    assert same.preference[cases.available] == pytest.approx(desk.preference[cases.available])
    dear = for_costs(desk, errors, costs, replace(costs, fees=tuple(3 * fee for fee in costs.fees)))
    assert (plan_at(dear, Limits()).action > 0).sum() < (plan_at(desk, Limits()).action > 0).sum()
    assert dear.defer.mean() < desk.defer.mean()


def test_a_worklist_without_limits_is_as_probable_as_the_policy_says(small_cohort):
    desk = desk_of(random_policy(small_cohort), small_cohort, "joint", everybody(small_cohort))
    assert soft_deferral(desk, Limits(), plan_at(desk, Limits())) == pytest.approx(desk.defer)
    fewer = Limits(budget=0.2)
    assert soft_deferral(desk, fewer, plan_at(desk, fewer)).mean() < desk.defer.mean()


def test_nobody_can_be_sent_to_is_a_flat_curve(small_cohort):
    policy = random_policy(small_cohort)
    desk = desk_of(policy, small_cohort, "joint", np.zeros(small_cohort.readers, bool))
    curve = operating_curve(desk, Limits(), small_cohort.manifest.default_costs(), points=POINTS)
    assert (curve["sent"] == 0).all()
    assert curve.groupby("metric")["value"].nunique().eq(1).all()
    assert cheapest(curve)["budget"] == 0


def test_the_cheapest_point_is_the_smallest_budget_of_the_least_total(small_cohort):
    desk = desk_of(random_policy(small_cohort), small_cohort, "joint", everybody(small_cohort))
    curve = operating_curve(desk, Limits(), small_cohort.manifest.default_costs(), points=POINTS)
    total = curve[curve["metric"] == "TotalCost"]
    best = cheapest(curve)
    assert best["value"] == total["value"].min()
    assert (total[total["budget"] < best["budget"]]["value"] > best["value"]).all()


def test_the_most_urgent_would_cost_most_if_the_ai_decided(benchmark):
    cases = benchmark.subset(split="val")
    errors, costs = fit_errors(benchmark.subset(split="train")).predict(cases), benchmark.manifest.default_costs()
    urgent = most_urgent(errors, costs, 20)
    alone = expected_costs(errors, costs)[:, 0]
    assert urgent.sum() == 20
    assert alone[urgent].min() >= alone[~urgent].max()
    assert not most_urgent(errors, costs, 0).any()
