"""Excel workbooks: read as openpyxl reads them, however they are written, and refused if they would fill the memory."""

from __future__ import annotations

import datetime as dt
import io
import re
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import openpyxl
import pytest
import xlsxwriter
from foreign_tables import as_workbook, clinic
from hypothesis import given, settings
from hypothesis import strategies as st

from mpd2.core.errors import UserError
from mpd2.lab.imports.files import read_table
from mpd2.lab.imports.formats import sheets
from mpd2.lab.imports.formats.spreadsheets import read_grid

SHEET, TEXTS = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"
MOST = 200_000
SMALL = clinic(12)
ROWS = [list(SMALL.columns), *SMALL.to_numpy().tolist()]
START = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
END = b"</sheetData></worksheet>"

CELLS = st.one_of(
    st.none(),
    st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"], exclude_characters="_"), max_size=6),
    st.integers(-(10**18), 10**18),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.sampled_from(["#N/A", "#DIV/0!", "#REF!", "a\nb", " padded ", "x & <y>", "1", "TRUE"]),
    st.datetimes(dt.datetime(1905, 1, 1), dt.datetime(2200, 1, 1)).map(lambda day: day.replace(microsecond=0)),
    st.datetimes(dt.datetime(1905, 1, 1), dt.datetime(2200, 1, 1)).map(
        lambda day: day.replace(hour=0, minute=0, second=0, microsecond=0)
    ),
    st.times().map(lambda time: time.replace(microsecond=0)),
    st.timedeltas(dt.timedelta(0), dt.timedelta(90)).map(lambda time: dt.timedelta(time.days, time.seconds)),
)


def rows_of(data: bytes) -> tuple[list[list[str]], list[int]]:
    grid = read_grid(data, "t.xlsx", "", MOST)[2]
    return grid.rows, grid.numbers


def opinion_of_openpyxl(data: bytes) -> tuple[list[list[str]], list[int]]:
    """The rows that are not blank, and their numbers, by another library."""
    rows, numbers = [], []
    cells = openpyxl.load_workbook(io.BytesIO(data), data_only=True).active
    for number, values in enumerate(cells.iter_rows(min_row=1, min_col=1, values_only=True), start=1):
        row = [typed(value) for value in values]
        if any(row):
            rows.append(row)
            numbers.append(number)
    width = max((place for row in rows for place, text in enumerate(row, start=1) if text), default=0)
    return [row[:width] for row in rows], numbers


def typed(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return str(value).upper()
        case float() if value.is_integer() and abs(value) < 2**53:
            return str(int(value))
        case dt.datetime():
            return str(value.date() if value.time() == dt.time() else value)
        case _:
            return str(value).strip()


def rewritten(data: bytes, **parts: Callable[[bytes], bytes] | bytes) -> bytes:
    """A workbook with its sheet or its texts changed."""
    names = {"sheet": SHEET, "texts": TEXTS, "book": "xl/workbook.xml"}
    changes = {names[part]: change for part, change in parts.items()}
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            change = changes.get(name, old.read(name))
            new.writestr(name, change if isinstance(change, bytes) else change(old.read(name)))
    return file.getvalue()


def with_cells(cells: bytes) -> bytes:
    """A workbook whose sheet has these rows."""
    return rewritten(as_workbook([["id"], ["a"]]), sheet=START + cells + END)


def complaint(data: bytes) -> str:
    with pytest.raises(UserError) as caught:
        read_table(data, "t.xlsx")
    return str(caught.value)


def by_openpyxl(rows: Sequence[Sequence[object]], top: int, left: int) -> bytes:
    book, file = openpyxl.Workbook(), io.BytesIO()
    for row, values in enumerate(rows, start=top + 1):
        for column, value in enumerate(values, start=left + 1):
            cell = book.active.cell(row, column)
            cell.value = value
            if isinstance(value, str) and not value.startswith("#"):
                cell.data_type = "s"
    book.save(file)
    return file.getvalue()


def by_xlsxwriter(rows: Sequence[Sequence[object]], top: int, left: int) -> bytes:
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True, "default_date_format": "dd.mm.yyyy hh:mm"})
    sheet = book.add_worksheet()
    for row, values in enumerate(rows, start=top):
        for column, value in enumerate(values, start=left):
            if isinstance(value, str):
                sheet.write_string(row, column, value)
            elif value is not None:
                sheet.write(row, column, value)
    book.close()
    return file.getvalue()


