"""Agreement between readers, and with the AI."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from strategies import cohorts

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.evaluation.agreement import AI, FEWEST, against_ai, agreement, kappa
from mpd2.evaluation.intervals import resample_weights


def pair(rows, first, second):
    return rows[(rows["first"] == first) & (rows["second"] == second)].iloc[0]


def test_kappa_is_that_of_scikit_learn_on_the_common_cases(val: Cohort) -> None:
    rows = agreement(val, resample_weights(val, 50))
    common = (val.decisions[:, 7] != UNKNOWN) & (val.decisions[:, 8] != UNKNOWN)
    found = pair(rows, val.manifest.columns[7], val.manifest.columns[8])
    assert found["n"] == common.sum()
    assert found["kappa"] == pytest.approx(cohen_kappa_score(val.decisions[common, 7], val.decisions[common, 8]))
    assert found["low"] <= found["kappa"] <= found["high"]


def test_every_reader_is_compared_with_the_ai_on_the_cases_they_read(val: Cohort) -> None:
    rows = agreement(val, resample_weights(val, 2))
    with_ai = rows[rows["first"] == AI]
    assert with_ai["second"].tolist() == list(val.manifest.columns)
    assert with_ai["n"].tolist() == (val.decisions != UNKNOWN).sum(0).tolist()


def test_every_two_are_compared_once(val: Cohort) -> None:
    rows = agreement(val, resample_weights(val, 2))
    assert len(rows) == 13 * 12 / 2
    assert not rows.duplicated(["first", "second"]).any()


def test_two_who_share_too_few_cases_are_not_compared(val: Cohort) -> None:
    few = val.rows(np.flatnonzero(val.available[:, 7] & val.available[:, 8])[: FEWEST - 1])
    found = pair(agreement(few, resample_weights(few, 5)), val.manifest.columns[7], val.manifest.columns[8])
    assert found["n"] == FEWEST - 1
    assert np.isnan(found[["kappa", "low", "high"]].astype(float)).all()
    assert 0 <= found["agree"] <= 1


def test_a_twin_agrees_fully(val: Cohort) -> None:
    words = val.decisions.copy()
    words[:, 8] = words[:, 7]
    twins = replace(val, decisions=words, available=words != UNKNOWN)
    found = pair(agreement(twins, resample_weights(twins, 5)), val.manifest.columns[7], val.manifest.columns[8])
    assert found["kappa"] == found["agree"] == 1


@given(st.lists(st.integers(0, 30), min_size=4, max_size=4))
@settings(max_examples=60)
def test_kappa_does_not_depend_on_who_is_first(cells: list[int]) -> None:
    both, first, second, neither = cells
    n = sum(cells)
    one = kappa(np.array([n, both + neither, both + first, both + second]))
    other = kappa(np.array([n, both + neither, both + second, both + first]))
    np.testing.assert_array_equal(one, other)
    assert np.isnan(one) or -1 <= one <= 1


@given(cohorts())
@settings(max_examples=30)
def test_where_reader_and_ai_differ_exactly_one_is_right(cohort: Cohort) -> None:
    rows = against_ai(cohort)
    differing = ((cohort.decisions != cohort.ai_label[:, None]) & cohort.available).sum(0)
    assert (rows["reader_right"] + rows["ai_right"]).tolist() == differing.tolist()
    read = rows[rows["n"] > 0]
    np.testing.assert_allclose(read["differ"] * read["n"], read["reader_right"] + read["ai_right"])


def test_a_reader_who_knows_the_truth_is_always_right_against_the_ai(val: Cohort) -> None:
    words = np.where(val.available, val.truth[:, None], UNKNOWN)
    assert against_ai(replace(val, decisions=words))["reader_right_share"].eq(1).all()


def test_cases_without_a_truth_do_not_count(val: Cohort) -> None:
    truth = val.truth.copy()
    truth[:100] = UNKNOWN
    assert against_ai(replace(val, truth=truth))["n"].tolist() == val.available[100:].sum(0).tolist()
