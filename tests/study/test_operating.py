"""Any run at any operating point."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from places import DATA

from mpd2.core.costs import OperatingPoint
from mpd2.core.errors import UserError
from mpd2.core.policy import (
    AI,
    NOBODY,
    READER,
    RULE,
    Decisions,
    decided_together,
    deciders,
    from_preferences,
    preferences,
    route,
)
from mpd2.core.runs import load_errors, load_predictions, load_run
from mpd2.methods.registry import METHODS, continuations_of, decisions_of, policy_of
from mpd2.planning.floors import KEPT, Floor
from mpd2.study.operating import (
    as_fitted,
    at_weight,
    choose_point,
    continuations_at,
    decisions_at,
    exchange_rates,
    policy_at,
    together_at,
)


@pytest.fixture(scope="module")
def plus():
    return load_run(DATA / "runs" / "mpd2-plus")


@pytest.fixture(scope="module")
def mao():
    folder = DATA / "runs" / "mao"
    run = load_run(folder)
    return run, load_errors(folder), lambda cases: load_predictions(folder, run, cases)


def sensitivity(cohort, labels):
    return float((labels[..., cohort.truth == 1] == 1).mean())


def test_who_decided_follows_from_who_was_asked_and_what_the_ai_says(small_cohort):
    cases = small_cohort.rows(np.arange(3))
    labels = np.array([cases.ai_label[0], 1 - cases.ai_label[1], cases.ai_label[2]])
    decisions = Decisions(np.array([[NOBODY], [NOBODY], [4]]), labels)
    assert deciders(decisions, cases).tolist() == [AI, RULE, READER]


@pytest.mark.parametrize("rule", ["joint", "staged"])
def test_a_policy_is_found_again_from_its_preferences(held_out, mao, rule):
    _, _, own = mao
    policy = own(held_out)
    again = from_preferences(preferences(policy, rule), policy.available, rule)
    np.testing.assert_allclose(preferences(again, rule), preferences(policy, rule), atol=2e-6)


def test_as_fitted_nothing_changes(held_out, plus, mao):
    run, errors, own = mao
    np.testing.assert_array_equal(policy_at(run, held_out, as_fitted(run), errors, own).defer, own(held_out).defer)
    before, after = decisions_of(plus, held_out), decisions_at(plus, held_out, as_fitted(plus), None)
    np.testing.assert_array_equal(before.label, after.label)
    np.testing.assert_array_equal(before.consulted, after.consulted)


@pytest.mark.parametrize("floor", [Floor(), Floor(0.95), Floor(0.95, sure=True)])
def test_a_floor_is_kept_on_val_by_what_is_really_decided(val, plus, floor):
    point, choice = choose_point(plus, val, floor, None)
    labels = decided_together(
        policy_at(plus, val, point, None), val, plus.rule, continuations_at(plus, val, point)
    ).label
    assert choice.state == KEPT
    assert sensitivity(val, labels) == pytest.approx(choice.reached, abs=0.01)
    assert choice.reached >= choice.level


def test_other_methods_are_recosted_to_the_same_floor(val, mao):
    run, errors, own = mao
    point, choice = choose_point(run, val, Floor(), errors, own=own)
    assert choice.state == KEPT
    assert len(point.rates) == run.members
    assert all(rate > 0 for rate in point.rates)
    moved = decided_together(policy_at(run, val, point, errors, own), val, run.rule)
    assert sensitivity(val, moved.label) == pytest.approx(choice.reached)
    assert sensitivity(val, decided_together(own(val), val, run.rule).label) < choice.level


def test_a_heavier_miss_never_finds_less(held_out, plus):
    rates = [
        sensitivity(held_out, decisions_at(plus, held_out, at_weight(plus, w), None).label) for w in (1, 4, 16, 64)
    ]
    assert rates == sorted(rates)


def test_a_confident_ai_is_not_overruled_unread(held_out, plus):
    free = decisions_at(plus, held_out, as_fitted(plus), None)
    bound = decisions_at(plus, held_out, as_fitted(plus, confident=0.9), None)
    sure = np.maximum(held_out.ai_probability, 1 - held_out.ai_probability) >= 0.9
    overruled = [deciders(made, held_out) == RULE for made in (free, bound)]
    assert overruled[0][:, sure].any()
    assert not overruled[1][:, sure].any()
    assert overruled[1][:, ~sure].any()


def test_what_counts_as_confident_is_a_probability():
    with pytest.raises(UserError, match="a confident AI"):
        OperatingPoint(costs=None, confident=0.3)


def test_deciding_once_is_deciding_by_the_mean_belief(val, plus):
    decide = METHODS["mpd2-plus"].deciding(plus, val)
    for weight in (2.0, 20.0):
        run = replace(plus, costs=replace(plus.costs, false_negative=weight))
        made = decided_together(policy_of(run, val), val, run.rule, continuations_of(run, val))
        assert (decide(at_weight(plus, weight)).label != made.label).mean() < 0.01


@pytest.mark.parametrize("confident", [None, 0.9])
@pytest.mark.parametrize("key", ["mpd2-plus", "recalibrated"])
def test_the_policy_of_all_together_decides_as_they_do(benchmark, held_out, key, confident):
    method = METHODS[key]
    run = method.fit(benchmark, benchmark.manifest.default_costs(), seeds=(42, 43))
    decide, together = method.deciding(run, held_out), together_at(run, held_out, None)
    for weight in (2.0, 20.0):
        point = at_weight(run, weight, confident)
        policy, continuations = together(point)
        made = route(policy, held_out, run.rule, continuations)
        np.testing.assert_array_equal(made.label, decide(point).label)
        np.testing.assert_array_equal(made.consulted, decide(point).consulted)


def test_together_a_recosted_method_acts_by_the_mean_of_its_moved_policies(held_out, mao):
    run, errors, _ = mao
    point = at_weight(run, 20.0, rates=(3.0,) * run.members)
    policy, continuations = together_at(run, held_out, errors)(point)
    assert continuations is None
    np.testing.assert_allclose(policy.actions, policy_at(run, held_out, point, errors).actions.mean(0), atol=1e-12)


def test_a_method_that_decides_anew_needs_no_rates(val, plus, mao):
    run, errors, own = mao
    assert exchange_rates(plus, own, val, errors) == ()
    assert exchange_rates(run, own, val, None) == ()
