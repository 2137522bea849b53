"""Reading a table: every cell becomes text, "" where it is empty, so that all files are checked by the same rules."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from mpd2.core.errors import Problem, TableError, UserError

NOT_TEXT = "bytes that are not UTF-8 text"
SEPARATORS = {",": "comma", ";": "semicolon"}
DECIMAL_COMMA = re.compile(r"^([+-]?\d*),(\d+(?:[eE][+-]?\d+)?)$")
SHOWN, SHOWN_REASON = 40, 120  # characters of a cell and of a library's complaint that a message quotes


def read_cells(data: bytes, name: str, words: Sequence[str]) -> pd.DataFrame:
    """The table as text; the index holds the rows as a spreadsheet counts them. The columns `words` hold no numbers."""
    readers = {".csv": lambda: _csv_cells(data, name, words), ".parquet": lambda: _parquet_cells(data, name)}
    suffix = Path(name).suffix.lower()
    if suffix not in readers:
        raise UserError(f"{name}: found a file ending in {suffix or 'nothing'}, expected {' or '.join(readers)}")
    if not data:
        raise TableError(name, [Problem(None, "", "an empty file", "a table with a header and at least one case")])
    cells = readers[suffix]()
    if cells.empty:
        raise TableError(name, [Problem(None, "", "a header and no rows", "at least one case")])
    return cells


def _csv_cells(data: bytes, name: str, words: Sequence[str]) -> pd.DataFrame:
    """Read with the standard library, which, unlike pandas, neither guesses types nor shifts or pads uneven rows.

    Where semicolons separate the cells, as spreadsheets write them in much of Europe, numbers may have decimal commas.
    """
    text = _text(data, name)
    separator = _separator(text)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    table: dict[int, list[str]] = {}
    problems = []
    try:
        header = [cell.strip() for cell in next(rows, [])]
        for number, row in enumerate(rows, start=2):
            if len(row) == len(header):
                table[number] = [cell.strip() for cell in row]
            elif row:  # a blank line is no row
                problems.append(Problem(number, "", f"{len(row)} cells", f"{len(header)} as in the header"))
    except csv.Error as error:
        expected = f"{SEPARATORS[separator]}-separated cells"
        problems.append(Problem(rows.line_num, "", f"a row that cannot be read ({error})", expected))
    if problems:
        raise TableError(name, folded(problems))
    cells = pd.DataFrame.from_dict(table, orient="index", columns=header, dtype=object)
    if separator == ";":
        numbers = ~cells.columns.isin(words)
        cells.loc[:, numbers] = cells.loc[:, numbers].replace(DECIMAL_COMMA, r"\1.\2", regex=True)
    return cells


def _separator(text: str) -> str:
    """What separates the cells of the header, and so of every row.

    >>> _separator("case_id;age\\na;0,5"), _separator("case_id,age\\na;b,0.5"), _separator("case_id")
    (';', ',', ',')
    """
    header = text.partition("\n")[0]
    return max(SEPARATORS, key=header.count)


def _text(data: bytes, name: str) -> str:
    """The bytes as text; a byte-order mark, as spreadsheets write it, is dropped."""
    try:
        text = data.decode("utf-8-sig")
        end = text.find("\0")
        row = None if end < 0 else text.count("\n", 0, end) + 1
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
    if row is not None:
        raise TableError(name, [Problem(row, "", NOT_TEXT, "a CSV table saved as UTF-8")])
    return text


def _parquet_cells(data: bytes, name: str) -> pd.DataFrame:
    try:
        table = pq.read_table(io.BytesIO(data))
        problems = _broken_texts(table)
        if problems:
            raise TableError(name, problems)
        table.validate(full=True)
        cells = table.to_pandas(ignore_metadata=True)
        cells.index += 2
        return as_text(cells)
    except (pa.ArrowException, OSError, ValueError) as error:
        found = f"a file that cannot be read ({shortened(str(error), SHOWN_REASON)})"
        raise TableError(name, [Problem(None, "", found, "a Parquet table")]) from None


def as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Every cell as text, "" where it is empty."""
    if all(pd.api.types.infer_dtype(frame.iloc[:, place], skipna=False) == "string" for place in range(frame.shape[1])):
        return frame.astype(object)
    return frame.astype(object).where(frame.notna(), "").astype(str).astype(object)


def _broken_texts(table: pa.Table) -> list[Problem]:
    """Cells of text that are none: Parquet says what a column holds, and nobody has checked that it is true."""
    problems = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            cells = column.cast(pa.large_binary()).to_pylist()
            rows = [row for row, cell in enumerate(cells, start=2) if cell and not _is_text(cell)]
            if rows:
                problems.append(Problem(rows[0], name, NOT_TEXT, "text saved as UTF-8", tuple(rows[1:])))
    return problems


def _is_text(cell: bytes) -> bool:
    """Whether bytes are UTF-8 without a NUL, which would end a text early."""
    try:
        return "\0" not in cell.decode()
    except UnicodeDecodeError:
        return False


def numbers(cells: pd.Series) -> pd.Series:
    """The cells as numbers, NaN where they are none."""
    return pd.to_numeric(cells, errors="coerce").astype(float)


def shortened(text: str, length: int) -> str:
    """On one line, and no longer than that."""
    line = " ".join(text.split())
    return f"{line[:length]}…" if len(line) > length else line


def folded(problems: Sequence[Problem]) -> list[Problem]:
    """One problem for each column and expectation; its other rows are listed with the first."""
    kinds: dict[tuple[str, str], list[Problem]] = {}
    for problem in problems:
        kinds.setdefault((problem.column, problem.expected), []).append(problem)
    return [
        replace(first, also=tuple(problem.row for problem in rest if problem.row is not None))
        for first, *rest in kinds.values()
    ]
