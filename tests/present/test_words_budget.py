"""A setting's numbers as people read them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mpd2.core.policy import Policy
from mpd2.evaluation.intervals import Estimate, resample_weights
from mpd2.planning import dayplan
from mpd2.planning.budget_sweep import SHOWN, STEPS, BudgetSweep, sweep_budgets
from mpd2.planning.day import DaySetting
from mpd2.planning.ranked_cases import RankedCases, rank_cases
from mpd2.planning.roster_and_limits import Limits
from mpd2.present.words import budget
from mpd2.present.words.budget import CELL, LINE

TEXTS = 3  # of a number's figure, and of its change


@pytest.fixture(scope="module")
def ranked(benchmark) -> RankedCases:
    cases = benchmark.subset(split="val").rows(np.arange(0, 800, 4))  # 200: many a figure lies midway between two
    scores = np.random.default_rng(1).normal(size=(len(cases), 1 + cases.readers))
    return rank_cases(Policy.from_scores(scores, cases.available), cases, "joint", np.ones(cases.readers, bool))


@pytest.fixture(scope="module")
def weights(ranked) -> np.ndarray:
    return resample_weights(ranked.cohort, 100)


@pytest.fixture(scope="module")
def kind(ranked) -> DaySetting:
    return DaySetting(ranked.cohort.manifest.default_costs(), Limits(budget=1.0))


@pytest.fixture(scope="module")
def sweep(ranked, kind, weights) -> BudgetSweep:
    return sweep_budgets(ranked, kind, weights)


def judged(ranked, setting, weights):
    return dayplan.measure(dayplan.make_day(ranked, setting), weights)


def of(metric: str, texts: list[str]) -> list[str]:
    first = TEXTS * SHOWN.index(metric)
    return texts[first : first + TEXTS]


def test_what_is_sent_beforehand_is_what_the_server_says_at_every_step(ranked, kind, weights, sweep):
    start = judged(ranked, kind.with_budget(0.25), weights)
    values, changes = budget.values_along(sweep, many=True), budget.changes_along(sweep, start)
    for step, (value, change) in enumerate(zip(values.split(LINE), changes.split(LINE), strict=True)):
        texts = budget.texts_of(start, judged(ranked, kind.with_budget(step / STEPS), weights), many=True)
        assert (value.split(CELL), change.split(CELL)) == texts
    assert step == STEPS


def test_back_at_the_start_nothing_has_changed(ranked, kind, weights, sweep):
    start = judged(ranked, kind.with_budget(0.25), weights)
    lines = budget.changes_along(sweep, start).split(LINE)
    assert lines[STEPS // 4].split(CELL) == ["no change", "", ""] * len(SHOWN)
    assert sum(line == CELL.join(["no change", "", ""] * len(SHOWN)) for line in lines) == 1
    own = judged(ranked, replace(kind, limits=Limits()), weights)
    assert all("Δ" in line for line in budget.changes_along(sweep, own).split(LINE))


def test_each_number_has_its_interval_and_what_there_is_more_to_say():
    numbers = dict.fromkeys(SHOWN, Estimate(0.1784, 0.163, 0.193))
    texts = budget.values_at(numbers, sent=5, readings=9)
    assert of("TotalCost", texts) == ["0.178", "0.163 to 0.193", ""]
    assert of("DeferSoft", texts) == ["17.8\xa0%", "16.3 to 19.3\xa0%", ""]
    assert of("Defer", texts)[-1] == "9 readings of 5 cases"
    assert of("Defer", budget.values_at(numbers, sent=5, readings=None))[-1] == ""


def test_a_change_is_judged_by_its_direction_and_by_chance():
    less = dict.fromkeys(SHOWN, Estimate(-0.02, -0.03, -0.01))
    unsure = dict.fromkeys(SHOWN, Estimate(0.02, 0.0, 0.04))
    assert of("TotalCost", budget.changes_at(less)) == ["Δ −0.020", "−0.030 to −0.010", "better"]
    assert of("Sens", budget.changes_at(less)) == ["Δ −2.0 points", "−3.0 to −1.0", "worse"]
    assert of("F1", budget.changes_at(unsure))[-1] == "within chance"
    assert of("Defer", budget.changes_at(less))[-1] == of("DeferSoft", budget.changes_at(less))[-1] == ""


def test_costs_counted_anew_are_neither_better_nor_worse(ranked, kind, weights):
    start = judged(ranked, kind.with_budget(0.25), weights)
    dearer = replace(start.day.setting, costs=replace(kind.costs, false_negative=9.0))
    _, changes = budget.texts_of(start, judged(ranked, dearer, weights), many=False)
    assert of("TotalCost", changes)[0].startswith("Δ +")
    assert of("TotalCost", changes)[-1] == of("ClinicalCost", changes)[-1] == budget.RECOUNTED
    for metric in ("ExpertCost", "Sens", "F1", "MCC", "Defer", "DeferSoft"):  # nothing has moved
        assert of(metric, changes) == ["no change", "", ""]


def test_where_cases_move_too_only_costs_are_not_judged(ranked, kind, weights):
    start = judged(ranked, kind.with_budget(0.0), weights)
    other = replace(kind.with_budget(1.0), costs=replace(kind.costs, false_negative=9.0))
    _, changes = budget.texts_of(start, judged(ranked, other, weights), many=False)
    assert of("TotalCost", changes)[-1] == budget.RECOUNTED
    assert of("F1", changes)[-1] in ("better", "worse", "within chance")
