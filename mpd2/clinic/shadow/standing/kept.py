"""The rows of the store as columns in memory; since rows are only added, what was read once is not read again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sqlalchemy import BigInteger, Float, Integer, Row, Table

from mpd2.clinic.shadow import schema
from mpd2.clinic.shadow.rows import Basis
from mpd2.core.arrays import Ints

ARRIVAL = "arrival"  # a column that tables about arrivals have in memory: the arrival's position among arrivals
ABOUT_ARRIVALS = (schema.READINGS, schema.OUTCOMES, schema.OVERRIDES)
TABLES = (schema.ARRIVALS, *ABOUT_ARRIVALS)

Columns = Mapping[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class Kept:
    """All rows a snapshot is made of, in the order in which they were written: columns by table and name."""

    version: int
    bases: Mapping[str, Basis]  # by digest
    tables: Mapping[str, Columns]
    _position: dict[tuple[str, int], int] = field(default_factory=dict)  # of each arrival; shared by what grows from it

    @property
    def arrivals(self) -> Columns:
        """Those of the arrivals."""
        return self.tables[schema.ARRIVALS.name]

    @property
    def readings(self) -> Columns:
        """Those of the readings, each with its ARRIVAL."""
        return self.tables[schema.READINGS.name]

    @property
    def outcomes(self) -> Columns:
        """Those of the outcomes, each with its ARRIVAL."""
        return self.tables[schema.OUTCOMES.name]

    @property
    def overrides(self) -> Columns:
        """Those of the overrides, each with its ARRIVAL."""
        return self.tables[schema.OVERRIDES.name]

    def with_rows(self, version: int, bases: Mapping[str, Basis], new: Mapping[str, Sequence[Row[Any]]]) -> Kept:
        """The same with new rows of each table, by its name."""
        grown = {}
        for table in TABLES:
            more = _as_columns(table, new[table.name])
            if table is schema.ARRIVALS:
                first = len(self.arrivals["number"])
                keys = zip(more["case"], more["time"].tolist(), strict=True)
                self._position.update((key, first + place) for place, key in enumerate(keys))
            else:
                keys = zip(more["case"], more["time"].tolist(), strict=True)
                more[ARRIVAL] = np.array([self._position[key] for key in keys], np.int64)
            grown[table.name] = {
                name: np.concatenate([self.tables[table.name][name], values]) for name, values in more.items()
            }
        return Kept(version, bases, grown, self._position)


def nothing_kept() -> Kept:
    """No rows at all."""
    tables: dict[str, Columns] = {table.name: _as_columns(table, []) for table in TABLES}
    for table in ABOUT_ARRIVALS:
        tables[table.name] = {**tables[table.name], ARRIVAL: np.zeros(0, np.int64)}
    return Kept(0, {}, tables)


def newest_last(columns: Columns) -> Ints:
    """The rows of a table so that of several about the same thing the one that holds is the last."""
    return np.lexsort((columns["number"], columns["at"]))


def _as_columns(table: Table, rows: Sequence[Row[Any]]) -> dict[str, np.ndarray]:
    values = list(zip(*rows, strict=True)) or [()] * len(table.columns)
    found = {}
    for column, cells in zip(table.columns, values, strict=True):
        if isinstance(column.type, BigInteger | Integer):
            found[column.name] = np.array(cells, np.int64)
        elif isinstance(column.type, Float):
            found[column.name] = np.array(cells, float)  # NaN where there is none
        else:
            found[column.name] = np.empty(len(cells), object)
            found[column.name][:] = cells
    return found
