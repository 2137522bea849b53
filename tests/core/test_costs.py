"""What every action of every case costs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import STATE, cohorts

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError


def three_cases(small_cohort: Cohort) -> Cohort:
    """A missed glaucoma, a false alarm and a case the AI gets right; of all readers only the first three are there."""
    cases = small_cohort.rows(np.arange(3))
    state, decisions = np.array(cases.state), np.full(cases.decisions.shape, UNKNOWN)
    state[:, STATE.index("prob_1")] = [0.2, 0.9, 0.7]
    decisions[:, :3] = [[1, 0, UNKNOWN], [0, 1, 1], [UNKNOWN, UNKNOWN, UNKNOWN]]
    return dataclasses.replace(
        cases, state=state, truth=np.array([1, 0, 1]), decisions=decisions, available=decisions != UNKNOWN
    )


def test_an_action_costs_its_error_and_its_fee(small_cohort):
    fees = tuple(np.arange(1, small_cohort.readers + 1) / 10)
    found = Costs(2.0, 1.5, fees).of_actions(three_cases(small_cohort))
    assert found.shape == (3, 1 + small_cohort.readers)
    inf = np.inf
    np.testing.assert_allclose(
        found[:, :4],
        [[2.0, 0.1, 2.0 + 0.2, inf], [1.5, 0.1, 1.5 + 0.2, 1.5 + 0.3], [0.0, inf, inf, inf]],
    )
    assert np.isinf(found[:, 4:]).all()


@settings(max_examples=25)
@given(cohorts(readers=st.integers(1, 30)))
def test_a_cost_is_finite_exactly_where_somebody_can_act(cohort):
    found = cohort.manifest.default_costs().of_actions(cohort)
    np.testing.assert_array_equal(np.isfinite(found[:, 1:]), cohort.available)
    assert np.isfinite(found[:, 0]).all()


def test_an_unknown_truth_or_word_is_no_error():
    labels, truth = np.array([0, 1, UNKNOWN]), np.array([UNKNOWN, UNKNOWN, 1])
    assert Costs(2.0, 1.5, ()).of_errors(labels, truth).tolist() == [0, 0, 0]


def test_another_number_of_fees_than_of_readers_is_refused(small_cohort):
    with pytest.raises(UserError, match=r"^fees: found 1, expected one for each of the 12 readers$"):
        Costs(2.0, 1.5, (0.3,)).of_actions(small_cohort)


@pytest.mark.parametrize("bad", [-0.1, float("nan"), float("inf")])
def test_a_cost_below_zero_or_without_end_is_refused_by_name(bad):
    with pytest.raises(UserError, match=rf"^cost of a miss: found {bad}, expected a number of at least 0$"):
        Costs(bad, 1.5, ())
    with pytest.raises(UserError, match=rf"^cost of a false alarm: found {bad}, expected"):
        Costs(2.0, bad, ())
    with pytest.raises(UserError, match=rf"^fee of reader 2: found {bad}, expected"):
        Costs(2.0, 1.5, (0.0, bad))
