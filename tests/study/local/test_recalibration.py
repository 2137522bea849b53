"""A run fitted anew on local cases: the same settings, other cases, and a comparison that says yes, no or unknown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from toy import toy_problem

from mpd2.core.cohort import Cohort
from mpd2.core.policy import NOBODY, Decisions
from mpd2.core.runs import FILLS
from mpd2.methods.learned import Net
from mpd2.methods.mao import Mao
from mpd2.methods.mpd2_router import Mpd2
from mpd2.methods.plus.method import Plus
from mpd2.methods.registry import METHODS, decisions_of, refit
from mpd2.study.local.cases import held_out, joined
from mpd2.study.local.recalibration import (
    AI,
    COHORT,
    COST,
    MISSED,
    NEW,
    OLD,
    READER,
    cases_needed,
    compare,
    decided,
    recalibrate,
    verdict_of,
)
from mpd2.training.config import PAPER

QUICK = PAPER.but(network__width=6, training__epochs=3, training__warm_up=1, training__batch_size=32)


@pytest.fixture(scope="module")
def learned() -> Cohort:
    return toy_problem(300).cohort


@pytest.fixture(scope="module")
def local() -> Cohort:
    """A place whose AI says the opposite, so that what was learned elsewhere is wrong there."""
    cases = toy_problem(900, seed=1).cohort
    there = replace(cases, ids=np.array([f"here {i}" for i in range(len(cases))]), fingerprint="here")
    return replace(there, truth=1 - there.truth, decisions=np.where(there.available, 1 - there.decisions, -1))


def test_where_a_place_is_otherwise_the_new_run_wins_and_the_old_one_stays(learned, local):
    old = Plus(draws=2).fit(learned, learned.manifest.default_costs(), (1, 2))
    before = {name: values.copy() for name, values in old.arrays.items()}
    made = recalibrate(old, learned, local)
    verdict = verdict_of(made.rows)
    assert verdict.wins
    assert verdict.high < 0
    assert (verdict.needed or verdict.n) < verdict.n
    assert all((old.arrays[name] == values).all() for name, values in before.items())
    assert made.run.fingerprint == learned.fingerprint
    assert made.run.settings == old.settings


def test_where_a_place_is_as_elsewhere_nothing_is_promised():
    learned, cases = toy_problem(6000).cohort, toy_problem(240, seed=2).cohort
    same = replace(cases, ids=np.array([f"here {i}" for i in range(len(cases))]), fingerprint="same")
    old = Plus(draws=2).fit(learned, learned.manifest.default_costs(), (1,))
    verdict = verdict_of(recalibrate(old, learned, same).rows)
    assert not verdict.wins
    assert verdict.low < 0 < verdict.high


def test_the_order_of_local_cases_changes_nothing(learned, local):
    """Nothing is drawn by position of a case."""
    old = METHODS["recalibrated-score"].fit(learned, learned.manifest.default_costs(), (1,))
    mixed = local.rows(np.random.default_rng(0).permutation(len(local)))
    first, second = (recalibrate(old, learned, cases).run for cases in (local, mixed))
    np.testing.assert_allclose(first.arrays["coefficients"], second.arrays["coefficients"], rtol=1e-9)


def test_what_is_held_out_is_not_learned_from(learned, local):
    old = Plus(draws=2).fit(learned, learned.manifest.default_costs(), (1,))
    spoiled = replace(local, truth=np.where(local.split == "test", 1 - local.truth, local.truth))
    first, second = (recalibrate(old, learned, cases) for cases in (local, spoiled))
    for name, values in first.run.arrays.items():
        np.testing.assert_array_equal(second.run.arrays[name], values)
    assert verdict_of(first.rows) != verdict_of(second.rows)


@pytest.mark.parametrize(
    "method",
    [
        Plus(limit=2, fuse=False, draws=2),
        Mao(net=Net(hidden=(5,), epochs=2)),
        Mpd2(QUICK),
        METHODS["recalibrated"],
        METHODS["best-reader"],
    ],
    ids=lambda method: method.key,
)
def test_a_method_is_fitted_anew_with_the_settings_of_its_run(method, learned):
    run = method.fit(learned, learned.manifest.default_costs(), (3, 5))
    again = refit(run, learned)
    assert again.settings == run.settings
    for name, values in run.arrays.items():
        np.testing.assert_array_equal(again.arrays[name], values)


@pytest.mark.parametrize("key", ["mpd2-plus", "recalibrated", "best-reader", "quality-ood"])
def test_one_member_alone_decides_as_all_together(key, learned):
    run = METHODS[key].fit(learned, learned.manifest.default_costs(), (1,))
    test = held_out(learned)
    alone, together = decisions_of(run, test), decided(run, test)
    assert (together.label == alone.label[0]).all()


def test_what_was_not_measured_is_what_the_run_puts_there(learned):
    run = Plus(draws=2).fit(learned, learned.manifest.default_costs(), (1,))
    some = learned.rows(np.arange(40)).with_available(np.zeros(learned.readers, bool))
    absent = np.zeros(some.absent.shape, bool)
    absent[:, 3] = True
    name = learned.layout.names[3]
    gone = replace(some, absent=absent)
    filled = replace(run, notes={**run.notes, FILLS: {name: 0.25}})
    as_if = replace(some, state=np.where(absent, 0.25, some.state))
    assert (decided(filled, gone).label == decided(run, as_if).label).all()


def answers(cohort: Cohort, wrong: np.ndarray) -> Decisions:
    """Nobody is asked; these cases end wrong."""
    return Decisions(np.full((len(cohort), 1), NOBODY), np.where(wrong, 1 - cohort.truth, cohort.truth))


def test_differences_are_those_of_the_cases_and_per_thousand(learned):
    test, costs = held_out(learned), learned.manifest.default_costs()
    sick = np.flatnonzero(test.truth == 1)
    wrong = np.isin(np.arange(len(test)), sick[:5])
    rows = compare({NEW: answers(test, wrong & False), OLD: answers(test, wrong)}, test, costs)
    overall = rows[rows["part"] == "all"].set_index("metric")
    assert overall.loc[MISSED, "difference"] == pytest.approx(-5000 / len(test))
    assert overall.loc[COST, "difference"] == pytest.approx(-5 * costs.false_negative / len(test))
    assert set(rows["kind"]) == {"all", COHORT, READER}


def test_cases_that_do_not_differ_prove_nothing_beyond_their_number(learned):
    test, costs = held_out(learned), learned.manifest.default_costs()
    few = test.rows(np.arange(20))
    none = np.zeros(20, bool)
    rows = compare({NEW: answers(few, none), AI: answers(few, none)}, few, costs)
    missed = rows[(rows["metric"] == MISSED) & (rows["part"] == "all")].iloc[0]
    assert missed["low"] == -missed["high"]
    assert missed["high"] == pytest.approx(1000 * (1 - 0.025 ** (1 / 20)))


def test_rows_of_one_patient_count_once(learned):
    test, costs = held_out(learned), learned.manifest.default_costs()
    wrong = np.random.default_rng(0).random(len(test) // 4).repeat(4) < 0.3
    test = test.rows(np.arange(len(wrong)))
    grouped = replace(test, cluster=np.arange(len(test)) // 4)
    errors = []
    for cases in (test, grouped):
        rows = compare({NEW: answers(cases, wrong & False), OLD: answers(cases, wrong)}, cases, costs)
        errors.append(rows[(rows["metric"] == COST) & (rows["part"] == "all")]["error"].item())
    assert errors[1] > 1.5 * errors[0]


def test_more_cases_are_needed_for_a_smaller_saving_and_none_for_a_loss():
    assert cases_needed(-0.02, 0.02, 300) > cases_needed(-0.04, 0.02, 300)
    assert cases_needed(0.0, 0.02, 300) is None


def test_local_and_learned_cases_make_one_cohort_for_every_method(learned, local):
    whole = joined(learned, local)
    assert set(whole.split) == {"train", "val"}
    assert len(whole) == (learned.split != "test").sum() + (local.split != "test").sum()
