"""What is wrong with a table can be left out of it."""

from __future__ import annotations

import pandas as pd
import pytest
from foreign_tables import clinic, in_long_form, raw

from mpd2.core.errors import TableError
from mpd2.lab.imports.drafting import answer_words, draft, suggest
from mpd2.lab.imports.files import RawTable
from mpd2.lab.imports.matching import propose
from mpd2.lab.imports.mending import NOTHING, Omission, Tables, omission, without
from mpd2.lab.imports.normalise import Normalised, normalise
from mpd2.lab.imports.uses import Proposal

CLINIC = clinic()


def kept(tables: Tables, proposals: tuple[Proposal, ...]) -> Normalised:
    return normalise(*tables, draft(proposals, suggest(proposals)), answer_words(proposals))


def mended(cases: RawTable, readings: RawTable | None = None) -> tuple[Normalised, Omission]:
    """The table without all that is wrong, and what that is."""
    proposals = propose(cases, readings)
    with pytest.raises(TableError) as caught:
        kept((cases, readings), proposals)
    found = omission(caught.value.problems, proposals, (cases, readings))
    return kept(without((cases, readings), found, proposals), proposals), found


def spoilt() -> pd.DataFrame:
    frame = pd.concat([CLINIC, CLINIC.iloc[[17]]], ignore_index=True)
    frame.loc[4, "truth"] = ""
    frame.loc[9, "ai_probability"] = "ERR"
    frame.loc[9, "reader_1"] = "positve"
    frame.loc[12, "reader_1"] = "positve"
    return frame


def test_a_row_is_left_out_for_its_truth_ai_or_id_and_else_only_the_cell() -> None:
    table, found = mended(raw(spoilt()))
    assert found == Omission({"cases": frozenset({6, 11, 242})}, {"reader_1": frozenset({14})})
    assert found.in_words() == "3 rows left out and 1 cell left empty"
    assert table.frame["case_id"].tolist() == CLINIC.drop(index=[4, 9])["case_id"].tolist()
    assert table.frame.loc[14, "reader_1"] == ""


def test_readings_go_with_their_case_but_not_with_a_row_that_came_twice() -> None:
    cases, readings = in_long_form(CLINIC)
    cases = pd.concat([cases, cases.iloc[[17]]], ignore_index=True)
    cases.loc[4, "truth"] = ""
    wrong = readings.assign(answer=readings["answer"].where(readings["case_id"] != "c00020", "2"))
    table, found = mended(raw(cases), raw(wrong, "readings.csv"))
    assert {file: len(rows) for file, rows in found.rows.items()} == {
        "cases": 2, "readings": int((readings["case_id"] == "c00020").sum()),
    }  # fmt: skip
    ids = table.frame.set_index("case_id")
    assert "c00004" not in ids.index
    said = CLINIC.set_index("case_id").loc["c00017", ["reader_1", "reader_2", "reader_3"]]
    assert ids.loc["c00017", said.index].tolist() == said.tolist()
    assert (ids.loc["c00020", said.index] == "").all()


def test_nothing_is_left_out_where_much_is_wrong_or_a_column_is_not_there() -> None:
    cases = raw(CLINIC.assign(truth=["2"] * 60 + CLINIC["truth"].tolist()[60:]))
    proposals = propose(raw(CLINIC))
    with pytest.raises(TableError) as caught:
        kept((cases, None), proposals)
    assert omission(caught.value.problems, proposals, (cases, None)) == NOTHING
    cases = raw(CLINIC.drop(columns="age"))
    with pytest.raises(TableError) as caught:
        kept((cases, None), proposals)
    assert omission(caught.value.problems, proposals, (cases, None)) == NOTHING
    assert without((cases, None), NOTHING, proposals)[0] is cases
