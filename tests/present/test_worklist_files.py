"""Worklists to take to a clinic: clinical columns first, readable numbers, a sheet for each reader."""

from __future__ import annotations

import io
import zipfile

import pandas as pd
import pytest
from strategies import made_up_manifest

from mpd2.core.manifest import Manifest
from mpd2.present.documents.worklist_files import clinic_table, reader_files, reader_sheets


@pytest.fixture
def manifest() -> Manifest:
    return made_up_manifest(3)


@pytest.fixture
def rows(manifest: Manifest) -> pd.DataFrame:
    one, two, _ = (reader.name for reader in manifest.readers)
    columns = manifest.columns
    return pd.DataFrame({
        "case_id": ["kept-dear", "sent-cheap", "=1+1", "kept-cheap"], "cohort": "Here",
        "ai_answer": ["glaucoma", "healthy", "glaucoma", "healthy"],
        "ai_probability": [0.123456789, 0.5, 0.99996, 0.2], "reader": ["AI", one, two, "rule"],
        "then_1": [None, two, None, None], "decided_by": ["AI", "reader", "reader", "rule"],
        "answer": ["glaucoma", None, None, "healthy"], "reason": "Because.",
        "expected_cost": [0.8, 0.123456, 0.2, 0.1], "kept_cost": [0.8, 0.3, 0.9, 0.1],
        "place": [4, 2, 1, 3], "action": ["ai", columns[0], columns[1], "ai"], "margin": 0.123456789012345,
        "urgent": False, "votes": 10,
    })  # fmt: skip


def test_clinical_columns_come_first_with_digits_worth_reading(rows: pd.DataFrame) -> None:
    table = clinic_table(rows)
    assert table.columns.tolist() == [
        "case_id", "cohort", "ai_answer", "ai_probability", "assigned_to", "then_1", "decided_by", "answer",
        "reason", "expected_cost", "cost_if_kept", "urgent", "place", "votes",
    ]  # fmt: skip
    numbers = table.select_dtypes("float")
    assert all(len(str(number)) <= 6 for number in numbers.to_numpy().ravel())


def test_those_sent_come_first_and_then_the_costliest_to_keep(rows: pd.DataFrame) -> None:
    assert clinic_table(rows)["case_id"].tolist() == ["=1+1", "sent-cheap", "kept-dear", "kept-cheap"]


def test_a_case_that_the_rule_decides_is_not_called_the_ais(rows: pd.DataFrame) -> None:
    table = clinic_table(rows).set_index("case_id")
    assert table["decided_by"].to_dict() == {
        "=1+1": "a reader", "sent-cheap": "a reader", "kept-dear": "the AI's own word",
        "kept-cheap": "the rule against the AI",
    }  # fmt: skip


def test_each_reader_has_a_sheet_of_the_cases_to_read_first_and_later(rows: pd.DataFrame, manifest: Manifest) -> None:
    sheets = reader_sheets(rows, manifest)
    one, two, three = (reader.name for reader in manifest.readers)
    assert sheets[one][["case_id", "turn"]].to_numpy().tolist() == [["sent-cheap", "first"]]
    assert sheets[two][["case_id", "turn"]].to_numpy().tolist() == [["=1+1", "first"], ["sent-cheap", "second"]]
    assert three not in sheets
    assert not {"assigned_to", "then_1", "decided_by", "answer"} & set(sheets[one])
    assert {"ai_answer", "ai_probability", "reason"} <= set(sheets[one])


def test_the_files_hold_every_sheet_and_no_formula(rows: pd.DataFrame, manifest: Manifest) -> None:
    archive = zipfile.ZipFile(io.BytesIO(reader_files(rows, manifest)))
    names = archive.namelist()
    assert names[0] == "00-all-cases.csv"
    assert len(names) == 3
    for name in names:
        assert "/" not in name
        table = pd.read_csv(io.BytesIO(archive.read(name)))
        assert "=1+1" not in set(table["case_id"])
    assert "'=1+1" in archive.read(names[0]).decode()
