"""The cache: results of functions, shared by all threads, with one bound on what all of them hold together.

A result is valid as long as the files it was made from. Whoever reads a file says so with `depends_on`; a result made
with the help of another depends on that one's files too. Every lookup compares the files' stamps, so that nobody has
to clear anything when a file is replaced or deleted. Nobody may change what a cached function returns.
"""

from __future__ import annotations

import os
import sys
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from hashlib import blake2b
from pathlib import Path
from threading import Lock, RLock
from types import ModuleType
from typing import Any, Generic, ParamSpec, TypeVar
from weakref import WeakValueDictionary, ref

import pandas as pd
import pyarrow as pa
from pydantic import BaseModel

Given = ParamSpec("Given")
Made = TypeVar("Made")
Table = pd.DataFrame | pd.Series
Stamp = tuple[int, int, int] | None
"""Modification time in ns, size and inode of a file; None where there is none."""

LIMIT = 384 * 2**20  # bytes that all results may hold together


@dataclass(frozen=True, slots=True)
class _Entry(Generic[Made]):
    """One result, its size in bytes and the files it depends on, each with its stamp before it was read."""

    value: Made
    size: int
    files: tuple[tuple[str, Stamp], ...]

    def is_valid(self) -> bool:
        return all(_stamp(path) == stamp for path, stamp in self.files)


