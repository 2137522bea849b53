"""Floors: what is demanded, and the weight of a miss that keeps it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.planning import floors
from mpd2.planning.floors import CONFIDENCE, KEPT, OUT_OF_REACH, TOO_FEW, Floor, choose_weight, parse_floor, weights_for

COSTS = Costs(2.0, 1.5, ())


def thresholded(score):
    """A rule that calls a case glaucoma where the weight of a miss times its score is at least 1."""

    def deciding(cohort):
        mine = score(cohort)
        return lambda weight: (weight * mine >= 1).astype(int)

    return deciding


def noise(cohort):
    """A score that is higher for the sick, and known by the id of the case alone."""
    luck = np.array([hash_of(one) for one in cohort.ids])
    return np.exp(3 * luck - 4 + 1.5 * (cohort.truth == 1))


def hash_of(case: str) -> float:
    return np.random.default_rng(sum(ord(char) * 31**i for i, char in enumerate(case)) % 2**32).random()


@pytest.mark.parametrize("words", ["ai", "0.95", "spec:0.9", "spec:ai:sure", "0.975:sure"])
def test_a_floor_is_read_as_it_is_written(words):
    assert str(parse_floor(words)) == words


@pytest.mark.parametrize("words", ["", "high", "1.2", "0", "missed:ai", "95 per cent", "ai:certain", "missed:5"])
def test_what_is_no_floor_is_refused(words):
    with pytest.raises(UserError, match="floor"):
        parse_floor(words)


def test_misses_per_thousand_are_a_sensitivity_at_the_prevalence():
    assert parse_floor("missed:7.5", prevalence=0.15) == Floor(0.95)


@pytest.mark.parametrize("level", [None, 0.8, 0.9, 0.95])
def test_the_weight_keeps_the_floor_on_val_and_the_next_lighter_does_not(val, level):
    deciding, sick = thresholded(noise), val.rows(val.truth == 1)
    choice = choose_weight(Floor(level), val, deciding, COSTS)
    grid = weights_for(COSTS)
    place = int(np.argmin(np.abs(grid - choice.weight)))
    assert choice.state == KEPT
    assert deciding(sick)(grid[place]).mean() == choice.reached >= choice.level
    assert deciding(sick)(grid[place - 1]).mean() < choice.level


def test_a_floor_on_specificity_takes_the_heaviest_miss_that_keeps_it(val):
    deciding, healthy = thresholded(noise), val.rows(val.truth == 0)
    choice = choose_weight(Floor(0.9, "Spec"), val, deciding, COSTS)
    grid = weights_for(COSTS)
    place = int(np.argmin(np.abs(grid - choice.weight)))
    assert 1 - deciding(healthy)(grid[place]).mean() == pytest.approx(choice.reached)
    assert choice.reached >= 0.9 > 1 - deciding(healthy)(grid[place + 1]).mean()


def test_a_promise_needs_a_margin_that_the_average_does_not(val):
    lenient, strict = (choose_weight(Floor(0.9, sure=sure), val, thresholded(noise), COSTS) for sure in (False, True))
    assert strict.weight > lenient.weight
    assert strict.reached > lenient.reached
    found = round(strict.reached * strict.cases)
    assert stats.binom.sf(found - 1, strict.cases, 0.9) <= 1 - CONFIDENCE


def test_too_few_cases_cannot_bear_a_promise_and_it_says_how_many_could(val):
    few = val.rows(np.append(np.flatnonzero(val.truth == 1)[:40], np.flatnonzero(val.truth == 0)[:40]))
    choice = choose_weight(Floor(0.95, sure=True), few, thresholded(noise), COSTS)
    assert (choice.state, choice.needed, choice.cases) == (TOO_FEW, 45, 40)
    assert choose_weight(Floor(0.9, sure=True), few, thresholded(noise), COSTS).state == KEPT


def test_a_rule_that_no_weight_moves_cannot_keep_a_floor_above_its_own_rate(val):
    def deciding(cohort):
        return lambda weight: cohort.ai_label

    assert choose_weight(Floor(0.99), val, deciding, COSTS).state == OUT_OF_REACH
    assert choose_weight(Floor(), val, deciding, COSTS).state == KEPT


def test_without_a_sick_case_there_is_nothing_to_choose_by(val):
    with pytest.raises(UserError, match="no case of val is positive"):
        choose_weight(Floor(), val.rows(val.truth == 0), thresholded(noise), COSTS)


@pytest.mark.parametrize("level", [0.8, 0.85, 0.9, 0.95, 0.975])
def test_a_promise_is_broken_in_at_most_one_of_ten_draws(level):
    """Where the sensitivity at every weight is known, that of the promised weight is rarely below the floor."""
    random, grid = np.random.default_rng(5), weights_for(COSTS)[::-1]
    true_rate = 1 / (1 + np.exp(-np.log(grid) - 1))  # falls as a miss weighs less
    broken = 0
    for _ in range(1000):
        score = random.random(150)
        right = score[None] < true_rate[:, None]  # [W, N]
        holds = [floors.keeps(Floor(level, sure=True), level, row, row) for row in right]
        kept = int(np.argmin(np.append(holds, False)))
        broken += kept > 0 and true_rate[kept - 1] < level
    assert broken <= 100


def test_against_the_ai_only_the_cases_they_differ_on_count():
    ai = np.array([True] * 90 + [False] * 10)
    better = ai.copy()
    better[90:95] = True
    assert floors.chance(Floor(sure=True), 95, 100, (better & ~ai).sum(), 0) == pytest.approx(0.5**5)
    assert floors.keeps(Floor(sure=True), 0.9, better, ai)
    assert not floors.keeps(Floor(sure=True), 0.9, ai, ai)
