"""Excel workbooks as rows of text. Nothing in them is run: of a formula the stored result is read."""

from __future__ import annotations

import io
import re
import zipfile
from xml.etree.ElementTree import Element

from defusedxml import ElementTree

from mpd2.core.errors import Problem, TableError, UserError
from mpd2.core.table_file.cells import SHOWN_REASON, shortened
from mpd2.core.text import count
from mpd2.lab.imports.formats.grids import Grid
from mpd2.lab.imports.formats.sheets import SheetParts, column_number, read_rows

MOST_PARTS = 5_000  # files in a workbook
RELATED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
CORNER = rb"([A-Z]{1,3})(\d{1,7})"
MERGED = re.compile(rb"<(?:\w+:)?mergeCell\s[^<>]*?ref\s*=\s*[\"']" + CORNER + rb":" + CORNER + rb"[\"']")
UNCOMPUTED = re.compile(rb"</(?:\w+:)?f>\s*+(?:<(?:\w+:)?v\s*/>\s*+|<(?:\w+:)?v></(?:\w+:)?v>\s*+)?</(?:\w+:)?c>")
ONE_FORMULA = "1 formula without a stored result is"


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
            book = ElementTree.fromstring(archive.read("xl/workbook.xml"))
            links = ElementTree.fromstring(archive.read("xl/_rels/workbook.xml.rels"))
            sheets = _sheets(book, links)
            if not sheets:
                raise UserError(f"{name}: found a workbook without a sheet of cells")
            if sheet and sheet not in sheets:
                raise UserError(f"{name}: found no sheet {sheet!r}, expected one of {', '.join(sheets)}")
            chosen = sheet or max(sheets, key=lambda title: archive.getinfo(sheets[title]).file_size)
            texts, styles = (_linked_part(archive, links, kind) for kind in ("/sharedStrings", "/styles"))
            parts = SheetParts(_read_part(archive, sheets[chosen]), texts, styles, _since_1904(book))
        notes = []
        if len(sheets) > 1 and not sheet:
            rest = ", ".join(title for title in sheets if title != chosen)
            notes.append(f"Of {len(sheets)} sheets the largest, {chosen}, is read; not read: {rest}.")
        empty = len(UNCOMPUTED.findall(parts.sheet))
        if empty:
            some = f"{count(empty)} formulas without a stored result are" if empty > 1 else ONE_FORMULA
            notes.append(f"{some} read as empty; save the workbook in Excel once.")
        merged = tuple(_merged(*map(bytes.decode, corners)) for corners in MERGED.findall(parts.sheet))
        rows, numbers = read_rows(parts, name, most)
    except UserError:
        raise
    except Exception as error:  # a damaged workbook makes the libraries run into anything
        raise _unreadable(name, error) from None
    return tuple(sheets), chosen, Grid(rows, numbers, tuple(notes), merged)


def _unreadable(name: str, error: Exception) -> TableError:
    found = f"a file that cannot be read ({shortened(str(error) or type(error).__name__, SHOWN_REASON)})"
    return TableError(name, [Problem(None, "", found, "an Excel workbook (.xlsx)")])


def _sheets(book: Element, links: Element) -> dict[str, str]:
    """The part of every sheet that is shown, by its title."""
    targets = {link.get("Id"): link for link in links if (link.get("Type") or "").endswith("/worksheet")}
    found = {}
    for sheet in book.iter():
        link = targets.get(sheet.get(RELATED)) if sheet.tag.endswith("}sheet") else None
        if link is not None and sheet.get("state", "visible") == "visible":
            found[sheet.get("name", "")] = _target(link)
    return found


def _since_1904(book: Element) -> bool:
    return any(part.tag.endswith("}workbookPr") and part.get("date1904") in ("1", "true") for part in book.iter())


def _target(link: Element) -> str:
    target = link.get("Target", "")
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def _linked_part(archive: zipfile.ZipFile, links: Element, kind: str) -> bytes:
    """The part of the workbook that is of this kind; nothing if there is none."""
    named = [_target(link) for link in links if (link.get("Type") or "").endswith(kind)]
    return _read_part(archive, named[0]) if named else b""


def _read_part(archive: zipfile.ZipFile, part: str) -> bytes:
    """A part, never more of it than the list of parts says."""
    with archive.open(part) as file:
        return file.read(archive.getinfo(part).file_size + 1)


def _merged(left: str, top: str, right: str, bottom: str) -> tuple[int, int, int, int]:
    return int(top), int(bottom), column_number(left) - 1, column_number(right) - 1
