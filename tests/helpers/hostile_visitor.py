"""Whoever uploads hostile things: each is read, or refused in words, and nothing else happens.

`PYTHONPATH=.:tests/helpers python tests/helpers/hostile_visitor.py 1000` tries so many, and says what came of them and
what they took.
"""

from __future__ import annotations

import io
import json
import random
import re
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread

import hostile_uploads as made
from places import DATA

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.manifest import parse_manifest
from mpd2.core.runs import load_predictions, load_run
from mpd2.core.table_file import load_cohort
from mpd2.imaging.photograph import read_photograph
from mpd2.lab import uploads
from mpd2.lab.confined import process
from mpd2.lab.jobs import own_runs
from mpd2.lab.jobs.folder import ORDER, STATUS, Workshop, all_jobs, damaged_jobs
from mpd2.lab.workspaces import archive
from mpd2.studio.your_data.steps.draft import Draft, Upload

OURS, MODULE_OF_CHILD = Path("/proc/self/task"), process.MODULE
LOOK_EVERY = 0.02  # seconds


@cache
def benchmark() -> Cohort:
    """The shipped table."""
    return load_cohort(DATA / "glaucoma.csv")


def tables(make: Callable[[random.Random], tuple[str, bytes]]) -> Callable[[random.Random, Workshop], None]:
    """Bring a table in both ways."""

    def bring(chance: random.Random, _: Workshop) -> None:
        name, data = make(chance)
        if chance.random() < 0.5 and name.endswith((".csv", ".parquet")):
            uploads.read_own(data, name, benchmark().manifest, by=LOCAL)
        else:
            Draft().with_file("cases", Upload.of(data, name, by=LOCAL))

    return bring


def bring_workspace(chance: random.Random, place: Workshop) -> None:
    """Open an exported workspace, and read its table as every page does."""
    workspace = archive.open_archive(io.BytesIO(made.workspace_file(chance)), place, by=LOCAL, confined=True)
    load_cohort(workspace.table, workspace.manifest())


def bring_run(chance: random.Random, place: Workshop) -> None:
    """Put a run among one's own, and read all of it."""
    made.run_folder(chance, place.runs / "mine")
    assert len(own_runs.own_runs(place)) + len(own_runs.damaged_runs(place)) == 1
    run = load_run(place.runs / "mine")
    load_predictions(place.runs / "mine", run, benchmark())


def bring_photograph(chance: random.Random, _: Workshop) -> None:
    """A photograph."""
    read_photograph(made.photograph(chance), chance.choice(["a.png", "a.dcm", "../a.jpg", ""]))


def bring_json(chance: random.Random, place: Workshop) -> None:
    """A body of JSON where a job or a manifest is expected."""
    folder = place.jobs / "one"
    folder.mkdir(parents=True)
    for name in (ORDER, STATUS):
        (folder / name).write_bytes(made.hostile_json(chance))
    assert len(all_jobs(place)) + len(damaged_jobs(place)) == 1
    parse_manifest(made.hostile_json(chance).decode("utf-8", errors="replace"))


KINDS: dict[str, Callable[[random.Random, Workshop], None]] = {
    "csv": tables(made.csv_table),
    "parquet": tables(made.parquet_table),
    "excel": tables(made.excel_table),
    "workspace": bring_workspace,
    "run": bring_run,
    "photograph": bring_photograph,
    "json": bring_json,
}


def outcome(kind: str, seed: int) -> str:
    """What came of one upload, "read" or "refused"; any other error, and a file outside of the workshop, is raised."""
    with TemporaryDirectory() as folder:
        outside, inside = Path(folder), Path(folder) / "a" / "workshop"
        inside.mkdir(parents=True)
        place = Workshop(inside / "jobs", inside / "runs")
        try:
            KINDS[kind](random.Random(seed), place)
            said = "read"
        except UserError:
            said = "refused"
        astray = [path for path in outside.rglob("*") if inside not in (path, *path.parents) and path != outside / "a"]
        assert not astray, astray
        assert not any(path.is_symlink() for path in inside.rglob("*"))
    return said


def peak() -> int:
    """Megabytes that this process ever took."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


class LargestChild:
    """Megabytes that the largest child ever took, looked at again and again while the block lasts.

    What the system adds up of children that have ended counts what they had of us before they became another program.
    """

    def __init__(self) -> None:
        self.megabytes = 0
        self._over = Event()
        self._watcher = Thread(target=self._watch)

    def __enter__(self) -> LargestChild:
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._over.wait(LOOK_EVERY):
            for number in {pid for task in OURS.glob("*/children") for pid in _read(task).split()}:
                if MODULE_OF_CHILD in _read(Path("/proc", number, "cmdline")):
                    found = re.search(r"^VmHWM:\s+(\d+) kB", _read(Path("/proc", number, "status")), re.MULTILINE)
                    self.megabytes = max(self.megabytes, int(found[1]) // 1024 if found else 0)


def _read(path: Path) -> str:
    """A file of a process; nothing once it has ended."""
    try:
        return path.read_text()
    except OSError:
        return ""


def main(times: int, first: int) -> int:
    """Try so many, the kinds in turn."""
    found: Counter[tuple[str, str]] = Counter()
    slowest: tuple[float, str, int] = (0.0, "", 0)
    benchmark()
    before = peak()
    with LargestChild() as child, process.kept_ready():
        for number in range(times):
            kind, seed = list(KINDS)[number % len(KINDS)], first + number
            begun = time.monotonic()
            try:
                found[kind, outcome(kind, seed)] += 1
            except Exception as error:
                found[kind, "CRASH"] += 1
                print(f"{kind} {seed}: {type(error).__name__}: {str(error)[:300]}", flush=True)
            slowest = max(slowest, (time.monotonic() - begun, kind, seed))
    memory = {"server_before": before, "server": peak(), "child": child.megabytes}
    print(json.dumps({"tried": times, "outcomes": {" ".join(key): n for key, n in sorted(found.items())},
                      "peak_mb": memory, "slowest": slowest}))  # fmt: skip
    return int(any(said == "CRASH" for _, said in found))


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
