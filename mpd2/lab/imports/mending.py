"""What is wrong with a table left out of it: the row where a case cannot do without, else only the cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mpd2.core.errors import Problem
from mpd2.core.text import listed, numbered
from mpd2.lab.imports.files import RawTable
from mpd2.lab.imports.uses import INPUTS, File, Proposal, Use

Rows = frozenset[int]  # as the person's spreadsheet counts them
Tables = tuple[RawTable, RawTable | None]  # of cases and of readings
MOST_LEFT_OUT = 0.2  # share of rows; where more are wrong, a column is not what it is taken for
MAY_BE_EMPTY = (*INPUTS, Use.READER, Use.DATE)


@dataclass(frozen=True)
class Omission:
    """What a person wants left out of a table."""

    rows: Mapping[File, Rows] = field(default_factory=dict)
    cells: Mapping[str, Rows] = field(default_factory=dict)  # by column of the cases

    def __bool__(self) -> bool:
        """Whether it is anything at all."""
        return any(self.rows.values()) or any(self.cells.values())

    def __or__(self, other: Omission) -> Omission:
        """What one or the other leaves out."""
        rows = {file: self.rows.get(file, Rows()) | other.rows.get(file, Rows()) for file in {*self.rows, *other.rows}}
        both = {*self.cells, *other.cells}
        return Omission(rows, {name: self.cells.get(name, Rows()) | other.cells.get(name, Rows()) for name in both})

    def in_words(self) -> str:
        """How much it is.

        >>> Omission({"cases": frozenset({7, 9})}, {"bmi": frozenset({3})}).in_words()
        '2 rows left out and 1 cell left empty'
        """
        rows, cells = (sum(map(len, each.values())) for each in (self.rows, self.cells))
        parts = [f"{numbered(rows, 'row')} left out"] if rows else []
        return listed([*parts, *([f"{numbered(cells, 'cell')} left empty"] if cells else [])])


NOTHING = Omission()


def omission(problems: Sequence[Problem], proposals: Sequence[Proposal], tables: Tables) -> Omission:
    """What to leave out so that a table has none of its problems; nothing where that would be much of it."""
    optional = {each.column for each in proposals if each.file == "cases" and each.use in MAY_BE_EMPTY}
    found = NOTHING
    for problem in problems:
        if problem.row is None:
            return NOTHING
        rows = Rows((problem.row, *problem.also))
        if problem.file:
            found |= Omission({"readings": rows})
        elif problem.column in optional:
            found |= Omission(cells={problem.column: rows})
        else:
            found |= Omission({"cases": rows})
    gone = found.rows.get("cases", Rows())
    found = Omission(found.rows, {name: rows - gone for name, rows in found.cells.items() if rows - gone})
    sizes: dict[File, int] = {"cases": len(tables[0]), "readings": len(tables[1] or ())}
    much = any(len(rows) > MOST_LEFT_OUT * sizes[file] for file, rows in found.rows.items())
    much |= any(len(rows) > MOST_LEFT_OUT * sizes["cases"] for rows in found.cells.values())
    return NOTHING if much else found


def without(tables: Tables, left_out: Omission, proposals: Sequence[Proposal]) -> Tables:
    """The tables without what is left out, and without readings of cases that are no longer there."""
    if not left_out:
        return tables
    cases, readings = tables
    cells = cases.cells.copy()
    for column, rows in left_out.cells.items():
        cells.loc[cells.index.isin(list(rows)), column] = ""
    gone = cells.index.isin(list(left_out.rows.get("cases", ())))
    kept = replace(cases, cells=cells[~gone])
    if readings is None:
        return kept, None
    stay = ~readings.cells.index.isin(list(left_out.rows.get("readings", ())))
    by_use = {each.use: each.column for each in proposals}
    if Use.CASE in by_use and Use.READING_CASE in by_use:
        ids = by_use[Use.CASE]
        orphans = set(cells.loc[gone, ids]) - set(kept.cells[ids])
        stay &= ~np.isin(readings.cells[by_use[Use.READING_CASE]].to_numpy(object), list(orphans))
    return kept, replace(readings, cells=readings.cells[stay])
