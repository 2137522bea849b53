"""The queue: a few jobs run, a few wait, the rest is refused; a job whose worker died is requeued."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from platform import node
from time import monotonic, sleep

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import authorise
from mpd2.core.errors import UserError
from mpd2.core.files import remove_drafts
from mpd2.lab.jobs import worker_pool
from mpd2.lab.jobs.folder import CASES, CHECKPOINT, ENDED, Job, Kind, Order, Status, Workshop, all_jobs
from mpd2.lab.owners import owner_of_workspace

RUNNING = 1  # jobs at once
WAITING = 8  # jobs that may wait
KEPT = 50  # finished jobs that are not pruned
ATTEMPTS = 3  # how often a job is started before it counts as failed
PATIENCE = 5.0  # seconds a worker has to end before it is killed
LEAVING = 30.0  # seconds a worker that has said how its job ended may take to be gone

ACTIONS: dict[Kind, Action] = {
    "train": Action.TRAIN, "grid": Action.TRAIN, "tune": Action.TUNE, "build": Action.BUILD_WORKSPACE,
    "recalibrate": Action.TRAIN,
}  # fmt: skip


def submit(order: Order, place: Workshop, files: Mapping[str, bytes] | None = None, *, by: Actor) -> Job:
    """Put a job at the end of the queue, and start it if nothing is before it; it belongs to whoever asks for it.

    `files` are what it needs besides the table, by name; they lie in its folder.
    """
    whose = owner_of_workspace(order.table.parent) if order.building else None
    again = order.recalibrating
    about = {} if again is None else {"run": again.run, "digest": again.digest, "cases": again.cases}
    authorise(
        by, ACTIONS[order.kind], whose, kind=order.kind, table=order.fingerprint, routers=len(order.configs), **about
    )
    order = order.model_copy(update={"owner": by.id})
    with _alone(place):
        waiting = sum(job.status.state == "queued" for job in all_jobs(place))
        if waiting >= WAITING:
            raise UserError(f"found {waiting} jobs waiting, expected at most {WAITING}; wait, or cancel one")
        job = _new_job(order, place, files or {})
        _maintain(place)
    return job


def maintain(place: Workshop) -> None:
    """Requeue dead jobs, start queued ones, prune finished ones; anybody may call it at any time."""
    if place.jobs.is_dir():
        with _alone(place):
            _maintain(place)


def cancel(job: Job, place: Workshop, *, by: Actor) -> None:
    """Stop a job at once and leave nothing of it but its folder; one that has ended is left as it is."""
    authorise(by, Action.CANCEL_JOB, job.owner, job=job.name)
    with _alone(place):
        status = job.status
        if status.state == "running" and status.process is not None:
            _refuse_elsewhere(job, status)
            _end(job, status.process)
        if job.status.state not in ENDED:
            _stop(job, place)
        _maintain(place)


def forget(job: Job, place: Workshop, *, by: Actor) -> None:
    """Remove a job that has ended or cannot be read; the run it made stays."""
    authorise(by, Action.REMOVE_JOB, job.owner, job=job.name)
    if not job.damage and job.status.state in ENDED:
        _wait_until_free(job, LEAVING)
    with _alone(place):
        if job.is_held() or not (job.damage or job.status.state in ENDED):
            raise UserError(f"{job.name}: is not over; cancel it first")
        shutil.rmtree(job.folder, ignore_errors=True)


def _stop(job: Job, place: Workshop) -> None:
    """Take a job that nobody works on any more out of the queue, with what it has made."""
    with job.held() as ours:
        if not ours:
            raise UserError(f"{job.name}: could not be stopped; try again")
        if job.status.state not in ENDED:
            _clear(job, place)
            shutil.rmtree(place.runs / job.name, ignore_errors=True)
            job.write(job.status.model_copy(update={"state": "cancelled", "seconds_left": None, "process": None}))


def _maintain(place: Workshop) -> None:
    worker_pool.reap_finished()
    jobs = all_jobs(place)
    for job in jobs:
        if job.status.state == "running" and not job.is_held():
            _requeue(job, place)
    free = RUNNING - sum(job.status.state == "running" for job in jobs)
    for job in [job for job in jobs if job.status.state == "queued"][: max(free, 0)]:
        _start(job, place)
    over = [job for job in jobs if job.status.state in ENDED]
    for job in over[: max(len(over) - KEPT, 0)]:
        shutil.rmtree(job.folder, ignore_errors=True)


def _start(job: Job, place: Workshop) -> None:
    lock = job.take()
    if lock is None:  # somebody is looking at it just now; the next one who maintains the queue starts it
        return
    worker = worker_pool.next_worker()
    try:
        before = job.status
        news = {"state": "running", "process": worker.process.pid, "machine": node(), "attempts": before.attempts + 1}
        job.write(before.model_copy(update=news))  # first: once it has the job, only the worker writes
    except UserError:
        worker_pool.put_back(worker)
        raise
    else:
        worker.give(job, lock, place)
    finally:
        os.close(lock)


def _requeue(job: Job, place: Workshop) -> None:
    """Let a job whose worker died wait again, before all others; after a few attempts it has failed."""
    with job.held() as ours:
        status = job.status
        if not ours or status.state != "running":
            return
        _clear(job, place, checkpoint=False)
        ending = worker_pool.how_it_ended(status.process)
        if status.attempts < ATTEMPTS:
            job.write(status.model_copy(update={"state": "queued", "process": None, "seconds_left": None}))
            return
        _clear(job, place)
        reason = ": ".join(filter(None, [f"{ending}, {status.attempts} times", job.said_last()]))
        job.write(status.model_copy(update={"state": "failed", "reason": reason, "process": None}))


def _refuse_elsewhere(job: Job, status: Status) -> None:
    """Refuse to end a process of another machine: here its number is somebody else's."""
    if status.machine not in ("", node()):
        raise UserError(f"{job.name}: {status.machine} works on it; cancel it there")