@pytest.mark.parametrize("write", [by_openpyxl, by_xlsxwriter])
@settings(max_examples=60)
@given(st.lists(st.lists(CELLS, max_size=5), min_size=1, max_size=6), st.integers(0, 4), st.integers(0, 3))
def test_any_workbook_is_read_as_openpyxl_reads_it(
    write: Callable[[Any, int, int], bytes], rows: list[list[object]], top: int, left: int
) -> None:
    data = write(rows, top, left)
    assert rows_of(data) == opinion_of_openpyxl(data)


@pytest.mark.parametrize("write", [by_openpyxl, by_xlsxwriter])
def test_first_rows_and_columns_that_are_empty_are_counted(write: Callable[[Any, int, int], bytes]) -> None:
    rows, numbers = rows_of(write([["id", "x"], [], ["a", 1]], 3, 2))
    assert rows == [["", "", "id", "x"], ["", "", "a", "1"]]
    assert numbers == [4, 6]


def test_days_counted_from_1904_are_the_same_days() -> None:
    book, file = openpyxl.Workbook(), io.BytesIO()
    book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    book.active.append([dt.datetime(2024, 3, 1), dt.datetime(2024, 3, 1, 8, 30)])
    book.save(file)
    assert rows_of(file.getvalue())[0] == [["2024-03-01", "2024-03-01 08:30:00"]]


PLACE = rb' r="[A-Z]*\d+"'
REWRITINGS: dict[str, Callable[[bytes], bytes]] = {
    "without places": lambda sheet: re.sub(PLACE, b"", sheet),
    "cells without places": lambda sheet: re.sub(rb'(<c) r="\w+"', rb"\1", sheet),
    "places last": lambda sheet: re.sub(rb"<c( r=\"\w+\")([^<>]*?)(/?)>", rb"<c\2\1\3>", sheet),
    "in single quotes": lambda sheet: re.sub(rb"<(c|row)([^<>]*)>", lambda tag: tag[0].replace(b'"', b"'"), sheet),
    "with a prefix": lambda sheet: re.sub(rb"(</?)(?=\w)", rb"\1x:", sheet).replace(b"xmlns=", b"xmlns:x=", 1),
    "with white space": lambda sheet: re.sub(rb"(?<![?/])>(?=<)", b" >\n ", sheet).replace(b"=", b" = "),
    "with a comment": lambda sheet: sheet.replace(b"<row", b'<!-- <row r="9"> <c r="XFD9"><v>1</v></c> --><row'),
    "in lower case": lambda sheet: re.sub(PLACE, lambda place: place[0].lower(), sheet),
    "rows the other way round": lambda sheet: re.sub(
        rb"(<sheetData>)(.*)(</sheetData>)",
        lambda found: found[1] + b"".join(reversed(re.findall(rb"<row.*?</row>", found[2]))) + found[3],
        sheet,
    ),
}


@pytest.mark.parametrize("form", REWRITINGS)
def test_a_sheet_reads_the_same_in_whatever_form_its_xml_is(form: str) -> None:
    data = as_workbook([[cell or "-" for cell in row] for row in ROWS])
    changed = rewritten(data, sheet=REWRITINGS[form])
    assert changed != rewritten(data)
    assert rows_of(changed) == rows_of(data)


def test_cells_without_a_place_follow_the_one_before() -> None:
    data = with_cells(
        b'<row><c t="str"><v>a</v></c><c/><c r="E1"><v>1</v></c><c><v>2</v></c></row><row/>'
        b'<row r="7"><c><v>3</v></c></row><row><c r="B8"/><c><v>4</v></c></row>'
    )
    assert rows_of(data) == (
        [["a", "", "", "", "1", "2"], ["3", *[""] * 5], ["", "", "4", "", "", ""]],
        [1, 7, 8],
    )


