"""From the bytes of a request to rows, or to the reason why not; nothing is believed on the way."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request

from mpd2.core.text import count, numbered
from mpd2.studio.server.interface.answers import Refused

MOST_BYTES = 1_000_000
FARTHEST = 4_000_000  # bytes that are let arrive, of which those beyond the most are not kept
MOST_ROWS = 1_000
DEEPEST = 8
PATIENCE = 30.0  # seconds for all of a body
SHOWN = 60  # characters of a name that a refusal repeats
STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
JSON_TYPE = re.compile(r'application/json(?:\s*;\s*charset="?utf-8"?)?', re.IGNORECASE)

Rows = list[dict[str, Any]]


async def read_body(request: Request) -> bytes:
    """The bytes of a request that says that they are plain JSON."""
    try:
        _check_headers(request)
    except Refused:
        await discard(request)
        raise
    return await _read(request)


async def discard(request: Request) -> None:
    """Let a body arrive that nobody reads: a proxy that cannot send it to its end takes the server for dead."""
    with suppress(Refused):
        await _read(request)


def rows_of(body: bytes, name: str) -> Rows:
    """The rows in a body."""
    given = parsed(body)
    expected = f'an object with one entry, "{name}": a list of objects'
    if not isinstance(given, dict) or set(given) != {name} or not isinstance(given[name], list):
        raise Refused(HTTPStatus.BAD_REQUEST, f"body: found {_kind(given)}, expected {expected}")
    rows = given[name]
    if not 1 <= len(rows) <= MOST_ROWS:
        reason = f"{name}: found {numbered(len(rows), 'row')}, expected from 1 to {count(MOST_ROWS)}"
        raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE if rows else HTTPStatus.BAD_REQUEST, reason)
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise Refused(HTTPStatus.BAD_REQUEST, f"{name}, row {number}: found {_kind(row)}, expected an object")
    return rows


def parsed(body: bytes) -> Any:
    """What JSON says, where it says it once and not too deep."""
    try:
        given = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise Refused(HTTPStatus.BAD_REQUEST, f"body: not JSON: {error}") from None
    bare = STRING.sub(b"", body)  # brackets and colons that are left are not in strings
    if _depth(bare) > DEEPEST:
        raise Refused(HTTPStatus.BAD_REQUEST, f"body: found more than {DEEPEST} levels, expected at most {DEEPEST}")
    if _entries(given) < bare.count(b":"):
        twice = _first_twice(body)
        raise Refused(HTTPStatus.BAD_REQUEST, f"body: found the entry {twice} twice in one object, expected it once")
    return given


def _check_headers(request: Request) -> None:
    told = request.headers.get("content-type", "")
    if not JSON_TYPE.fullmatch(told.strip()):
        reason = f"Content-Type: found {told[:SHOWN] or 'none'}, expected application/json"
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, reason)
    packed = request.headers.get("content-encoding", "identity")
    if packed.strip().lower() != "identity":
        reason = f"Content-Encoding: found {packed[:SHOWN]}, expected a body that is not compressed"
        raise Refused(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, reason)


async def _read(request: Request) -> bytes:
    """The body, of which no more is kept than may be."""
    told = request.headers.get("content-length", "0")
    if not told.isascii() or not told.isdigit() or len(told) > len(str(FARTHEST)) or int(told) > FARTHEST:
        raise _too_large()
    parts, length = [], 0
    try:
        async with asyncio.timeout(PATIENCE):
            async for part in request.stream():
                length += len(part)
                if length > FARTHEST:
                    raise _too_large()
                if length <= MOST_BYTES:
                    parts.append(part)
    except TimeoutError:
        reason = f"body: it took longer than {PATIENCE:.0f} seconds to arrive"
        raise Refused(HTTPStatus.REQUEST_TIMEOUT, reason) from None
    except ClientDisconnect:
        raise Refused(HTTPStatus.BAD_REQUEST, "body: the connection ended before it did") from None
    if length > MOST_BYTES:
        raise _too_large()
    return b"".join(parts)


def _too_large() -> Refused:
    reason = f"body: expected at most {count(MOST_BYTES)} bytes; send fewer rows at a time"
    return Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason)


def _depth(bare: bytes) -> int:
    deepest = level = 0
    for sign in re.findall(rb"[\[{\]}]", bare):
        level += 1 if sign in b"[{" else -1
        deepest = max(deepest, level)
    return deepest


def _entries(given: Any) -> int:
    """How many entries all objects have."""
    if isinstance(given, dict):
        return len(given) + sum(map(_entries, given.values()))
    return sum(map(_entries, given)) if isinstance(given, list) else 0


def _first_twice(body: bytes) -> str:
    found: list[str] = []

    def look(entries: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for name, _ in entries:
            if name in seen:
                found.append(name)
            seen.add(name)

    json.loads(body, object_pairs_hook=look)
    return repr(found[0][:SHOWN])


def _kind(given: Any) -> str:
    """What a value is, in words."""
    if isinstance(given, dict):
        return "an object without entries" if not given else f"an object with {_named(given)}"
    return "a list" if isinstance(given, list) else "words" if isinstance(given, str) else "a single value"


def _named(given: dict[str, Any]) -> str:
    first = next(iter(given))[:SHOWN]
    return f"the entry {first!r}" if len(given) == 1 else f"{numbered(len(given), 'entry', 'entries')}, first {first!r}"