def _end(job: Job, process: int) -> None:
    """End a worker and all it has started; its lock tells when it is gone."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        if not job.is_held():
            return
        try:
            os.killpg(process, how)
        except ProcessLookupError:
            return
        _wait_until_free(job, PATIENCE)


def _wait_until_free(job: Job, most: float) -> None:
    """Wait until nobody works on a job any more, for so many seconds at most."""
    end = monotonic() + most
    while job.is_held() and monotonic() < end:
        sleep(0.01)


def _clear(job: Job, place: Workshop, checkpoint: bool = True) -> None:
    """Remove what a worker that was ended could not finish."""
    remove_drafts(place.runs / job.name)
    for path in job.folder.iterdir():
        remove_drafts(path)
    if checkpoint:
        for name in (CHECKPOINT, CASES):
            (job.folder / name).unlink(missing_ok=True)


def _new_job(order: Order, place: Workshop, files: Mapping[str, bytes]) -> Job:
    order = order.model_copy(update={"created": datetime.now(UTC)})  # its place in the queue, however old the wish is
    words = re.sub(r"[^a-z0-9]+", "-", order.title.lower()).strip("-")[:40]
    folder = place.jobs / f"{order.created:%Y%m%d-%H%M%S-%f}-{words}".strip("-")
    try:
        folder.mkdir(parents=True)
        job = Job(folder)
        job.write(order)
        for name, data in files.items():
            (folder / name).write_bytes(data)
        job.write(Status(training=len(order.configs)))
    except (OSError, UserError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise UserError(f"the job could not be written: {error}") from error
    return job


@contextmanager
def _alone(place: Workshop) -> Iterator[None]:
    """One at a time decides about the queue, whichever server they belong to."""
    try:
        place.jobs.mkdir(parents=True, exist_ok=True)
        file = (place.jobs / "lock").open("w")
    except OSError as error:
        raise UserError(f"{place.jobs}: jobs cannot be kept here: {error.strerror}") from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
