"""`route`: who reads each case?"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from mpd2.cli.arguments import TABLE, add_floor, add_new_table, add_workers, describe
from mpd2.cli.output import if_interrupted, now_and_then
from mpd2.core.errors import UserError
from mpd2.core.files import replacing

if TYPE_CHECKING:
    import pandas as pd

    from mpd2.core.arrays import Floats
    from mpd2.core.runs import Run

SUFFIXES = (".csv", ".parquet")
SUMMARY = "decide who reads each case of a table"


def add(command: ArgumentParser) -> None:
    """The arguments of `route`."""
    describe(
        command,
        "Decide for every case whether the AI's word stands or which reader to ask. The table needs neither truth nor\n"
        "readers' decisions, only who can be asked: a reader's column with a decision, or one ending in _available\n"
        "with 0 or 1.\n\n"
        "A run of several routers makes one decision a case: their policies π = (1 - d, d·q) are averaged, and the\n"
        "run's rule acts on the average. `votes` says how many of them choose the same action alone, and `decided_by`\n"
        "whether the AI decides by its own word, the run's rule against it with nobody asked, or a reader.\n\n"
        "The table is read, routed and written in parts, so it may be larger than memory; the decisions are the same\n"
        "with any number of workers.",
        "route runs/mine new.csv --out decisions.csv",
        "route runs/mine new.csv --manifest manifest.toml --out decisions.csv",
        "route runs/mine cases.csv --member 42 --out decisions.parquet",
        "route runs/mine new.csv --floor 0.95:sure --out decisions.csv",
        "route runs/mine large.parquet --scheduler tcp://host:8786 --out decisions.parquet",
    )
    command.add_argument("run", type=Path, metavar="RUN", help="folder of a run, or its name in the workspace")
    add_new_table(command, "TABLE with the ending .toml if there is one, else the readers the run was made with")
    command.add_argument("--workspace", metavar="NAME", help="the workspace whose manifest, val cases and runs to use")
    command.add_argument(
        "--out", type=Path, required=True, help="file for the decisions, ending in .csv or .parquet; replaced if there"
    )
    command.add_argument("--member", type=int, metavar="SEED", help="the router of this seed alone decides")
    add_floor(command)
    command.add_argument(
        "--learned-from",
        type=Path,
        default=TABLE,
        metavar="TABLE",
        help=f"whose val cases a floor is chosen on (default: {TABLE})",
    )
    add_workers(command, 1)


def run(args: Namespace) -> int:
    """Write the decision for every case of a table."""
    from mpd2.cli.inputs import cohort_of, manifest_for, point_of
    from mpd2.clinic.access.actions import Action
    from mpd2.clinic.access.actor import LOCAL
    from mpd2.clinic.access.authorise import authorise
    from mpd2.core.runs import ERRORS, load_errors, load_run
    from mpd2.lab.cluster import pool
    from mpd2.lab.large_tables import RouteRequest, parts_of, route_part
    from mpd2.present.words.deciders import in_words

    _check_place(args.out, args.table)
    trained = load_run(args.run)
    manifest = manifest_for(trained, args.table, args.manifest)
    member = None if args.member is None else _position(trained, args.member)
    errors = load_errors(args.run) if (args.run / ERRORS).is_file() else None
    point, choice = None, None
    if args.floor is not None or args.confident is not None:
        point, choice = point_of(trained, args.run, cohort_of(args.learned_from), args.floor, args.confident)
    authorise(LOCAL, Action.ROUTE_CASE, run=args.run.name, table=args.table.name)
    request = RouteRequest(trained, manifest, member, errors, point)
    unwritten = f"{args.out} was not written; the same command starts anew"
    with if_interrupted(lambda: unwritten), pool(args.scheduler, args.workers) as workers:
        decided = write_frames(workers.in_order(route_part, request, parts_of(args.table)), args.out, args.table)
    print(f"{args.out}: {in_words(decided)}")
    if choice is not None:
        print(choice.in_words())
    return 0


def write_frames(frames: Iterable[pd.DataFrame], path: Path, table: Path) -> Floats:
    """Write decisions as they come, all or nothing; how many each of DECIDERS decides, [3]."""
    import numpy as np

    from mpd2.core.policy import DECIDED_BY
    from mpd2.lab.large_tables import UniqueIds

    ids, decided, tell = UniqueIds(table.name), np.zeros(len(DECIDED_BY)), now_and_then()
    with replacing(path) as draft:
        with _opened(draft, path.suffix.lower()) as write:
            for frame in frames:
                write(frame)
                ids.add(frame["case_id"])
                decided += [(frame["decided_by"] == who).sum() for who in DECIDED_BY]
                tell(f"{decided.sum():.0f} cases decided")
        ids.check()
    return decided


class _Write(Protocol):
    def __call__(self, frame: pd.DataFrame) -> None: ...


@contextmanager
def _opened(path: Path, suffix: str) -> Iterator[_Write]:
    """A function that appends rows to a CSV or Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

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
