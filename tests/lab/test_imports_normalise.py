"""The table that is kept: how cells are read, and how problems are told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from foreign_tables import READERS, as_csv, clinic, drafted, in_long_form, normalised, raw
from hypothesis import given, settings
from hypothesis import strategies as st
from places import DATA

from mpd2.core.errors import TableError
from mpd2.core.manifest import load_manifest
from mpd2.core.table_file import cohort_from_frame, fingerprint, read_cohort, table_bytes
from mpd2.lab.imports.drafting import answer_words, draft, suggest
from mpd2.lab.imports.files import read_path, read_table
from mpd2.lab.imports.matching import propose
from mpd2.lab.imports.normalise import normalise
from mpd2.lab.imports.splitting import split_at_random

CLINIC = clinic()


def complaints(frame: pd.DataFrame, like: pd.DataFrame = CLINIC) -> list[str]:
    """What is said of a table that should be like another."""
    with pytest.raises(TableError) as caught:
        normalise(raw(frame), None, drafted(like))
    return str(caught.value).splitlines()


def with_cell(row: int, column: str, cell: str) -> pd.DataFrame:
    frame = CLINIC.copy()
    frame.loc[row - 2, column] = cell
    return frame


def test_a_table_that_is_well_written_is_kept_to_the_letter() -> None:
    kept = normalised(CLINIC)
    assert table_bytes(kept.frame) == as_csv(CLINIC)
    assert not kept.has_split
    assert kept.notes == ()


def test_the_benchmark_is_kept_to_the_letter_and_has_its_fingerprint() -> None:
    table, manifest = read_path(DATA / "glaucoma.csv"), load_manifest(DATA / "manifest.toml")
    kept = normalise(table, None, manifest)
    data = table_bytes(kept.frame)
    assert data == (DATA / "glaucoma.csv").read_bytes()
    assert fingerprint(data, manifest) == "96452069f8c05d86"
    assert cohort_from_frame(kept.frame, manifest).fingerprint == "96452069f8c05d86"


def test_columns_nobody_asked_for_are_not_kept() -> None:
    assert list(normalised(CLINIC.assign(last_name="Doe")).frame) == list(CLINIC)


@settings(max_examples=30)
@given(
    st.sampled_from([("no", "yes"), ("nein", "JA"), ("non", "oui"), ("FALSE", "TRUE"), ("0.0", "1.0"), ("neg", "pos")]),
    st.sampled_from([",", ";", "\t"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", "NA", "n/a", "NaN"]),
    st.sampled_from(["utf-8-sig", "utf-16", "latin-1"]),
)
def test_the_same_cases_come_out_whatever_the_way_of_writing(
    words: tuple[str, str], separator: str, commas: bool, long: bool, nothing: str, encoding: str
) -> None:
    meaning = dict(zip(("0", "1"), words, strict=True))
    frame = CLINIC.assign(site=CLINIC["site"].map({"north": "Zürich", "south": "south"}))
    expected = normalised(frame)
    foreign = frame.replace(dict.fromkeys(("truth", *READERS), meaning)).replace(
        {reader: {"": nothing} for reader in READERS}
    )
    if commas:
        foreign["ai_probability"] = [cell.replace(".", ",") for cell in foreign["ai_probability"]]
    readings = None
    if long:
        foreign, rows = in_long_form(foreign)
        readings = read_table(as_csv(rows, separator, encoding), "readings.csv")
    table = read_table(as_csv(foreign, separator, encoding), "cases.csv")
    proposals = propose(table, readings)
    found = normalise(table, readings, draft(proposals, suggest(proposals)), answer_words(proposals))
    for column in expected.frame:
        left, right = found.frame[column].tolist(), expected.frame[column].tolist()
        if column == "ai_probability":
            assert list(map(float, left)) == list(map(float, right))
        else:
            assert left == right
    np.testing.assert_array_equal(
        cohort_from_frame(found.frame, found.manifest, "routing").decisions,
        cohort_from_frame(expected.frame, expected.manifest, "routing").decisions,
    )


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("case_id", "c00000", "found c00000, expected an id that no row above has."),
        ("case_id", "", "found an empty cell, expected a name for each case."),
        ("case_id", "x" * 101, f"found {'x' * 40}…, expected at most 100 characters."),
        ("patient", "", "found an empty cell, expected which rows belong together."),
        ("site", "west", "found west, expected one of north, south."),
        ("visit_date", "soon", "found soon, expected a date such as 2024-03-01."),
        ("visit_date", "2024-13-40", "found 2024-13-40, expected a date such as 2024-03-01."),
        ("truth", "2", "found 2, expected 0 or 1, or negative or positive."),
        ("truth", "", "found an empty cell, expected 0 or 1, or negative or positive."),
        ("truth", "maybe", "found maybe, expected 0 or 1, or negative or positive."),
        ("ai_probability", "high", "found high, expected a number from 0 to 1."),
        ("ai_probability", "", "found an empty cell, expected a number from 0 to 1."),
        ("ai_probability", "1.2", "found 1.2, expected a number from 0 to 1."),
        ("ai_probability", "0,5", "found 0,5, expected a number from 0 to 1."),
        ("age", "old", "found old, expected a number."),
        ("age", "", "found an empty cell, expected a number."),
        ("age", "1e9", "found 1e9, expected a number from -1e+06 to 1e+06."),
        ("age", "inf", "found inf, expected a number."),
        ("sex", "X", "found X, expected one of F, M."),
        ("sex", "", "found an empty cell, expected one of F, M."),
        ("reader_2", "perhaps", "found perhaps, expected 0 or 1, or yes or no, or empty."),
        ("reader_2", "3", "found 3, expected 0 or 1, or yes or no, or empty."),
    ],
)
def test_a_bad_cell_is_named_with_its_row_and_what_is_allowed(column: str, cell: str, message: str) -> None:
    assert complaints(with_cell(57, column, cell)) == [f"cases.csv, row 57, column {column}: {message}"]


def test_rows_are_those_of_the_persons_own_spreadsheet() -> None:
    text = "Registry\nexported,2024\n\n" + as_csv(with_cell(57, "truth", "2")).decode()
    table = read_table(text.encode(), "cases.csv")
    with pytest.raises(TableError, match="row 60, column truth: found 2"):
        normalise(table, None, drafted(CLINIC))


def test_every_problem_is_told_at_once() -> None:
    frame = with_cell(3, "truth", "2")
    frame.loc[[3, 7], "truth"] = "7"
    frame.loc[10, "age"] = "old"
    frame["reader_3"] = ""
    assert complaints(frame.drop(columns="sex")) == [
        "cases.csv, row 3, column truth: found 2, expected 0 or 1, or negative or positive. "
        "2 more rows have the same problem: 5, 9.",
        "cases.csv, row 12, column age: found old, expected a number.",
        "cases.csv, column sex: found no such column, expected a column of this name in the table.",
        "cases.csv, column reader_3: found no reading at all, expected a reader who has read at least one case.",
    ]


@settings(max_examples=30)
@given(
    st.sets(
        st.tuples(st.integers(2, len(CLINIC) + 1), st.sampled_from(["truth", "age", "reader_1", "site", "sex"])),
        min_size=1,
        max_size=12,
    )
)
def test_every_planted_problem_is_found_in_its_place(places: set[tuple[int, str]]) -> None:
    frame = CLINIC.copy()
    for row, column in places:
        frame.loc[row - 2, column] = "rubbish!"
    with pytest.raises(TableError) as caught:
        normalise(raw(frame), None, drafted(CLINIC))
    found = {(row, each.column) for each in caught.value.problems for row in (each.row, *each.also)}
    assert found == places


def test_dates_become_days_in_one_order() -> None:
    def days(cells: list[str]) -> list[str]:
        return (
            normalised(CLINIC.assign(visit_date=(cells * len(CLINIC))[: len(CLINIC)])).frame["visit_date"][:2].tolist()
        )

    assert days(["01.03.2024", "15.03.2024"]) == ["2024-03-01", "2024-03-15"]
    assert days(["1/3/2024", "15/3/2024"]) == ["2024-03-01", "2024-03-15"]
    assert days(["3/1/2024", "3/15/2024"]) == ["2024-03-01", "2024-03-15"]
    assert days(["20240301", "20240315"]) == ["2024-03-01", "2024-03-15"]
    assert days(["2024-03-01T08:30:00", "2024-03-15 00:00:00"]) == ["2024-03-01 08:30:00", "2024-03-15"]
    assert days(["01.03.24", "15.03.99"]) == ["2024-03-01", "1999-03-15"]


def test_a_day_and_month_that_cannot_be_told_apart_are_noted() -> None:
    frame = CLINIC.assign(visit_date=np.where(np.arange(len(CLINIC)) % 2, "03/04/2024", "05/06/2024"))
    kept = normalised(frame)
    assert kept.frame["visit_date"][:2].tolist() == ["2024-06-05", "2024-04-03"]
    assert any("day is taken to stand before the month" in note for note in kept.notes)


def test_decimal_commas_are_read_and_told_but_never_mixed_with_points() -> None:
    commas = CLINIC.assign(ai_probability=[cell.replace(".", ",") for cell in CLINIC["ai_probability"]])
    kept = normalised(commas)
    assert list(map(float, kept.frame["ai_probability"])) == list(map(float, CLINIC["ai_probability"]))
    assert any("decimal commas" in note for note in kept.notes)
    assert complaints(with_cell(9, "ai_probability", "0,5"))[0].startswith("cases.csv, row 9, column ai_probability")


def test_per_cent_become_shares() -> None:
    chance = CLINIC["ai_probability"].astype(float)
    for cells in ([f"{value:.2%}" for value in chance], [f"{100 * value:.2f}" for value in chance]):
        kept = normalised(CLINIC.assign(ai_probability=cells))
        np.testing.assert_allclose(kept.frame["ai_probability"].astype(float), chance, atol=1e-9)
        assert any("per cent" in note for note in kept.notes)


def test_inputs_that_may_be_missing_stay_empty_and_become_an_indicator() -> None:
    frame = CLINIC.copy()
    frame.loc[[4, 9], "age"] = ["NA", ""]
    kept = split_at_random(normalised(frame))
    assert kept.frame["age"].iloc[[4, 9]].tolist() == ["", ""]
    cohort = cohort_from_frame(kept.frame, kept.manifest)
    assert cohort.column("age is missing").nonzero()[0].tolist() == [4, 9]


def test_cases_without_a_cohort_get_one_of_their_own() -> None:
    frame = CLINIC.copy()
    frame.loc[:30, "site"] = ""
    kept = normalised(frame)
    assert set(kept.frame["site"]) == {"north", "south", "unknown"}
    assert any("31 cases without one" in note for note in kept.notes)


def test_cases_without_names_are_called_by_their_row() -> None:
    kept = normalised(CLINIC.drop(columns="case_id"))
    assert kept.frame["case_id"][:2].tolist() == ["row 2", "row 3"]
    assert next(iter(kept.frame)) == "case_id"


def test_splits_in_other_words_are_taken() -> None:
    parts = np.array(["Training", "validation", "hold-out"])[np.arange(len(CLINIC)) % 3]
    kept = normalised(CLINIC.assign(subset=parts))
    assert kept.has_split
    assert kept.frame["subset"][:3].tolist() == ["train", "val", "test"]


def test_words_of_the_truth_are_read_as_the_manifest_has_them() -> None:
    frame = CLINIC.replace({column: {"0": "naevus", "1": "melanoma"} for column in ("truth", *READERS)})
    assert normalised(frame).frame["truth"].tolist() == CLINIC["truth"].tolist()
    assert normalised(frame).frame["reader_1"].tolist() == CLINIC["reader_1"].tolist()


def long_tables() -> tuple[pd.DataFrame, pd.DataFrame]:
    cases, readings = in_long_form(CLINIC)
    return cases, readings.reset_index(drop=True)


def pivot(cases: pd.DataFrame, readings: pd.DataFrame) -> list[str]:
    good, rows = long_tables()
    proposals = propose(raw(good), raw(rows, "readings.csv"))
    with pytest.raises(TableError) as caught:
        normalise(raw(cases), raw(readings, "readings.csv"), draft(proposals, suggest(proposals)))
    return str(caught.value).splitlines()


def test_two_readings_that_differ_are_a_problem_that_names_both_rows() -> None:
    cases, readings = long_tables()
    again = readings.iloc[[7]].assign(answer="1" if readings["answer"][7] == "0" else "0")
    who, case = readings["who"][7], readings["case_id"][7]
    assert pivot(cases, pd.concat([readings, again])) == [
        f"readings.csv, row {len(readings) + 2}, column answer: found {again['answer'].iloc[0]} by {who} for {case}, "
        f"expected {readings['answer'][7]} as in row 9, for a reader reads a case once."
    ]


def test_a_reading_that_comes_again_is_counted_once_with_a_note() -> None:
    cases, readings = long_tables()
    twice = raw(pd.concat([readings, readings.iloc[[7, 8]]]), "readings.csv")
    proposals = propose(raw(cases), twice)
    kept = normalise(raw(cases), twice, draft(proposals, suggest(proposals)))
    assert kept.frame[list(READERS)].to_numpy().tolist() == CLINIC[list(READERS)].to_numpy().tolist()
    assert any("2 readings come again" in note for note in kept.notes)


def test_readings_of_nobody_and_of_no_case_are_named_in_their_file() -> None:
    cases, readings = long_tables()
    readings.loc[3, "case_id"] = "c99999"
    readings.loc[4, "who"] = "a stranger"
    readings.loc[5, "answer"] = "perhaps"
    assert pivot(cases, readings) == [
        "readings.csv, row 5, column case_id: found c99999, expected a case of cases.csv.",
        "readings.csv, row 6, column who: found a stranger, expected one of reader_1, reader_2, reader_3.",
        "readings.csv, row 7, column answer: found perhaps, expected 0 or 1, or yes or no.",
    ]


def test_problems_of_both_files_are_told_together() -> None:
    cases, readings = long_tables()
    cases.loc[0, "truth"] = "2"
    readings.loc[5, "answer"] = "perhaps"
    assert [line.split(",")[0] for line in pivot(cases, readings)] == ["cases.csv", "readings.csv"]


def test_what_is_kept_can_be_read_again_as_the_same_cases() -> None:
    kept = split_at_random(normalised(CLINIC))
    again = read_cohort(table_bytes(kept.frame), "table.csv", kept.manifest)
    here = cohort_from_frame(kept.frame, kept.manifest)
    assert again.fingerprint == here.fingerprint
    np.testing.assert_array_equal(again.state, here.state)
    np.testing.assert_array_equal(again.cluster, here.cluster)
