"""Reading tables: what is accepted, and what is said about everything else."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import ROOT
from strategies import STATE, cohorts, made_up_manifest

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.errors import Problem, TableError, UserError
from mpd2.core.manifest import Manifest
from mpd2.core.table_file import (
    Purpose,
    cohort_from_frame,
    load_cohort,
    problems_frame,
    read_cohort,
    table_bytes,
    write_template,
)

MANIFEST = made_up_manifest(3)

TABLE = """\
case_id,cohort,split,y_true,reader_0,reader_1,reader_2,logit_0,logit_1,vim_risk_z,quality_risk,vCDR,hCDR,aCDR
a,north,train,0,0,1,,2.0,-2.0,0.5,0.4,0.45,0.40,0.30
b,south,val,1,,1,1,-1.5,1.5,12.5,0.9,0.70,0.65,0.55
c,north,test,1,,,,0.0,0.0,-1.0,0.0,1.0,,1.0
d,south,train,0,0,0,1,700,-700,39.0,1.0,0.20,0.25,0.10
"""


def grid() -> pd.DataFrame:
    """The good table as text, its rows numbered as in a spreadsheet."""
    header, *rows = (line.split(",") for line in TABLE.splitlines())
    return pd.DataFrame(rows, columns=header, index=range(2, 2 + len(rows)))


def as_csv(cells: pd.DataFrame) -> bytes:
    return cells.to_csv(index=False).encode()


def read(
    data: bytes | str, purpose: Purpose = "training", name: str = "t.csv", manifest: Manifest = MANIFEST
) -> Cohort:
    return read_cohort(data.encode() if isinstance(data, str) else data, name, manifest, purpose)


def complaint(data: bytes | str, purpose: Purpose = "training", name: str = "t.csv") -> str:
    with pytest.raises(TableError) as caught:
        read(data, purpose, name)
    return str(caught.value)


def test_a_good_table_becomes_aligned_arrays() -> None:
    cohort = read(TABLE)
    assert cohort.ids.tolist() == ["a", "b", "c", "d"]
    assert cohort.sources.tolist() == ["north", "south", "north", "south"]
    assert cohort.split.tolist() == ["train", "val", "test", "train"]
    assert cohort.truth.tolist() == [0, 1, 1, 0]
    assert cohort.decisions.tolist() == [[0, 1, -1], [-1, 1, 1], [-1, -1, -1], [0, 0, 1]]
    assert cohort.available.tolist() == [[True, True, False], [False, True, True], [False] * 3, [True] * 3]
    assert cohort.column("vim_risk_z").tolist() == [0.5, 12.5, -1.0, 39.0]
    assert cohort.column("quality_risk").tolist() == [0.4, 0.9, 0.0, 1.0]
    assert cohort.column("vCDR").tolist() == [0.45, 0.70, 1.0, 0.20]
    assert cohort.column("aCDR").tolist() == [0.30, 0.55, 1.0, 0.10]
    np.testing.assert_array_equal(cohort.drawn[:, 0], [0.40, 0.65, np.nan, 0.25])


def test_probability_and_uncertainty_are_the_softmax_of_the_logits_even_when_these_are_huge() -> None:
    cohort = read(TABLE)
    odds = np.exp([-4.0, 3.0, 0.0])
    np.testing.assert_allclose(cohort.ai_probability, [*(odds / (1 + odds)), 0.0], atol=1e-15)
    np.testing.assert_allclose(cohort.column("uncertainty"), [*(1 / (1 + np.exp([4.0, 3.0, 0.0]))), 0.0], atol=1e-15)


def test_a_case_without_any_reader_is_legal() -> None:
    assert not read(TABLE).available[2].any()


@pytest.mark.parametrize(
    ("row", "column", "cell", "message"),
    [
        (3, "case_id", "a", "found a, expected an id that no row above has."),
        (3, "case_id", "", "found an empty cell, expected an id of 1 to 100 characters."),
        (4, "cohort", "west", "found west, expected one of north, south."),
        (5, "split", "holdout", "found holdout, expected one of train, val, test."),
        (2, "y_true", "2", "found 2, expected 0 or 1."),
        (2, "y_true", "", "found an empty cell, expected 0 or 1."),
        (2, "reader_0", "yes", "found yes, expected 0 or 1, or empty."),
        (2, "reader_0", "0.5", "found 0.5, expected 0 or 1, or empty."),
        (3, "logit_0", "high", "found high, expected a finite number."),
        (3, "logit_1", "1,5", "found 1,5, expected a finite number."),
        (3, "vim_risk_z", "NaN", "found NaN, expected a finite number."),
        (3, "vim_risk_z", "-inf", "found -inf, expected a finite number."),
        (3, "vim_risk_z", "inf", "found inf, expected a finite number."),
        (3, "vim_risk_z", "", "found an empty cell, expected a finite number."),
        (3, "vim_risk_z", "1e30", "found 1e30, expected a number from -1000000 to 1000000."),
        (3, "logit_0", "-1000001", "found -1000001, expected a number from -1000000 to 1000000."),
        (5, "quality_risk", "1.01", "found 1.01, expected a number from 0 to 1."),
        (5, "vCDR", "-0.1", "found -0.1, expected a number from 0 to 1."),
        (5, "aCDR", "inf", "found inf, expected a number from 0 to 1."),
        (5, "hCDR", "wide", "found wide, expected a number from 0 to 1, or empty."),
    ],
)
def test_a_bad_cell_is_named_with_what_was_found_and_what_is_allowed(
    row: int, column: str, cell: str, message: str
) -> None:
    cells = grid()
    cells.loc[row, column] = cell
    assert complaint(as_csv(cells)) == f"t.csv, row {row}, column {column}: {message}"


def test_every_problem_of_a_file_is_reported_at_once() -> None:
    cells = grid().drop(columns="aCDR")
    cells.loc[[3, 4, 5], "y_true"] = ["2", "-1", "maybe"]
    cells.loc[4, "case_id"] = "b"
    cells["reader_1"] = ""
    assert complaint(as_csv(cells)).splitlines() == [
        "t.csv, column aCDR: found no such column, expected a number from 0 to 1.",
        "t.csv, row 4, column case_id: found b, expected an id that no row above has.",
        "t.csv, row 3, column y_true: found 2, expected 0 or 1. 2 more rows have the same problem: 4, 5.",
        "t.csv, column reader_1: found only empty cells, expected 0 or 1 in at least one row.",
    ]


def test_further_rows_are_listed_up_to_a_handful() -> None:
    cells = pd.concat([grid()] * 12, ignore_index=True)
    cells["case_id"] = [f"case {i}" for i in range(48)]
    cells["y_true"] = "7"
    assert complaint(as_csv(cells)).endswith("47 more rows have the same problem: 3, 4, 5, 6, 7 and 42 more.")
    assert complaint(as_csv(cells[:2])).endswith(
        "t.csv, row 2, column y_true: found 7, expected 0 or 1. 1 more row has the same problem: 3."
    )


def test_problems_come_as_a_table_too() -> None:
    frame = problems_frame([Problem(3, "y_true", "2", "0 or 1", (4, 5)), Problem(None, "aCDR", "no such column", "x")])
    assert list(frame.columns) == ["row", "column", "found", "expected", "further rows"]
    assert frame["row"].tolist() == [3, pd.NA]
    assert frame["further rows"].tolist() == ["4, 5", ""]


def test_a_very_long_cell_is_cut_in_the_message() -> None:
    cells = grid()
    cells.loc[2, "y_true"] = "9" * 500
    assert complaint(as_csv(cells)) == f"t.csv, row 2, column y_true: found {'9' * 40}…, expected 0 or 1."


def test_missing_columns_are_named_one_by_one() -> None:
    assert complaint(as_csv(grid().drop(columns=["split", "reader_2"]))).splitlines() == [
        "t.csv, column split: found no such column, expected one of train, val, test.",
        "t.csv, column reader_2: found no such column, expected 0 or 1, or empty.",
    ]


def test_a_header_that_shares_no_name_with_the_table_is_one_problem() -> None:
    assert complaint(TABLE.replace(",", "\t")) == (
        "t.csv, row 1: found none of the column names, expected a comma- or semicolon-separated header: case_id, "
        "cohort, logit_0, logit_1, vim_risk_z, quality_risk, vCDR, aCDR, split, y_true, reader_0, reader_1, reader_2."
    )


@pytest.mark.parametrize("text", [TABLE.replace(",", ";"), TABLE.replace(",", ";").replace(".", ",")])
def test_semicolons_are_read_with_points_or_with_decimal_commas(text: str) -> None:
    cohort, expected = read(text), read(TABLE)
    for field in ("ids", "source", "split", "state", "cluster", "absent", "drawn", "truth", "decisions", "available"):
        np.testing.assert_array_equal(getattr(cohort, field), getattr(expected, field))


def test_a_comma_in_an_id_is_no_decimal_comma() -> None:
    cells = grid()
    cells["case_id"] = ["1,5", "1.5", "2,5", "3,5"]
    assert read(cells.to_csv(index=False, sep=";")).ids.tolist() == ["1,5", "1.5", "2,5", "3,5"]


def test_a_number_with_two_kinds_of_separators_is_not_guessed() -> None:
    cells = grid()
    cells.loc[3, "vim_risk_z"] = "1.234,5"
    assert complaint(cells.to_csv(index=False, sep=";")) == (
        "t.csv, row 3, column vim_risk_z: found 1.234,5, expected a finite number."
    )


def test_a_short_row_between_semicolons_is_counted_in_its_own_cells() -> None:
    text = TABLE.replace(",", ";").replace(".", ",").replace("b;south;", "b;")
    assert complaint(text) == "t.csv, row 3: found 13 cells, expected 14 as in the header."


def test_a_column_given_twice_is_refused() -> None:
    cells = grid()
    cells.insert(4, "y_true ", cells["y_true"])
    assert complaint(as_csv(cells)) == (
        "t.csv, row 1, column y_true: found this name more than once, expected one column of this name."
    )


def test_a_row_of_another_length_is_named() -> None:
    assert complaint(TABLE.replace("a,north,", "a,north,far,").replace("b,south,", "b,")).splitlines() == [
        "t.csv, row 2: found 15 cells, expected 14 as in the header. 1 more row has the same problem: 3.",
    ]


def test_an_unclosed_quote_is_named() -> None:
    assert complaint(TABLE + '"e,north') == (
        "t.csv, row 6: found a row that cannot be read (unexpected end of data), expected comma-separated cells."
    )


def test_an_empty_file_is_said_to_be_empty() -> None:
    assert complaint(b"") == "t.csv: found an empty file, expected a table with a header and at least one case."


@pytest.mark.parametrize("rows", ["", "\n\n"])
def test_a_header_alone_is_said_to_have_no_rows(rows: str) -> None:
    assert complaint(TABLE.splitlines()[0] + "\n" + rows) == (
        "t.csv: found a header and no rows, expected at least one case."
    )


@pytest.mark.parametrize(
    ("data", "row"),
    [
        (TABLE.encode("utf-16"), 1),
        (TABLE.encode("utf-16-le"), 1),
        (TABLE.replace("c,north", "café,north").encode("latin-1"), 4),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", 1),
        (b"PK\x03\x04\x14\x00\x06\x00", 1),
    ],
    ids=["utf-16", "utf-16 without a mark", "latin-1", "a PNG image", "a spreadsheet"],
)
def test_bytes_that_are_no_utf8_text_are_named_with_their_row(data: bytes, row: int) -> None:
    assert complaint(data) == (
        f"t.csv, row {row}: found bytes that are not UTF-8 text, expected a CSV table saved as UTF-8."
    )


def test_what_spreadsheets_add_is_read_over() -> None:
    marked = ("\ufeff" + TABLE.replace("\n", "\r\n").replace(",north,", ", north ,")).encode()
    assert read(marked).sources.tolist() == read(TABLE).sources.tolist()


def test_blank_lines_are_no_cases_but_are_counted() -> None:
    table = TABLE.replace("\nb,", "\n\nb,").replace("d,south", "d,west")
    assert complaint(table).startswith("t.csv, row 6, column cohort")


def test_columns_nobody_knows_are_ignored() -> None:
    cells = grid()
    cells["remark"] = "seen twice"
    cells.insert(0, "remark", "blurred", allow_duplicates=True)
    np.testing.assert_array_equal(read(as_csv(cells)).state, read(TABLE).state)


@pytest.mark.parametrize(
    ("probability", "message"),
    [
        ("1.2", "found 1.2, expected a number from 0 to 1."),
        ("0.4", "found 0.4, expected the softmax of the logits, to within 0.001."),
    ],
)
def test_a_given_probability_must_be_one_and_agree_with_the_logits(probability: str, message: str) -> None:
    cells = grid()
    cells["prob_1"] = ["0.01799", "0.9526", "0.5", "0"]
    assert read(as_csv(cells)).ai_probability[2] == 0.5
    cells.loc[4, "prob_1"] = probability
    assert complaint(as_csv(cells)) == f"t.csv, row 4, column prob_1: {message}"


def test_a_probability_without_its_logits_only_misses_the_logits() -> None:
    cells = grid().drop(columns=["logit_0"])
    cells["prob_1"] = "0.5"
    assert complaint(as_csv(cells)) == "t.csv, column logit_0: found no such column, expected a finite number."


def test_a_training_table_reads_availability_from_the_decisions_alone() -> None:
    cells = grid()
    cells["reader_0_available"] = "0"
    np.testing.assert_array_equal(read(as_csv(cells)).available, read(TABLE).available)


def test_a_routing_table_needs_neither_truth_nor_split() -> None:
    cohort = read(as_csv(grid().drop(columns=["y_true", "split"])), "routing")
    assert (cohort.truth == UNKNOWN).all()
    assert (cohort.split == "").all()
    np.testing.assert_array_equal(cohort.decisions, read(TABLE).decisions)


def test_a_routing_table_may_know_the_truth_of_some_cases() -> None:
    cells = grid()
    cells.loc[2, ["y_true", "split"]] = ""
    cohort = read(as_csv(cells), "routing")
    assert cohort.truth.tolist() == [UNKNOWN, 1, 1, 0]
    assert cohort.split.tolist() == ["", "val", "test", "train"]


def test_a_flag_says_who_can_be_asked_and_outweighs_the_decision() -> None:
    cells = grid().drop(columns=["reader_2"])
    cells["reader_0_available"] = ["0", "1", "", ""]  # decisions: 0, none, none, 0
    cells["reader_2_available"] = ["1", "0", "1", "0"]  # no decisions at all
    cohort = read(as_csv(cells), "routing")
    assert cohort.available[:, 0].tolist() == [False, True, False, True]
    assert cohort.decisions[:, 0].tolist() == [UNKNOWN, UNKNOWN, UNKNOWN, 0]
    assert cohort.available[:, 2].tolist() == [True, False, True, False]
    assert (cohort.decisions[:, 2] == UNKNOWN).all()


def test_a_routing_table_must_say_something_of_every_reader() -> None:
    cells = grid().drop(columns=["reader_2"])
    assert complaint(as_csv(cells), "routing") == (
        "t.csv, column reader_2: found no such column, expected 0 or 1, or empty; "
        "or else a column reader_2_available of 0 and 1."
    )
    cells["reader_2_available"] = ["1", "0", "perhaps", "1"]
    assert complaint(as_csv(cells), "routing") == (
        "t.csv, row 4, column reader_2_available: found perhaps, expected 0 or 1, or empty."
    )


def test_a_routing_table_may_leave_a_reader_out_of_every_case() -> None:
    cells = grid()
    cells["reader_1"] = ""
    assert not read(as_csv(cells), "routing").available[:, 1].any()


def typed_parquet(cells: pd.DataFrame, path: Path) -> bytes:
    """The table as Parquet with numbers for numbers and nulls for empty cells."""
    words = ["case_id", "cohort", "split"]
    typed = cells.replace("", None).astype({column: float for column in cells if column not in words})
    typed.to_parquet(path)
    return path.read_bytes()


def test_parquet_reads_the_same_as_csv(tmp_path: Path) -> None:
    typed_parquet(grid(), tmp_path / "t.parquet")
    cohort, expected = load_cohort(tmp_path / "t.parquet", MANIFEST), read(TABLE)
    for field in ("ids", "source", "split", "state", "cluster", "absent", "drawn", "truth", "decisions", "available"):
        np.testing.assert_array_equal(getattr(cohort, field), getattr(expected, field))


def test_parquet_is_checked_by_the_same_rules(tmp_path: Path) -> None:
    cells = grid()
    cells.loc[3, "y_true"] = "2"
    cells.loc[4, "vim_risk_z"] = None
    data = typed_parquet(cells, tmp_path / "t.parquet")
    assert complaint(data, name="t.parquet").splitlines() == [
        "t.parquet, row 4, column vim_risk_z: found an empty cell, expected a finite number.",
        "t.parquet, row 3, column y_true: found 2.0, expected 0 or 1.",
    ]


def test_bytes_that_are_no_parquet_are_refused() -> None:
    message = complaint(TABLE, name="t.parquet")
    assert message.startswith("t.parquet: found a file that cannot be read (")
    assert message.endswith("), expected a Parquet table.")


def with_texts(column: str, texts: Sequence[bytes]) -> bytes:
    """The table as Parquet, with cells of text in one column that may be none."""
    table = pa.Table.from_pandas(grid(), preserve_index=False)
    broken = pa.Array.from_buffers(pa.string(), len(texts), pa.array(texts, pa.binary()).buffers())
    return as_parquet(table.set_column(table.column_names.index(column), column, broken))


def as_parquet(table: pa.Table) -> bytes:
    file = io.BytesIO()
    pq.write_table(table, file)
    return file.getvalue()


@pytest.mark.parametrize("column", ["case_id", "cohort", "split", "vCDR"])
@pytest.mark.parametrize("broken", [b"caf\xe9", b"\xed\xa0\x80", b"a\0"], ids=["latin-1", "a surrogate", "a NUL"])
def test_text_in_parquet_that_is_none_is_named_with_its_rows(column: str, broken: bytes) -> None:
    data = with_texts(column, [b"a", broken, b"b", broken])
    assert complaint(data, name="t.parquet") == (
        f"t.parquet, row 3, column {column}: found bytes that are not UTF-8 text, expected text saved as UTF-8. "
        "1 more row has the same problem: 5."
    )


@pytest.mark.parametrize("part", [b"case_id", b"south", b"pandas", b"ARROW:schema"])
def test_broken_metadata_of_parquet_is_no_crash(part: bytes) -> None:
    data = as_parquet(pa.Table.from_pandas(grid()))
    assert part in data
    read_or_refused(data.replace(part, part[:-1] + b"\xff"))


@given(
    st.sampled_from(["case_id", "cohort", "split", "y_true", "vCDR"]),
    st.lists(st.binary(max_size=8), min_size=4, max_size=4),
)
def test_any_bytes_as_text_in_parquet_are_read_or_refused(column: str, texts: list[bytes]) -> None:
    read_or_refused(with_texts(column, texts))


@given(st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), min_size=1, max_size=6))
def test_a_parquet_file_with_any_bytes_changed_is_read_or_refused(changes: list[tuple[int, int]]) -> None:
    data = bytearray(as_parquet(pa.Table.from_pandas(grid())))
    for position, byte in changes:
        data[position % len(data)] = byte
    read_or_refused(bytes(data))


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    read_or_refused(text.encode("utf-8", "surrogatepass"), "t.csv")


def read_or_refused(data: bytes, name: str = "t.parquet") -> None:
    """Whatever it is, it becomes cases with ids of their own, or a message."""
    with suppress(UserError):
        cohort = read(data, "routing", name)
        assert len(set(cohort.ids)) == len(cohort)


def test_other_kinds_of_file_are_refused_by_their_ending() -> None:
    with pytest.raises(UserError, match=r"^t\.xlsx: found a file ending in \.xlsx, expected \.csv or \.parquet$"):
        read(TABLE, name="t.xlsx")


def test_a_file_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.csv: cannot be read: No such file or directory$"):
        load_cohort(tmp_path / "none.csv", MANIFEST)


OTHER_MANIFEST = """
title = "Two clinics"
table = "clinics.csv"
costs = { false_negative = 5, false_positive = 1 }
readers = [
    { column = "ana", name = "Ana", group = "clinic", fee = 0.5, tier = "A" },
    { column = "ben", name = "Ben", group = "clinic", fee = 0.0, tier = "C" },
    { column = "eve", name = "Eve", group = "guest", fee = 1.5, tier = "A" },
]
cohorts = [
    { key = "north", name = "Northern clinic", readings = "real" },
    { key = "south", name = "Southern clinic", readings = "real", credit = "The Southern clinic" },
]
"""


def test_another_manifest_beside_its_table_loads_the_same_way(tmp_path: Path) -> None:
    (tmp_path / "clinics.toml").write_text(OTHER_MANIFEST)
    columns = {"reader_0": "ana", "reader_1": "ben", "reader_2": "eve"}
    (tmp_path / "clinics.csv").write_bytes(as_csv(grid().rename(columns=columns)))
    cohort = load_cohort(tmp_path / "clinics.csv")
    assert cohort.readers == 3
    assert cohort.manifest.default_costs().fees == (0.5, 0.0, 1.5)
    np.testing.assert_array_equal(cohort.decisions, read(TABLE).decisions)


def test_reader_columns_must_not_clash_with_the_tables_own() -> None:
    readers = (MANIFEST.readers[0].model_copy(update={"column": "cohort"}),)
    with pytest.raises(UserError, match="reader columns: found cohort, expected names no other column has"):
        read(TABLE, manifest=MANIFEST.model_copy(update={"readers": readers}))


def test_the_fingerprint_changes_with_the_table_and_with_the_manifest() -> None:
    dearer = MANIFEST.model_copy(update={"costs": MANIFEST.costs.model_copy(update={"false_negative": 3.0})})
    prints = [read(TABLE), read(TABLE + "\n"), read(TABLE, manifest=dearer), read(TABLE)]
    first, longer, other, again = (cohort.fingerprint for cohort in prints)
    assert len(first) == 16
    assert first == again
    assert len({first, longer, other}) == 3


def test_the_template_is_a_table_that_only_lacks_cases() -> None:
    template = write_template(MANIFEST)
    assert complaint(template) == "t.csv: found a header and no rows, expected at least one case."
    filled = grid()[template.strip().split(",")]
    assert read(template + filled.to_csv(index=False, header=False)).ids.tolist() == ["a", "b", "c", "d"]


@pytest.mark.parametrize("own", ["our clinic", ""])
def test_cases_of_a_cohort_nobody_knows_can_be_routed_as_other(own: str) -> None:
    cells = grid()
    cells.loc[cells["cohort"] == "south", "cohort"] = own
    cohort = read(as_csv(cells), "routing")
    assert cohort.sources.tolist() == ["north", "other", "north", "other"]
    assert [entry.readings for entry in cohort.manifest.cohorts if entry.key == "other"] == ["unknown"]
    assert cohort.manifest.readers == MANIFEST.readers
    with pytest.raises(TableError, match="expected one of north, south"):
        read(as_csv(cells), "training")


def test_a_table_to_route_need_not_name_a_cohort() -> None:
    cohort = read(as_csv(grid().drop(columns="cohort")), "routing")
    assert set(cohort.sources) == {"other"}
    np.testing.assert_array_equal(cohort.state, read(TABLE).state)


def test_a_manifest_with_a_cohort_called_other_has_it_once() -> None:
    own = MANIFEST.cohorts[0].model_copy(update={"key": "other"})
    manifest = MANIFEST.model_copy(update={"cohorts": (*MANIFEST.cohorts, own)})
    cohort = read(as_csv(grid().assign(cohort="far")), "routing", manifest=manifest)
    assert cohort.manifest == manifest
    assert set(cohort.sources) == {"other"}


@settings(max_examples=15)
@given(cohorts())
def test_any_cohort_survives_being_written_and_read(cohort: Cohort) -> None:
    cells = pd.DataFrame({"case_id": cohort.ids, "cohort": cohort.sources, "split": cohort.split})
    cells["y_true"] = cohort.truth
    cells[list(cohort.manifest.columns)] = np.where(cohort.available, cohort.decisions, np.nan)
    cells[list(STATE)] = cohort.state
    back = read(as_csv(cells), "routing", manifest=cohort.manifest)
    np.testing.assert_allclose(back.state, cohort.state, rtol=1e-12, atol=1e-15)
    for field in ("ids", "source", "split", "truth", "decisions", "available"):
        np.testing.assert_array_equal(getattr(back, field), getattr(cohort, field))


def test_importing_the_module_does_not_wait_for_pandera() -> None:
    probe = "import sys, mpd2.core.table_file; print('pandera' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True).stdout == "False\n"


def test_a_data_frame_and_a_manifest_make_the_same_cases_as_their_file() -> None:
    typed = grid().replace("", None)
    typed["y_true"] = typed["y_true"].astype(int)
    typed["vCDR"] = typed["vCDR"].astype(float)
    cohort, expected = cohort_from_frame(typed, MANIFEST), read(TABLE)
    for field in ("ids", "source", "split", "state", "cluster", "truth", "decisions", "available"):
        np.testing.assert_array_equal(getattr(cohort, field), getattr(expected, field))


def test_a_data_frame_of_text_has_the_fingerprint_of_its_file() -> None:
    assert cohort_from_frame(grid(), MANIFEST).fingerprint == read(table_bytes(grid())).fingerprint


def test_a_data_frame_is_checked_and_its_rows_counted_from_two() -> None:
    cells = grid().set_index(pd.Index(["w", "x", "y", "z"]))
    cells.loc["y", "y_true"] = "2"
    with pytest.raises(TableError, match=r"^table, row 4, column y_true: found 2, expected 0 or 1\.$"):
        cohort_from_frame(cells, MANIFEST)
    with pytest.raises(TableError, match="a header and no rows"):
        cohort_from_frame(cells.head(0), MANIFEST)


def test_a_column_of_names_keeps_its_commas_whatever_it_is_called() -> None:
    manifest = MANIFEST.but(row={"case": "Fall"}, groups={"column": "Patient", "word": "patient"})
    cells = grid().rename(columns={"case_id": "Fall"}).assign(Patient=["1,5", "1.5", "2,5", "3,5"])
    cells["Fall"] = ["7,5", "7.5", "8,5", "9,5"]
    cohort = read(cells.to_csv(index=False, sep=";").replace("0.5", "0,5"), manifest=manifest)
    assert cohort.ids.tolist() == ["7,5", "7.5", "8,5", "9,5"]
    assert len(set(cohort.cluster.tolist())) == 4


def test_a_problem_of_a_second_file_is_told_with_that_file() -> None:
    problems = [Problem(3, "says", "2", "0 or 1", file="readings.csv"), Problem(4, "y_true", "2", "0 or 1")]
    assert str(TableError("cases.csv", problems)).splitlines() == [
        "readings.csv, row 3, column says: found 2, expected 0 or 1.",
        "cases.csv, row 4, column y_true: found 2, expected 0 or 1.",
    ]
    assert problems_frame(problems)["file"].tolist() == ["readings.csv", ""]