FIRST = b'<row r="1"><c r="A1" t="str"><v>id</v></c></row>'
ONE, WIDE = b"<c><v>1</v></c>", b'<c r="BXX2"><v>1</v></c>'
HOSTILE = {
    "the last cell": b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
    "in single quotes": b"<row r='1048576'><c r='XFD1048576'><v>1</v></c></row>",
    "with its place last": b'<row r="1048576"><c t="n" r="XFD1048576"><v>1</v></c></row>',
    "in lower case": b'<row r="1048576"><c r="xfd1048576"><v>1</v></c></row>',
    "after a comment": b'<!-- > --><row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
    "inline": b'<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>x</t></is></c></row>',
    "after one with a place": b'<row r="1048576"><c r="XFC1048576"/><c><v>1</v></c></row>',
    "in the last column allowed": b'<row r="1048576"><c r="BXX1048576"><v>1</v></c></row>',
    "in a row with a place": b'<row r="1"><c r="BXX1"><v>1</v></c></row><row r="1048576"><c><v>1</v></c></row>',
    "after many rows": b'<row r="2">' + WIDE + b"</row>" + b"<row/>" * 30_000 + b"<row>" + ONE + b"</row>",
    "after many cells": b'<row r="1048576">' + b"<c/>" * 1_990 + b"<c><v>1</v></c></row>",
    "beyond the last row": b'<row r="1048577"><c r="A1048577"><v>1</v></c></row>',
    "beyond all numbers": b'<row r="1"><c r="A4294967298"><v>1</v></c></row>',
    "beyond all columns": b'<row r="1"><c r="' + b"A" * 5_000 + b'1"><v>1</v></c></row>',
    "with two places": b'<row r="1"><c r="A1" r="XFD1048576"><v>1</v></c></row>',
    "behind a sign in an attribute": b'<row r="1"><c x="<" r="XFD1048576"><v>1</v></c></row>',
    "behind a strange prefix": b'<row r="1"><a/b:c r="XFD1048576"><v>1</v></c></row>',
    "behind a sign in a prefix": b'<row r="1"><a">":c r="XFD1048576"><v>1</v></c></row>',
    "in a cell": b'<row r="1"><c r="XFC9"><is><c r="A1"/></is></c><c><v>1</v></c></row>',
    "in nested rows": b"<row>" * 40_000 + b'<row r="2">' + WIDE + b"</row>" * 40_001 + ONE,
    "in a second table": b'</sheetData><sheetData><row r="1048576"><c r="BXX1048576"><v>1</v></c></row>',
}


@pytest.mark.parametrize("where", HOSTILE)
def test_a_cell_far_away_takes_no_memory(where: str) -> None:
    said = complaint(with_cells(FIRST + HOSTILE[where]))
    assert re.search(r"at most 2,000\.|delete what stands far from|cannot be read|a row that no sheet has", said)


def test_cells_that_are_spread_too_wide_are_told_with_rows_and_columns() -> None:
    assert complaint(with_cells(FIRST + HOSTILE["in the last column allowed"])) == (
        "t.xlsx: found cells that are spread over 1,048,576 rows and 2,000 columns, expected at most 50,000,000 cells "
        "in all; delete what stands far from the table."
    )


def test_empty_cells_far_away_are_no_part_of_a_table() -> None:
    far = b'<row r="1048575" ht="15"/><row r="1048576"><c r="XFD1048576" s="1"/></row>'
    rows, numbers = rows_of(with_cells(FIRST + b'<row r="2"><c r="A2"><v>7</v></c></row>' + far))
    assert (rows, numbers) == ([["id"], ["7"]], [1, 2])


def test_a_note_at_the_end_of_a_sheet_is_a_row_of_it() -> None:
    last = b'<row r="1048576"><c r="B1048576" t="str"><v>end</v></c></row>'
    assert rows_of(with_cells(FIRST + last)) == ([["id", ""], ["", "end"]], [1, 1_048_576])


def test_a_long_text_that_many_cells_share_is_kept_once() -> None:
    long = "x" * 30_000
    cells = read_table(as_workbook([["id", "remark"], *[[f"c{n}", long] for n in range(2_000)]]), "t.xlsx").cells
    assert set(cells["remark"]) == {long}
    assert len({id(cell) for cell in cells["remark"]}) == 1


def test_more_shared_texts_than_a_table_can_have_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheets, "MOST_TEXTS", 20)
    assert "cannot be read (more than 20 texts)" in complaint(as_workbook(ROWS))


