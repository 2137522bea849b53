"""The tables that come with cohorts: CSV, Excel and JSON, as rows of text."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from mpd2.core.errors import UserError

ENDINGS = (".csv", ".xlsx", ".xls", ".json")

Row = dict[str, str]


def rows_of(path: Path) -> list[Row]:
    """The rows of a table by their columns' names in small letters; a UserError if it cannot be read.

    Of a workbook it is the first sheet. A JSON file has a list of rows, or rows by number.
    """
    try:
        if path.suffix.lower() == ".json":
            return _json(path)
        if path.suffix.lower() == ".csv":
            return [_cleaned(row) for row in csv.DictReader(io.StringIO(_text(path)))]
        return _workbook(path)
    except UserError:
        raise
    except Exception as error:  # whatever a damaged file brings about in there
        raise UserError(f"cannot be read as a table ({type(error).__name__})") from None


def column(rows: Iterable[Mapping[str, str]], *names: str) -> str | None:
    """The first column that is called one of these, or else begins with one; None if there is none.

    >>> column([{"imgname": "a", "label(glaucoma=1)": "0"}], "glaucoma", "label")
    'label(glaucoma=1)'
    """
    there = list(next(iter(rows), {}))
    for name in names:
        for found in there:
            if found == name:
                return found
    return next((found for name in names for found in there if found.startswith(name)), None)


def binary(text: str) -> int | None:
    """0 or 1 as tables write it; None for anything else.

    >>> binary("1.0"), binary("0"), binary("TRUE"), binary("")
    (1, 0, 1, None)
    """
    word = text.strip().lower()
    known = {"1": 1, "1.0": 1, "true": 1, "yes": 1, "0": 0, "0.0": 0, "false": 0, "no": 0}
    return known.get(word)


def stem(name: str) -> str:
    """A file's name without folders and ending, in small letters.

    >>> stem(r"Images\\001.JPG"), stem("data/002.png"), stem("3")
    ('001', '002', '3')
    """
    return Path(name.strip().replace("\\", "/")).stem.lower()


def _json(path: Path) -> list[Row]:
    content = json.loads(_text(path))
    rows = list(content.values()) if isinstance(content, dict) else content
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise UserError("found something else than rows in it")
    return [_cleaned(row) for row in rows]


def _workbook(path: Path) -> list[Row]:
    from python_calamine import CalamineWorkbook

    cells = CalamineWorkbook.from_path(path).get_sheet_by_index(0).to_python(skip_empty_area=True)
    if not cells:
        return []
    head, *rest = cells
    return [_cleaned(dict(zip(map(str, head), row, strict=False))) for row in rest]


def _text(path: Path) -> str:
    raw = path.read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _cleaned(row: Mapping[object, object]) -> Row:
    """Names in small letters, cells as text."""
    return {str(name).strip().lower(): "" if cell is None else str(cell).strip() for name, cell in row.items() if name}
