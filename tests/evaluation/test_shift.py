"""Shift of inputs against the training cases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import ks_2samp
from strategies import STATE

from mpd2.core.cohort import Cohort
from mpd2.core.errors import EmptyCohort
from mpd2.evaluation.shift import AS_IN_TRAINING, distributions, kolmogorov_smirnov, sentences, shift

ACDR = STATE.index("aCDR")


@pytest.fixture(scope="module")
def training(benchmark: Cohort) -> Cohort:
    return benchmark.subset(split="train")


def moved(cohort: Cohort, by: float) -> Cohort:
    state = cohort.state.copy()
    state[:, ACDR] += by
    return replace(cohort, state=state)


@given(*[hnp.arrays(float, st.tuples(st.integers(2, 20), st.just(3)), elements=st.integers(0, 6))] * 2)
@settings(max_examples=50)
def test_the_distance_is_that_of_scipy_ties_included(first: np.ndarray, second: np.ndarray) -> None:
    expected = [ks_2samp(first[:, k], second[:, k], method="asymp").statistic for k in range(3)]
    np.testing.assert_allclose(kolmogorov_smirnov(first, second), expected, atol=1e-12)


def test_the_training_cases_are_as_in_training(training: Cohort) -> None:
    rows = shift(training, training)
    assert rows["verdict"].eq(AS_IN_TRAINING).all()
    assert rows[["difference", "distance", "outside"]].eq(0).all(axis=None)
    assert sentences(rows) == [f"As in training: {', '.join(rows['title'])}."]


@pytest.mark.parametrize(
    ("deviations", "verdict"),
    [(0.3, "somewhat larger"), (0.6, "clearly larger"), (2.0, "much larger"), (-2.0, "much smaller")],
)
def test_a_moved_input_is_named_with_its_side_and_size(training: Cohort, deviations: float, verdict: str) -> None:
    by = deviations * float(training.column("aCDR").std())
    rows = shift(moved(training, by), training)
    assert rows.loc[ACDR, "difference"] == pytest.approx(deviations)
    assert rows.loc[ACDR, "low"] < deviations < rows.loc[ACDR, "high"]
    assert rows.loc[ACDR, "verdict"] == f"{verdict} than in training"
    assert rows.drop(index=ACDR)["verdict"].eq(AS_IN_TRAINING).all()
    assert sentences(rows)[0].startswith(f"Area CDR is {verdict} than in training: ")


def test_cases_beyond_every_training_case_are_counted(training: Cohort) -> None:
    rows = shift(moved(training, 5.0), training)
    assert rows.loc[ACDR, "outside"] == 1
    assert "100\N{NO-BREAK SPACE}% of the cases are outside" in sentences(rows)[0]


def test_one_case_is_no_proof_of_a_shift(training: Cohort) -> None:
    rows = shift(training.rows(np.array([0])), training)
    assert rows["verdict"].eq(AS_IN_TRAINING).all()
    assert rows["low"].isna().all()


def test_a_random_half_is_as_in_training_or_nearly(training: Cohort) -> None:
    half = training.rows(np.random.default_rng(0).permutation(len(training))[:700])
    assert shift(half, training)["difference"].abs().max() < 0.1


def test_without_cases_there_is_nothing_to_compare(training: Cohort) -> None:
    with pytest.raises(EmptyCohort, match="found 0 cases"):
        shift(training.rows(np.array([], int)), training)


@pytest.mark.parametrize("name", STATE)
def test_every_input_has_a_title_and_shares_that_add_up(training: Cohort, benchmark: Cohort, name: str) -> None:
    bins = distributions(benchmark.subset(split="val"), training, name)
    assert training.layout.titles[name]
    np.testing.assert_allclose(bins.groupby("who")["share"].sum(), 1)


def test_both_are_counted_in_the_same_bins_also_if_all_values_are_equal(training: Cohort) -> None:
    one = training.rows(np.array([0]))
    bins = distributions(one, one, "vCDR")
    cases, before = (bins[bins["who"] == who] for who in ("cases", "training"))
    assert cases["start"].tolist() == before["start"].tolist()
    assert cases["share"].sum() == before["share"].sum() == 1
