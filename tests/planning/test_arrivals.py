"""Cases that come one at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import cohorts

from mpd2.core.errors import UserError
from mpd2.core.policy import Policy
from mpd2.evaluation.metrics import evaluate
from mpd2.planning.arrivals import decide_on_arrival, in_many_orders
from mpd2.planning.plan import plan
from mpd2.planning.ranked_cases import rank_cases
from mpd2.planning.roster_and_limits import Limits


@settings(max_examples=40)
@given(st.data(), cohorts(cases=st.integers(1, 25)), st.integers(0, 999), st.floats(0, 1))
def test_limits_hold_to_the_last_case_and_nothing_beats_the_batch(data, cohort, seed, share):
    random = np.random.default_rng(seed)
    preference, past = (random.normal(size=cohort.available.shape) * 3 for _ in range(2))
    capacity = data.draw(st.dictionaries(st.sampled_from(cohort.manifest.columns), st.integers(0, 5)))
    limits = Limits(
        budget=data.draw(st.none() | st.just(share)),
        total=data.draw(st.none() | st.integers(0, 10)),
        capacity=tuple(capacity.items()),
        away=tuple(data.draw(st.sets(st.sampled_from(cohort.manifest.columns)))),
    )
    day = decide_on_arrival(preference, cohort, limits, past)
    sent = day.action > 0
    assert cohort.available[sent, day.action[sent] - 1].all()
    names = np.array(cohort.manifest.columns)[day.action[sent] - 1]
    assert not set(names) & set(limits.away)
    assert all((names == column).sum() <= room for column, room in capacity.items())
    assert sent.sum() <= min(cohort.available.shape[0], *([limits.total] if limits.total is not None else []), 99)
    if limits.budget is not None:
        assert sent.sum() <= int(share * len(cohort) + 0.5)
    if limits.budget is None or sent.sum() == (day.batch.action > 0).sum():
        assert day.regret >= -1e-6


def test_with_a_past_like_the_day_little_is_lost(small_cohort):
    random = np.random.default_rng(0)
    cohort = small_cohort.rows(random.integers(0, len(small_cohort), 600))
    preference = random.normal(size=cohort.available.shape) * 3
    past = np.where(cohort.available, random.permuted(preference, axis=0), -np.inf)
    limits = Limits(budget=0.3, capacity=tuple((column, 25) for column in cohort.manifest.columns))
    day = decide_on_arrival(np.where(cohort.available, preference, -np.inf), cohort, limits, past)
    assert (day.action > 0).sum() == pytest.approx((day.batch.action > 0).sum(), abs=8)
    assert 0 <= day.regret < 0.1 * day.batch.value
    first_come = np.flatnonzero(np.where(cohort.available, preference, -np.inf).max(-1) > 0)[:180]
    naive = np.where(cohort.available, preference, -np.inf)[first_come].max(-1).sum()
    assert day.value > naive  # even against first come, first served without any capacity


def test_a_budget_nobody_has_room_for_does_not_hurry_anybody(small_cohort):
    random = np.random.default_rng(1)
    cohort = small_cohort.rows(random.integers(0, len(small_cohort), 600))
    preference = np.where(cohort.available, random.normal(size=cohort.available.shape) * 3, -np.inf)
    capacity = tuple((column, 8) for column in cohort.manifest.columns)
    day = decide_on_arrival(preference, cohort, Limits(budget=1.0, capacity=capacity), preference)
    assert (day.action > 0).sum() == 8 * cohort.readers
    assert 0 <= day.regret < 0.1 * day.batch.value


def test_many_orders_of_a_day_stand_beside_the_day_known_beforehand(small_cohort):
    random = np.random.default_rng(2)
    scores = random.normal(size=(len(small_cohort), 1 + small_cohort.readers))
    policy = Policy.from_scores(scores, small_cohort.available)
    ranked = rank_cases(policy, small_cohort, "joint", np.ones(small_cohort.readers, bool))
    limits, costs = Limits(budget=0.2), small_cohort.manifest.default_costs()
    rows = in_many_orders(ranked, ranked.order, limits, costs, 5)
    best = plan(ranked.order, small_cohort, limits)
    assert rows["order"].tolist() == [0, 1, 2, 3, 4, 5]
    assert rows["sent"].tolist() == [(best.action > 0).sum()] * 6
    assert rows.loc[0, ["otherwise", "regret"]].tolist() == [0, 0]
    whole = evaluate(small_cohort, best.decisions(small_cohort), costs)
    assert rows.loc[0, "TotalCost"] == pytest.approx(float(whole["TotalCost"].iloc[0]))
    assert rows["otherwise"].max() > 0  # luck matters where a place can be given away too early


def test_what_needs_the_whole_worklist_is_refused(small_cohort):
    preference = np.zeros(small_cohort.available.shape)
    for limits in (Limits(budget=0.1, soft=True), Limits(budget=0.1, by_cohort=True), Limits(reserve=2)):
        with pytest.raises(UserError, match="expected a hard budget for all"):
            decide_on_arrival(preference, small_cohort, limits, preference)
    with pytest.raises(UserError, match="found no past cases"):
        decide_on_arrival(preference, small_cohort, Limits(), preference[:0])
