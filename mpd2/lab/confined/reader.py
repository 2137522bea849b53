"""The process that reads one file somebody sent, within limits, and ends.

`python -m mpd2.lab.confined.reader BYTES SECONDS` says how much memory and computing it may take. It gets its task on
its standard input and answers on its standard output; it writes nothing else anywhere, not even what went wrong inside,
which could quote a cell.
"""

from __future__ import annotations

import csv
import gc
import os
import resource
import sys
from collections.abc import Callable, Sequence

import pandas as pd
import pyarrow as pa

from mpd2.core.errors import UserError
from mpd2.core.manifest import parse_manifest
from mpd2.core.table_file import MANIFEST, parquet, word_columns
from mpd2.core.table_file.cells import LONGEST_CELL, CellLimits, read_cells, refuse_large, refuse_long
from mpd2.core.text import count
from mpd2.lab.confined.messages import About, cells_to_bytes, packed, refusal, unpacked
from mpd2.lab.imports.files import Limits, read_table

MOST_CELLS = 20_000_000
BROKEN = 2  # how the process ends where something is wrong with us, or with a library
TOO_MUCH = "needs more memory than a file may here; leave out columns and rows that are not needed"

Answer = tuple[About, list[bytes]]


def confine(memory: int, seconds: int) -> None:
    """Limit what this process may take; it may write no file, and leaves no picture of its memory behind."""
    limits = {
        resource.RLIMIT_DATA: (memory, memory),
        resource.RLIMIT_CPU: (seconds, seconds + 1),  # a second in which it is told why
        resource.RLIMIT_FSIZE: (0, 0),
        resource.RLIMIT_CORE: (0, 0),
    }
    for kind, most in limits.items():
        resource.setrlimit(kind, most)
    gc.disable()  # it ends before there is garbage; looking for some among millions of cells takes long
    csv.field_size_limit(LONGEST_CELL)
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)


def any_table(about: About, parts: Sequence[bytes]) -> Answer:
    """A table whatever its columns are."""
    table = read_table(parts[0], about["name"], about["sheet"], Limits(**about["limits"]))
    told = {"notes": table.notes, "sheets": table.sheets, "sheet": table.sheet}
    return told, [_sent(table.cells, about["name"])]


def known_columns(about: About, parts: Sequence[bytes]) -> Answer:
    """The columns of a table that somebody knows."""
    limits = CellLimits(**about["limits"])
    return {}, [_sent(read_cells(parts[0], about["name"], about["words"], limits), about["name"])]


def workspace(about: About, parts: Sequence[bytes]) -> Answer:
    """Nothing, if the table and the Parquet files of a workspace are of a reasonable size and fit for training."""
    from mpd2.core.table_file import read_cohort  # with what checks tables, which others need not wait for

    table, manifest, *files = parts
    known = parse_manifest(manifest.decode(), MANIFEST)
    limits = CellLimits(**about["limits"])
    read_cells(table, known.table, word_columns(known), limits)
    for name, data in zip(about["files"], files, strict=True):
        _look_at(name, data, limits)
    read_cohort(table, known.table, known)
    return {}, []


TASKS: dict[str, Callable[[About, Sequence[bytes]], Answer]] = {
    "table": any_table,
    "known": known_columns,
    "workspace": workspace,
}


def answered(message: bytes) -> bytes:
    """Do what is asked; what is wrong with the file is part of the answer."""
    about, parts = unpacked(message)
    try:
        return packed(*TASKS[about["task"]](about, parts))
    except UserError as error:
        return packed(refusal(error))
    except MemoryError:
        return packed(refusal(UserError(f"{about['name']}: {TOO_MUCH}")))


def main() -> int:
    """Wait for a task, do it and end; without a task there is nothing to do."""
    confine(*map(int, sys.argv[1:]))
    message = sys.stdin.buffer.read()
    if not message:
        return 0
    try:
        answer = answered(message)
    except Exception:  # it may quote what is in the file: only that there was one is told
        return BROKEN
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
    return 0


def _sent(cells: pd.DataFrame, name: str) -> bytes:
    if cells.size > MOST_CELLS:
        raise UserError(f"{name}: found {count(cells.size)} cells, expected at most {count(MOST_CELLS)} here")
    return cells_to_bytes(cells)


def _look_at(name: str, data: bytes, limits: CellLimits) -> None:
    """Refuse a Parquet file that is much larger than it seems; one that cannot be read is refused by who needs it."""
    try:
        about = parquet.described(data)
        refuse_large(about.unpacked, limits.unpacked, name)
        if any(column.nested for column in about.columns):
            raise UserError(f"{name}: found lists in its cells, expected numbers and words")
        table = parquet.read_compactly(data)
        refuse_long(table, limits.length, name)
        refuse_large(parquet.text_bytes(table), limits.unpacked, name)
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, ValueError):
        return


if __name__ == "__main__":
    os._exit(main())  # without waiting for what libraries tidy up
