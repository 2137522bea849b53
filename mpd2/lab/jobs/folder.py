"""A job as a folder: what was asked for, how far it is and what it left behind.

The workshop is the folders that jobs, people's own runs and their workspaces are kept in: `build/jobs`, `runs` and
`build/workspaces` in the project, or three folders in the one that the variable MPD2_WORKSHOP names.

Whoever works on a job holds its lock, and the lock ends with the process, however that ends. Only the holder writes
the status, so it has one writer at a time and a job that is `running` without a holder has lost its worker.
"""

from __future__ import annotations

import fcntl
import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import Field, ValidationError, model_validator

from mpd2.core.cache import cached, depends_on
from mpd2.core.errors import UserError, invalid_entries
from mpd2.core.files import ROOT, replacing
from mpd2.core.manifest import Record, Words
from mpd2.core.workspace import NAME
from mpd2.study.build import BuildSize
from mpd2.training.config import Config

PLACE = "MPD2_WORKSHOP"
"""Names a folder for jobs, own runs and own workspaces in place of the usual ones."""

ORDER, STATUS, HISTORY, CHECKPOINT, LOG, LOCK, CASES = (
    "job.json", "status.json", "history.jsonl", "checkpoint.safetensors", "log.txt", "lock", "cases.parquet",
)  # fmt: skip
LONGEST = 80  # characters of a title
TAIL = 8  # lines of a log that tell why a worker died
MOST = 10**9  # of anything that is counted

NEEDED = "expected a workspace for a build, a run for a recalibration, and at least one configuration for anything else"
State = Literal["queued", "running", "done", "failed", "cancelled"]
Kind = Literal["train", "grid", "tune", "build", "recalibrate"]
ENDED = ("done", "failed", "cancelled")
Entry = TypeVar("Entry", bound=Record)


@dataclass(frozen=True)
class Workshop:
    """Where jobs are worked on, and where the runs they end in are kept."""

    jobs: Path
    runs: Path

    @property
    def studies(self) -> str:
        """The file in which studies of tuning are kept, the same as on the command line."""
        return str(self.runs / "tuning.db")

    @property
    def workspaces(self) -> Path:
        """Where people's own workspaces are kept, beside the jobs."""
        return self.jobs.parent / "workspaces"

    @property
    def thumbnails(self) -> Path:
        """Where small copies of cases' pictures are kept, a folder a workspace."""
        return self.jobs.parent / "thumbnails"

    @property
    def clinic(self) -> Path:
        """Where it is kept which run the clinic uses, and what shadow mode has seen where no other place is named."""
        return self.jobs.parent / "clinic"

    @classmethod
    def here(cls) -> Workshop:
        """The usual place, or the one the environment names."""
        named = os.environ.get(PLACE)
        return cls(Path(named) / "jobs", Path(named) / "runs") if named else cls(ROOT / "build" / "jobs", ROOT / "runs")


class Search(Record):
    """A study to begin or to go on with."""

    study: str = Field(min_length=1, max_length=LONGEST)
    trials: int = Field(ge=1, le=MOST, description="trials the study is to have")
    seeds: int = Field(1, ge=1, le=MOST, description="routers of a trial")


class Building(Record):
    """The workspace whose study is to be made, and how large."""

    workspace: str = Field(pattern=NAME.pattern)
    size: BuildSize = BuildSize()


class Recalibrating(Record):
    """The run that is fitted anew, and on which local cases; these lie beside the order as CASES until it is over."""

    run: str = Field(min_length=1)  # NAME of an own run, or WORKSPACE/NAME
    digest: str = Field(min_length=1)  # of its files
    cases: str = Field(pattern="^[0-9a-f]{64}$")  # SHA-256 of CASES
    rule: str = Field(min_length=1)  # of acceptance, stated before anything is fitted


class Order(Record):
    """What was asked for; never changed afterwards."""

    kind: Kind
    title: Words = Field(min_length=1, max_length=LONGEST)
    configs: tuple[Config, ...] = ()  # at least one, but for a build, whose methods have their own
    conditions: tuple[str, ...] = ()  # of a grid: which cell each router belongs to
    search: Search | None = None  # of a tuning, whose only configuration holds all that is not searched
    building: Building | None = None  # of a build
    recalibrating: Recalibrating | None = None  # of a recalibration, which has configurations if routers are trained
    cost_false_negative: float = Field(ge=0)
    cost_false_positive: float = Field(ge=0)
    device: str = "auto"
    table: Path
    fingerprint: str  # of the table
    changed_from: str | None = None  # the run or preset it started from
    changes: dict[str, Any] = Field(default_factory=dict)  # settings that differ from there
    most_seconds: int = Field(3600, ge=1, le=MOST)
    owner: str = ""  # who asked for it, for whom the worker acts; empty: it is from before there were owners
    created: datetime = Field(default_factory=lambda: datetime.now(UTC))

    @model_validator(mode="after")
    def _has_a_condition_for_each(self) -> Self:
        if self.conditions and len(self.conditions) != len(self.configs):
            raise ValueError(f"conditions: found {len(self.conditions)}, expected one for each configuration, or none")
        for kind, what in (("build", self.building), ("recalibrate", self.recalibrating)):
            if (self.kind == kind) != (what is not None):
                raise ValueError(NEEDED)
        if not (self.building or self.recalibrating or self.configs):
            raise ValueError(NEEDED)
        return self

    @property
    def steps(self) -> int:
        """How many steps it has: passes of the longest training, or trials; of a build its status knows, once begun."""
        if self.search is not None:
            return self.search.trials
        return max((config.training.epochs for config in self.configs), default=1 if self.recalibrating else 0)


