"""A setting at every budget at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import cohorts, policies

from mpd2.core.cohort import Cohort
from mpd2.core.policy import RULES
from mpd2.evaluation.intervals import Estimate, resample_weights
from mpd2.planning import dayplan
from mpd2.planning.budget_sweep import KNOWN, SHOWN, STEPS, Estimates, can_sweep, sweep_budgets
from mpd2.planning.day import DaySetting
from mpd2.planning.ranked_cases import RankedCases, rank_cases
from mpd2.planning.roster_and_limits import Limits

TRIED = (0, 1, 41, 100, 199, STEPS)
CLOSE = 10.0**-KNOWN


def everybody(cohort: Cohort) -> np.ndarray:
    return np.ones(cohort.readers, bool)


def judged(
    ranked: RankedCases, setting: DaySetting, weights: np.ndarray, prevalence: float | None = None
) -> dayplan.Judged:
    return dayplan.measure(dayplan.make_day(ranked, setting), weights, prevalence)


def same(found: dict[str, Estimate], expected: dict[str, Estimate]) -> None:
    for name in SHOWN:
        told = [(each.value, each.low, each.high) for each in (found[name], expected[name])]
        assert told[0] == pytest.approx(told[1], abs=CLOSE, nan_ok=True)


@pytest.mark.parametrize("rule", RULES)
@settings(deadline=None, max_examples=15)
@given(
    cohort=cohorts(), data=st.data(), soft=st.booleans(), by_cohort=st.booleans(),
    prevalence=st.none() | st.floats(0.01, 0.99),
)  # fmt: skip
def test_every_step_of_a_sweep_is_what_that_budget_comes_to(rule, cohort, data, soft, by_cohort, prevalence):
    saving = data.draw(st.none() | hnp.arrays(float, cohort.available.shape, elements=st.floats(-1, 1)))
    ranked = rank_cases(data.draw(policies(cohort)), cohort, rule, everybody(cohort), saving=saving)
    kind = DaySetting(cohort.manifest.default_costs(), Limits(budget=1.0, soft=soft, by_cohort=by_cohort))
    weights = resample_weights(cohort, 20)
    sweep = sweep_budgets(ranked, kind, weights, prevalence)
    start = judged(ranked, kind.with_budget(0.3), weights, prevalence)
    apart = sweep.less(start)
    for step in TRIED:
        there = judged(ranked, kind.with_budget(step / STEPS), weights, prevalence)
        assert (sweep.sent[step], sweep.readings[step]) == (there.day.sent, there.day.readings)
        same(sweep.metrics.at(step), there.metrics)
        same(apart.at(step), dayplan.difference(start, there))


@pytest.mark.parametrize("limits", [Limits(total=3), Limits(capacity=(("a", 1),)), Limits(reserve=1)])
def test_under_capacities_there_is_no_sweep(limits):
    assert not can_sweep(limits)
    assert can_sweep(replace(limits, total=None, capacity=(), reserve=0, budget=0.4, away=("a",)))


def test_a_step_names_its_metrics():
    numbers = np.arange(2.0 * len(SHOWN)).reshape(2, -1)
    second = Estimates(numbers, numbers - 1, numbers + 1).at(1)
    assert list(second) == list(SHOWN)
    first = second[SHOWN[0]]
    assert (first.value, first.low, first.high) == (len(SHOWN), len(SHOWN) - 1, len(SHOWN) + 1)
