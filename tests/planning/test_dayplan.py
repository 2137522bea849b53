"""What one setting comes to, and how it differs from another."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.policy import NOBODY, Continuations, Policy, route
from mpd2.evaluation.clinical.per_thousand import Programme, per_thousand
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import paired_difference, resample_weights, summary
from mpd2.evaluation.metrics import COUNTED, evaluate
from mpd2.planning import dayplan
from mpd2.planning.day import DaySetting
from mpd2.planning.dayplan import ALL_METRICS, COMPARED, SOFT
from mpd2.planning.ranked_cases import RankedCases, rank_cases
from mpd2.planning.roster_and_limits import Limits
from mpd2.planning.worklist import worklist


@pytest.fixture(scope="module")
def cases(benchmark: Cohort) -> Cohort:
    return benchmark.subset(split="val").rows(np.arange(0, 885, 5))


@pytest.fixture(scope="module")
def policy(cases: Cohort) -> Policy:
    scores = np.random.default_rng(1).normal(size=(len(cases), 1 + cases.readers))
    return Policy.from_scores(scores, cases.available)


@pytest.fixture(scope="module")
def ranked(cases: Cohort, policy: Policy) -> RankedCases:
    return rank_cases(policy, cases, "joint", np.ones(cases.readers, bool))


@pytest.fixture(scope="module")
def usual(cases: Cohort) -> DaySetting:
    return DaySetting(cases.manifest.default_costs())


@pytest.fixture(scope="module")
def weights(cases: Cohort) -> np.ndarray:
    return resample_weights(cases, 200)


def test_without_limits_the_run_does_what_it_does_by_itself(ranked, usual, policy, cases):
    day = dayplan.make_day(ranked, usual)
    own = route(policy, cases, "joint")
    assert day.decisions.label.tolist() == own.label.tolist()
    assert (day.sent, day.readings) == (own.deferred.sum(), own.deferred.sum())
    assert day.soft == pytest.approx(policy.defer)


def test_figures_and_differences_are_those_of_the_tables(ranked, usual, weights, cases):
    first, second = (
        dayplan.measure(dayplan.make_day(ranked, setting), weights) for setting in (usual, usual.with_budget(0.2))
    )
    told = summary({"first": first.day.tally}, weights).set_index("metric")
    paired = paired_difference(second.day.tally, first.day.tally, weights).set_index("metric")
    more = dayplan.difference(first, second)
    assert set(first.metrics) == set(ALL_METRICS)
    for metric in COUNTED:
        ends = first.metrics[metric]
        assert (ends.value, ends.low, ends.high) == pytest.approx(tuple(told.loc[metric, ["value", "low", "high"]]))
        apart = tuple(paired.loc[metric, ["difference", "low", "high"]])
        assert (more[metric].value, more[metric].low, more[metric].high) == pytest.approx(apart)
    rows = dayplan.compared(first, second)
    assert rows["metric"].tolist() == list(COMPARED)
    assert rows["difference"].tolist() == pytest.approx((rows["second"] - rows["first"]).tolist())


@pytest.mark.parametrize("prevalence", [None, 0.02])
def test_people_are_those_of_the_clinical_tables(ranked, usual, weights, cases, prevalence):
    days = {name: dayplan.make_day(ranked, usual.with_budget(share)) for name, share in (("ai", 0.1), ("now", 0.4))}
    outcomes = {name: Outcome(name, None, day.decisions) for name, day in days.items()}
    told = per_thousand(Evidence(cases, usual.costs, outcomes), Programme(prevalence), weights)
    rows = told[told["method"] == "now"].set_index("quantity")
    before, now = (dayplan.measure(day, weights, prevalence) for day in days.values())
    more = dayplan.difference(before, now)
    for metric, quantity in {"Missed": "missed", "Alarms": "alarm", "Read": "read", "Readings": "readings"}.items():
        for estimate, names in (
            (now.metrics[metric], ("value", "low", "high")),
            (more[metric], ("difference", "difference_low", "difference_high")),
        ):
            expected = tuple(rows.loc[quantity, list(names)])
            assert (estimate.value, estimate.low, estimate.high) == pytest.approx(expected)


def test_a_soft_budget_is_met_in_probability(ranked, usual, weights):
    soft = replace(usual, limits=Limits(budget=0.35, soft=True))
    assert dayplan.measure(dayplan.make_day(ranked, soft), weights).metrics[SOFT].value == pytest.approx(0.35)


def test_cohorts_add_up_to_all_cases(ranked, usual, weights, cases):
    before, after = (dayplan.make_day(ranked, setting) for setting in (usual, usual.with_budget(0.2)))
    rows = dayplan.by_cohort(before, after, cases, weights)
    whole = evaluate(cases, after.decisions, usual.costs).iloc[0]
    assert rows["n"].sum() == len(cases)
    assert rows["sent"].sum() == after.sent
    assert (rows["n"] * rows["TotalCost"]).sum() / len(cases) == pytest.approx(whole["TotalCost"])
    change = whole["TotalCost"] - evaluate(cases, before.decisions, usual.costs).iloc[0]["TotalCost"]
    assert (rows["n"] * rows["difference"]).sum() / len(cases) == pytest.approx(change)
    assert (rows["low"] <= rows["TotalCost"]).all()


def test_the_roster_says_who_is_full(ranked, usual, cases):
    columns = cases.manifest.columns
    limits = Limits(budget=0.6, capacity=((columns[0], 3),), away=(columns[1],))
    rows = dayplan.roster(dayplan.make_day(ranked, replace(usual, limits=limits)), cases).set_index("reader")
    assert rows.loc[columns[0], ["now", "at_most", "free"]].tolist() == [3, 3, 0]
    assert rows.loc[columns[0], "worth"] > 0
    assert not rows.loc[columns[1], "here"]
    assert rows.loc[columns[1], "now"] == 0
    assert np.isnan(rows.loc[columns[2], "at_most"])


@pytest.fixture(scope="module")
def asking_again(cases, policy):
    """A worklist whose method always asks the next reader in the list too."""
    first = np.where(cases.available, np.arange(cases.readers), NOBODY)
    continuations = Continuations(
        kept=cases.ai_label,
        label=np.where(cases.available, cases.truth[:, None], UNKNOWN),
        consulted=np.stack([first, (first + 1) % cases.readers], axis=-1),
    )
    return rank_cases(policy, cases, "joint", np.ones(cases.readers, bool), continuations)


def test_a_method_that_asks_again_has_more_readings_than_cases(asking_again, cases, usual):
    day = dayplan.make_day(asking_again, usual.with_budget(0.5))
    assert day.readings == 2 * day.sent
    assert worklist(asking_again, day.plan)["then_1"].notna().sum() == day.sent


def test_later_questions_take_places_too(asking_again, cases, usual):
    free = dayplan.make_day(asking_again, usual.with_budget(0.5))
    busy = int(free.load.argmax())
    places = int(free.load[busy]) - 4
    limits = Limits(budget=0.5, capacity=((cases.manifest.columns[busy], places),))
    day = dayplan.make_day(asking_again, replace(usual, limits=limits))
    assert day.load[busy] <= places
    assert day.sent == free.sent


def test_a_reader_nobody_can_spare_is_named(asking_again, cases, usual):
    columns = cases.manifest.columns
    limits = Limits(budget=1.0, capacity=tuple((column, 1) for column in columns[::2]))
    day = dayplan.make_day(asking_again, replace(usual, limits=limits))
    assert any("as the second or third reader" in note for note in day.plan.notes)


def test_a_probability_that_cannot_be_reached_is_explained(cases, policy, usual):
    alone = cases.with_available(np.arange(len(cases))[:, None] % 2 == 0)
    ranked = rank_cases(policy.under(alone.available), alone, "joint", np.ones(cases.readers, bool))
    day = dayplan.make_day(ranked, replace(usual, limits=Limits(budget=0.9, soft=True)))
    assert any("is all there is" in note for note in day.plan.notes)
