"""MPD²+: without its parts it is plain cost-aware deferral, with them it is cheaper."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from toy import toy_problem

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY, choose, route
from mpd2.core.runs import Run, load_continuations, load_predictions, load_run, save_run
from mpd2.evaluation.metrics import evaluate
from mpd2.methods.plus.asking import CHEAPER, decide
from mpd2.methods.plus.method import Plus, outlook_of
from mpd2.methods.plus.posterior import bootstraps
from mpd2.methods.registry import continuations_of, decisions_of, policy_of

SEEDS = (42, 43)
COHORT = toy_problem(900).cohort
COSTS = COHORT.manifest.default_costs()
TEST = COHORT.subset(split="test")


@cache
def run_of(**options: int) -> Run:
    return Plus(**options, draws=4).fit(COHORT, COSTS, SEEDS)


def plain() -> Run:
    return run_of(limit=1, fuse=False, recalibrate=False)


def test_without_its_parts_it_is_plain_cost_aware_deferral() -> None:
    beliefs = outlook_of(plain(), TEST)
    positive, said = beliefs.prior[..., None], beliefs.answers  # [E, N, 1], [E, N, M, 2]
    alarm = TEST.ai_label[:, None]
    missed = np.concatenate([positive * (1 - alarm), positive * (1 - said[..., 1])], axis=-1)
    alarmed = np.concatenate([(1 - positive) * alarm, (1 - positive) * said[..., 0]], axis=-1)
    expected = COSTS.false_negative * missed + COSTS.false_positive * alarmed + np.array([0.0, *COSTS.fees])
    there = np.column_stack([np.ones(len(TEST), bool), TEST.available])
    cheapest = np.where(there, expected, np.inf).argmin(-1)  # [E, N]

    decisions = decisions_of(plain(), TEST)
    assert np.array_equal(decisions.consulted[..., 0] + 1, cheapest)
    assert np.array_equal(decisions.label, route(policy_of(plain(), TEST), TEST).label)


def test_it_decides_as_its_policy_and_endings_say() -> None:
    made, again = Plus().decide(run_of(), TEST), decisions_of(run_of(), TEST)
    assert np.array_equal(made.consulted, again.consulted)
    assert np.array_equal(made.label, again.label)
    assert made.consulted.shape == (len(SEEDS), len(TEST), 3)


def test_dear_readers_are_not_asked_and_the_posterior_decides() -> None:
    dear = Costs(2.0, 1.5, (1e6,) * 3)
    made = Plus().decide(run_of(), TEST, costs=dear)
    assert not made.deferred.any()
    prior = outlook_of(run_of(), TEST).prior
    assert np.array_equal(made.label, 2.0 * prior >= 1.5 * (1 - prior))


def test_the_cheaper_error_depends_on_what_errors_cost() -> None:
    careful, lax = (Plus().decide(run_of(), TEST, Costs(miss, 1.5, (9.0,) * 3)).label for miss in (20.0, 0.2))
    assert careful.mean() > lax.mean()


def test_somebody_new_is_asked_as_readers_in_general_are() -> None:
    unheard = replace(COHORT, available=COHORT.available & ((COHORT.split == "test")[:, None] | (np.arange(3) != 2)))
    run = Plus(draws=4).fit(unheard, COSTS, SEEDS)
    answers = outlook_of(run, TEST).answers  # [E, N, M, 2]
    others = answers[:, :, :2].mean((0, 1))
    newcomer = answers[:, :, 2].mean((0, 1))
    assert (newcomer > others.min(0) - 0.1).all()
    assert (newcomer < others.max(0) + 0.1).all()


def test_a_kept_run_ends_every_case_as_before(tmp_path: Path) -> None:
    run = run_of()
    save_run(run, tmp_path / "run", policy_of(run, COHORT), COHORT, {}, continuations_of(run, COHORT))
    again = load_run(tmp_path / "run")
    stored = load_continuations(tmp_path / "run", again, TEST)
    assert stored is not None
    made = route(load_predictions(tmp_path / "run", again, TEST), TEST, again.rule, stored)
    here = decisions_of(run, TEST)
    assert np.array_equal(made.label, here.label)
    assert np.array_equal(made.consulted, here.consulted)
    fresh = continuations_of(run, TEST)
    assert fresh is not None
    assert np.array_equal(stored.consulted, fresh.consulted)
    assert np.array_equal(stored.label, fresh.label)


def test_words_that_are_not_there_leave_the_label_open() -> None:
    silent = replace(TEST, decisions=np.full_like(TEST.decisions, UNKNOWN))
    made = decisions_of(run_of(), silent)
    assert made.deferred.any()
    assert np.array_equal(made.label == UNKNOWN, made.deferred)


def test_members_draw_what_they_would_alone() -> None:
    some = TEST.rows(np.arange(50))
    both, second = bootstraps(SEEDS, 3, some), bootstraps(SEEDS[1:], 3, some)
    assert np.array_equal(both[:, 3:], second)
    assert (both.sum(0) == 50).all()


@pytest.mark.parametrize("limit", [0, 4])
def test_more_readers_than_three_or_none_are_refused(limit: int) -> None:
    with pytest.raises(UserError, match="readers asked about a case"):
        Plus(limit=limit)


def test_without_recalibration_a_kept_case_is_the_ais() -> None:
    outlook = outlook_of(run_of(recalibrate=False), TEST)
    assert np.array_equal(outlook.kept, TEST.ai_label)
    assert (outlook_of(run_of(), TEST).kept == CHEAPER).all()


def test_on_val_every_part_pays(benchmark: Cohort) -> None:
    """Recalibration, and then asking more than one reader, each lower the cost of the val cases."""
    val, costs = benchmark.subset(split="val"), benchmark.manifest.default_costs()
    run = Plus(draws=4).fit(benchmark, costs, (42, 43, 44))

    def cost(**options: int) -> float:
        variant = replace(run, settings=tuple({**settings, **options} for settings in run.settings))
        return float(evaluate(val, decisions_of(variant, val), costs)["TotalCost"].mean())

    bare, one, three = cost(limit=1, fuse=False, recalibrate=False), cost(limit=1), cost()
    assert bare > one + 0.01
    assert one > three - 0.002
    assert three < 0.155
    consulted = Plus().decide(run, val).consulted
    assert (consulted != NOBODY).any(-1).mean() < 0.2


def test_whom_it_asks_first_is_the_policys_choice_on_the_benchmark(small_cohort: Cohort) -> None:
    run = Plus(draws=2).fit(small_cohort, small_cohort.manifest.default_costs(), SEEDS)
    made = decisions_of(run, small_cohort)
    assert np.array_equal(made.consulted[..., 0] + 1, choose(policy_of(run, small_cohort)))


def test_what_an_action_is_expected_to_cost_ranks_as_the_enquiry_does() -> None:
    outlook = outlook_of(run_of(), TEST).together()
    made = decide(outlook, TEST.decisions, COSTS, 3)
    expected = Plus().expectations(run_of(), TEST, COSTS).cost
    assert np.array_equal(expected.argmin(-1), made.consulted[:, 0] + 1)
    assert np.isinf(expected[:, 1:][~TEST.available]).all()
    alone = Plus().expectations(run_of(recalibrate=False), TEST, COSTS).cost[:, 0]
    wrong = np.where(TEST.ai_label == 1, 1.5 * (1 - outlook.prior), 2.0 * outlook.prior)
    assert alone == pytest.approx(wrong)


def test_the_posterior_says_whose_own_answer_is_wrong() -> None:
    outlook = outlook_of(run_of(), TEST).together()
    expected = Plus().expectations(run_of(), TEST, COSTS)
    assert expected.positive == pytest.approx(outlook.prior)
    assert expected.wrong[:, 0] == pytest.approx(np.where(TEST.ai_label == 1, 1 - outlook.prior, outlook.prior))
    one = run_of(limit=1, fuse=False)  # then whoever is asked has the last word, and errors and fee are all there is
    costs = Costs(1.0, 1.0, COSTS.fees)
    alone = Plus().expectations(one, TEST, costs)
    there = TEST.available
    assert (alone.wrong[:, 1:] + np.array(COSTS.fees))[there] == pytest.approx(alone.cost[:, 1:][there])
