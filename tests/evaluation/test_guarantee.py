"""A promise about missed glaucoma holds as often as it says, and says so where none can be given."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from mapie.risk_control import FWERFixedSequenceTesting, control_fwer
from strategies import cohorts, policies

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.policy import Continuations, Policy, choose, route
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.guarantee import (
    AMONG,
    CONFIDENCE,
    FOUND,
    HOLDS,
    LEVELS,
    LIMITS,
    NO_LIMIT,
    NONE_HOLDS,
    STARTS,
    TOO_FEW,
    Kept,
    cases_needed,
    checked,
    guarantee,
    in_sequence,
    kept_cases,
    laxest,
    limits_that_hold,
    promise,
    redrawn,
)

LEVEL = 0.1
OFTEN = 400


def drawn(cases: int, random: np.random.Generator, slope: float) -> Kept:
    """Cases whose chance to be missed rises with the log-odds of being sent, from 2 % on."""
    log_odds = random.normal(0, 3, cases)
    missed = random.random(cases) < 0.02 + slope / (1 + np.exp(-log_odds))
    return Kept(log_odds <= LIMITS[:, None], missed)


def true_rates(slope: float) -> np.ndarray:
    """The share missed of what each limit keeps, of very many such cases, [L]."""
    kept, missed = drawn(400_000, np.random.default_rng(99), slope).all
    return missed[0] / kept[0]


@pytest.mark.parametrize("slope", [0.12, 0.2, 0.4])
def test_limits_found_on_exchangeable_cases_break_the_promise_as_seldom_as_it_says(slope: float) -> None:
    random, rates = np.random.default_rng(7), true_rates(slope)
    places = [int(laxest(limits_that_hold(drawn(250, random, slope).all, LEVEL))[0]) for _ in range(OFTEN)]
    found = [place for place in places if place != NO_LIMIT]
    broken = sum(rates[place] > LEVEL for place in found) / OFTEN
    assert len(found) > OFTEN / 10
    allowed = 1 - CONFIDENCE
    assert broken <= allowed + 3 * np.sqrt(allowed * (1 - allowed) / OFTEN)


def test_a_limit_taken_without_a_test_would_break_the_promise_far_more_often() -> None:
    random, rates = np.random.default_rng(7), true_rates(0.2)
    taken = []
    for _ in range(OFTEN):
        kept, missed = drawn(250, random, 0.2).all
        below = np.flatnonzero(missed[0] <= LEVEL * kept[0])
        taken.append(rates[below.max()] > LEVEL)
    assert np.mean(taken) > 2 * (1 - CONFIDENCE)


@given(st.integers(0, 10**6), st.floats(0.01, 0.5), st.floats(0.01, 0.5))
def test_a_laxer_level_never_keeps_less(seed: int, one: float, two: float) -> None:
    counts = drawn(200, np.random.default_rng(seed), 0.2).all
    strict, lax = (int(laxest(limits_that_hold(counts, level))[0]) for level in sorted((one, two)))
    assert strict <= lax


@given(hnp.arrays(float, len(LIMITS), elements=st.floats(0, 1)), st.floats(0.01, 1))
def test_the_sequence_is_tested_as_mapie_tests_it(chances: np.ndarray, error: float) -> None:
    theirs = control_fwer(chances, error, FWERFixedSequenceTesting(n_starts=STARTS))
    assert np.flatnonzero(in_sequence(chances, error)).tolist() == theirs.tolist()


def test_a_chance_exactly_as_small_as_allowed_is_small_enough() -> None:
    allowed = (1 - CONFIDENCE) / STARTS
    assert in_sequence(np.full(len(LIMITS), allowed), 1 - CONFIDENCE).all()
    assert not in_sequence(np.full(len(LIMITS), np.nextafter(allowed, 1)), 1 - CONFIDENCE).any()


def test_a_case_at_a_limit_is_kept_under_it(small_cohort: Cohort) -> None:
    """Where deferral is as likely as not, log-odds are 0: the limit 0 keeps every case, the one before it none."""
    half = Policy.from_scores(np.zeros((1, len(small_cohort), 2)), small_cohort.available[:, :1])
    outcome = Outcome("Even", None, route(half, small_cohort, "staged"), half, "staged")
    evidence = Evidence(small_cohort, small_cohort.manifest.default_costs(), {"even": outcome})
    kept = kept_cases(evidence, "even", "kept").inside[:, small_cohort.available[:, 0]]
    own = LIMITS.tolist().index(0.0)
    assert kept[own].all()
    assert not kept[own - 1].any()


def test_a_promise_is_judged_on_cases_that_had_no_part_in_it() -> None:
    inside = np.ones((len(LIMITS), 100), bool)
    sound, spoilt = Kept(inside, np.zeros(100, bool)), Kept(inside, np.arange(100) < 30)
    told = promise(sound, spoilt, LEVEL)
    assert told["state"] == HOLDS
    assert (told["limit"], told["kept"], told["missed"]) == (LIMITS[-1], 100, 0)
    assert (told["judged_kept"], told["judged_missed"], told["rate"]) == (100, 30, 0.3)
    assert told["low"] < 0.3 < told["high"]


def test_too_few_cases_are_said_to_be_too_few() -> None:
    needed = cases_needed(LEVEL)
    states = []
    for cases in (needed - 1, needed):
        part = Kept(np.ones((len(LIMITS), cases), bool), np.zeros(cases, bool))
        states.append(promise(part, part, LEVEL)["state"])
    assert states == [TOO_FEW, HOLDS]


def test_where_too_many_are_missed_no_limit_holds_and_nothing_is_promised() -> None:
    part = Kept(np.ones((len(LIMITS), 300), bool), np.arange(300) % 3 == 0)
    told = promise(part, part, LEVEL)
    assert told["state"] == NONE_HOLDS
    assert all(np.isnan(told[name]) for name in FOUND)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, 5.0, float("nan")])
def test_a_level_that_is_no_share_is_refused(level: float) -> None:
    with pytest.raises(UserError, match=r"level: found .*, expected a share above 0 and below 1"):
        cases_needed(level)


def test_draws_take_as_many_cases_as_asked_and_are_the_same_again() -> None:
    first = redrawn(30, 12, 50)
    assert (first.sum(-1) == 12).all()
    assert (first == redrawn(30, 12, 50)).all()
    assert (first == redrawn(30, 12, 50, cluster=np.arange(30)[::-1])).all()  # alone is alone, whatever it is called
    assert len(np.unique(first, axis=0)) > 40


def test_a_check_counts_how_often_the_pool_breaks_the_promise() -> None:
    """Ten per cent are missed whatever is kept, so every limit breaks a promise of nine and none one of eleven."""
    pool = Kept(np.ones((len(LIMITS), 1000), bool), np.arange(1000) % 10 == 0)
    draws = redrawn(1000, 500, 300)
    assert checked(pool, draws, 0.11)["broken"] == 0
    tight = checked(pool, draws, 0.09)
    assert tight["broken"] == tight["found"] <= 1 - CONFIDENCE
    assert checked(pool, draws, 0.2)["held_out"] == pytest.approx(0.1, abs=0.005)


@pytest.mark.parametrize("percent", range(1, 21))
@pytest.mark.parametrize(("more", "broken"), [(0, 0.0), (1, 1.0)], ids=["exactly", "one more"])
def test_a_promise_is_broken_by_the_first_miss_above_it_and_not_by_the_last_it_allows(percent, more, broken) -> None:
    """Every draw calibrates on cases without a miss, so that a limit is found; the pool has exactly the level."""
    pool = Kept(np.ones((len(LIMITS), 2000), bool), np.arange(2000) < 20 * percent + more)
    calibration = (np.arange(2000) >= 1000).astype(float)[None]
    told = checked(pool, calibration, percent / 100)
    assert (told["found"], told["broken"]) == (1.0, broken)


@settings(max_examples=30)
@given(st.data())
def test_a_run_keeps_at_limit_0_what_its_own_rule_keeps(data: st.DataObject) -> None:
    cohort = data.draw(cohorts())
    policy = data.draw(policies(cohort))
    one = Policy(policy.defer[None], policy.allocation[None], policy.available)
    evidence = Evidence(
        cohort,
        cohort.manifest.default_costs(),
        {"run": Outcome("Run", None, route(one, cohort, "joint"), one, "joint")},
    )
    kept = kept_cases(evidence, "run", "kept")
    assert kept.inside[LIMITS.tolist().index(0.0)].tolist() == (choose(policy, "joint") == 0).tolist()


def test_a_kept_case_ends_as_its_method_ends_it(small_cohort: Cohort) -> None:
    n, m = len(small_cohort), small_cohort.readers
    policy = Policy(np.zeros((1, n)), np.zeros((1, n, m)), small_cohort.available)
    continuations = Continuations(np.zeros((1, n), int), np.zeros((1, n, m), int), np.zeros((1, n, m, 1), int))
    made = route(policy, small_cohort, "joint", continuations)
    costs = small_cohort.manifest.default_costs()
    outcomes = {
        "own": Outcome("Always healthy", None, made, policy, "joint", continuations),
        "ai": Outcome("AI", None, route(policy, small_cohort, "joint"), policy, "joint"),
    }
    evidence = Evidence(small_cohort, costs, outcomes)
    assert kept_cases(evidence, "own", "sent home").missed.tolist() == (small_cohort.truth == 1).tolist()
    assert kept_cases(evidence, "own", "sent home").inside.all()
    called_healthy = kept_cases(evidence, "ai", "sent home").inside[-1]
    assert called_healthy.tolist() == (small_cohort.ai_label == 0).tolist()


def test_the_table_has_a_promise_for_each_method_cohort_share_and_level(small_cohort: Cohort) -> None:
    policy = Policy(np.full((1, len(small_cohort)), 0.3), np.zeros((1, *small_cohort.available.shape)),
                    small_cohort.available)  # fmt: skip
    made = route(policy, small_cohort)
    outcomes = {"soft": Outcome("Soft", None, made, policy), "hard": Outcome("Hard", None, made)}
    evidence = Evidence(small_cohort, small_cohort.manifest.default_costs(), outcomes)
    rows = guarantee(evidence, evidence, checks=3)
    assert set(rows["method"]) == {"soft"}
    assert len(rows) == 3 * len(AMONG) * len(LEVELS)
    with pytest.raises(UserError, match="Hard: has no soft policy"):
        kept_cases(evidence, "hard", "kept")
