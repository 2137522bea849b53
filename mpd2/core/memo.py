"""Results that are asked for again and again, kept by what they were made from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import lru_cache, wraps
from hashlib import blake2b
from typing import Any, ParamSpec, TypeVar

import pandas as pd
import pyarrow as pa

Given = ParamSpec("Given")
Made = TypeVar("Made")


@dataclass(frozen=True)
class _Call:
    """What a function was given; two calls are the same if all of it reads the same."""

    said: bytes
    args: tuple[Any, ...] = field(compare=False)
    named: Mapping[str, Any] = field(compare=False)


def remembered(size: int) -> Callable[[Callable[Given, Made]], Callable[Given, Made]]:
    """Keep the last `size` results of a function of tables and plain values; nobody may change them."""

    def keeping(make: Callable[Given, Made]) -> Callable[Given, Made]:
        @lru_cache(maxsize=size)
        def kept(call: _Call) -> Made:
            return make(*call.args, **call.named)

        @wraps(make)
        def recall(*args: Given.args, **named: Given.kwargs) -> Made:
            return kept(_Call(fingerprint((args, dict(sorted(named.items())))), args, named))

        return recall

    return keeping


def fingerprint(value: object) -> bytes:
    """Equal for what reads the same: tables with their index, plain values, collections and dataclasses of these.

    >>> fingerprint(["a", "b"]) == fingerprint(["b", "a"]), fingerprint({"a", "b"}) == fingerprint({"b", "a"})
    (False, True)
    """
    if isinstance(value, pd.DataFrame):
        return _digest([_as_bytes(value)])
    if isinstance(value, pd.Series):
        return _digest([b"series", fingerprint(value.to_frame("values")), repr(value.name).encode()])
    if is_dataclass(value):
        return _digest([b"object", *(fingerprint(getattr(value, part.name)) for part in fields(value))])
    if value is None or isinstance(value, str | int | float):
        return _digest([type(value).__name__.encode(), str(value).encode()])
    if isinstance(value, Mapping):
        return _digest([b"mapping", *(fingerprint(part) for item in value.items() for part in item)])
    if isinstance(value, Sequence):
        return _digest([b"sequence", *map(fingerprint, value)])
    if isinstance(value, Collection):
        return _digest([b"set", *sorted(map(fingerprint, value))])
    raise TypeError(f"a result cannot be kept by a {type(value).__name__}")


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
