"""Methods without a network."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from toy import toy_problem

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY, choose
from mpd2.evaluation.metrics import evaluate
from mpd2.methods.registry import METHODS, decisions_of, policy_of
from mpd2.methods.simple import LEVELS, Threshold, preference, reading_costs

COHORT = toy_problem(900).cohort
COSTS = COHORT.manifest.default_costs()
TRAIN, VAL = COHORT.subset(split="train"), COHORT.subset(split="val")
UNCERTAINTY, QUALITY_OOD = (METHODS[key] for key in ("uncertainty", "quality-ood"))


def actions(key: str, cohort: Cohort = COHORT, seeds: tuple[int, ...] = (42,)) -> np.ndarray:
    return choose(policy_of(METHODS[key].fit(COHORT, COSTS, seeds), cohort))


def test_on_the_benchmark_the_ai_and_the_oracle_cost_what_they_should(benchmark: Cohort) -> None:
    test = benchmark.subset(split="test")
    costs = benchmark.manifest.default_costs()
    for key, total in (("ai", 0.372), ("oracle", 0.037)):
        decisions = decisions_of(METHODS[key].fit(benchmark, costs, (42,)), test)
        assert round(evaluate(test, decisions, costs)["TotalCost"].item(), 3) == total


def test_the_oracle_takes_the_cheapest_action_of_every_case() -> None:
    table = COSTS.of_actions(COHORT)
    chosen = table[np.arange(len(COHORT)), actions("oracle")[0]]
    assert np.array_equal(chosen, table.min(-1))


def test_the_oracle_refuses_a_reader_who_is_available_and_silent() -> None:
    silent = replace(COHORT, decisions=np.where(np.arange(len(COHORT))[:, None] == 3, UNKNOWN, COHORT.decisions))
    assert silent.available[3].any()
    with pytest.raises(UserError, match="1 of 900 lack them, the first is case 3"):
        actions("oracle", silent)


def test_the_best_reader_is_asked_wherever_available_and_nobody_else() -> None:
    table = COSTS.of_actions(TRAIN)
    totals = [np.where(TRAIN.available[:, j], table[:, 1 + j], table[:, 0]).mean() for j in range(3)]
    best = int(np.argmin(totals))
    assert np.array_equal(actions("best-reader")[0], np.where(COHORT.available[:, best], 1 + best, 0))


def test_a_reader_never_heard_is_nobody_s_best() -> None:
    poor = replace(COHORT, decisions=np.where(COHORT.available, 1 - COHORT.truth[:, None], COHORT.decisions))
    unheard = replace(poor, available=poor.available & (np.arange(3) != 1))
    run = METHODS["best-reader"].fit(unheard, COSTS, (42,))
    assert not (choose(policy_of(run, COHORT)) == 2).any()


def test_random_readers_are_drawn_evenly() -> None:
    full = replace(COHORT, available=np.ones_like(COHORT.available))
    drawn = actions("random-reader", full, tuple(range(20)))
    assert np.allclose(np.bincount(drawn.ravel(), minlength=4) / drawn.size, [0, 1 / 3, 1 / 3, 1 / 3], atol=0.02)


def test_seeds_and_cases_draw_independently() -> None:
    full = replace(COHORT, available=np.ones_like(COHORT.available))
    drawn = actions("random-reader", full, (1, 2))
    assert np.isclose((drawn[0] == drawn[1]).mean(), 1 / 3, atol=0.06)
    assert np.isclose((drawn[0, 1:] == drawn[0, :-1]).mean(), 1 / 3, atol=0.06)


def test_a_case_has_the_same_draw_whatever_else_is_in_the_table() -> None:
    some = np.array([5, 2, 80])
    assert np.array_equal(actions("random-reader", COHORT.rows(some)), actions("random-reader")[:, some])


def test_always_defer_asks_the_available_reader_who_was_cheapest_on_train() -> None:
    table = COSTS.of_actions(TRAIN)[:, 1:]
    means = np.array([table[TRAIN.available[:, j], j].mean() for j in range(3)])
    assert np.allclose(reading_costs(TRAIN, COSTS), means)
    cheapest = np.where(COHORT.available, means, np.inf).argmin(-1)
    assert np.array_equal(actions("always-defer")[0], np.where(COHORT.available.any(-1), 1 + cheapest, 0))


def test_a_reader_never_heard_is_the_last_resort() -> None:
    unheard = TRAIN.with_available(np.arange(3) != 2)
    assert reading_costs(unheard, COSTS).argmax() == 2


def test_the_preferred_reader_has_score_zero() -> None:
    scores = preference(np.array([0.3, 0.1, 0.2]), np.array([[True, True, True], [True, False, True]]))
    assert scores.max(-1).tolist() == [0, 0]
    assert scores.argmax(-1).tolist() == [1, 2]


@pytest.mark.parametrize("method", [UNCERTAINTY, QUALITY_OOD], ids=lambda method: method.key)
def test_no_other_thresholds_would_cost_less_on_val(method: Threshold) -> None:
    run = method.fit(COHORT, COSTS, (42,))
    table = COSTS.of_actions(VAL)
    rows = np.arange(len(VAL))

    def cost(threshold: np.ndarray) -> float:
        other = replace(run, arrays={**run.arrays, "threshold": threshold[None]})
        return float(table[rows, choose(policy_of(other, VAL))[0]].mean())

    chosen = cost(run.arrays["threshold"][0])
    signals = np.column_stack([VAL.column(signal) for signal in method.inputs(VAL.layout)])
    levels = np.random.default_rng(0).choice(LEVELS, (60, len(method.signals)))
    others = [np.array([np.quantile(signals[:, s], level) for s, level in enumerate(row)]) for row in levels]
    assert all(chosen <= cost(other) + 1e-12 for other in others)
    assert chosen < table[:, 0].mean()


def test_deferral_is_above_the_threshold_only_and_surer_the_further() -> None:
    run = UNCERTAINTY.fit(COHORT, COSTS, (42,))
    policy = UNCERTAINTY.policy(run, COHORT).member(0)
    asked = COHORT.available.any(-1)
    uncertainty = COHORT.column("uncertainty")
    assert np.array_equal(choose(policy) > 0, (uncertainty > run.arrays["threshold"][0, 0]) & asked)
    best = policy.actions[asked, 1:].max(-1) / policy.actions[asked, 0]
    order = np.argsort(uncertainty[asked], kind="stable")
    assert (np.diff(best[order]) >= -1e-9).all()


def test_either_signal_is_enough() -> None:
    run = QUALITY_OOD.fit(COHORT, COSTS, (42,))
    chosen = choose(policy_of(run, COHORT))[0] > 0
    above = np.column_stack([COHORT.column(s) for s in QUALITY_OOD.inputs(COHORT.layout)]) > run.arrays["threshold"][0]
    assert np.array_equal(chosen, above.any(-1) & COHORT.available.any(-1))


def test_readings_too_dear_to_be_worth_it_are_not_bought() -> None:
    dear = Costs(COSTS.false_negative, COSTS.false_positive, (50.0, 50.0, 50.0))
    assert decisions_of(UNCERTAINTY.fit(COHORT, dear, (42,)), VAL).consulted.max() == NOBODY
