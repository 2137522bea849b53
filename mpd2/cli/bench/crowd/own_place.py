"""A workshop of a benchmark's own, so that nothing of it lies among people's work."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from mpd2.clinic.access.actor import LOCAL
from mpd2.lab.jobs import queue
from mpd2.lab.jobs.folder import PLACE, Workshop, all_jobs


@contextmanager
def own_place(folder: str) -> Iterator[Workshop]:
    """A place of its own, for this process, the servers and their workers; nothing is left running there."""
    before = os.environ.get(PLACE)
    os.environ[PLACE] = folder
    place = Workshop.here()
    try:
        yield place
    finally:
        for job in all_jobs(place):
            queue.cancel(job, place, by=LOCAL)
        if before is None:
            del os.environ[PLACE]
        else:
            os.environ[PLACE] = before
