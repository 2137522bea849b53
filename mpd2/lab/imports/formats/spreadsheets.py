"""Excel workbooks as rows of text. Nothing in them is run: of a formula the stored result is read."""

from __future__ import annotations

import datetime as dt
import io
import re
import zipfile
from typing import Any

import openpyxl
from defusedxml import ElementTree
from openpyxl.utils.cell import range_boundaries

from mpd2.core.errors import Problem, TableError, UserError
from mpd2.core.table_file.cells import SHOWN_REASON, shortened
from mpd2.core.text import count
from mpd2.lab.imports.formats.grids import MOST_COLUMNS, Grid

MOST_PARTS = 5_000  # files in a workbook
CHUNK = 2**20
RELATED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^>]*?ref\s*=\s*[\"']([A-Z]+\d+:[A-Z]+\d+)[\"']")
UNCOMPUTED = re.compile(rb"</(?:\w+:)?f>\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v></(?:\w+:)?v>)?\s*</(?:\w+:)?c>")
ONE_FORMULA = "1 formula without a stored result is"
WHOLE = 1e15  # up to which a float that is a whole number is written as one


def unpacked_size(data: bytes, name: str) -> int:
    """To how many bytes a workbook grows, told by its own list of parts."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise _unreadable(name, error) from None
    if len(parts) > MOST_PARTS:
        raise UserError(
            f"{name}: found {count(len(parts))} parts in the workbook, expected at most {count(MOST_PARTS)}"
        )
    if any(part.flag_bits & 1 for part in parts):
        raise UserError(f"{name}: found a workbook with a password; save it without one")
    return sum(part.file_size for part in parts)


def read_grid(data: bytes, name: str, sheet: str, most: int | None) -> tuple[tuple[str, ...], str, Grid]:
    """The sheets of a workbook, the one that is read (the largest if none is named), and its rows up to `most`."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = _sheets(archive)
            if not parts:
                raise UserError(f"{name}: found a workbook without a sheet of cells")
            if sheet and sheet not in parts:
                raise UserError(f"{name}: found no sheet {sheet!r}, expected one of {', '.join(parts)}")
            chosen = sheet or max(parts, key=lambda title: archive.getinfo(parts[title]).file_size)
            content = _read_part(archive, parts[chosen])
        notes = []
        if len(parts) > 1 and not sheet:
            rest = ", ".join(title for title in parts if title != chosen)
            notes.append(f"Of {len(parts)} sheets the largest, {chosen}, is read; not read: {rest}.")
        empty = len(UNCOMPUTED.findall(content))
        if empty:
            some = f"{count(empty)} formulas without a stored result are" if empty > 1 else ONE_FORMULA
            notes.append(f"{some} read as empty; save the workbook in Excel once.")
        merged = tuple(_merged(found.decode()) for found in MERGED.findall(content))
        del content
        rows, numbers = _rows(data, name, chosen, most)
    except UserError:
        raise
    except Exception as error:  # a damaged workbook makes the libraries run into anything
        raise _unreadable(name, error) from None
    return tuple(parts), chosen, Grid(rows, numbers, tuple(notes), merged)


def _unreadable(name: str, error: Exception) -> TableError:
    found = f"a file that cannot be read ({shortened(str(error) or type(error).__name__, SHOWN_REASON)})"
    return TableError(name, [Problem(None, "", found, "an Excel workbook (.xlsx)")])


def _sheets(archive: zipfile.ZipFile) -> dict[str, str]:
    """The part of every sheet that is shown, by its title."""
    book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
    links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
    targets = {link.get("Id"): link for link in links if (link.get("Type") or "").endswith("/worksheet")}
    found = {}
    for sheet in book.iter():
        link = targets.get(sheet.get(RELATED)) if sheet.tag.endswith("}sheet") else None
        if link is not None and sheet.get("state", "visible") == "visible":
            target = link.get("Target", "")
            found[sheet.get("name", "")] = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
    return found


def _read_part(archive: zipfile.ZipFile, part: str) -> bytes:
    """A part, never more of it than the list of parts says."""
    with archive.open(part) as file:
        return file.read(archive.getinfo(part).file_size + 1)


def _merged(reference: str) -> tuple[int, int, int, int]:
    left, top, right, bottom = range_boundaries(reference)
    return int(top or 1), int(bottom or 1), int(left or 1) - 1, int(right or 1) - 1


def _rows(data: bytes, name: str, sheet: str, most: int | None) -> tuple[list[list[str]], list[int]]:
    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    rows, numbers = [], []
    try:
        cells = book[sheet]
        cells.reset_dimensions()  # what it says of its size need not be true
        for number, values in enumerate(cells.iter_rows(values_only=True), start=1):
            row = [_text(value) for value in values]
            while row and not row[-1]:
                row.pop()
            if len(row) > MOST_COLUMNS:
                found, expected = f"{count(len(row))} cells", f"at most {count(MOST_COLUMNS)}"
                raise TableError(name, [Problem(number, "", found, expected)])
            if row:
                rows.append(row)
                numbers.append(number)
            if most is not None and len(rows) > most + LOOKED_ABOVE:
                break  # too many already: the rest need not be read to say so
    finally:
        book.close()
    width = max(map(len, rows), default=0)
    return [row + [""] * (width - len(row)) for row in rows], numbers


LOOKED_ABOVE = 60  # rows that a header and what stands above it may take


def _text(value: Any) -> str:
    """A cell as somebody would type it.

    >>> [_text(value) for value in (None, True, 3.0, 0.1, " a ", dt.datetime(2024, 3, 1), dt.datetime(2024, 3, 1, 8))]
    ['', 'TRUE', '3', '0.1', 'a', '2024-03-01', '2024-03-01 08:00:00']
    """
    match value:
        case None:
            return ""
        case str():
            return value.strip()
        case bool():
            return str(value).upper()
        case float() if value.is_integer() and abs(value) < WHOLE:
            return str(int(value))
        case dt.datetime():
            return value.date().isoformat() if value.time() == dt.time() else value.isoformat(sep=" ")
        case _:
            return str(value)
