"""Splits that are made: no cluster divided, both classes everywhere, shares as asked for."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from foreign_tables import clinic, normalised
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mpd2.core.cohort import SPLITS
from mpd2.core.errors import TableError, UserError
from mpd2.core.table_file import cohort_from_frame
from mpd2.lab.imports.checks import check
from mpd2.lab.imports.splitting import SHARES, split_at_random, split_by_date

CLINIC = clinic(400)
TABLE = normalised(CLINIC)


def parts(frame: pd.DataFrame) -> pd.Series:
    return frame["split"].value_counts(normalize=True)


def test_the_parts_have_their_shares_of_rows_cohorts_and_truths() -> None:
    made = split_at_random(TABLE).frame
    assert parts(made)[list(SPLITS)].tolist() == pytest.approx(SHARES, abs=0.01)
    for column in ("truth", "site"):
        shares = made.groupby("split")[column].value_counts(normalize=True).unstack()
        assert (shares.max() - shares.min()).max() < 0.06


def test_the_same_number_makes_the_same_split_and_another_another() -> None:
    first, again, other = (split_at_random(TABLE, seed=seed).frame["split"].tolist() for seed in (3, 3, 4))
    assert first == again
    assert first != other


def test_the_split_is_told() -> None:
    assert split_at_random(TABLE, seed=5).notes[-1] == (
        "Split at random (number 5), stratified by cohort and truth: 45\xa0% train, 25\xa0% val and 30\xa0% test."
    )


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 9),
    st.integers(60, 200),
    st.tuples(st.floats(0.1, 1), st.floats(0.1, 1), st.floats(0.1, 1)),
    st.booleans(),
)
def test_no_cluster_is_divided_and_both_classes_are_in_every_part(
    seed: int, largest: int, cases: int, weights: tuple[float, float, float], by_date: bool
) -> None:
    random = np.random.default_rng(seed)
    sizes = random.integers(1, largest + 1, cases)
    patient = np.repeat(np.arange(cases), sizes)[:cases]
    frame = clinic(cases, seed % 1000).assign(patient=[f"p{number:04d}" for number in patient])
    assume(frame.groupby("patient")["truth"].max().eq("1").sum() >= 3 and frame["patient"].nunique() < cases)
    assume(frame.groupby("patient")["truth"].min().eq("0").sum() >= 3)
    table = normalised(frame, {"patient": "belongs together", "case_id": "case id", "site": "cohort"})
    total = sum(weights)
    shares = (weights[0] / total, weights[1] / total, 1 - (weights[0] + weights[1]) / total)
    made = pd.DataFrame()
    with suppress(UserError):  # not every table can be split, least of all by date
        made = (split_by_date(table, shares) if by_date else split_at_random(table, shares, seed)).frame
    if made.empty:
        assert by_date or cases < 12 * largest
        return
    assert made.groupby("patient")["split"].nunique().max() == 1
    assert set(made["split"]) == set(SPLITS)
    assert made.groupby("split")["truth"].nunique().min() == 2
    if not by_date:
        apart = parts(made)[list(SPLITS)].to_numpy() - np.array(shares)
        assert np.abs(apart).max() <= max(3 * largest, 9) / cases
    if by_date:
        latest = made.groupby("patient").agg({"visit_date": "max", "split": "first"})
        days = latest.groupby("split")["visit_date"]
        assert days.max()["train"] < days.min()["val"]
        assert days.max()["val"] < days.min()["test"]


def test_three_positives_are_enough_for_one_in_each_part() -> None:
    frame = clinic(300).assign(truth="0").drop(columns="patient")
    frame.loc[[10, 100, 200], "truth"] = "1"
    for seed in range(5):
        made = split_at_random(normalised(frame), seed=seed).frame
        assert made.loc[made["truth"] == "1", "split"].nunique() == 3


@pytest.mark.parametrize(
    ("positives", "patients", "message"),
    [
        ([10, 11], None, "found 1 patient with the truth positive, expected at least 3, one for each of train, val"),
        ([10, 100], None, "found 2 patients with the truth positive, expected at least 3"),
        ([1, 150, 299], 2, "found 2 patients, expected at least 3"),
    ],
)
def test_what_cannot_be_is_refused(positives: list[int], patients: int | None, message: str) -> None:
    frame = clinic(300).assign(truth="0")
    frame.loc[positives, "truth"] = "1"
    if patients:
        frame["patient"] = np.where(np.arange(300) % patients, "p1", "p0")
    table = normalised(frame, {"patient": "belongs together"})
    with pytest.raises(UserError, match=message):
        split_at_random(table)


@pytest.mark.parametrize("shares", [(0.5, 0.5, 0.0), (0.5, 0.4, 0.3), (1.2, -0.1, -0.1)])
def test_shares_must_be_above_zero_and_make_one(shares: tuple[float, float, float]) -> None:
    with pytest.raises(UserError, match="expected three above 0 that make 1"):
        split_at_random(TABLE, shares)
    with pytest.raises(UserError, match="expected three above 0 that make 1"):
        split_by_date(TABLE, shares)


def test_the_oldest_are_learned_from_and_the_newest_judged() -> None:
    made = split_by_date(TABLE)
    days = made.frame.assign(day=pd.to_datetime(made.frame["visit_date"])).groupby("split")["day"]
    assert days.median()["train"] < days.median()["val"] < days.median()["test"]
    assert made.notes[-1].startswith("Split by date: train up to 2024-")
    assert not [notice for notice in check(cohort_from_frame(made.frame, made.manifest)) if notice.error]


def test_a_split_by_date_needs_dates() -> None:
    with pytest.raises(UserError, match="no column of the table is a date"):
        split_by_date(normalised(CLINIC.drop(columns="visit_date")))
    gap = CLINIC.copy()
    gap.loc[[5, 9], "visit_date"] = ""
    with pytest.raises(TableError, match="row 7, column visit_date: found an empty cell") as caught:
        split_by_date(normalised(gap))
    assert caught.value.problems[0].also == (11,)
    two = CLINIC.assign(visit_date=np.where(np.arange(len(CLINIC)) % 2, "2024-01-01", "2024-01-02"))
    with pytest.raises(UserError, match=r"found [12] different dates"):
        split_by_date(normalised(two))


def test_a_part_by_date_without_a_class_is_refused() -> None:
    early = np.arange(len(CLINIC)) < 100
    with pytest.raises(UserError, match="no case of val would be positive"):
        split_by_date(normalised(CLINIC.assign(truth=np.where(early, CLINIC["truth"], "0"))))
