"""Measure a folder of photographs: in several processes, from where it was left, and with every file accounted for.

Photographs are measured in parts of a few. A part that is done is one line in a journal beside the table, so that work
that was killed goes on with the next; the parts follow from the files alone, so that the table is the same.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pandas as pd

from mpd2.core.errors import UserError
from mpd2.core.files import digest, replacing, short_hash
from mpd2.imaging.measurement import COLUMNS
from mpd2.imaging.models.backend import Backend
from mpd2.imaging.photograph import ENDINGS, Photograph, read_photograph
from mpd2.imaging.pipeline import SETTINGS, Pipeline

PART = 4  # photographs of one line of the journal
NOTES = "notes"
FILE = "file"

Progress = Callable[[int, int], None]
"""Told how many files are done, of how many."""


@dataclass(frozen=True)
class Measured:
    """What became of a folder."""

    table: Path
    measured: int
    unreadable: tuple[tuple[str, str], ...]  # file and reason
    other: int  # files that are no photographs by their ending
    resumed: int  # files that were done before

    @property
    def listed(self) -> Path:
        """The file that lists what could not be read."""
        return unreadable_beside(self.table)


@dataclass(frozen=True)
class Job:
    """A part of a folder, as it is sent to a process."""

    folder: Path
    files: tuple[str, ...]  # within the folder
    key: str  # of the files' names, sizes and times


def measure_folder(
    folder: Path,
    pipeline_folder: Path,
    out: Path,
    processes: int = 1,
    on_progress: Progress | None = None,
    backend: Backend = "torch",
    allow_pickle: bool = False,
) -> Measured:
    """Measure every photograph in a folder and below it; `out` is a CSV or Parquet file, a row a photograph."""
    if out.suffix not in (".csv", ".parquet"):
        raise UserError(f"{out}: found the ending {out.suffix or 'none'!r}, expected .csv or .parquet")
    files, other = photographs_in(folder)
    if not files:
        raise UserError(f"{folder}: found no photograph, expected files that end in {', '.join(ENDINGS)}")
    journal = Journal.open(out, f"{digest(pipeline_folder / SETTINGS)} {backend}")
    jobs = parts_of(folder, files)
    todo = [job for job in jobs if job.key not in journal.done]
    finished = resumed = sum(len(job.files) for job in jobs) - sum(len(job.files) for job in todo)
    tell = on_progress or (lambda done, total: None)
    tell(finished, len(files))
    for job, result in _measured(todo, processes, pipeline_folder, backend, allow_pickle):
        journal.add(job.key, result)
        finished += len(job.files)
        tell(finished, len(files))
    results = [entry for job in jobs for entry in journal.done[job.key]]
    unreadable = tuple((entry[FILE], entry["reason"]) for entry in results if "reason" in entry)
    _write(out, [entry for entry in results if "reason" not in entry], unreadable)
    journal.path.unlink(missing_ok=True)
    return Measured(out, len(files) - len(unreadable), unreadable, other, resumed)


def photographs_in(folder: Path) -> tuple[list[str], int]:
    """The photographs in a folder and below it by name, in their order, and how many other files there are."""
    if not folder.is_dir():
        raise UserError(f"{folder}: found no such folder, expected one with photographs")
    names = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    photographs = [name for name in names if Path(name).suffix.lower() in ENDINGS]
    return photographs, len(names) - len(photographs)


def parts_of(folder: Path, files: Sequence[str]) -> list[Job]:
    """Files in parts of a few; a part is known by the names, sizes and times of its files."""
    parts = [tuple(files[first : first + PART]) for first in range(0, len(files), PART)]
    return [Job(folder, part, short_hash([_state(folder / name, name) for name in part])) for part in parts]


class Journal:
    """What is done, a line a part; the first line says by which pipeline."""

    def __init__(self, path: Path, done: dict[str, list[dict[str, Any]]]) -> None:
        self.path = path
        self.done = done

    @classmethod
    def open(cls, out: Path, pipeline: str) -> Journal:
        """The journal of a table; one of another pipeline, or one cut off at its head, begins anew."""
        path = out.with_name(f".{out.name}.journal")
        lines = list(_lines(path))
        if lines and lines[0] == {"pipeline": pipeline}:
            journal = cls(path, {line["key"]: line["rows"] for line in lines[1:]})
        else:
            journal, lines = cls(path, {}), [{"pipeline": pipeline}]
        with replacing(path) as draft:  # without a line that was cut off, which the next would be glued to
            draft.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return journal

    def add(self, key: str, rows: list[dict[str, Any]]) -> None:
        """Write a part down before anything else happens."""
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "rows": rows}) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.done[key] = rows


def unreadable_beside(table: Path) -> Path:
    """Where the files that could not be read are listed.

    >>> unreadable_beside(Path("eyes.parquet")).name
    'eyes-unreadable.csv'
    """
    return table.with_name(f"{table.stem}-unreadable.csv")


def measure_part(pipeline: Pipeline, job: Job) -> list[dict[str, Any]]:
    """A row for every file of a part; {"file", "reason"} for one that cannot be read."""
    photographs: dict[str, Photograph] = {}
    rows: dict[str, dict[str, Any]] = {}
    for name in job.files:
        try:
            photographs[name] = read_photograph(job.folder / name, name)
        except UserError as error:
            rows[name] = {FILE: name, "reason": str(error).removeprefix(f"{name}: ")}
    measurements = pipeline.measure(list(photographs.values()))
    for name, measurement in zip(photographs, measurements, strict=True):
        rows[name] = {FILE: name, **measurement.row(), NOTES: ";".join(measurement.notes)}
    return [rows[name] for name in job.files]


_here: list[Pipeline] = []
"""The pipeline of this process, loaded once."""


def _begin(folder: Path, backend: Backend, allow_pickle: bool) -> None:
    """Make a process ready: one thread, the pipeline loaded."""
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    threadpool_limits(1)
    _here[:] = [Pipeline.load(folder, backend, allow_pickle=allow_pickle)]


def _one_part(job: Job) -> list[dict[str, Any]]:
    return measure_part(_here[0], job)


def _measured(
    jobs: Sequence[Job], processes: int, pipeline_folder: Path, backend: Backend, allow_pickle: bool
) -> Iterator[tuple[Job, list[dict[str, Any]]]]:
    """Each part with its rows, as they are done."""
    if not jobs:
        return
    if processes == 1:
        pipeline = Pipeline.load(pipeline_folder, backend, allow_pickle=allow_pickle)
        for job in jobs:
            yield job, measure_part(pipeline, job)
        return
    Pipeline.load(pipeline_folder, "torch", allow_pickle=allow_pickle)  # what is wrong with it is said here, in words
    pool = ProcessPoolExecutor(
        min(processes, len(jobs)), get_context("spawn"), _begin, (pipeline_folder, backend, allow_pickle)
    )
    try:
        waiting = {pool.submit(_one_part, job): job for job in jobs}
        for future in as_completed(waiting):
            yield waiting[future], future.result()
    except BrokenProcessPool:
        raise UserError(
            "a process that measured was ended from outside, perhaps for want of memory; what was measured is kept: "
            "the same command goes on from there, with fewer --processes if memory is short"
        ) from None
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _write(out: Path, rows: list[dict[str, Any]], unreadable: Sequence[tuple[str, str]]) -> None:
    """The table, and the list of what could not be read; an old list goes where there is nothing to list."""
    frame = pd.DataFrame(rows, columns=[FILE, *COLUMNS, NOTES])
    numbers = [column for column in COLUMNS if column != "flags"]
    frame[numbers] = frame[numbers].replace("", None).astype("float64")
    with replacing(out) as draft:
        if out.suffix == ".csv":
            frame.to_csv(draft, index=False)
        else:
            frame.to_parquet(draft, index=False)
    listed = unreadable_beside(out)
    if unreadable:
        with replacing(listed) as draft:
            pd.DataFrame(unreadable, columns=[FILE, "reason"]).to_csv(draft, index=False)
    else:
        listed.unlink(missing_ok=True)


def _state(path: Path, name: str) -> tuple[str, int, int]:
    about = path.stat()
    return (name, about.st_size, about.st_mtime_ns)


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a journal, up to one that was cut off."""
    if not path.is_file():
        return
    with path.open(encoding="utf-8") as file:
        for line in file:
            try:
                yield json.loads(line)
            except ValueError:
                return
