"""Entries found by case, person, action and time, a page of them at a time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, select

from mpd2.clinic.record.entry import Entry, canonical, written_time
from mpd2.clinic.record.schema import ENTRIES
from mpd2.clinic.record.signed import Damaged
from mpd2.core.errors import UserError

PAGE = 50  # entries


@dataclass(frozen=True)
class Search:
    """What is looked for; what is empty does not narrow it."""

    case: str = ""  # id of a case, or its pseudonym
    person: str = ""  # id of an actor
    action: str = ""
    since: str = ""  # a time as it is written
    until: str = ""  # not included
    refused: bool = False  # only what was not granted


def checked_time(text: str) -> str:
    """A time to search by as it is written; one without an hour is midnight, one without a zone is UTC.

    >>> checked_time("2026-03-01"), checked_time("2026-03-01T09:30+01:00"), checked_time("")
    ('2026-03-01T00:00:00.000000Z', '2026-03-01T08:30:00.000000Z', '')
    """
    if not text:
        return ""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UserError(f"time: found {text!r}, expected one such as 2026-03-01 or 2026-03-01T09:30") from None
    return written_time(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def find(connection: Connection, search: Search, case: str, before: int | None, limit: int) -> list[Entry]:
    """The newest entries that fit, older than number `before`; `case` is the pseudonym of what is searched."""
    columns = ENTRIES.c
    query = select(ENTRIES).order_by(columns.number.desc()).limit(limit)
    if search.case:
        query = query.where(columns.case == case, columns.case != "")
    if search.person:
        query = query.where(columns.actor == search.person)
    if search.action:
        query = query.where(columns.action == search.action)
    if search.since:
        query = query.where(columns.time >= search.since)
    if search.until:
        query = query.where(columns.time < search.until)
    if search.refused:
        query = query.where(columns.granted == 0)
    if before is not None:
        query = query.where(columns.number < before)
    try:
        return [entry_of(row) for row in connection.execute(query)]
    except Damaged as error:
        raise UserError(f"record: {error}; `audit verify` says more") from None


def entry_of(row: Row[Any]) -> Entry:
    """A row as an entry; what could not have been written by us is `Damaged`."""
    number, time, actor, role, visit, action, granted, case, reason, about, previous, hash_ = tuple(row)
    texts = (time, actor, role, visit, action, case, reason, about, previous, hash_)
    if granted not in (0, 1) or not all(isinstance(each, str) for each in texts):
        raise Damaged(f"entry {number} was changed: it has values that no entry has")
    try:
        said = json.loads(about)
        as_written = isinstance(said, dict) and canonical(said) == about
    except (ValueError, RecursionError):
        as_written, said = False, {}
    if not as_written:
        raise Damaged(f"entry {number} was changed: what it says about the action is not as it was written")
    return Entry(number, time, actor, role, visit, action, granted == 1, case, reason, said, previous, hash_)


def values_of(entry: Entry) -> dict[str, Any]:
    """An entry as a row."""
    return {
        "number": entry.number, "time": entry.time, "actor": entry.actor, "role": entry.role, "visit": entry.visit,
        "action": entry.action, "granted": int(entry.granted), "case": entry.case, "reason": entry.reason,
        "about": canonical(entry.about), "previous": entry.previous, "hash": entry.hash,
    }  # fmt: skip