def test_shared_texts_are_read_with_their_parts_and_without_their_sound() -> None:
    texts = (
        b"<sst><si><t>id</t></si><si><r><rPr/><t>a </t></r><r><t>b</t></r><rPh><t>sound</t></rPh></si>"
        b"<si><t>one_x000D_\ntwo_xD800__x0001_</t></si><si/></sst>"
    )
    cells = b"".join(b'<row><c t="s"><v>%d</v></c><c><v>1</v></c></row>' % number for number in range(4))
    data = rewritten(as_workbook(ROWS), sheet=START + cells + END, texts=texts)
    assert [row[0] for row in rows_of(data)[0]] == ["id", "a b", "one\r\ntwo_xD800_", ""]
    assert "cannot be read" in complaint(rewritten(data, sheet=START + b'<row><c t="s"><v>4</v></c></row>' + END))


def test_numbers_that_no_day_has_are_numbers_also_in_the_format_of_a_date() -> None:
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True})
    sheet, day = book.add_worksheet(), book.add_format({"num_format": "yyyy-mm-dd"})
    time = book.add_format({"num_format": "[h]:mm"})
    for row, number in enumerate([45_352, 19_450_312, -5, -1e17, 1e300]):
        sheet.write_number(row, 0, number, day)
        sheet.write_formula(row, 1, "=A1", day, number)
        sheet.write_number(row, 2, number, time)
    book.close()
    rows, _ = rows_of(file.getvalue())
    assert rows[0] == ["2024-03-01", "2024-03-01", "45352 days, 0:00:00"]
    assert rows[1:] == [["19450312"] * 3, ["-5"] * 3, ["-1e+17"] * 3, ["1e+300"] * 3]


def test_where_the_library_breaks_down_the_file_cannot_be_read() -> None:
    far = b'<row><c t="str"><v>id</v></c></row><row><c s="1"><f>1</f>\n<!-- --><v>-1E+300</v></c></row>'
    data = rewritten(as_workbook([["id"], [dt.date(2024, 3, 1)]]), sheet=START + far + END)
    assert "cannot be read" in complaint(data)


def test_long_numbers_keep_every_digit() -> None:
    numbers = [b"12345678901234567", b"-12345678901234567890", b"9007199254740993", b"1234567890123456"]
    cells = b"".join(b'<row><c t="n"><v>%s</v></c><c s="0"><v>%s</v></c></row>' % (n, n) for n in numbers)
    assert rows_of(with_cells(cells))[0] == [[n.decode()] * 2 for n in numbers]


def test_errors_of_any_name_are_text_and_so_is_what_looks_like_one() -> None:
    cells = (
        b'<row><c r="A1" t="e"><v>#N/A</v></c><c r="B1" s="0" t=\'e\'><f>1/0</f><v>#SPILL!</v></c>'
        b'<c r="C1" t="inlineStr"><is><t>t="e"&gt;</t></is></c><c r="D1" t="str"><v> t="e"&gt;</v></c></row>'
    )
    assert rows_of(with_cells(cells))[0] == [["#N/A", "#SPILL!", 't="e">', 't="e">']]


def test_text_in_cdata_is_text() -> None:
    cells = b'<row><c t="str"><v><![CDATA[a <b> & c]]></v></c><c t="inlineStr"><is><t><![CDATA[d]]></t></is></c></row>'
    assert rows_of(with_cells(cells))[0] == [["a <b> & c", "d"]]


def test_what_stands_around_the_cells_of_a_sheet_does_not_matter() -> None:
    around = {
        b"<sheetData>": b'<dimension ref="?"/><sheetData>',
        b"</sheetData>": b'</sheetData><mergeCells><mergeCell ref="?"/></mergeCells>',
    }
    sheet = START + FIRST + END
    for old, new in around.items():
        sheet = sheet.replace(old, new)
    assert rows_of(rewritten(as_workbook(ROWS), sheet=sheet)) == ([["id"]], [1])


def test_a_hidden_sheet_is_not_read() -> None:
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True})
    hidden, shown = book.add_worksheet("Hidden"), book.add_worksheet("Shown")
    for sheet, rows in ((hidden, 50), (shown, 2)):
        for row in range(rows):
            sheet.write_row(row, 0, ["id", "x"] if row == 0 else [f"{sheet.name} {row}", row])
    hidden.hide()
    shown.activate()
    book.close()
    table = read_table(file.getvalue(), "t.xlsx")
    assert (table.sheets, table.cells["id"].tolist()) == (("Shown",), ["Shown 1"])
