"""Intervals by group: wider where the rows of a group err together, the same where every row is alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mpd2.core.cohort import Cohort
from mpd2.core.policy import NOBODY, Decisions
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import resample_weights
from mpd2.study.analyses.by_group import SHOWN, by_group, group_rows, group_words
from mpd2.study.tables import StudyTables

SIZE = 6  # rows of a group


@pytest.fixture(scope="module")
def rows(held_out: Cohort) -> pd.DataFrame:
    """A method that errs in whole groups."""
    groups = np.arange(len(held_out)) // SIZE
    cohort = replace(held_out, cluster=groups)
    wrong = np.random.default_rng(0).random(groups.max() + 1)[groups] < 0.2
    label = np.where(wrong, 1 - cohort.truth, cohort.truth)[None]
    made = Decisions(np.full((1, len(cohort), 1), NOBODY), label)
    evidence = Evidence(cohort, cohort.manifest.default_costs(), {"m": Outcome("M", None, made)})
    return by_group(evidence, resample_weights(cohort))


def test_rows_that_err_together_make_intervals_wider(rows: pd.DataFrame) -> None:
    assert set(rows["metric"]) == set(SHOWN)
    cost = rows[rows["metric"] == "TotalCost"].iloc[0]
    ratio = (cost["high"] - cost["low"]) / (cost["row_high"] - cost["row_low"])
    assert 0.7 * np.sqrt(SIZE) < ratio < 1.3 * np.sqrt(SIZE)
    assert cost["low"] < cost["row_low"] < cost["value"] < cost["row_high"] < cost["high"]
    assert (cost["n"], cost["groups"]) == (899, 150)


def test_both_intervals_stand_side_by_side_and_the_words_follow(rows: pd.DataFrame, held_out: Cohort) -> None:
    tables = StudyTables({"groups": rows}, held_out.manifest)
    head, line = group_rows(tables)
    assert head == ["method", "Sens, by group", "Sens, row by row", "TotalCost, by group", "TotalCost, row by row"]
    assert line[0] == "M"
    words = group_words(tables)
    assert "(150 of them, 899 rows)" in words
    assert float(words.split("intervals are ")[1].split(" times")[0]) > 1.5
