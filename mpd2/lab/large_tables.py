"""A table in parts, so that one larger than memory can be routed, here or on a cluster.

Parts are cut by the table alone: whoever routes them, the decisions are the same.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from mpd2.core.cohort import Cohort
from mpd2.core.costs import OperatingPoint
from mpd2.core.error_rates import ErrorModel
from mpd2.core.errors import Problem, TableError, UserError
from mpd2.core.manifest import Manifest
from mpd2.core.runs import Run
from mpd2.core.table_file import read_cohort
from mpd2.planning.worklist import decisions_frame
from mpd2.study.operating import as_fitted, continuations_at, expectations_at, policy_at
from mpd2.training.devices import threads_for
from mpd2.training.population import CHUNK

ROWS = 4 * CHUNK  # of a part: a multiple of what a router takes at once, so that parts and whole are cut alike


@dataclass(frozen=True)
class Part:
    """Some rows of a table as a small table of the same kind."""

    name: str  # of the table, as messages have it
    data: bytes
    above: int  # rows of the table before these, the header left out


@dataclass(frozen=True)
class RouteRequest:
    """Whose word is asked for on every part."""

    run: Run
    manifest: Manifest
    member: int | None = None  # position of the only router that decides
    errors: ErrorModel | None = None  # what the run keeps of everybody's errors
    point: OperatingPoint | None = None  # by which it decides; none: as it was fitted


def parts_of(table: Path, rows: int = ROWS) -> Iterator[Part]:
    """The parts of a CSV or Parquet file, one after another; any other file is one part, for the reader to refuse."""
    try:
        with table.open("rb") as file:
            if table.suffix.lower() == ".csv":
                yield from _csv_parts(file, table.name, rows)
            elif table.suffix.lower() == ".parquet":
                yield from _parquet_parts(file, table.name, rows)
            else:
                yield Part(table.name, b"", 0)
    except OSError as error:
        raise UserError(f"{table}: cannot be read: {error.strerror}") from None


def read_part(part: Part, manifest: Manifest) -> Cohort:
    """The cases of a part; problems are told by the rows of the whole table."""
    try:
        return read_cohort(part.data, part.name, manifest, "routing")
    except TableError as error:
        raise TableError(part.name, [_moved(problem, part.above) for problem in error.problems]) from None


def route_part(order: RouteRequest, part: Part) -> pd.DataFrame:
    """The decision for every case of a part."""
    try:
        cohort = read_part(part, order.manifest)
    except TableError as error:
        raise UserError(str(error)) from None  # plain, because it may have to travel
    run = order.run if order.member is None else order.run.member([order.member])
    point = order.point or as_fitted(order.run)
    with threads_for(1):
        policy = policy_at(order.run, cohort, point, order.errors)
        continuations = continuations_at(order.run, cohort, point)
        expected = expectations_at(run, cohort, point, order.errors)
    if order.member is not None:
        policy, continuations = policy.member([order.member]), continuations and continuations.member([order.member])
    return decisions_frame(policy, cohort, order.run.rule, continuations, expected)


class UniqueIds:
    """Notices an id that two parts have in common; keeps eight bytes of each id."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._seen: list[np.ndarray] = []

    def add(self, ids: pd.Series) -> None:
        """The ids of the next part."""
        self._seen.append(pd.util.hash_array(ids.to_numpy(object), categorize=False))

    def check(self) -> None:
        """Refuse the table if any id came twice."""
        twice = np.flatnonzero(pd.Series(np.concatenate(self._seen)).duplicated())
        if len(twice):
            first, *rest = (twice + 2).tolist()
            problem = Problem(first, "case_id", "an id once more", "an id that no row above has", tuple(rest))
            raise TableError(self.name, [problem])


def _csv_parts(file: BinaryIO, name: str, rows: int) -> Iterator[Part]:
    """Cut after a line that ends outside quotation marks; every part begins with the header."""
    lines = _records(file)
    header = next(lines, b"")
    above = 0
    while held := b"".join(islice(lines, rows)):
        if held.strip() or not above:  # blank lines are no rows
            yield Part(name, header + held, above)
        above += rows
    if not above:
        yield Part(name, header, 0)


def _records(file: BinaryIO) -> Iterator[bytes]:
    """Lines, joined where a quoted cell goes on in the next one."""
    whole = b""
    for line in file:
        whole += line
        if whole.count(b'"') % 2 == 0:
            yield whole
            whole = b""
    if whole:
        yield whole


def _parquet_parts(file: BinaryIO, name: str, rows: int) -> Iterator[Part]:
    try:
        table = pq.ParquetFile(file)
        above = 0
        for batch in table.iter_batches(batch_size=rows):
            data = io.BytesIO()
            pq.write_table(pa.Table.from_batches([batch]), data)
            yield Part(name, data.getvalue(), above)
            above += len(batch)
        if not above:
            file.seek(0)
            yield Part(name, file.read(), 0)
    except (pa.ArrowException, ValueError) as error:
        found = f"a file that cannot be read ({error})"
        raise TableError(name, [Problem(None, "", found, "a Parquet table")]) from None


def _moved(problem: Problem, above: int) -> Problem:
    if problem.row is None:
        return problem
    return replace(problem, row=problem.row + above, also=tuple(row + above for row in problem.also))
