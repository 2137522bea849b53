"""The record of an installation: entries are appended, found and verified here."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import Connection, delete, insert, select

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.installation import Said
from mpd2.clinic.record.checkpoints import Checkpoints
from mpd2.clinic.record.entry import (
    LONGEST_ABOUT,
    LONGEST_REASON,
    Entry,
    digest,
    is_time,
    kept_about,
    kept_text,
    now,
    read_time,
)
from mpd2.clinic.record.keys import Keys, new_case_key, open_keys, pseudonym
from mpd2.clinic.record.schema import CASE_KEYS, ENTRIES, TOMBSTONES
from mpd2.clinic.record.search import PAGE, Search, find, values_of
from mpd2.clinic.record.signed import Signed
from mpd2.clinic.record.storage import Storage, last_row
from mpd2.clinic.settings import RecordOptions
from mpd2.core.errors import UserError

KEYS = "keys"  # folder of the keys, in that of the record
CLOCK_BACK = "clock_went_back_by_seconds"  # in an entry's `about`
FORGOTTEN = "pseudonym"  # in the `about` of an entry that says that the key of a case was erased
TOLERANCE = 2.0  # seconds by which the clocks of several servers may differ
TO_VERIFY = "`python -m mpd2 audit verify` says what is wrong; a backup brings it back"


class RecordLog:
    """One record, for all threads of a process; other processes may have it open as well."""

    def __init__(self, options: RecordOptions, folder: Path, clock: Callable[[], str] = now) -> None:
        self.options, self.folder = options, folder
        self._clock = clock
        self._opening = Lock()
        _make_folder(folder)
        self.keys = self._open_keys()
        self.checkpoints = Checkpoints(folder, options.second_place, self.keys, clock)
        self.storage = Storage(options.storage, folder)
        self.id = ""
        self._open()

    def append(
        self, by: Actor, action: Action, *, granted: bool, case: str | None, reason: str, about: dict[str, Any]
    ) -> None:
        """Write one entry; when it returns, the entry is on disk. Raises `UserError` where it cannot be."""
        self.append_all([Said(by, action, granted, case, reason, about)])

    def append_all(self, said: Sequence[Said]) -> None:
        """Write entries one after another; when it returns, all are on disk. Where one cannot be, none is."""
        self._reopen_if_replaced()
        with self.storage.writing() as connection:
            entries = [self.write(connection, **{each.name: getattr(one, each.name) for each in fields(one)})
                       for one in said]  # fmt: skip
        for entry in entries:
            self.sign_if_due(entry)

    def write(
        self,
        connection: Connection,
        by: Actor,
        action: Action,
        *,
        granted: bool = True,
        case: str | None = None,
        reason: str = "",
        about: dict[str, Any],
    ) -> Entry:
        """The next entry, within a transaction of whoever calls; `sign_if_due` is called after it."""
        number, time, previous = self._after(connection)
        said = kept_about(about)
        moment = self._clock()
        if time and (behind := (read_time(time) - read_time(moment)).total_seconds()) > TOLERANCE:
            said[CLOCK_BACK] = round(behind)
            time = ""
        entry = Entry(
            number + 1,
            max(time, moment),
            kept_text(by.id, LONGEST_ABOUT, "actor"),
            str(by.role),
            kept_text(by.visit, LONGEST_ABOUT, "visit"),
            str(action),
            granted,
            self.pseudonym(connection, case, make=True) if case else "",
            kept_text(reason, LONGEST_REASON, "reason"),
            said,
            previous,
        )
        entry = replace(entry, hash=digest(entry.text()))
        connection.execute(insert(ENTRIES), values_of(entry))
        return entry

    def sign_if_due(self, entry: Entry) -> None:
        """A checkpoint where one is due."""
        if self.checkpoints.is_due(entry.number, entry.time, self.options.checkpoint_every):
            self.checkpoints.sign(self.id, entry.number, entry.hash)

    def search(self, search: Search, before: int | None = None, limit: int = PAGE) -> list[Entry]:
        """The newest entries that fit, or those before a number; a case is found by its id or its pseudonym."""
        with self.storage.reading() as connection:
            case = search.case and (self.pseudonym(connection, search.case) or search.case)
            return find(connection, search, case, before, limit)

    def length(self) -> int:
        """The number of the newest entry; 0 if there is none."""
        with self.storage.reading() as connection:
            row = last_row(connection)
        return int(row.number) if row is not None else 0

    def pseudonym(self, connection: Connection, case: str, make: bool = False) -> str:
        """What a case is called here; nothing if it never was, or its key was erased."""
        lookup = self.keys.lookup(case)
        query = select(CASE_KEYS.c.key, CASE_KEYS.c.case).where(CASE_KEYS.c.lookup == lookup)
        found = connection.execute(query).first()
        if found is not None and pseudonym(str(found.key), case) != found.case:
            raise UserError("record: the key of this case was changed, and leads to no entry or to another case's")
        if found is not None or not make:
            return "" if found is None else str(found.case)
        key = new_case_key()
        made = pseudonym(key, case)
        connection.execute(insert(CASE_KEYS).values(lookup=lookup, key=key, case=made))
        return made

    def forget_case(self, connection: Connection, case: str) -> None:
        """Erase the key of a case: from now on nothing leads from its id to what was written of it."""
        connection.execute(delete(CASE_KEYS).where(CASE_KEYS.c.lookup == self.keys.lookup(case)))

    def close(self) -> None:
        """Let go of the database."""
        self.storage.close()

    def _after(self, connection: Connection) -> tuple[int, str, str]:
        """Number, time and hash that the next entry follows; a record that lost entries is not written on."""
        row = last_row(connection)
        number, time, hash_ = (0, "", self.id) if row is None else (int(row.number), str(row.time), str(row.hash))
        if time and not is_time(time):
            raise UserError(f"record: its last entry, {number}, was changed; nothing was done. {TO_VERIFY}")
        signed = self.checkpoints.last()
        if signed is not None and signed.says["number"] > number:
            raise UserError(
                f"record: its last entry is {number}, but entry {signed.says['number']} was signed at "
                f"{signed.says['time']}: entries are missing, and nothing is written after a gap. {TO_VERIFY}"
            )
        return number, time, hash_

    def _open_keys(self) -> Keys:
        """The keys; new ones are not made where checkpoints of old ones are."""
        folder = self.folder / KEYS
        return open_keys(folder, make=not (self.folder / "checkpoints.jsonl").exists() or folder.exists())

    def _open(self) -> None:
        try:
            self.id = self.storage.open(secrets.token_hex(32))
            signed = self.checkpoints.last()
            if signed is not None:
                self._check(signed)
        except UserError:
            self.storage.close()
            raise

    def _check(self, signed: Signed) -> None:
        """Refuse to go on with a record that is not the one the last checkpoint speaks of."""
        says, number = signed.says, signed.says["number"]
        with self.storage.reading() as connection:
            found = connection.execute(select(ENTRIES.c.hash).where(ENTRIES.c.number == number)).scalar()
            erased = connection.execute(
                select(TOMBSTONES.c.first).where(
                    TOMBSTONES.c.first <= says["number"], TOMBSTONES.c.last >= says["number"]
                )
            ).first()
        if says["record"] != self.id or (found != says["hash"] and erased is None):
            raise UserError(
                f"record: it is not the one whose entry {says['number']} was signed at {says['time']}: it was replaced "
                f"or changed. {TO_VERIFY}"
            )

    def _reopen_if_replaced(self) -> None:
        """Notice that the file was exchanged under us, before anything is written to one that nobody will find."""
        if self.storage.is_replaced():
            with self._opening:
                if self.storage.is_replaced():
                    self.storage.close()
                    self._open()


def _make_folder(folder: Path) -> None:
    """A folder that only its owner reads."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise UserError(f"record: its folder cannot be made: {error.strerror}; nothing was done") from error
