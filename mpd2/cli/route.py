"""`route`: who reads each case?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from mpd2.core.errors import UserError
from mpd2.core.files import replacing
from mpd2.core.manifest import load_manifest
from mpd2.core.runs import Run, load_run
from mpd2.lab.chunks import RouteRequest, UniqueIds, parts_of, route_part
from mpd2.lab.cluster import pool

SUFFIXES = (".csv", ".parquet")


def run(args: Namespace) -> int:
    """Write the decision for every case of a table."""
    _check_place(args.out, args.table)
    trained = load_run(args.run)
    manifest = load_manifest(args.manifest or args.table.with_suffix(".toml"))
    order = RouteRequest(trained, manifest, None if args.member is None else _position(trained, args.member))
    with pool(args.scheduler, args.workers) as workers:
        cases, asked = write_frames(workers.in_order(route_part, order, parts_of(args.table)), args.out, args.table)
    print(f"{args.out}: {cases} cases, {asked} for a reader and {cases - asked} for the AI")
    return 0


def write_frames(frames: Iterable[pd.DataFrame], path: Path, table: Path) -> tuple[int, int]:
    """Write decisions as they come, all or nothing; how many there are, and how many are for a reader."""
    ids, cases, asked = UniqueIds(table.name), 0, 0
    with replacing(path) as draft:
        with _opened(draft, path.suffix.lower()) as write:
            for frame in frames:
                write(frame)
                ids.add(frame["case_id"])
                cases, asked = cases + len(frame), asked + int((frame["action"] != "ai").sum())
        ids.check()
    return cases, asked


class _Write(Protocol):
    def __call__(self, frame: pd.DataFrame) -> None: ...


@contextmanager
def _opened(path: Path, suffix: str) -> Iterator[_Write]:
    """A function that appends rows to a CSV or Parquet file."""
    if suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            yield lambda frame: frame.to_csv(file, index=False, float_format="%.6g", header=file.tell() == 0)
        return
    writer: pq.ParquetWriter | None = None

    def append(frame: pd.DataFrame) -> None:
        nonlocal writer
        rows = pa.Table.from_pandas(frame, preserve_index=False)
        writer = writer or pq.ParquetWriter(path, rows.schema)
        writer.write_table(rows)

    try:
        yield append
    finally:
        if writer:
            writer.close()


def _check_place(out: Path, table: Path) -> None:
    if not table.is_file():
        raise UserError(f"{table}: there is no such file")
    if out.suffix.lower() not in SUFFIXES:
        raise UserError(f"{out}: found a file ending in {out.suffix or 'nothing'}, expected {' or '.join(SUFFIXES)}")
    if out.resolve() == table.resolve():
        raise UserError(f"{out}: is the table itself; write the decisions to another file")


def _position(trained: Run, seed: int) -> int:
    seeds = [int(settings["seed"]) for settings in trained.settings]
    if seed not in seeds:
        raise UserError(f"member: found seed {seed}, expected one of {', '.join(map(str, seeds))}")
    return seeds.index(seed)
