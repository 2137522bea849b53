"""What is odd about a table, and what can be known with so many cases."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from foreign_tables import READERS, clinic, drafted, normalised, raw

from mpd2.core.cohort import Cohort
from mpd2.core.manifest import Input
from mpd2.core.table_file import cohort_from_frame
from mpd2.lab.imports.checks import Notice, check, known
from mpd2.lab.imports.normalise import normalise
from mpd2.lab.imports.splitting import split_at_random

CLINIC = clinic(300)


def cohort_of(frame: pd.DataFrame, uses: dict[str, str] | None = None, split: bool = True) -> Cohort:
    table = normalised(frame, uses)
    table = split_at_random(table) if split and not table.has_split else table
    return cohort_from_frame(table.frame, table.manifest)


def notices(frame: pd.DataFrame, uses: dict[str, str] | None = None) -> tuple[Notice, ...]:
    return check(cohort_of(frame, uses))


def texts(frame: pd.DataFrame, uses: dict[str, str] | None = None) -> list[str]:
    return [notice.text for notice in notices(frame, uses)]


def test_a_sound_table_has_nothing_odd() -> None:
    assert notices(CLINIC) == ()


def test_a_small_table_is_an_error() -> None:
    (notice,) = [each for each in notices(clinic(100)) if each.error]
    assert notice.text == "The table has 100 rows; at least 150 are needed."


def test_readers_who_have_read_few_or_no_positives_are_named() -> None:
    frame = CLINIC.copy()
    sick = np.flatnonzero(frame["truth"] == "1")
    frame.loc[sick[4:], "reader_1"] = ""
    frame.loc[sick[:4], "reader_1"] = "1"
    frame.loc[sick, "reader_2"] = ""
    assert texts(frame) == [
        "Reader 1: only 4 positives read, so that little is known of misses.",
        "Reader 2: no positives read, so that little is known of misses.",
    ]


def with_split(frame: pd.DataFrame) -> pd.DataFrame:
    """The table with a split of whole patients."""
    number = frame["patient"].str[1:].astype(int)
    return frame.assign(split=np.array(["train", "val", "test"])[number % 3])


def test_a_reader_who_read_nothing_in_train_is_named() -> None:
    frame = with_split(CLINIC)
    frame.loc[frame["split"] == "train", "reader_3"] = ""
    assert "Reader 3: nothing read in train, so that nothing can be learned of this reader." in texts(frame)


def test_a_class_that_a_split_does_not_have_is_an_error() -> None:
    frame = with_split(CLINIC)
    frame.loc[frame["split"] == "val", "truth"] = "0"
    errors = [notice for notice in notices(frame) if notice.error]
    assert [notice.text for notice in errors] == ["No case of val is positive."]
    frame["split"] = frame["split"].replace("test", "train")
    assert "No case is in test." in texts(frame)


def test_a_patient_in_two_splits_is_an_error() -> None:
    frame = with_split(CLINIC)
    frame.loc[[3, 8], "split"] = ["val" if part != "val" else "test" for part in frame.loc[[3, 8], "split"]]
    (notice,) = [each for each in notices(frame) if each.error]
    assert notice.text.startswith("2 patients are in more than one split (that of c00002 and c00008)")
    assert (notice.column, notice.rows) == ("patient", (5, 11))


def test_constant_and_empty_inputs_tell_nothing() -> None:
    assert texts(CLINIC.assign(age="50"), {"age": "input, other"}) == ["age is 50 in every row: it tells nothing."]
    assert texts(CLINIC.assign(ai_probability="0.3"), {"ai_probability": "AI, probability"}) == [
        "The AI's answer is the same in every row: it tells nothing."
    ]


def test_rows_that_are_there_twice_are_named() -> None:
    frame = CLINIC.copy()
    frame.loc[7] = frame.loc[6]
    frame.loc[7, "case_id"] = "another"
    (notice,) = notices(frame)
    assert notice.text == "1 row is the same as a row above in every cell but the id: are cases in the table twice?"
    assert notice.rows == (9,)


def test_rows_are_told_as_the_persons_spreadsheet_counts_them() -> None:
    frame = CLINIC.copy()
    frame.loc[7] = frame.loc[6]
    frame.loc[7, "case_id"] = "another"
    cohort = cohort_of(frame)
    assert check(cohort, range(100, 400))[0].rows == (107,)


def test_a_truth_that_is_a_reader_is_suspected() -> None:
    assert texts(CLINIC.assign(reader_1=CLINIC["truth"])) == [
        "Reader 1: every answer agrees with the truth. Was the truth made from these readings (leakage)?"
    ]
    nearly = CLINIC["truth"].copy()
    nearly[5] = "0" if nearly[5] == "1" else "1"
    assert texts(CLINIC.assign(reader_1=nearly)) == [
        "Reader 1: 99.7\xa0% of answers agree with the truth. Was the truth made from these readings (leakage)?"
    ]


def test_a_reader_who_always_says_no_is_not_suspected_where_positives_are_rare() -> None:
    frame = clinic(2000).assign(truth="0", reader_1="0")
    frame.loc[range(0, 2000, 160), "truth"] = "1"
    assert not [text for text in texts(frame) if "leakage" in text and text.startswith("Reader 1")]


@pytest.mark.parametrize("sign", [1, -1])
def test_an_input_that_is_the_truth_is_suspected(sign: int) -> None:
    leak = sign * CLINIC["truth"].astype(float) + np.linspace(0, 0.4, len(CLINIC))
    assert texts(CLINIC.assign(leak=leak.round(4)), {"leak": "input, other"}) == [
        "leak separates positives from all others without a mistake. Was it made from the truth (leakage)? "
        "Then leave it out: nobody knows it before the truth is known."
    ]


def test_an_input_that_nearly_is_the_truth_is_suspected() -> None:
    leak = CLINIC["truth"].astype(float) + np.linspace(0, 0.4, len(CLINIC))
    leak[np.flatnonzero(CLINIC["truth"] == "1")[0]] = 0.39
    (text,) = texts(CLINIC.assign(leak=leak.round(4)), {"leak": "input, other"})
    assert text.startswith("leak tells the truth almost without a mistake (AUC 0.99")


def test_numbers_outside_their_usual_range_are_named() -> None:
    frame = CLINIC.copy()
    manifest = drafted(frame)
    frame.loc[[3, 4], "age"] = ["170", "-2"]
    table = split_at_random(normalise(raw(frame), None, manifest))
    (notice,) = check(cohort_from_frame(table.frame, manifest))
    assert notice.text == "age is outside its usual range (0 to 120) in 2 rows."
    assert (notice.column, notice.rows) == ("age", (5, 6))
    one = manifest.but(inputs=(Input(column="age", low=10.0),))
    kept = cohort_from_frame(table.frame.drop(columns="sex"), one)
    assert check(kept)[0].text == "age is outside its usual range (from 10) in 1 row."


def test_cohorts_with_few_cases_are_named() -> None:
    frame = CLINIC.copy()
    frame["site"] = "north"
    frame.loc[:11, "site"] = "south"
    assert texts(frame) == ["Little can be said of cohorts with fewer than 30 cases: south (12)."]


def known_with(positives: int, negatives: int, **changes: object) -> tuple[str, ...]:
    cases = positives + negatives + 40
    split = np.where(np.arange(cases) < 40, np.where(np.arange(cases) % 2, "train", "val"), "test")
    truth = np.where(np.arange(cases) < 40, np.arange(cases) // 2 % 2, np.arange(cases) < 40 + positives).astype(str)
    return known(cohort_of(clinic(cases).assign(split=split, truth=truth, **changes), split=False))


def test_what_can_be_known_with_so_many_cases_is_told() -> None:
    assert known_with(34, 226)[:2] == (
        "With 34 positives in test, sensitivity is known to ±\xa012 points.",
        "With 226 cases that are negative in test, specificity is known to ±\xa05 points.",
    )


def test_intervals_are_said_to_count_patients() -> None:
    assert known_with(34, 226)[2] == (
        "Intervals count patients, not rows: test has 130 patients in 260 rows, so they can be wider."
    )


def test_without_a_positive_in_test_nothing_is_known_of_sensitivity() -> None:
    assert known_with(0, 260)[0] == "With no positives in test, sensitivity cannot be known."


def test_readers_stand_in_the_order_of_the_table() -> None:
    assert cohort_of(CLINIC).manifest.columns == READERS
