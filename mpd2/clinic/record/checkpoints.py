"""Checkpoints: which entry was the last at a moment, signed and written beside the record and to a second place.

The chain alone shows a change to any entry but the last ones: whoever cuts them off, or writes the whole chain anew,
leaves a whole chain. A checkpoint says what the chain was.
"""

from __future__ import annotations

import fcntl
import logging
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from mpd2.clinic.record.entry import now
from mpd2.clinic.record.keys import PUBLIC, Keys
from mpd2.clinic.record.signed import Damaged, Signed, read_signed, signed
from mpd2.core.errors import UserError

FILE = "checkpoints.jsonl"
WORDS, NUMBERS = ("hash", "key", "kind", "record", "time"), ("number",)
REGULAR, RESTORED = "checkpoint", "restored"
END = 4096  # bytes in which the last line is

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Place:
    """One file of checkpoints, as it was found."""

    name: str
    lines: tuple[Signed, ...]
    damaged: tuple[int, ...] = ()  # numbers of lines, from 1
    torn: bool = False  # whether the last line ends in the middle, as when the power went


class Checkpoints:
    """The checkpoints of one record."""

    def __init__(self, folder: Path, second: Path | None, keys: Keys, clock: Callable[[], str] = now) -> None:
        self.path = folder / FILE
        self.second = second / FILE if second else None
        self._keys, self._clock = keys, clock
        self._last: tuple[object, Signed | None] = (object(), None)
        self._in_step = False  # whether the second place has all that the first has

    def sign(self, record: str, number: int, hash_: str, kind: str = REGULAR) -> Signed:
        """Sign that this is the last entry, and write it to both places; the second may be away for a while."""
        says = {
            "hash": hash_, "key": self._keys.public.id, "kind": kind, "number": number, "record": record,
            "time": self._clock(),
        }  # fmt: skip
        made = signed("checkpoint", says, self._keys)
        try:
            append_line(self.path, made.line)
        except OSError as error:
            raise UserError(f"record: a checkpoint cannot be written: {error.strerror}; nothing was done") from error
        self._copy(made)
        return made

    def last(self) -> Signed | None:
        """The newest checkpoint beside the record; none if its line is damaged."""
        stamp = _stamp(self.path)
        if self._last[0] != stamp:
            self._last = (stamp, last_line(self.path))
        return self._last[1]

    def is_due(self, number: int, time: str, every: int) -> bool:
        """Whether an entry is to be signed: every so many, and the first of a day."""
        last = self.last()
        return number % every == 0 or last is None or last.says["time"][:10] < time[:10]

    def places(self) -> list[Place]:
        """What is in both files."""
        found = [read_place(self.path, "beside the record")]
        return found + ([read_place(self.second, "in the second place")] if self.second else [])

    def _copy(self, made: Signed) -> None:
        """Write a line to the second place; after a gap, all that it has missed."""
        if self.second is None:
            return
        try:
            self.second.parent.mkdir(parents=True, exist_ok=True)
            if not self._in_step:
                public = self.second.with_name(PUBLIC)
                if not public.exists():
                    public.write_text(self._keys.public.pem, encoding="utf-8")
                there = {each.line for each in read_place(self.second, "").lines}
                for each in read_place(self.path, "").lines:
                    if each.line not in there:
                        append_line(self.second, each.line)
            else:
                append_line(self.second, made.line)
            self._in_step = True
        except OSError as error:
            self._in_step = False
            log.warning("the second place of checkpoints cannot be written: %s; it catches up later", error.strerror)


def append_line(path: Path, line: str) -> None:
    """Add a line to a file, on disk when this returns; the rest of one that a loss of power tore is cut off first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        size = os.fstat(descriptor).st_size
        end = os.pread(descriptor, END, max(0, size - END))
        if end and not end.endswith(b"\n"):
            os.ftruncate(descriptor, size - len(end) + end.rfind(b"\n") + 1)
        os.write(descriptor, line.encode() + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_place(path: Path, name: str) -> Place:
    """Every line of a file; a file that is not there has none."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Place(name, ())
    except OSError as error:
        raise UserError(f"{path.name}: the checkpoints cannot be read: {error.strerror}") from error
    *lines, rest = content.split(b"\n")
    return place_of([line.decode("utf-8", "replace") for line in lines], name, torn=bool(rest))


def place_of(lines: list[str], name: str, torn: bool = False) -> Place:
    """Lines as a place."""
    good, damaged = [], []
    for at, line in enumerate(lines, 1):
        try:
            good.append(read_checkpoint(line))
        except Damaged:
            damaged.append(at)
    return Place(name, tuple(good), tuple(damaged), torn)


def read_checkpoint(line: str) -> Signed:
    """A checkpoint as it was written."""
    return read_signed(line, "checkpoint", WORDS, NUMBERS)


def last_line(path: Path) -> Signed | None:
    """The last whole line of a file."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - END))
            lines = file.read().decode("utf-8", "replace").split("\n")[:-1]
    except OSError:
        return None
    try:
        return read_checkpoint(lines[-1]) if lines else None
    except Damaged:
        return None


def _stamp(path: Path) -> object:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
