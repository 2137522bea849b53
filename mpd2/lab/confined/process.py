"""Reading processes as the server sees them: one for each file, at most two at once, and one that waits, warm."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import BoundedSemaphore, RLock

from mpd2.core.errors import UserError
from mpd2.core.files import ROOT
from mpd2.lab.confined.messages import About, packed, refused, unpacked

MODULE = "mpd2.lab.confined.reader"
AT_ONCE = 2
MEMORY = 2 * 2**30  # bytes that one may take
SECONDS = 60  # that one may compute
PATIENCE = 180.0  # seconds by the clock in which a file is read, also where the machine is busy
TURN = 60.0  # seconds in which it waits for its turn
PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONHOME", "PYTHONPATH")  # and no secret
ALONE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}
BUSY = "other files are being read; try again in a minute"
SLOW = "takes too long to read here; leave out columns and rows that are not needed"
BROKE_OFF = "cannot be read: reading it broke off; see whether it is damaged, or save it as CSV"

_OUT_OF_TIME = signal.SIGXCPU
_places = BoundedSemaphore(AT_ONCE)
_lock = RLock()
_spare: subprocess.Popen[bytes] | None = None
_keeping = False


def ask(task: str, name: str, parts: Sequence[bytes], **about: object) -> tuple[About, list[bytes]]:
    """What a reading process says of the files; every way in which it can fail is a `UserError` about `name`."""
    if not _places.acquire(timeout=TURN):
        raise UserError(f"{name}: {BUSY}")
    try:
        answer = _answer(name, packed({"task": task, "name": name, **about}, parts))
    finally:
        _places.release()
    try:
        told, found = unpacked(answer)
    except ValueError:
        raise UserError(f"{name}: {BROKE_OFF}") from None
    if "refused" in told:
        raise refused(told, name)
    return told, found


@contextmanager
def kept_ready() -> Iterator[None]:
    """For the length of the block a process waits with its libraries loaded, so that nobody waits for those."""
    global _keeping
    _keeping = True
    _replace_spare()
    try:
        yield
    finally:
        _keeping = False
        _let_go()


def _answer(name: str, message: bytes) -> bytes:
    process = _next()
    try:
        answer, _ = process.communicate(message, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise UserError(f"{name}: {SLOW}") from None
    finally:
        _end(process)
        _replace_spare()
    if process.returncode == -_OUT_OF_TIME:
        raise UserError(f"{name}: {SLOW}")
    return answer


def _start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", MODULE, str(MEMORY), str(SECONDS)],
        cwd=ROOT,
        env={**{key: os.environ[key] for key in PASSED_ON if key in os.environ}, **ALONE},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # what a library prints may quote a cell
        start_new_session=True,
    )


def _next() -> subprocess.Popen[bytes]:
    """The process that waits, unless it has died, or a new one."""
    global _spare
    with _lock:
        process, _spare = _spare, None
    if process is not None and process.poll() is None:
        return process
    if process is not None:
        _end(process)
    return _start()


def _replace_spare() -> None:
    global _spare
    with _lock:
        if _keeping and _spare is None:
            _spare = _start()


def _let_go() -> None:
    global _spare
    with _lock:
        process, _spare = _spare, None
    if process is not None:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None and not pipe.closed:
            with suppress(OSError):  # what it did not read is given up
                pipe.close()
    process.wait()
