"""Reading a table: every cell becomes text, "" where it is empty, so that all files are checked by the same rules."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import pyarrow as pa

import mpd2.core.table_file.parquet as parquet
from mpd2.core.errors import Problem, TableError, UserError

LARGER = "`python -m mpd2` takes tables of any size on your own machine"
NOT_TEXT = "bytes that are not UTF-8 text"
SEPARATORS = {",": "comma", ";": "semicolon"}
DECIMAL_COMMA = re.compile(r"^([+-]?\d*),(\d+(?:[eE][+-]?\d+)?)$")
LONGEST_CELL = 32_767  # characters, as in a spreadsheet
SHOWN, SHOWN_REASON = 40, 120  # characters of a cell and of a library's complaint that a message quotes


@dataclass(frozen=True)
class CellLimits:
    """What a table may have at most, and the columns that are read of it; nothing is limited where there is None."""

    rows: int | None = None
    columns: int | None = None
    length: int | None = None  # bytes of a text
    unpacked: int | None = None  # bytes its cells grow to
    known: Collection[str] | None = None


ANY_SIZE = CellLimits()


def read_cells(data: bytes, name: str, words: Sequence[str], limits: CellLimits = ANY_SIZE) -> pd.DataFrame:
    """The table as text; the index holds the rows as a spreadsheet counts them. The columns `words` hold no numbers."""
    readers = {
        ".csv": lambda: _csv_cells(data, name, words, limits),
        ".parquet": lambda: _parquet_cells(data, name, limits),
    }
    suffix = Path(name).suffix.lower()
    if suffix not in readers:
        raise UserError(f"{name}: found a file ending in {suffix or 'nothing'}, expected {' or '.join(readers)}")
    if not data:
        raise TableError(name, [Problem(None, "", "an empty file", "a table with a header and at least one case")])
    cells = readers[suffix]()
    if not len(cells):
        raise TableError(name, [Problem(None, "", "a header and no rows", "at least one case")])
    return cells


def _csv_cells(data: bytes, name: str, words: Sequence[str], limits: CellLimits) -> pd.DataFrame:
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
        refuse_wide(len(header), limits.columns, name)
        places = [place for place, title in enumerate(header) if limits.known is None or title in limits.known]
        found = 0
        for number, row in enumerate(rows, start=2):
            found += bool(row)
            if limits.rows is not None and found > limits.rows:
                continue  # too many already: the rest is only counted
            if len(row) == len(header):
                table[number] = [row[place].strip() for place in places]
            elif row:  # a blank line is no row
                problems.append(Problem(number, "", f"{len(row)} cells", f"{len(header)} as in the header"))
    except csv.Error as error:
        expected = f"{SEPARATORS[separator]}-separated cells"
        problems.append(Problem(rows.line_num, "", f"a row that cannot be read ({error})", expected))
    else:
        refuse_many(found, limits.rows, name)
    if problems:
        raise TableError(name, folded(problems))
    titles = [header[place] for place in places]
    cells = pd.DataFrame(list(table.values()), index=list(table), columns=titles, dtype=object)
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


def _parquet_cells(data: bytes, name: str, limits: CellLimits) -> pd.DataFrame:
    try:
        table = _within_limits(data, name, limits)
        problems = _broken_texts(table)
        if problems:
            raise TableError(name, problems)
        table.validate(full=True)
        cells = table.to_pandas(ignore_metadata=True)
        cells.index = pd.RangeIndex(2, len(table) + 2)
        return as_text(cells)
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        found = f"a file that cannot be read ({shortened(str(error), SHOWN_REASON)})"
        raise TableError(name, [Problem(None, "", found, "a Parquet table")]) from None


def _within_limits(data: bytes, name: str, limits: CellLimits) -> pa.Table:
    """The columns that are read, once the file is known to be of a reasonable size: a small one can hold a huge table.

    What it says of itself is looked at first, then how long its texts are where each of them is kept once.
    """
    about = parquet.described(data)
    refuse_many(about.rows, limits.rows, name)
    refuse_wide(len(about.columns), limits.columns, name)
    known = [column for column in about.columns if limits.known is None or column.name in limits.known]
    if limits.unpacked is not None:
        nested = [
            Problem(None, each.name, f"cells of the kind {shortened(each.kind, SHOWN)}", "numbers, words or dates")
            for each in known
            if each.nested
        ]
        if nested:
            raise TableError(name, nested)
        refuse_large(sum(column.unpacked for column in known), limits.unpacked, name)
    titles = None if limits.known is None else [column.name for column in known]
    table = parquet.read_compactly(data, titles)
    refuse_long(table, limits.length, name)
    refuse_large(parquet.text_bytes(table), limits.unpacked, name)
    return parquet.plain(table)


def refuse_many(rows: int, most: int | None, name: str) -> None:
    """Refuse more rows than there may be."""
    if most is not None and rows > most:
        raise UserError(f"{name}: found {rows} rows, expected at most {most} here; {LARGER}")


def refuse_wide(columns: int, most: int | None, name: str) -> None:
    """Refuse more columns than there may be."""
    if most is not None and columns > most:
        raise TableError(name, [Problem(None, "", f"{columns} columns", f"at most {most}")])


def refuse_large(size: int, most: int | None, name: str) -> None:
    """Refuse cells that take more bytes than there may be."""
    if most is not None and size > most:
        found, expected = f"{size / 2**20:.0f} MB when unpacked", f"at most {most // 2**20} here"
        raise UserError(f"{name}: found {found}, expected {expected}")


def refuse_long(table: pa.Table, most: int | None, name: str) -> None:
    """Refuse a compact table in which a text is longer than a cell may be."""
    for title, column in zip(table.column_names, table.columns, strict=True):
        longest = parquet.longest_text(column)
        if most is not None and longest > most:
            raise TableError(name, [Problem(None, title, f"a text of {longest} bytes", f"at most {most} in a cell")])


def as_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Every cell as text, "" where it is empty."""
    if pd.api.types.infer_dtype(frame.to_numpy(object).ravel(), skipna=False) == "string":
        return frame.astype(object)
    return frame.astype(object).where(frame.notna(), "").astype(str).astype(object)


def _broken_texts(table: pa.Table) -> list[Problem]:
    """Cells of text that are none: Parquet says what a column holds, and nobody has checked that it is true."""
    problems = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        if parquet.is_text(column.type):
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
