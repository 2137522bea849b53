"""Other people's files as tables of text, and what is said of those that are none."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from foreign_tables import as_csv, as_parquet, as_workbook, clinic
from hypothesis import given, settings
from hypothesis import strategies as st

from mpd2.core.errors import TableError, UserError
from mpd2.lab.imports import files
from mpd2.lab.imports.files import Limits, RawTable, read_path, read_table

SMALL = clinic(12)
ROWS = [list(SMALL.columns), *SMALL.to_numpy().tolist()]


def complaint(data: bytes, name: str = "t.csv", limits: Limits = files.BROWSER) -> str:
    with pytest.raises(UserError) as caught:
        read_table(data, name, limits=limits)
    return str(caught.value)


def same(table: RawTable, frame: pd.DataFrame = SMALL) -> bool:
    return list(table.cells) == list(frame) and table.cells.to_numpy().tolist() == frame.to_numpy().tolist()


@settings(max_examples=40)
@given(
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]),
    st.sampled_from(["\n", "\r\n"]),
    st.lists(st.text("abz 09.,;|é\"\n'", max_size=8), min_size=4, max_size=4),
)
def test_a_table_reads_the_same_whatever_separates_encodes_and_ends_it(
    separator: str, encoding: str, ending: str, cells: list[str]
) -> None:
    frame = SMALL.head(4).assign(remark=[f"x{cell}x" for cell in cells])
    text = frame.to_csv(index=False, sep=separator, lineterminator="\n").replace("\n", ending)
    table = read_table(text.encode(encoding), "t.csv")
    expected = frame.assign(remark=[cell.replace("\n", ending) for cell in frame["remark"]])
    assert same(table, expected)
    assert table.cells.index.tolist() == [2, 3, 4, 5]


def test_bytes_that_are_no_utf8_are_read_as_latin_1_with_a_note() -> None:
    table = read_table(as_csv(SMALL.assign(site="Zürich"), encoding="latin-1"), "t.csv")
    assert set(table.cells["site"]) == {"Zürich"}
    assert any("Latin-1" in note for note in table.notes)


def test_a_table_in_utf8_needs_no_note() -> None:
    assert read_table(as_csv(SMALL), "t.csv").notes == ()


def test_the_line_by_which_excel_names_the_separator_is_no_row() -> None:
    table = read_table(b"sep=;\n" + as_csv(SMALL, ";"), "t.csv")
    assert same(table)


def test_titles_above_the_header_are_left_out_and_rows_still_counted() -> None:
    table = read_table(b"Export of the registry\nmade on,2024-03-01\n\n" + as_csv(SMALL), "t.csv")
    assert same(table)
    assert table.cells.index[0] == 5
    assert any("row 4" in note and "Export of the registry" in note for note in table.notes)


def test_empty_columns_at_the_end_and_blank_rows_are_left_out_with_a_note() -> None:
    text = "\n".join(f"{line},," for line in as_csv(SMALL).decode().splitlines())
    table = read_table(f"{text}\n{',' * 12}\n\n".encode(), "t.csv")
    assert same(table)
    assert any(note.startswith("2 empty columns") for note in table.notes)
    assert any("row" in note and "left out" in note for note in table.notes)


def test_cells_beyond_the_header_are_cut_if_they_are_empty() -> None:
    text = as_csv(SMALL).decode().splitlines()
    text[4] += ",,"
    assert same(read_table("\n".join(text).encode(), "t.csv"))


def test_names_that_come_twice_are_numbered_and_columns_without_one_are_called_by_place() -> None:
    table = read_table(b"id,x,x,,x (2)\na,1,2,3,4\nb,5,6,7,8\n", "t.csv")
    assert list(table.cells) == ["id", "x", "x (3)", "column 4", "x (2)"]
    assert any("x (3)" in note for note in table.notes)
    assert any("column 4" in note for note in table.notes)


def test_rows_of_another_length_are_named_with_row_and_column() -> None:
    lines = as_csv(SMALL).decode().splitlines()
    lines[3] = ",".join(lines[3].split(",")[:5])
    lines[7] += ",more"
    assert complaint("\n".join(lines).encode()).splitlines() == [
        "t.csv, row 4, column ai_probability: found 5 cells and nothing here, expected 11 as in the header.",
        "t.csv, row 8: found 12 cells, expected 11 as in the header.",
    ]


def test_a_quotation_mark_that_is_never_closed_is_named() -> None:
    assert "a row that cannot be read" in complaint(as_csv(SMALL) + b'"c9')


@pytest.mark.parametrize("data", [b"", b"  \n ", b"\n\n\n"])
def test_an_empty_file_is_said_to_be_empty(data: bytes) -> None:
    assert complaint(data) == "t.csv: found an empty file, expected a table with a header and at least one case."


def test_a_header_alone_has_no_cases() -> None:
    assert complaint(as_csv(SMALL.head(0))) == "t.csv: found a header and no rows, expected at least one case."


def test_numbers_where_the_header_should_be_are_no_names() -> None:
    assert "numbers where names are expected" in complaint(b"1,2,3\n4,5,6\n7,8,9\n")


@pytest.mark.parametrize(
    ("data", "name", "message"),
    [
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "t.csv", "row 2: found bytes that are not text"),
        (b"%PDF-1.4\n\x00\x01", "t.csv", "found bytes that are not text"),
        (b"PK\x03\x04 rubbish", "t.xlsx", "an Excel workbook"),
        (b"PAR1 rubbish", "t.parquet", "a Parquet table"),
        (b"a,b\n1,2\n", "t.xlsx", "expected an Excel workbook"),
        (b"\xd0\xcf\x11\xe0 old", "t.xls", "save it as .xlsx or as CSV"),
        (b"a,b\n1,2\n", "t.doc", "found a file ending in .doc, expected .csv"),
    ],
)
def test_what_is_no_table_is_refused_in_words(data: bytes, name: str, message: str) -> None:
    assert message in complaint(data, name)


def test_a_table_too_long_for_the_browser_is_refused_and_read_elsewhere() -> None:
    few = Limits(rows=11, size=None, unpacked=None)
    for data, name in ((as_csv(SMALL), "t.csv"), (as_parquet(SMALL), "t.parquet"), (as_workbook(ROWS), "t.xlsx")):
        assert "found 12 rows, expected at most 11 here" in complaint(data, name, few)
        assert len(read_table(data, name, limits=files.UNLIMITED)) == 12


def test_a_file_too_large_is_refused_before_it_is_read() -> None:
    assert "expected at most 0 here" in complaint(as_csv(SMALL), limits=Limits(None, 100, None))


def test_a_parquet_file_is_read_as_people_would_write_it() -> None:
    typed = pd.DataFrame(
        {
            "id": [7, 8, 9],
            "x": [0.5, None, 2.0],
            "reader": pd.array([1, None, 0], "Int64"),
            "yes": [True, False, True],
            "day": pd.to_datetime(["2024-01-02", "2024-01-03", None]),
            "kind": pd.Categorical(["a", "b", "a"]),
        }
    )
    cells = read_table(as_parquet(typed), "t.parquet").cells
    assert cells.index.tolist() == [2, 3, 4]
    assert cells["id"].tolist() == ["7", "8", "9"]
    assert cells["x"].tolist() == ["0.5", "", "2"]
    assert cells["reader"].tolist() == ["1", "", "0"]
    assert cells["yes"].tolist() == ["true", "false", "true"]
    assert [day[:10] for day in cells["day"]] == ["2024-01-02", "2024-01-03", ""]
    assert cells["kind"].tolist() == ["a", "b", "a"]


def test_cells_of_parquet_that_hold_lists_are_refused_by_column() -> None:
    data = as_parquet(pd.DataFrame({"id": ["a"], "x": [[1, 2]]}))
    assert "column x: found cells of the kind" in complaint(data, "t.parquet")


def test_the_index_that_pandas_adds_is_left_out() -> None:
    file = io.BytesIO()
    SMALL.set_index(pd.Index(range(5, 17))).to_parquet(file)
    assert same(read_table(file.getvalue(), "t.parquet"))


def test_a_parquet_file_that_unpacks_to_more_than_it_may_is_refused() -> None:
    data = as_parquet(pd.DataFrame({"id": ["the same" * 1000] * 20_000}))
    assert len(data) < 10_000
    assert "found 153 MB when unpacked, expected at most 10 here" in complaint(
        data, "t.parquet", Limits(None, None, 10 * 2**20)
    )


def test_a_workbook_is_read_with_its_dates_numbers_and_truths() -> None:
    rows = [["id", "when", "x", "says", "n"], ["a", dt.date(2024, 3, 1), 0.1, True, 3.0], ["b", "", 2, False, ""]]
    cells = read_table(as_workbook(rows), "t.xlsx").cells
    assert cells.to_numpy().tolist() == [["a", "2024-03-01", "0.1", "TRUE", "3"], ["b", "", "2", "FALSE", ""]]
    assert cells.index.tolist() == [2, 3]


def test_of_several_sheets_the_largest_is_read_or_the_one_that_is_named() -> None:
    data = as_workbook(ROWS, further="Notes")
    table = read_table(data, "t.xlsx")
    assert (table.sheet, table.sheets) == ("Cases", ("Notes", "Cases"))
    assert any("not read: Notes" in note for note in table.notes)
    assert same(read_table(data, "t.xlsx", sheet="Cases"))
    with pytest.raises(UserError, match="found no sheet 'Cases 2', expected one of Notes, Cases"):
        read_table(data, "t.xlsx", sheet="Cases 2")
    with pytest.raises(TableError, match="a header and no rows"):
        read_table(data, "t.xlsx", sheet="Notes")


def test_merged_headers_give_every_column_its_words() -> None:
    rows: list[list[object]] = [
        ["Registry 2024", "", "", "", ""],
        [],
        ["Case", "Readers", "", "", "Truth"],
        ["", "Ana", "Ben", "Eve", ""],
        ["a", 0, 1, "", 1],
        ["b", 1, 1, 0, 0],
    ]
    merged = [(0, 0, 0, 4), (2, 0, 3, 0), (2, 1, 2, 3), (2, 4, 3, 4)]
    table = read_table(as_workbook(rows, merged), "t.xlsx")
    assert list(table.cells) == ["Case", "Readers Ana", "Readers Ben", "Readers Eve", "Truth"]
    assert table.cells.to_numpy().tolist() == [["a", "0", "1", "", "1"], ["b", "1", "1", "0", "0"]]
    assert table.cells.index.tolist() == [5, 6]
    assert any("header has 2 rows" in note for note in table.notes)


def test_a_band_above_the_header_belongs_to_it() -> None:
    rows = [["", "Readers", "", ""], ["id", "Ana", "Ben", "x"], ["a", 0, 1, 0.5], ["b", 1, 1, 0.25]]
    table = read_table(as_workbook(rows, [(0, 1, 0, 2)]), "t.xlsx")
    assert list(table.cells) == ["id", "Readers Ana", "Readers Ben", "x"]


def test_merged_cells_of_the_body_all_hold_what_stands_in_the_first() -> None:
    rows = [["patient", "id", "x"], ["p1", "a", 1], ["", "b", 2], ["p2", "c", 3]]
    table = read_table(as_workbook(rows, [(1, 0, 2, 0)]), "t.xlsx")
    assert table.cells["patient"].tolist() == ["p1", "p1", "p2"]
    assert any("merged" in note for note in table.notes)


def with_formula(result: str) -> bytes:
    """A workbook whose sheet has one formula, with the stored result that is given."""
    data = as_workbook([["id", "x"], ["a", 1], ["b", 77]])
    old = zipfile.ZipFile(io.BytesIO(data))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("sheet1.xml"):
                content = content.replace(b"<v>77</v>", f"<f>1+1</f>{result}".encode())
                assert b"<f>" in content
            new.writestr(name, content)
    return file.getvalue()


def test_of_a_formula_the_stored_result_is_read_and_nothing_is_computed() -> None:
    table = read_table(with_formula("<v>41</v>"), "t.xlsx")
    assert table.cells["x"].tolist() == ["1", "41"]
    assert table.notes == ()


def test_a_formula_without_a_stored_result_is_empty_and_told() -> None:
    table = read_table(with_formula(""), "t.xlsx")
    assert table.cells["x"].tolist() == ["1", ""]
    assert table.notes == ("1 formula without a stored result is read as empty; save the workbook in Excel once.",)


def test_a_workbook_that_unpacks_to_too_much_is_refused_unread() -> None:
    file = io.BytesIO(as_workbook(ROWS))
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/media/bomb.bin", b"\0" * 5_000_000)
    assert len(file.getvalue()) < 100_000
    assert "when unpacked, expected at most 1 here" in complaint(file.getvalue(), "t.xlsx", Limits(None, None, 2**20))


def test_a_workbook_whose_list_of_parts_lies_is_refused() -> None:
    data = bytearray(as_workbook(ROWS))
    with zipfile.ZipFile(io.BytesIO(bytes(data))) as book:
        sheet = next(part for part in book.infolist() if part.filename.endswith("sheet1.xml"))
    size = sheet.file_size.to_bytes(4, "little")
    central = data.rindex(b"PK\x01\x02", 0, data.rindex(sheet.filename.encode()))
    assert data[central + 24 : central + 28] == size
    data[central + 24 : central + 28] = (40).to_bytes(4, "little")
    assert "cannot be read" in complaint(bytes(data), "t.xlsx")


def test_xml_that_grows_as_it_is_read_is_refused() -> None:
    bomb = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><sst>&b;</sst>'
    old = zipfile.ZipFile(io.BytesIO(as_workbook(ROWS)))
    for part in ("xl/sharedStrings.xml", "xl/workbook.xml", "xl/worksheets/sheet1.xml"):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as new:
            for name in old.namelist():
                new.writestr(name, bomb if name == part else old.read(name))
        assert "cannot be read" in complaint(file.getvalue(), "t.xlsx")


def test_a_lonely_cell_far_away_is_refused_without_filling_the_rows_between() -> None:
    rows: list[list[object]] = [["id", "x"], ["a", 1]]
    wide = [[*row, *[""] * 4000, "far"] if n == 1 else row for n, row in enumerate(rows)]
    assert "expected at most 2,000" in complaint(as_workbook(wide), "t.xlsx")
    assert "expected at most 2,000" in complaint(b"a" + b",b" * 3000 + b"\n")


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 2**20), st.integers(0, 255)), min_size=1, max_size=8), st.booleans())
def test_a_workbook_or_parquet_file_with_any_bytes_changed_is_read_or_refused(
    changes: list[tuple[int, int]], workbook: bool
) -> None:
    data = bytearray(WORKBOOK if workbook else PARQUET)
    for position, byte in changes:
        data[position % len(data)] = byte
    with suppress(UserError):
        assert len(read_table(bytes(data), "t.xlsx" if workbook else "t.parquet").cells.columns) > 0


WORKBOOK, PARQUET = as_workbook(ROWS), as_parquet(SMALL)


@settings(max_examples=100)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with suppress(UserError):
        table = read_table(data, "t.csv")
        assert len(table) > 0
        assert table.cells.columns.is_unique
        assert not any("\0" in cell for cell in table.cells.to_numpy().ravel())


def test_a_text_with_a_nul_in_parquet_is_named_with_its_row() -> None:
    file = io.BytesIO()
    pa.parquet.write_table(pa.table({"id": ["a", "b\0c"]}), file)
    assert "row 3, column id: found bytes that are not text" in complaint(file.getvalue(), "t.parquet")


def test_a_file_is_read_from_its_path(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_bytes(as_csv(SMALL, "\t"))
    assert same(read_path(tmp_path / "t.tsv"))
    with pytest.raises(UserError, match="cannot be read: No such file"):
        read_path(tmp_path / "none.csv")