class Cache:
    """Least recently used results are evicted first, whichever function made them."""

    def __init__(self, limit: int) -> None:
        self.limit = limit  # bytes
        self.size = 0  # bytes held now
        self._entries: OrderedDict[Hashable, _Entry[Any]] = OrderedDict()
        self._lock = Lock()
        self._making: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()  # a lock for each result being made

    def get_or_make(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """The valid result under `key`; of several threads that ask at once, one makes it and the others wait."""
        entry = self._get(key)
        if entry is None:
            with self._lock:
                making = self._making.setdefault(key, RLock())
            with making:
                entry = self._get(key) or self._make(key, make)
        outer = _files.get()
        if outer is not None:
            for path, stamp in entry.files:
                outer.setdefault(path, stamp)
        value: Made = entry.value
        return value

    def clear(self) -> None:
        """Evict everything."""
        with self._lock:
            self._entries.clear()
            self.size = 0

    def drop_outdated(self) -> None:
        """Evict every result one of whose files is another or gone."""
        with self._lock:
            entries = list(self._entries.items())
        outdated = [key for key, entry in entries if not entry.is_valid()]
        with self._lock:
            for key in outdated:
                entry = self._entries.pop(key, None)
                self.size -= entry.size if entry else 0

    def values(self) -> list[Any]:
        """Every result held, the least recently used first."""
        with self._lock:
            return [entry.value for entry in self._entries.values()]

    def _get(self, key: Hashable) -> _Entry[Any] | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
        return entry if entry.is_valid() else None

    def _make(self, key: Hashable, make: Callable[[], Made]) -> _Entry[Made]:
        read: dict[str, Stamp] = {}
        token = _files.set(read)
        try:
            value = make()
        finally:
            _files.reset(token)
        entry = _Entry(value, size_of(value), tuple(read.items()))
        for table in _tables_in(value):
            unchanging(table)
        with self._lock:
            if key in self._entries:
                self.size -= self._entries.pop(key).size
            if entry.size <= self.limit:
                self._entries[key] = entry
                self.size += entry.size
            while self.size > self.limit:
                self.size -= self._entries.popitem(last=False)[1].size
        return entry


CACHE = Cache(LIMIT)
_files: ContextVar[dict[str, Stamp] | None] = ContextVar("files", default=None)  # of the result being made
_stamps: ContextVar[dict[str, Stamp] | None] = ContextVar("stamps", default=None)  # of this look, by file
_seen: ContextVar[dict[Hashable, Any] | None] = ContextVar("seen", default=None)  # in this look


def cached(make: Callable[Given, Made]) -> Callable[Given, Made]:
    """Cache the results of a function by its arguments, which are hashable; it stands in a module, not in a page."""

    @wraps(make)
    def recall(*args: Given.args, **named: Given.kwargs) -> Made:
        key = (make, args, *sorted(named.items())) if named else (make, args)
        return CACHE.get_or_make(key, lambda: make(*args, **named))

    return recall


def cached_by_content(make: Callable[Given, Made]) -> Callable[Given, Made]:
    """Cache the results of a function of tables and plain values by what these contain."""

    @wraps(make)
    def recall(*args: Given.args, **named: Given.kwargs) -> Made:
        key = (make, fingerprint((args, dict(sorted(named.items())))))
        return CACHE.get_or_make(key, lambda: make(*args, **named))

    return recall


@contextmanager
def one_look() -> Iterator[None]:
    """For the length of the block and in this thread, take every file for what it is at the first look at it.

    A result is never taken for newer than it is: what is read later than it was looked at is read again next time.
    """
    stamps, seen = _stamps.set({}), _seen.set({})
    try:
        yield
    finally:
        _stamps.reset(stamps)
        _seen.reset(seen)


def look_again() -> None:
    """End what `one_look` spares: somebody is about to change files."""
    _stamps.set(None)
    _seen.set(None)


def once_a_look(find: Callable[Given, Made]) -> Callable[Given, Made]:
    """Ask a function of hashable arguments, which looks what files there are, once within `one_look`.

    While a result is being made it is asked as ever: what the result depends on must be told to it.
    """

    @wraps(find)
    def recall(*args: Given.args, **named: Given.kwargs) -> Made:
        seen = _seen.get()
        if seen is None or named or _files.get() is not None:
            return find(*args, **named)
        key = (find, args)
        if key not in seen:
            seen[key] = find(*args, **named)
        found: Made = seen[key]
        return found

    return recall


def depends_on(path: Path) -> None:
    """Let the result being made be valid only as long as a file stays as it is now; call it before reading."""
    read = _files.get()
    if read is not None:
        read.setdefault(str(path), _stamp(str(path)))


def unchanging(table: Table) -> None:
    """Say of a table that nobody will change it, so that it is digested once; of those in the cache it is known."""
    _digests[id(table)] = _Known(table)


def size_of(value: object) -> int:
    """Bytes held by a value and all its parts, each part counted once.

    >>> size_of([bytes(1000)] * 3) < 1500
    True
    """
    size, todo, seen = 0, [value], set[int]()
    while todo:
        part = todo.pop()
        if id(part) in seen or isinstance(part, type | ModuleType):
            continue
        seen.add(id(part))
        if isinstance(part, pd.DataFrame | pd.Series | pd.Index):
            used = part.memory_usage(deep=True)
            size += int(used if isinstance(used, int) else used.sum())
            continue
        size += max(sys.getsizeof(part), int(getattr(part, "nbytes", 0)))
        if isinstance(part, Mapping):
            todo += [*part.keys(), *part.values()]
        elif isinstance(part, list | tuple | set | frozenset):
            todo += part
        todo += getattr(part, "__dict__", {}).values()
    return size


def _stamp(path: str) -> Stamp:
    stamps = _stamps.get()
    if stamps is None:
        return _stamp_now(path)
    if path not in stamps:
        stamps[path] = _stamp_now(path)
    return stamps[path]


def _stamp_now(path: str) -> Stamp:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


class _Known:
    """A table that nobody may change, and its digest, which is worked out when it is first asked for."""

    def __init__(self, table: Table) -> None:
        place = id(table)
        self.table: ref[Table] = ref(table, lambda _: _forget_digest(place))
        self.digest: bytes | None = None


_digests: dict[int, _Known] = {}  # of tables in the cache, by where they are


def _forget_digest(place: int) -> None:
    _digests.pop(place, None)


def _tables_in(value: object) -> list[Table]:
    """The tables that a result is, or is made of."""
    if is_dataclass(value) and not isinstance(value, type):
        parts: Collection[object] = [getattr(value, part.name) for part in fields(value)]
    else:
        parts = value if isinstance(value, tuple | list) else [value]
    return [part for part in parts if isinstance(part, pd.DataFrame | pd.Series)]


def _fingerprint_of_table(table: Table) -> bytes:
    known = _digests.get(id(table))
    if known is None or known.table() is not table:
        return _digest_of_table(table)
    if known.digest is None:
        known.digest = _digest_of_table(table)
    return known.digest


def _digest_of_table(table: Table) -> bytes:
    if isinstance(table, pd.DataFrame):
        return _digest([_as_bytes(table)])
    return _digest([b"series", _digest([_as_bytes(table.to_frame("values"))]), repr(table.name).encode()])


def fingerprint(value: object) -> bytes:
    """Equal for what reads the same: tables with their index, plain values, records, collections, dataclasses.

    >>> fingerprint(["a", "b"]) == fingerprint(["b", "a"]), fingerprint({"a", "b"}) == fingerprint({"b", "a"})
    (False, True)
    """
    if isinstance(value, pd.DataFrame | pd.Series):
        return _fingerprint_of_table(value)
    if is_dataclass(value):
        return _digest([b"object", *(fingerprint(getattr(value, part.name)) for part in fields(value))])
    if isinstance(value, BaseModel):
        return _digest([type(value).__name__.encode(), value.model_dump_json().encode()])
    if value is None or isinstance(value, str | int | float):
        return _digest([type(value).__name__.encode(), str(value).encode()])
    if isinstance(value, Mapping):
        return _digest([b"mapping", *(fingerprint(part) for item in value.items() for part in item)])
    if isinstance(value, Sequence):
        return _digest([b"sequence", *map(fingerprint, value)])
    if isinstance(value, Collection):
        return _digest([b"set", *sorted(map(fingerprint, value))])
    raise TypeError(f"a result cannot be cached by a {type(value).__name__}")


def _as_bytes(table: pd.DataFrame) -> memoryview:
    """A table as Arrow writes it, with the types of its columns."""
    rows, sink = pa.Table.from_pandas(table, preserve_index=True).combine_chunks(), pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows)
    return memoryview(sink.getvalue())


def _digest(parts: Sequence[bytes | memoryview]) -> bytes:
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()
