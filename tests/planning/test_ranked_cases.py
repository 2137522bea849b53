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
from mpd2.core.error_rates import expectations, expected_costs, fit_errors
from mpd2.core.policy import RULES, Policy
from mpd2.evaluation.curves import COSTS
from mpd2.evaluation.intervals import percentiles, resample_weights
from mpd2.evaluation.metrics import COUNTED, metrics_of, tally
from mpd2.planning.plan import reroute
from mpd2.planning.ranked_cases import (
    RankedCases,
    cheapest,
    for_costs,
    most_urgent,
    operating_curve,
    rank_cases,
    soft_deferral,
)
from mpd2.planning.roster_and_limits import Limits

EVERY_RULE = pytest.mark.parametrize("rule", RULES)
POINTS = 11


def everybody(cohort: Cohort) -> np.ndarray:
    return np.ones(cohort.readers, bool)


def random_policy(cohort: Cohort, seed: int = 0) -> Policy:
    scores = np.random.default_rng(seed).normal(size=(len(cohort), 1 + cohort.readers))
    return Policy.from_scores(2 * scores, cohort.available)


def costs_of(ranked: RankedCases, limits: Limits, costs: Costs) -> list[float]:
    """The COSTS of routing under limits."""
    counts = tally(ranked.cohort, ranked.plan(limits).decisions(ranked.cohort, ranked.continuations), costs).counts
    values = dict(zip(COUNTED, metrics_of(counts), strict=True))
    return [float(values[name]) for name in COSTS]


@EVERY_RULE
@settings(max_examples=30)
@given(cohort=cohorts(), data=st.data(), soft=st.booleans(), by_cohort=st.booleans())
def test_every_point_of_a_curve_is_what_routing_at_that_budget_costs(rule, cohort, data, soft, by_cohort):
    saving = data.draw(st.none() | hnp.arrays(float, cohort.available.shape, elements=st.floats(-1, 1)))
    ranked = rank_cases(data.draw(policies(cohort)), cohort, rule, everybody(cohort), saving=saving)
    kind = Limits(budget=1.0, soft=soft, by_cohort=by_cohort)
    costs = cohort.manifest.default_costs()
    curve = operating_curve(ranked, kind, costs, points=POINTS)
    for budget, rows in curve.groupby("budget"):
        limits = replace(kind, budget=float(budget))
        assert rows["value"].tolist() == pytest.approx(costs_of(ranked, limits, costs))
        assert rows["sent"].iloc[0] == (ranked.plan(limits).action > 0).sum()


def test_a_band_holds_the_resamples_of_routing(small_cohort):
    ranked = rank_cases(random_policy(small_cohort), small_cohort, "joint", everybody(small_cohort))
    costs, weights = small_cohort.manifest.default_costs(), resample_weights(small_cohort, 200)
    curve = operating_curve(ranked, Limits(), costs, weights, POINTS)
    third = curve[np.isclose(curve["budget"], 0.3)]
    counted = tally(small_cohort, ranked.plan(Limits(budget=0.3)).decisions(small_cohort), costs)
    ends = percentiles(metrics_of(counted.weighted(weights)))[:, [COUNTED.index(name) for name in COSTS]]
    band = third[["low", "high"]].to_numpy().T
    assert band == pytest.approx(ends)


@EVERY_RULE
@settings(max_examples=30)
@given(cohort=cohorts(), data=st.data())
def test_ranked_cases_are_planned_as_their_policy_is_rerouted(rule, cohort, data):
    policy = data.draw(policies(cohort))
    away = tuple(data.draw(st.sets(st.sampled_from(cohort.manifest.columns))))
    budget = data.draw(st.none() | st.floats(0, 1))
    limits = Limits(budget=budget, soft=budget is not None and data.draw(st.booleans()), away=away)
    saving = data.draw(st.none() | hnp.arrays(float, cohort.available.shape, elements=st.floats(-1, 1)))
    ranked = rank_cases(policy, cohort, rule, limits.present(cohort.manifest), saving=saving)
    expected = reroute(policy, cohort, rule, limits, saving=saving)
    assert ranked.plan(limits).action.tolist() == expected.action.tolist()
    assert ranked.soft(np.zeros(len(cohort))) == pytest.approx(ranked.defer, abs=1e-9)


def test_the_trained_costs_leave_a_worklist_as_it_is_and_dearer_readers_get_less(benchmark):
    cases, train = benchmark.subset(split="val"), benchmark.subset(split="train")
    errors, costs = fit_errors(train).predict(cases), benchmark.manifest.default_costs()
    saved = expected_costs(errors, costs)
    scores = 8 * np.concatenate([np.zeros((len(cases), 1)), saved[:, :1] - saved[:, 1:]], axis=1)
    ranked = rank_cases(Policy.from_scores(scores, cases.available), cases, "joint", everybody(cases))
    same = for_costs(ranked, errors, costs, costs)
    assert same.preference[cases.available] == pytest.approx(ranked.preference[cases.available])
    dear = for_costs(ranked, errors, costs, replace(costs, fees=tuple(3 * fee for fee in costs.fees)))
    assert (dear.plan(Limits()).action > 0).sum() < (ranked.plan(Limits()).action > 0).sum()
    assert dear.defer.mean() < ranked.defer.mean()


def test_a_worklist_without_limits_is_as_probable_as_the_policy_says(small_cohort):
    ranked = rank_cases(random_policy(small_cohort), small_cohort, "joint", everybody(small_cohort))
    assert soft_deferral(ranked, Limits(), ranked.plan(Limits())) == pytest.approx(ranked.defer)
    fewer = Limits(budget=0.2)
    assert soft_deferral(ranked, fewer, ranked.plan(fewer)).mean() < ranked.defer.mean()


def test_nobody_can_be_sent_to_is_a_flat_curve(small_cohort):
    policy = random_policy(small_cohort)
    ranked = rank_cases(policy, small_cohort, "joint", np.zeros(small_cohort.readers, bool))
    curve = operating_curve(ranked, Limits(), small_cohort.manifest.default_costs(), points=POINTS)
    assert (curve["sent"] == 0).all()
    assert curve.groupby("metric")["value"].nunique().eq(1).all()
    assert cheapest(curve)["budget"] == 0


def test_the_cheapest_point_is_the_smallest_budget_of_the_least_total(small_cohort):
    ranked = rank_cases(random_policy(small_cohort), small_cohort, "joint", everybody(small_cohort))
    curve = operating_curve(ranked, Limits(), small_cohort.manifest.default_costs(), points=POINTS)
    total = curve[curve["metric"] == "TotalCost"]
    best = cheapest(curve)
    assert best["value"] == total["value"].min()
    assert (total[total["budget"] < best["budget"]]["value"] > best["value"]).all()


def test_the_most_urgent_would_cost_most_if_the_ai_decided(benchmark):
    cases = benchmark.subset(split="val")
    errors, costs = fit_errors(benchmark.subset(split="train")).predict(cases), benchmark.manifest.default_costs()
    expected = expectations(errors, cases, costs)
    urgent, alone = most_urgent(expected, 20), expected.cost[:, 0]
    assert urgent.sum() == 20
    assert alone[urgent].min() >= alone[~urgent].max()
    assert not most_urgent(expected, 0).any()
