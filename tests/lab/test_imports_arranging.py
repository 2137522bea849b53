"""Files that are laid out in another way than one row a case."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from foreign_tables import READERS, clinic, in_long_form, raw
from hypothesis import given, settings
from hypothesis import strategies as st
from places import DATA

from mpd2.core.errors import TableError
from mpd2.lab.imports.arranging import arranged
from mpd2.lab.imports.drafting import answer_words, draft, suggest
from mpd2.lab.imports.files import RawTable, read_path
from mpd2.lab.imports.matching import Use, propose
from mpd2.lab.imports.normalise import normalise

CLINIC = clinic()


def in_one_file(frame: pd.DataFrame) -> pd.DataFrame:
    """One row a reading, with all that is known of the case in each."""
    cases, readings = in_long_form(frame)
    return readings.merge(cases, on="case_id").reset_index(drop=True)


def said(cases: RawTable, readings: RawTable | None) -> pd.DataFrame:
    """What every reader said of every case."""
    proposals = propose(cases, readings)
    kept = normalise(cases, readings, draft(proposals, suggest(proposals)), answer_words(proposals))
    return kept.frame.set_index("case_id")[list(READERS)].sort_index()


@settings(max_examples=15)
@given(st.integers(0, 1000), st.sampled_from([("0", "1"), ("nein", "ja"), ("healthy", "ill")]))
def test_one_file_with_a_row_a_reading_is_taken_apart(seed: int, words: tuple[str, str]) -> None:
    frame = clinic(60, seed)
    foreign = in_one_file(frame)
    foreign["answer"] = foreign["answer"].map(dict(zip("01", words, strict=True)))
    foreign["truth"] = foreign["truth"].map(dict(zip("01", words, strict=True)))
    foreign["seconds"] = [str(5 + n % 17) for n in range(len(foreign))]
    cases, readings = arranged(raw(foreign))
    assert readings is not None
    assert len(cases) == foreign["case_id"].nunique()
    assert set(readings.cells) == {"case_id", "who", "answer", "seconds"}
    expected = frame.set_index("case_id")[list(READERS)].loc[sorted(foreign["case_id"].unique())]
    assert said(cases, readings).to_numpy().tolist() == expected.to_numpy().tolist()
    assert any("One row is one reading" in note for note in cases.notes)


def test_rows_of_a_file_taken_apart_are_still_those_of_the_file() -> None:
    foreign = in_one_file(CLINIC)
    cases, readings = arranged(raw(foreign))
    assert readings is not None
    assert readings.cells.index.tolist() == list(range(2, len(foreign) + 2))
    first = foreign.drop_duplicates("case_id").index + 2
    assert cases.cells.index.tolist() == first.tolist()


def test_a_reader_is_known_by_what_stands_in_the_column_if_not_by_its_name() -> None:
    renamed = in_one_file(CLINIC).rename(columns={"who": "column q"})
    assert arranged(raw(renamed))[1] is not None


@pytest.mark.parametrize("readers", [READERS, READERS[:1]])
def test_a_second_file_with_a_column_a_reader_is_put_beside_the_cases(readers: tuple[str, ...]) -> None:
    frame = CLINIC.drop(columns=[name for name in READERS if name not in readers])
    second = frame[["case_id", *readers]].sample(frac=0.9, random_state=3).rename(columns={"case_id": "Bild"})
    cases, readings = arranged(raw(frame.drop(columns=list(readers))), raw(second, "readings.csv"))
    assert readings is None
    there = frame["case_id"].isin(second["Bild"])
    for reader in readers:
        assert cases.cells[reader].tolist() == np.where(there, frame[reader], "").tolist()
        assert {each.use for each in propose(cases) if each.column == reader} == {Use.READER}
    assert any("beside the cases with the same case_id" in note for note in cases.notes)


def test_a_column_that_both_files_have_is_numbered() -> None:
    second = CLINIC[["case_id", "site", *READERS]]
    cases, _ = arranged(raw(CLINIC.drop(columns=list(READERS))), raw(second, "readings.csv"))
    assert cases.cells["site (2)"].tolist() == CLINIC["site"].tolist()


def test_readings_of_cases_that_are_not_there_are_named_in_their_file() -> None:
    second = CLINIC[["case_id", *READERS]].copy()
    second.loc[[4, 6], "case_id"] = ["stranger", "another"]
    with pytest.raises(TableError, match=r"^readings\.csv, row 6, column case_id: found stranger") as caught:
        arranged(raw(CLINIC.drop(columns=list(READERS))), raw(second, "readings.csv"))
    assert caught.value.problems[0].also == (8,)


def test_files_laid_out_as_expected_stay_as_they_are() -> None:
    cases, readings = (raw(frame) for frame in in_long_form(CLINIC))
    assert arranged(cases, readings) == (cases, readings)
    for table in (raw(CLINIC), cases, read_path(DATA / "glaucoma.csv")):
        assert arranged(table) == (table, None)
