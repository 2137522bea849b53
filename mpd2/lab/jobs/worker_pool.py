"""The processes that work: started ahead of their job, so that libraries are loaded before anybody waits for them.

A worker gets its job over a socket, as the names of folders with the descriptor that holds the job's lock. From then on
it is on its own: it leads its own process group and outlives the server. A worker without a job ends with the server.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

from mpd2.core.files import ROOT
from mpd2.lab.jobs.folder import Job, Workshop

MODULE = "mpd2.lab.jobs.worker"
SEPARATOR = b"\0"  # between paths, none of which can hold it
ENDING = 5.0  # seconds; whoever is killed lets go of the job's lock a moment before the process is over


@dataclass
class Worker:
    """A process that waits for a job at the other end of a socket."""

    process: subprocess.Popen[bytes]
    desk: socket.socket

    def give(self, job: Job, lock: int, place: Workshop) -> None:
        """Let it do a job, whose lock goes over to it. One that died meanwhile is requeued by the next who looks.

        The workshop is sent too: a worker may have been started while the environment named another.
        """
        with suppress(OSError):
            socket.send_fds(self.desk, [SEPARATOR.join(map(os.fsencode, (job.folder, place.jobs, place.runs)))], [lock])
        self.desk.close()
        with _lock:
            _working[self.process.pid] = self.process

    def dismiss(self) -> None:
        """End it without a job."""
        self.desk.close()
        self.process.terminate()
        self.process.wait()


_lock = RLock()
_spare: Worker | None = None
_working: dict[int, subprocess.Popen[bytes]] = {}  # by process id; kept to learn how they ended


def threads() -> int:
    """How many cores a worker may use: one is left to the server, if there are several."""
    return max(1, (os.cpu_count() or 1) - 1)


def keep_ready() -> None:
    """Have a worker waiting; it takes seconds to load, so this is called before anybody presses a button."""
    global _spare
    with _lock:
        if _spare is not None and _spare.process.poll() is not None:
            let_go()
        _spare = _spare or _hire()


def next_worker() -> Worker:
    """The worker that waits, or a new one."""
    global _spare
    with _lock:
        keep_ready()
        assert _spare is not None
        worker, _spare = _spare, None
        return worker


def put_back(worker: Worker) -> None:
    """Let a worker that got no job wait for the next one."""
    global _spare
    with _lock:
        if _spare is None:
            _spare = worker
        else:
            worker.dismiss()


def let_go() -> None:
    """End the worker that waits, if there is one."""
    global _spare
    with _lock:
        if _spare is not None:
            _spare.dismiss()
        _spare = None


def how_it_ended(process: int | None) -> str:
    """How a worker ended, in words; only those who started it can know."""
    with _lock:
        worker = _working.get(process) if process is not None else None
    if worker is None:
        return "its process is gone"
    try:
        code = worker.wait(ENDING)
    except subprocess.TimeoutExpired:
        return "its process does not end"
    with _lock:
        _working.pop(worker.pid, None)
    return f"its process was ended by {signal.Signals(-code).name}" if code < 0 else f"its process ended with {code}"


def reap_finished() -> None:
    """Reap the processes of workers that have ended well; how others ended is still to be asked."""
    with _lock:
        for process in [pid for pid, worker in _working.items() if worker.poll() == 0]:
            del _working[process]


def _python() -> str:
    """This interpreter where its libraries are: a link that leads there may lead to another version tomorrow."""
    path = Path(sys.executable)
    return str(path.parent.resolve() / path.name)


def _hire() -> Worker:
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [_python(), "-m", MODULE, str(theirs.fileno())],
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": str(threads())},
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
            start_new_session=True,
        )
    return Worker(process, ours)
