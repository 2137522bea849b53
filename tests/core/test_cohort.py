"""The one container: aligned, read-only, and clear about what a filter took away."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from strategies import STATE, cohorts

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.errors import EmptyCohort, UserError

ALIGNED = ("ids", "source", "split", "state", "cluster", "absent", "drawn", "truth", "decisions", "available")


def test_every_array_is_read_only(small_cohort: Cohort) -> None:
    for name in ALIGNED:
        with pytest.raises(ValueError, match="read-only"):
            getattr(small_cohort, name)[0] = getattr(small_cohort, name)[1]


def test_the_arrays_a_cohort_is_made_from_stay_the_callers(small_cohort: Cohort) -> None:
    truth = np.array(small_cohort.truth)
    cohort = dataclasses.replace(small_cohort, truth=truth)
    truth[0] = 1 - truth[0]
    assert cohort.truth[0] == small_cohort.truth[0]


def test_rows_keep_every_array_aligned_and_in_the_order_asked_for(small_cohort: Cohort) -> None:
    order = np.array([7, 3, 3, 50])
    taken = small_cohort.rows(order)
    for name in ALIGNED:
        np.testing.assert_array_equal(getattr(taken, name), getattr(small_cohort, name)[order])
    assert taken.fingerprint == small_cohort.fingerprint


def test_rows_may_be_none(small_cohort: Cohort) -> None:
    nobody = small_cohort.rows(np.zeros(len(small_cohort), bool))
    assert len(nobody) == 0
    assert nobody.action_labels.shape == (0, 1 + small_cohort.readers)


def test_a_subset_holds_exactly_the_cases_of_its_split_and_cohorts(small_cohort: Cohort) -> None:
    subset = small_cohort.subset(split="val", cohorts=["refuge", "origa"])
    wanted = (small_cohort.split == "val") & (small_cohort.sources != "chaksu")
    assert wanted.any()
    np.testing.assert_array_equal(subset.ids, small_cohort.ids[wanted])
    assert len(small_cohort.subset()) == len(small_cohort)


def test_a_filter_that_leaves_no_case_says_which_it_was(small_cohort: Cohort) -> None:
    trained = small_cohort.subset(split="train", cohorts=["refuge"])
    with pytest.raises(EmptyCohort, match=r"^no case is left of 6 after the filter: split test and cohorts refuge$"):
        trained.subset(split="test", cohorts=["refuge"])
    with pytest.raises(EmptyCohort, match=r"^no case is left of 6 after the filter: cohorts none$"):
        trained.subset(cohorts=[])


def test_an_unknown_split_or_cohort_is_named_with_those_there_are(small_cohort: Cohort) -> None:
    with pytest.raises(UserError, match=r"^split: found 'dev', expected one of train, val, test$"):
        small_cohort.subset(split="dev")
    with pytest.raises(UserError, match=r"^cohort: found drishti, expected some of refuge, chaksu, origa$"):
        small_cohort.subset(cohorts=["refuge", "drishti"])


@settings(max_examples=25)
@given(cohorts())
def test_a_roster_takes_readers_away_and_never_adds_one(cohort: Cohort) -> None:
    alternate = np.arange(cohort.readers) % 2 == 0
    thinned = cohort.with_available(alternate)
    np.testing.assert_array_equal(thinned.available, cohort.available & alternate)
    everybody = thinned.with_available(np.ones((len(cohort), cohort.readers), bool))
    np.testing.assert_array_equal(everybody.available, thinned.available)


@settings(max_examples=25)
@given(cohorts())
def test_the_first_action_label_is_the_ais_and_the_others_are_the_readers(cohort: Cohort) -> None:
    np.testing.assert_array_equal(cohort.action_labels[:, 0], cohort.ai_label)
    np.testing.assert_array_equal(cohort.action_labels[:, 1:], cohort.decisions)
    assert ((cohort.action_labels[:, 1:] == UNKNOWN) == ~cohort.available).all()


def test_the_ai_calls_glaucoma_from_one_half_on(small_cohort: Cohort) -> None:
    state = np.array(small_cohort.state[:3])
    state[:, STATE.index("prob_1")] = [0.4999, 0.5, 0.5001]
    assert dataclasses.replace(small_cohort.rows(np.arange(3)), state=state).ai_label.tolist() == [0, 1, 1]


def test_a_state_variable_is_found_by_name(small_cohort: Cohort) -> None:
    np.testing.assert_array_equal(small_cohort.column("aCDR"), small_cohort.state[:, 7])


def test_the_small_cohort_holds_every_cohort_in_every_split(small_cohort: Cohort) -> None:
    strata, counts = np.unique(np.char.add(small_cohort.sources, small_cohort.split), return_counts=True)
    assert len(strata) == 9
    assert (counts == 6).all()
