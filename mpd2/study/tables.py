"""The tables of the shipped study, read back from its folder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mpd2.core.errors import UserError
from mpd2.core.manifest import Manifest
from mpd2.core.text import listed
from mpd2.evaluation.intervals import Estimate
from mpd2.study.definition import PAPER_RUN


def table_path(data: Path, name: str) -> Path:
    """Where a table of the study is stored in the folder `data`."""
    return data / "tables" / f"{name}.csv"


def read_table(data: Path, name: str) -> pd.DataFrame:
    """A table of the study in the folder `data`."""
    path = table_path(data, name)
    if not path.is_file():
        raise UserError(f"{path}: there is no such table; `python -m mpd2 reproduce {name}` makes it")
    return pd.read_csv(path)


@dataclass(frozen=True, eq=False)
class StudyTables:
    """All tables of the study, and who is in them."""

    tables: Mapping[str, pd.DataFrame]
    manifest: Manifest

    def __getitem__(self, name: str) -> pd.DataFrame:
        """One table, tidy."""
        return self.tables[name]

    @cached_property
    def titles(self) -> dict[str, str]:
        """Each run's name as shown."""
        named = [rows[["method", "title"]] for rows in self.tables.values() if {"method", "title"} <= set(rows)]
        rows = pd.concat(named).drop_duplicates("method")
        return dict(zip(rows["method"], rows["title"], strict=True))

    @cached_property
    def compared(self) -> list[str]:
        """The runs of the methods the paper compares its router with."""
        printed = self.of("overall", metric="TotalCost").items()
        return [name for name, row in printed if not np.isnan(row.published) and name != PAPER_RUN]

    @cached_property
    def cohorts(self) -> dict[str, str]:
        """Key and name of each cohort that has test cases."""
        there = {key for rows in self.tables.values() if "cohort" in rows for key in rows["cohort"].unique()}
        return {entry.key: entry.name for entry in self.manifest.cohorts if entry.key in there}

    @property
    def seeds(self) -> int:
        """How many routers each condition of the ablations has."""
        return int(self.tables["objective"]["n"].max())

    def of(self, table: str, by: str = "method", **where: object) -> dict[str, Estimate]:
        """The estimates of a table where its columns have the given values, by run name or another column."""
        rows = self._by(table, tuple(where)).get(tuple(where.values()), [])
        fields = ("value", "low", "high", "sd", "published", "title")
        return {str(row[by]): Estimate(**{name: row[name] for name in fields if name in row}) for row in rows}

    def _by(self, table: str, columns: tuple[str, ...]) -> dict[tuple[object, ...], list[dict[Hashable, Any]]]:
        """The rows of a table by what stands in some of its columns, sorted once for all who look there."""
        if (table, *columns) not in self._sorted:
            groups = self._sorted[table, *columns] = defaultdict(list)
            for row in self.tables[table].rename(columns={"difference": "value"}).to_dict("records"):
                groups[tuple(row[column] for column in columns)].append(row)
        return self._sorted[table, *columns]

    @cached_property
    def _sorted(self) -> dict[tuple[str, ...], defaultdict[tuple[object, ...], list[dict[Hashable, Any]]]]:
        return {}

    def against(self, router: str, metric: str) -> dict[str, Estimate]:
        """What each compared method has more than the router, on the same cases."""
        rows = self.of("paired", reference=router, metric=metric)
        return {name: rows[name] for name in self.compared}

    def effect(self, condition: str, metric: str, against: str = "full") -> Estimate:
        """What a condition of the ablations has more than another, seed by seed."""
        return self.of("effects", by="metric", first=condition, second=against)[metric]

    def named(self, names: Iterable[str]) -> str:
        """The runs' titles in a sentence."""
        return listed([self.titles[name] for name in names])
