"""Waiting for jobs, with somebody tending the queue meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep

from mpd2.lab.jobs import queue
from mpd2.lab.jobs.folder import ENDED, Job, Status, Workshop

PATIENCE = 120  # seconds, on a busy machine


def wait_until(holds: Callable[[], bool], patience: float = PATIENCE) -> None:
    """Wait, but not for ever."""
    end = monotonic() + patience
    while not holds():
        assert monotonic() < end, "waited in vain"
        sleep(0.02)


def ended(job: Job, place: Workshop) -> Status:
    """How a job ends."""

    def over() -> bool:
        queue.maintain(place)
        return job.status.state in ENDED and not job.is_held()

    wait_until(over)
    return job.status
