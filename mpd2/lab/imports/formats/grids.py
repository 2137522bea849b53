"""From rows of cells to a table with a header: where the header is, what it says, which rows and columns are empty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from mpd2.core.errors import Problem, TableError
from mpd2.core.table_file.cells import shortened
from mpd2.core.text import count, listed

LOOKED_AT = 50  # rows in which the header is looked for
MOST_COLUMNS = 2_000
SHOWN = 40  # characters of a cell that a note quotes


@dataclass(frozen=True)
class Grid:
    """Rows of text as they stand in a file, blank ones left out."""

    rows: list[list[str]]
    numbers: list[int]  # of each row, as a spreadsheet counts
    notes: tuple[str, ...] = ()
    merged: tuple[tuple[int, int, int, int], ...] = ()  # first and last row (as counted), first and last column from 0


def table_of(name: str, grid: Grid, columns: Sequence[pd.Series] | None = None) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The table under its header, and what was tidied; `columns` are its cells where they are not rows of the grid."""
    if not grid.rows:
        raise TableError(name, [Problem(None, "", "only empty cells", "a table with a header and at least one case")])
    first, last = _header_rows(grid)
    notes = list(grid.notes)
    if first:
        above = listed([f"“{shortened(' '.join(filter(None, row)), SHOWN)}”" for row in grid.rows[:first][:3]])
        notes.append(f"What stands above the header, which is row {grid.numbers[first]}, is left out: {above}.")
    header = _header(grid, first, last, notes)
    _refuse_numbers(name, header, grid.numbers[first])
    if columns is None:
        body, numbers = grid.rows[last + 1 :], grid.numbers[last + 1 :]
        _refuse_ragged(name, body, numbers, header)
        if _spread(body, numbers, grid.merged):
            notes.append("Cells that were merged all hold what stood in the first of them.")
        columns = [pd.Series(column, dtype=object) for column in zip(*body, strict=True)]
    else:
        numbers = list(range(2, len(columns[0]) + 2)) if columns else []
    if not numbers or not columns:
        raise TableError(name, [Problem(None, "", "a header and no rows", "at least one case")])
    names = _names(header, columns, notes)
    cells = {title: column for title, column in zip(names, columns, strict=True) if title}
    if not cells:
        raise TableError(name, [Problem(None, "", "only empty cells", "a table with a header and at least one case")])
    texts = {title: column.to_numpy(object) for title, column in cells.items()}
    frame = pd.DataFrame(texts, index=pd.Index(numbers), dtype=object)
    return frame, tuple(notes)


def _header_rows(grid: Grid) -> tuple[int, int]:
    """The positions of the first and last row of the header.

    The header is the first row that has at least half as many cells as most rows have; what stands above it is a title.
    Where cells are merged, the words of a group of columns stand above theirs.
    """
    filled = [sum(map(bool, row)) for row in grid.rows[:LOOKED_AT]]
    usual = Counter(filled).most_common(1)[0][0]
    found = next((position for position, cells in enumerate(filled) if cells >= max(usual / 2, min(2, usual))), 0)
    width = max(map(len, grid.rows[:LOOKED_AT]))
    places = {number: position for position, number in enumerate(grid.numbers[:LOOKED_AT])}
    first = last = found
    for top, bottom, left, right in grid.merged:
        position, several = places.get(top, -1), right > left
        if position == found - 1 and several and right - left + 1 < width:
            first = position
        if position == found:
            last = max(last, found + (bottom - top or int(several)))
    return first, min(last, len(grid.rows) - 1)


def _header(grid: Grid, first: int, last: int, notes: list[str]) -> list[str]:
    """The words above each column; of merged cells every column has them."""
    rows, numbers = grid.rows[first : last + 1], grid.numbers[first : last + 1]
    width = max(map(len, rows))
    rows = [row + [""] * (width - len(row)) for row in rows]
    _spread(rows, numbers, grid.merged)
    words = [dict.fromkeys(" ".join(cell.split()) for cell in cells if cell) for cells in zip(*rows, strict=True)]
    names = [" ".join(parts) for parts in words]
    if last > first:
        joined = [f", as in “{shortened(' '.join(parts), SHOWN)}”" for parts in words if len(parts) > 1]
        notes.append(f"The header has {last - first + 1} rows; their words are joined{''.join(joined[:1])}.")
    return names


def _spread(rows: Sequence[list[str]], numbers: Sequence[int], merged: Sequence[tuple[int, int, int, int]]) -> bool:
    """Write into all merged cells of some rows what stands in the first; whether there were any."""
    places = {number: position for position, number in enumerate(numbers)}
    there = False
    for top, bottom, left, right in merged:
        word = rows[places[top]][left] if top in places and left < len(rows[places[top]]) else ""
        if word:
            there = True
            for number in range(top, min(bottom, numbers[-1]) + 1):
                if number in places:
                    row = rows[places[number]]
                    row[left : right + 1] = [word] * (min(right + 1, len(row)) - left)
    return there


def _refuse_numbers(name: str, header: Sequence[str], row: int) -> None:
    words = [cell for cell in header if cell]
    numbers = int(pd.to_numeric(pd.Series(words, dtype=object), errors="coerce").notna().sum())
    if numbers > len(words) / 2:
        found = f"numbers where names are expected ({shortened(', '.join(words), SHOWN)})"
        raise TableError(name, [Problem(row, "", found, "a header with a name for each column")])


def _refuse_ragged(name: str, rows: list[list[str]], numbers: Sequence[int], header: list[str]) -> None:
    """Cut empty cells that the header has no name for; refuse every other row that does not fit the header."""
    width = len(header)
    problems: dict[int, list[int]] = {}
    for position, row in enumerate(rows):
        if len(row) != width:
            if not any(row[width:]) and len(row) > width:
                del row[width:]
            else:
                problems.setdefault(len(row), []).append(position)
    if problems:
        raise TableError(
            name,
            [
                Problem(
                    numbers[positions[0]],
                    header[cells] if cells < width else "",
                    f"{count(cells)} cells" + (" and nothing here" if cells < width else ""),
                    f"{count(width)} as in the header",
                    tuple(numbers[position] for position in positions[1:]),
                )
                for cells, positions in problems.items()
            ],
        )


def _names(header: Sequence[str], columns: Sequence[pd.Series], notes: list[str]) -> list[str]:
    """A name of its own for each column; none for one that is empty and has no name."""
    names: list[str] = []
    taken, dropped, unnamed, twice = set(header), 0, [], []
    for position, (title, column) in enumerate(zip(header, columns, strict=True)):
        new = title
        if not title:
            if not (column != "").any():
                dropped += 1
                names.append("")
                continue
            new = _free(f"column {position + 1}", taken)
            unnamed.append(new)
        elif title in names:
            new = next(f"{title} ({n})" for n in range(2, len(header) + 2) if f"{title} ({n})" not in taken)
            twice.append(new)
        taken.add(new)
        names.append(new)
    if dropped:
        some = (
            f"{count(dropped)} empty columns without a name are" if dropped > 1 else "1 empty column without a name is"
        )
        notes.append(f"{some} left out.")
    if unnamed:
        notes.append(f"A column without a name is called by its place: {listed(unnamed)}.")
    if twice:
        notes.append(f"A name that stands above several columns is numbered: {listed(twice)}.")
    return names


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "'"
    return name
