"""Somebody's file as a table of text, whatever program wrote it, with a note of all that was tidied."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
import pyarrow as pa

from mpd2.core.errors import Problem, TableError, UserError
from mpd2.core.table_file import parquet
from mpd2.core.table_file.cells import LONGEST_CELL, SHOWN_REASON, refuse_long, refuse_wide, shortened
from mpd2.core.text import count, listed
from mpd2.lab.imports.formats import delimited, spreadsheets
from mpd2.lab.imports.formats.grids import MOST_COLUMNS, Grid, table_of
from mpd2.lab.imports.values import Column

MEGA = 2**20
ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".xlsm")
OLD_EXCEL = b"\xd0\xcf\x11\xe0"
INDEX = "__index_level_"  # begins the name of the column that pandas adds to a Parquet file


@dataclass(frozen=True)
class Limits:
    """What a file may have at most; nothing is refused where there is no number."""

    rows: int | None
    size: int | None  # bytes
    unpacked: int | None  # bytes it grows to


BROWSER = Limits(rows=200_000, size=100 * MEGA, unpacked=500 * MEGA)
"""What keeps a shared server responsive."""
UNLIMITED = Limits(None, None, None)
"""For whoever works on their own machine."""


@dataclass(frozen=True, eq=False)
class RawTable:
    """A file as its owner wrote it: cells of text, "" where they are empty, under the names of the header."""

    name: str  # of the file
    cells: pd.DataFrame  # [N, columns] of text; its index is the row as a spreadsheet counts it
    notes: tuple[str, ...] = ()  # what was tidied, in sentences
    sheets: tuple[str, ...] = ()  # of a workbook; empty for other files
    sheet: str = ""  # the one that was read

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def _columns(self) -> dict[str, Column]:
        return {}

    def column(self, name: str) -> Column:
        """The distinct cells of a column; what they mean is found out once."""
        if name not in self._columns:
            self._columns[name] = Column.of(self.cells[name])
        return self._columns[name]


def read_path(path: Path, sheet: str = "", limits: Limits = UNLIMITED) -> RawTable:
    """The table in a file."""
    try:
        return read_table(path.read_bytes(), path.name, sheet, limits)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None


def read_table(data: bytes, name: str, sheet: str = "", limits: Limits = BROWSER) -> RawTable:
    """The table in the bytes of a CSV, Parquet or Excel file; what the bytes are decides, not the file's name.

    Of a workbook the chosen `sheet` is read, or the largest. No formula is computed: what was stored of it is read.
    """
    refuse_large(len(data), limits.size, name, "")
    if not data.strip():
        raise TableError(name, [Problem(None, "", "an empty file", "a table with a header and at least one case")])
    if data.startswith(OLD_EXCEL):
        raise UserError(f"{name}: found an Excel file of the old kind (.xls); save it as .xlsx or as CSV")
    if data.startswith(b"PK"):
        return _from_workbook(data, name, sheet, limits)
    if data.startswith(b"PAR1"):
        return _from_parquet(data, name, limits)
    suffix = Path(name).suffix.lower()
    if suffix not in ENDINGS:
        expected = f"{', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"
        raise UserError(f"{name}: found a file ending in {suffix or 'nothing'}, expected {expected}")
    if suffix in (".parquet", ".xlsx", ".xlsm"):
        kind = "a Parquet table" if suffix == ".parquet" else "an Excel workbook"
        raise TableError(name, [Problem(None, "", "a file that cannot be read as one", kind)])
    grid = delimited.read_grid(data, name)
    _refuse_many(len(grid.rows) - 1, limits.rows, name)
    return _named(name, grid, limits)


def _from_workbook(data: bytes, name: str, sheet: str, limits: Limits) -> RawTable:
    refuse_large(spreadsheets.unpacked_size(data, name), limits.unpacked, name, " when unpacked")
    sheets, chosen, grid = spreadsheets.read_grid(data, name, sheet, limits.rows)
    table = _named(name, grid, limits)
    return RawTable(name, table.cells, table.notes, sheets, chosen)


def _named(name: str, grid: Grid, limits: Limits) -> RawTable:
    cells, notes = table_of(name, grid)
    _refuse_many(len(cells), limits.rows, name)
    return RawTable(name, cells, notes)


def _from_parquet(data: bytes, name: str, limits: Limits) -> RawTable:
    """Every column as text; what a file claims to hold is checked before it is unpacked."""
    try:
        about = parquet.described(data)
        _refuse_many(about.rows, limits.rows, name)
        refuse_wide(len(about.columns), MOST_COLUMNS, name)
        _refuse_nested(about, name)
        refuse_large(about.unpacked, limits.unpacked, name, " when unpacked")
        table = parquet.read_compactly(data)
        refuse_long(table, None if limits.size is None else LONGEST_CELL, name)
        table.validate(full=True)
        refuse_large(parquet.text_bytes(table), limits.unpacked, name, " when unpacked")
        texts = [_as_text(column, title, name) for title, column in zip(table.column_names, table.columns, strict=True)]
        header = [str(title) for title in table.column_names]
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        found = f"a file that cannot be read ({shortened(str(error), SHOWN_REASON)})"
        raise TableError(name, [Problem(None, "", found, "a Parquet table")]) from None
    notes = []
    added = [title for title in header if title.startswith(INDEX)]
    if added:
        notes.append(f"The column {listed(added)}, which only counts rows, is left out.")
    kept = [position for position, title in enumerate(header) if title not in added]
    grid = Grid([[header[position] for position in kept]], [1])
    cells, tidied = table_of(name, grid, [texts[position] for position in kept])
    return RawTable(name, cells, (*notes, *tidied))


def _refuse_nested(about: parquet.Description, name: str) -> None:
    """Refuse lists and tables in cells: there is no text for them, and a small file can hold millions in each."""
    nested = [column for column in about.columns if column.nested]
    if nested:
        raise TableError(name, [_no_text(column.name, column.kind) for column in nested])


def _no_text(title: str, kind: str) -> Problem:
    return Problem(None, title, f"cells of the kind {shortened(kind, 40)}", "numbers, words or dates")


def _as_text(column: pa.ChunkedArray, title: str, name: str) -> pd.Series:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        texts = column.cast(pa.large_string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise TableError(name, [_no_text(title, str(column.type))]) from None
    cells = pd.Series(texts.to_pandas(), dtype="str").fillna("").str.strip()
    if pa.types.is_floating(column.type):
        cells = cells.mask(cells == "nan", "")
    broken = cells.str.contains("\0", regex=False).to_numpy()
    if broken.any():
        rows = [position + 2 for position in broken.nonzero()[0].tolist()]
        raise TableError(name, [Problem(rows[0], title, "bytes that are not text", "text", tuple(rows[1:]))])
    return cells


def _refuse_many(rows: int, most: int | None, name: str) -> None:
    if most is not None and rows > most:
        raise UserError(
            f"{name}: found {count(rows)} rows, expected at most {count(most)} here; "
            "`python -m mpd2 workspace new` takes tables of any size on your own machine"
        )


def refuse_large(size: int, most: int | None, name: str, when: str) -> None:
    """Refuse more bytes than there may be."""
    if most is not None and size > most:
        raise UserError(f"{name}: found {size / MEGA:.0f} MB{when}, expected at most {most // MEGA} here")
