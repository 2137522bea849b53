"""A folder in which tables of new cases appear: each is taken in once and put aside with what became of its rows."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from time import time

import pandas as pd

from mpd2.clinic.access.actor import Actor
from mpd2.clinic.shadow.columns import CASE, TIME
from mpd2.clinic.shadow.intake import take_in
from mpd2.clinic.shadow.keeping import Taken
from mpd2.core.errors import Problem, TableError, UserError
from mpd2.core.files import replacing
from mpd2.core.manifest import Manifest
from mpd2.core.table_file import word_columns
from mpd2.core.table_file.cells import read_cells
from mpd2.lab.shadowing import Shadow

TAKEN = "taken"  # the folder in it to which tables go that were read
SUFFIXES = (".csv", ".parquet")
QUIET = 2.0  # seconds for which nobody has written to a file that is taken to be whole


@dataclass(frozen=True)
class TakenFile:
    """A table that appeared, and what became of its rows."""

    name: str
    taken: Taken


def take_in_folder(folder: Path, shadow: Shadow, *, by: Actor) -> list[TakenFile]:
    """Take in every table of a folder that is whole, the oldest first; a file that is no table is refused as one row.

    A table goes to the folder `taken` in it once all of it is kept, with a report beside it. Whoever is interrupted
    finds it still there and takes it in again, which does no harm.
    """
    found = []
    for path in sorted(_whole_tables(folder), key=lambda path: (path.stat().st_mtime_ns, path.name)):
        try:
            taken = take_in(read_table(path, shadow.manifest), shadow.store, shadow.deciders, by=by)
        except TableError as error:
            taken = Taken(refused=error.problems)
        except UnicodeDecodeError:
            taken = Taken(refused=(Problem(None, "", "bytes that are no table", "a CSV or Parquet table"),))
        _put_aside(path, taken)
        found.append(TakenFile(path.name, taken))
    return found


def read_table(path: Path, manifest: Manifest | None = None) -> pd.DataFrame:
    """The cells of a file, as they are; of cases if there is a `manifest`, else of readings or outcomes."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    words = (CASE, TIME, "at", "reader", *(word_columns(manifest) if manifest else ()))
    return read_cells(data, path.name, [word for word in words if word])


def _whole_tables(folder: Path) -> list[Path]:
    try:
        paths = [Path(entry.path) for entry in os.scandir(folder) if entry.is_file()]
    except OSError as error:
        raise UserError(f"{folder}: cannot be watched: {error.strerror}") from None
    quiet = time() - QUIET
    return [path for path in paths if path.suffix.lower() in SUFFIXES and path.stat().st_mtime <= quiet]


def _put_aside(path: Path, taken: Taken) -> None:
    report = {
        "accepted": len(taken.accepted),
        "repeated": len(taken.repeated),
        "refused": [problem.sentence(path.name) for problem in taken.refused],
    }
    aside = path.parent / TAKEN
    with replacing(aside / f"{path.name}.json") as draft:
        draft.write_text(json.dumps(report, indent=1, ensure_ascii=False), encoding="utf-8")
    os.replace(path, aside / path.name)
