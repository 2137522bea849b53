"""Error rates, rankings and plans of tables of any shape."""

from __future__ import annotations

import numpy as np
from any_table import Shape, made_up
from hypothesis import given, settings
from hypothesis import strategies as st

from mpd2.core.error_rates import cross_fitted, error_rates, expectations
from mpd2.core.policy import Policy, choose
from mpd2.core.state import ROLES
from mpd2.planning.ranked_cases import most_urgent, operating_curve, rank_cases
from mpd2.planning.recosting import savings
from mpd2.planning.roster_and_limits import Limits

SHAPES = st.builds(
    Shape,
    rows=st.integers(40, 90),
    readers=st.integers(1, 8),
    roles=st.lists(st.sampled_from(ROLES), max_size=15).map(tuple),
    missing=st.lists(st.booleans(), max_size=15).map(tuple),
    constant=st.lists(st.booleans(), max_size=15).map(tuple),
    cohorts=st.integers(1, 6),
    per_case=st.none() | st.integers(0, 2),
    per_cluster=st.integers(1, 3),
    across=st.booleans(),
    ai=st.sampled_from(("logits", "logit", "probability")),
    thresholds=st.booleans(),
    unheard=st.sampled_from(((), (0,))),
    never=st.sampled_from(((), (0,))),
)


@settings(max_examples=25)
@given(SHAPES)
def test_error_rates_of_any_table_are_probabilities_and_cross_fitted_by_cluster(shape: Shape) -> None:
    cohort = made_up(shape)
    errors = error_rates(cohort).predict(cohort)
    for part in (*errors, *cross_fitted(cohort, folds=2)):
        assert part.shape == (len(cohort), 1 + cohort.readers)
        assert ((part >= 0) & (part <= 1)).all()
    expected = expectations(errors, cohort, cohort.manifest.default_costs())
    assert np.array_equal(np.isfinite(expected.cost[:, 1:]), cohort.available)


@settings(max_examples=25)
@given(SHAPES, st.floats(0, 1), st.integers(0, 9))
def test_a_plan_keeps_its_budget_and_asks_only_who_is_there(shape: Shape, budget: float, seed: int) -> None:
    cohort = made_up(shape)
    scores = np.random.default_rng(seed).normal(size=(len(cohort), 1 + cohort.readers))
    policy = Policy.from_scores(scores, cohort.available)
    costs = cohort.manifest.default_costs()
    errors = error_rates(cohort).predict(cohort)
    present = np.arange(cohort.readers) != cohort.readers - 1 if cohort.readers > 1 else np.ones(1, bool)
    ranked = rank_cases(policy, cohort, "joint", present, saving=savings(errors, costs))
    made = ranked.plan(Limits(budget=budget))
    readable = (cohort.available & present).any(-1)
    assert (made.action > 0).sum() <= np.ceil(budget * len(cohort))
    sent = np.flatnonzero(made.action > 0)
    assert (cohort.available & present)[sent, made.action[sent] - 1].all()
    free = ranked.plan(Limits())
    assert np.array_equal(free.action, choose(policy.under(present)))
    everything = operating_curve(ranked, Limits(), costs, points=3)
    assert everything["sent"].max() == readable.sum()
    assert np.isfinite(everything["value"]).all()
    urgent = most_urgent(expectations(errors, cohort, costs), 5)
    assert urgent.sum() == 5
