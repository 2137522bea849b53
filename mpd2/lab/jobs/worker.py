"""The process that works: `python -m mpd2.lab.jobs.worker SOCKET`, started by `worker_pool` and by nobody else."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from time import monotonic
from types import FrameType

from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import Cancelled, Interrupted, UserError
from mpd2.core.files import FIRST_WORKSPACE, ROOT
from mpd2.core.runs import Run
from mpd2.core.table_file import load_cohort
from mpd2.evaluation.reports import publish_run
from mpd2.lab.jobs.building import building
from mpd2.lab.jobs.folder import CASES, CHECKPOINT, ENDED, HISTORY, LOG, Job, Order, Status, Workshop
from mpd2.lab.jobs.history import appending
from mpd2.lab.jobs.recalibrating import recalibrating
from mpd2.lab.jobs.search import search
from mpd2.lab.jobs.worker_pool import SEPARATOR
from mpd2.methods.registry import refit
from mpd2.training.checkpoints import checkpointing, load_or_none
from mpd2.training.config import PRESETS
from mpd2.training.crew import TrainingState
from mpd2.training.loop import Callback, Progress
from mpd2.training.population import fit_routers

NICENESS = 10  # others come first
IDLE = 900.0  # seconds a worker waits for a job
KEEP_EVERY = 5  # epochs between two checkpoints
MEMORY = 0.7  # how much the pace of earlier epochs counts
FAILED, CANCELLED = 1, 2  # exit codes

TABLE = ROOT / "data" / FIRST_WORKSPACE / f"{FIRST_WORKSPACE}.csv"


def main(desk: socket.socket) -> int:
    """Get ready, wait for a job and do it."""
    os.nice(NICENESS)
    with desk:
        if not select.select([desk], [], [], 0)[0]:  # nobody waits yet
            _warm_up()
        if not select.select([desk], [], [], IDLE)[0]:
            return 0
        message, locks, _, _ = socket.recv_fds(desk, 4096, 1)
    if not locks:  # nobody is there any more who could have one
        return 0
    folder, jobs, runs = (Path(os.fsdecode(part)) for part in message.split(SEPARATOR))
    job = Job(folder)
    ended = work(job, Workshop(jobs, runs))
    if job.status.state in ENDED:
        fcntl.flock(locks[0], fcntl.LOCK_UN)  # libraries take seconds to leave, and the job may be removed by now
    return ended


def work(job: Job, place: Workshop) -> int:
    """Do a job to its end; what goes wrong is left in its status."""
    _write_log_to(job.folder / LOG)
    order = job.order
    try:
        with _limited(order.most_seconds):
            warnings = _done(job, order, place)
    except Cancelled:
        return CANCELLED
    except Exception as error:
        traceback.print_exc()
        reason = str(error) if isinstance(error, UserError) else f"{type(error).__name__}: {error}"
        _finish(job, job.status.model_copy(update={"state": "failed", "reason": reason}))
        return FAILED
    _finish(job, job.status.model_copy(update={"state": "done", "training": 0, "warnings": warnings}))
    return 0


def _done(job: Job, order: Order, place: Workshop) -> tuple[str, ...]:
    """Do what was asked for; what else there is to say of it."""
    if order.building:
        return building(job, order, _cohort(order.table))
    if order.recalibrating:
        return _recalibrate(job, order, place)
    return search(job, order, place, _cohort(order.table)) if order.search else _make_run(job, order, place)


def _make_run(job: Job, order: Order, place: Workshop) -> tuple[str, ...]:
    """Train and keep what was asked for; why some routers had to be stopped."""
    cohort = _cohort(order.table)
    if cohort.fingerprint != order.fingerprint:
        raise UserError(f"{order.table}: has changed since the job was asked for; ask again")
    run = _train(job, order, cohort)
    _publish(job, order, run, place)
    return tuple(run.notes["problems"])


def _recalibrate(job: Job, order: Order, place: Workshop) -> tuple[str, ...]:
    """Fit a run anew and keep it as it is with the table, whose cases its predictions are for."""
    cohort = _cohort(order.table)
    made = recalibrating(job, order, cohort, place, partial(_refit, job, order))
    about = order.model_dump(mode="json", include={"title", "changed_from", "owner"})
    publish_run(replace(made.run, notes={**made.run.notes, **about}), made.cases, place.runs / job.name, cohort)
    return tuple(made.run.notes.get("problems", ()))


def _refit(job: Job, order: Order, run: Run, cases: Cohort) -> Run:
    """Routers are trained as any, so that a job that was stopped goes on; all else is quick enough to begin anew."""
    return _train(job, order, cases, run.costs) if order.configs else refit(run, cases)


def _train(job: Job, order: Order, cohort: Cohort, as_before: Costs | None = None) -> Run:
    fees = cohort.manifest.default_costs().fees
    costs = as_before or Costs(order.cost_false_negative, order.cost_false_positive, fees)
    state = load_or_none(job.folder / CHECKPOINT, order.configs, cohort, order.device, partial(print, file=sys.stderr))
    return fit_routers(
        cohort,
        costs,
        order.configs,
        device=order.device,
        callbacks=(checkpointing(job.folder / CHECKPOINT, cohort, KEEP_EVERY), _telling(job, state)),
        resume=state,
    )


def _publish(job: Job, order: Order, run: Run, place: Workshop) -> None:
    """Keep the run with its predictions for every case, whole or not at all."""
    cohort = _cohort(order.table)
    about = order.model_dump(mode="json", include={"kind", "title", "changed_from", "changes", "owner"})
    if order.conditions:
        cells = {config.model_dump_json(): cell for config, cell in zip(order.configs, order.conditions, strict=True)}
        trained = [order.configs[0].model_validate(dict(settings)) for settings in run.settings]
        about["conditions"] = [cells[config.model_dump_json()] for config in trained]
    publish_run(replace(run, notes={**run.notes, **about}), cohort, place.runs / job.name)


def _telling(job: Job, resumed: TrainingState | None) -> Callback:
    """Writes every epoch into the history and how far the job is into its status."""
    add = appending(job.folder / HISTORY, resumed.epoch if resumed else 0)
    last, pace, spent = monotonic(), 0.0, job.status.seconds

    def tell(progress: Progress) -> None:
        nonlocal last, pace, spent
        now = monotonic()
        took, last = now - last, now
        spent += took if pace else 0.0  # the first epoch also holds what comes before it
        pace = MEMORY * pace + (1 - MEMORY) * took if pace else took
        add(progress.epoch, dict(progress.log), progress.load)
        left = pace * (progress.epochs - progress.epoch) if progress.active.any() else 0.0
        news = {"epoch": progress.epoch, "training": int(progress.active.sum()), "seconds": spent, "seconds_left": left}
        job.write(job.status.model_copy(update=news))

    return tell


def _finish(job: Job, status: Status) -> None:
    (job.folder / CHECKPOINT).unlink(missing_ok=True)
    job.write(status.model_copy(update={"seconds_left": None, "process": None}))
    (job.folder / CASES).unlink(missing_ok=True)  # last: without them a job that was killed here could not go on


@lru_cache(maxsize=1)
def _cohort(table: Path) -> Cohort:
    return load_cohort(table)


def _warm_up() -> None:
    """One epoch of nothing in particular, so that every library is loaded and every cache filled."""
    if TABLE.is_file():
        cohort = _cohort(TABLE)
        quick = PRESETS["studio"].but(network__width=2, training__epochs=1)
        fit_routers(cohort, cohort.manifest.default_costs(), [quick])


@contextmanager
def _limited(seconds: int) -> Iterator[None]:
    """A limit on the time a block may take, also where it hangs."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise Interrupted(f"took longer than the {seconds} s a job may take; ask for fewer models, epochs or methods")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def _write_log_to(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for stream in (1, 2):
        os.dup2(descriptor, stream)
    os.close(descriptor)


if __name__ == "__main__":
    sys.exit(main(socket.socket(fileno=int(sys.argv[1]))))