class Status(Record):
    """How far a job is."""

    state: State = "queued"
    epoch: int = Field(0, ge=0, le=MOST)  # of a tuning: trials that have ended; of a build: steps
    steps: int = Field(0, ge=0, le=MOST)  # of a build: how many there are
    stage: str = ""  # of a build: which it is at
    training: int = Field(0, ge=0, le=MOST)  # routers that have not finished yet
    seconds: float = Field(0.0, ge=0)  # spent in epochs, but for the first of each attempt
    seconds_left: float | None = Field(None, ge=0)
    note: str = ""  # what else is worth knowing while it runs
    reason: str = ""  # why it failed
    warnings: tuple[str, ...] = ()  # routers that had to be stopped
    process: int | None = Field(None, gt=1, le=2**31)  # the worker's, which leads a process group of its own
    machine: str = ""  # the worker's, as several may share a workshop; empty in what was written before they could
    attempts: int = Field(0, ge=0, le=MOST)


@dataclass(frozen=True)
class Job:
    """One job by its folder; its name is that of the run it ends in."""

    folder: Path

    @property
    def name(self) -> str:
        """Short and unique."""
        return self.folder.name

    @property
    def order(self) -> Order:
        """What was asked for; cached, as it can be long."""
        return _read_order(self.folder / ORDER)

    @property
    def status(self) -> Status:
        """How far it is, by the last who worked on it."""
        return _read(Status, self.folder / STATUS)

    @property
    def owner(self) -> str:
        """Whose it is; nobody's if it cannot be read."""
        try:
            return self.order.owner
        except UserError:
            return ""

    @property
    def damage(self) -> str:
        """Why it cannot be read, empty if it can."""
        try:
            _ = self.order, self.status
        except UserError as error:
            return str(error)
        return ""

    def write(self, entry: Order | Status) -> None:
        """Write the order or the status, whole or not at all."""
        with replacing(self.folder / (ORDER if isinstance(entry, Order) else STATUS)) as draft:
            draft.write_text(entry.model_dump_json(indent=1), encoding="utf-8")

    def said_last(self) -> str:
        """The end of the worker's log."""
        try:
            with (self.folder / LOG).open(encoding="utf-8", errors="replace") as file:
                return "".join(deque(file, TAIL)).strip()
        except OSError:
            return ""

    def take(self) -> int | None:
        """A file descriptor that holds the lock until it is closed, here and wherever it is passed on to; none if held.

        As it belongs to the open file and not to a process, it can be handed to a worker without a gap.
        """
        descriptor = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        return descriptor

    @contextmanager
    def held(self) -> Iterator[bool]:
        """The lock for the length of the block; false if somebody else has it."""
        descriptor = self.take()
        try:
            yield descriptor is not None
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def is_held(self) -> bool:
        """Whether somebody works on it now."""
        try:
            descriptor = os.open(self.folder / LOCK, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared, so that two who look do not see each other
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False


def all_jobs(place: Workshop) -> list[Job]:
    """Every job that can be read, in the order they were asked for."""
    return [job for job in _job_folders(place) if not job.damage]


def damaged_jobs(place: Workshop) -> list[Job]:
    """Every job that cannot be read: it is shown with its `damage`, and otherwise as if it were not there."""
    return [job for job in _job_folders(place) if job.damage]


def _job_folders(place: Workshop) -> list[Job]:
    if not place.jobs.is_dir():
        return []
    jobs = [Job(folder) for folder in place.jobs.iterdir() if (folder / STATUS).exists()]
    return sorted(jobs, key=lambda job: job.name)  # which begins with the time


@cached
def _read_order(path: Path) -> Order:
    depends_on(path)
    return _read(Order, path)


def _read(kind: type[Entry], path: Path) -> Entry:
    try:
        return kind.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise UserError(f"{path}: not a job this version can read: {invalid_entries(error)}") from None
