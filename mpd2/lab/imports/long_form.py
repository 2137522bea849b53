"""A file with one row a reading: one column a reader is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools, Ints
from mpd2.core.cohort import UNKNOWN
from mpd2.core.errors import Problem
from mpd2.core.manifest import Manifest
from mpd2.core.table_file.cells import SHOWN, shortened
from mpd2.core.text import count
from mpd2.lab.imports.files import RawTable
from mpd2.lab.imports.values import as_bits

MOST_DIFFERING = 1_000  # pairs of readings that differ of which a problem is made


@dataclass(frozen=True, eq=False)
class Pivot:
    """What the readers of a second file say."""

    columns: dict[str, Ints]  # by reader, [N] 0, 1 or UNKNOWN
    problems: list[Problem]
    notes: list[str]


def pivoted(readings: RawTable, manifest: Manifest, ids: np.ndarray, words: Mapping[str, int], cases: str) -> Pivot:
    """The readings of the cases called `ids`, [N], of the file `cases`; whatever is wrong with a row is a problem."""
    long = manifest.long
    assert long is not None
    absent = [name for name in (long.case, long.reader, long.says) if name not in readings.cells]
    if absent:
        found, expected = "no such column", "a column of this name, for the manifest has one"
        return Pivot({}, [Problem(None, name, found, expected, file=readings.name) for name in absent], [])
    said = as_bits(readings.column(long.says), words)
    known = pd.Index(ids.astype(str))
    if not known.is_unique:
        known = known[~known.duplicated()]  # that ids come twice is told of the cases
    case = known.get_indexer(pd.Index(readings.cells[long.case].astype(str)))  # [R] position of the case, or -1
    who = pd.Index(manifest.columns).get_indexer(pd.Index(readings.cells[long.reader].astype(str)))  # [R]
    problems = [
        *_wrong(readings, long.case, case < 0, f"a case of {cases}"),
        *_wrong(readings, long.reader, who < 0, f"one of {', '.join(manifest.columns)}"),
        *_wrong(readings, long.says, said.wrong, "0 or 1, or yes or no"),
    ]
    notes = [f"{long.says}: {', '.join(said.notes)}."] if said.notes else []
    empty = int(((said.values == UNKNOWN) & ~said.wrong).sum())
    if empty:
        notes.append(f"{readings.name}: {count(empty)} readings without an answer are left out.")
    good = (case >= 0) & (who >= 0) & (said.values != UNKNOWN)
    table = np.full((len(ids), len(manifest.columns)), UNKNOWN)
    cell = (case * len(manifest.columns) + who)[good]
    bits, rows = said.values[good].astype(np.int64), readings.cells.index.to_numpy()[good]
    order = np.argsort(cell, kind="stable")
    cell, bits, rows = cell[order], bits[order], rows[order]
    _, first, which = np.unique(cell, return_index=True, return_inverse=True)
    for place in np.flatnonzero(bits != bits[first][which])[:MOST_DIFFERING].tolist():
        position, reader = divmod(int(cell[place]), len(manifest.columns))
        before = first[which[place]]
        found = f"{bits[place]} by {manifest.columns[reader]} for {shortened(str(known[position]), SHOWN)}"
        expected = f"{bits[before]} as in row {rows[before]}, for a reader reads a case once"
        problems.append(Problem(int(rows[place]), long.says, found, expected, file=readings.name))
    if len(cell) > len(first):
        again = count(len(cell) - len(first))
        notes.append(f"{readings.name}: {again} readings come again, of the same case by the same reader.")
    table.reshape(-1)[cell[first]] = bits[first]
    return Pivot({name: table[:, position] for position, name in enumerate(manifest.columns)}, problems, notes)


def _wrong(readings: RawTable, column: str, wrong: Bools, expected: str) -> list[Problem]:
    """One problem for all rows that are wrong in the same way."""
    places = np.flatnonzero(wrong)
    if not len(places):
        return []
    text = shortened(str(readings.cells[column].iloc[places[0]]), SHOWN) or "an empty cell"
    first, *rest = readings.cells.index.to_numpy()[places].tolist()
    return [Problem(first, column, text, expected, tuple(rest), readings.name)]
