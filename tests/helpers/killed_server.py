"""A server that is killed while it works, with its worker and with somebody who looks at cases meanwhile.

`python killed_server.py` is that somebody: each look is written into the record, and said once it is acknowledged.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep

from finished_jobs import wait_until
from places import HELPERS, ROOT

from mpd2.cli.bench.ui import Server, serving
from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import LOCAL
from mpd2.clinic.access.authorise import authorise
from mpd2.core.files import digest
from mpd2.lab.jobs import queue
from mpd2.lab.jobs.folder import ENDED, Job, Order, Workshop

PATIENCE = 600.0  # seconds a job may take, started anew on a busy machine
PAUSE = 0.02  # seconds between two looks
DATED = ("created", "version")  # what a run says of when it was made
SETTINGS = "[record]\ncheckpoint_every = 7\n"


class KilledServer:
    """A server, and another after it was killed, in one workshop; started for the first time when it is needed."""

    def __init__(self, place: Workshop, stack: ExitStack) -> None:
        self.place = place
        self.looks = 0  # that were acknowledged
        self.visits = 0  # each of them ended by a kill
        self._stack = stack
        self._server: Server | None = None

    def submit(self, order: Order) -> Job:
        """Put a job into the queue, which the server starts and nobody else; back when it is worked on."""
        self._server = self._server or self._stack.enter_context(serving())
        running, queue.RUNNING = queue.RUNNING, 0  # here
        try:
            job = queue.submit(order, self.place, by=LOCAL)
        finally:
            queue.RUNNING = running
        wait_until(lambda: job.status.state != "queued", PATIENCE)
        return job

    def finished(self, job: Job) -> float:
        """Seconds until a job is over."""
        start = monotonic()
        wait_until(lambda: job.status.state in ENDED and not job.is_held(), PATIENCE)
        assert job.status.state == "done", job.status.reason
        return monotonic() - start

    def killed_after(self, seconds: float, job: Job) -> bool:
        """Kill all there is at that moment and start the server anew; false if the job was quicker, and nobody died."""
        assert self._server
        with looking() as visitor:
            visitor.stdout.readline()
            self.looks += 1
            end = monotonic() + seconds
            while monotonic() < end and job.status.state not in ENDED:
                sleep(PAUSE)
            status = job.status
            in_time = status.state not in ENDED
            if in_time:
                os.kill(self._server.process, signal.SIGKILL)
            if in_time and status.process is not None:
                with suppress(ProcessLookupError):  # it has ended this very moment
                    os.killpg(status.process, signal.SIGKILL)
            visitor.kill()
            self.looks += len(visitor.stdout.read().splitlines())
        self.visits += 1
        worked = job.status.state not in ENDED
        if in_time:
            self._stack.close()
            self._server = self._stack.enter_context(serving())
        return worked


@contextmanager
def looking() -> Iterator[subprocess.Popen[str]]:
    """Somebody who looks at cases for the length of the block, in a process of their own."""
    paths = {"PYTHONPATH": f"{ROOT}{os.pathsep}{HELPERS}"}
    visitor = subprocess.Popen([sys.executable, __file__], env=os.environ | paths, stdout=subprocess.PIPE, text=True)
    try:
        yield visitor
    finally:
        visitor.kill()
        visitor.communicate()


def contents(folder: Path) -> dict[str, str]:
    """The digest of every file that was made, and of a run's description without its date."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.name == "config.json":
            said = json.loads(path.read_text())
            found[str(path.relative_to(folder))] = json.dumps({key: said[key] for key in said if key not in DATED})
        elif path.is_file():
            found[str(path.relative_to(folder))] = digest(path)
    return found


if __name__ == "__main__":
    while True:
        authorise(LOCAL, Action.SEE_CASE, case="case-1")
        print("seen", flush=True)
        sleep(PAUSE)
