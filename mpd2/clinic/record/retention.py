"""Erasing: what is past its time gives way to a signed tombstone, and one case's key can be destroyed at any time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, delete, func, insert, select

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import NotAllowed, may, refusal
from mpd2.clinic.record.entry import Entry, now, written_time
from mpd2.clinic.record.log import FORGOTTEN, RecordLog
from mpd2.clinic.record.schema import CASE_KEYS, ENTRIES, TOMBSTONES
from mpd2.clinic.record.search import entry_of
from mpd2.clinic.record.signed import Damaged
from mpd2.clinic.record.tombstones import tombstone
from mpd2.core.errors import UserError


def expired(record: RecordLog, days: int | None = None) -> tuple[int, int]:
    """The first and the last entry that are past their time; the last is before the first if none is."""
    with record.storage.reading() as connection:
        return _expired(connection, _limit(record, days))


def erase_expired(record: RecordLog, by: Actor, days: int | None = None) -> int:
    """Erase every entry that is past its time; how many. The erasure is an entry itself, and the chain stays whole."""
    limit = _limit(record, days)
    _allow(record, by)
    with record.storage.writing() as connection:
        first, last = _expired(connection, limit)
        if last < first:
            return 0
        ends = [_entry(connection, number) for number in (first, last)]
        reach = ENTRIES.c.number.between(first, last)
        times = select(func.min(ENTRIES.c.time), func.max(ENTRIES.c.time)).where(reach)
        earliest, latest = connection.execute(times).one()
        stone = tombstone(record.id, ends[0], ends[1], (str(earliest), str(latest)), now(), record.keys)
        about = {"erased_from": first, "erased_to": last, "hash": ends[1].hash, "older_than": limit}
        entry = record.write(connection, by, Action.ERASE_RECORD, about=about)
        connection.execute(insert(TOMBSTONES).values(first=first, last=last, line=stone.line))
        connection.execute(delete(ENTRIES).where(reach))
        still = select(ENTRIES.c.case).where(ENTRIES.c.case != "")
        connection.execute(delete(CASE_KEYS).where(CASE_KEYS.c.case.not_in(still)))
    record.checkpoints.sign(record.id, entry.number, entry.hash)
    record.storage.tidy()
    return last - first + 1


def erase_case(record: RecordLog, by: Actor, case: str, reason: str) -> None:
    """Destroy the key of a case: its entries stay, and nobody can tell any more whose they are."""
    _allow(record, by)
    with record.storage.writing() as connection:
        name = record.pseudonym(connection, case)
        if not name:
            raise UserError("record: nothing was written about this case, or its key is erased already")
        about = {"erased": "key of a case", FORGOTTEN: name}
        entry = record.write(connection, by, Action.ERASE_RECORD, reason=reason, about=about)
        record.forget_case(connection, case)
    record.sign_if_due(entry)
    record.storage.tidy()


def _allow(record: RecordLog, by: Actor) -> None:
    """Refuse whoever may not, and write that down; what is allowed is written with what is erased."""
    if not may(by, Action.ERASE_RECORD):
        record.append(by, Action.ERASE_RECORD, granted=False, case=None, reason="", about={})
        raise NotAllowed(refusal(by, Action.ERASE_RECORD))


def _limit(record: RecordLog, days: int | None) -> str:
    """The time before which entries are past theirs."""
    kept = record.options.retention_days if days is None else days
    if kept is None:
        raise UserError("record: entries are kept for ever; retention_days in [record] of the settings says otherwise")
    return written_time(datetime.now(UTC) - timedelta(days=kept))


def _expired(connection: Connection, limit: str) -> tuple[int, int]:
    """From the first entry to the last one before any that is to stay."""
    first = connection.execute(select(func.min(ENTRIES.c.number))).scalar()
    stays = connection.execute(select(func.min(ENTRIES.c.number)).where(ENTRIES.c.time >= limit)).scalar()
    last = connection.execute(select(func.max(ENTRIES.c.number))).scalar()
    if first is None or last is None:
        return 1, 0
    return int(first), int(last if stays is None else stays - 1)


def _entry(connection: Connection, number: int) -> Entry:
    """One entry; damage is not erased."""
    try:
        return entry_of(connection.execute(select(ENTRIES).where(ENTRIES.c.number == number)).one())
    except Damaged as error:
        raise UserError(f"record: {error}; nothing was erased, `audit verify` says more") from None
