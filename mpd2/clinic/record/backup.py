"""A backup is one file with the record, its checkpoints and its keys; it is verified before anything is restored of it.

Whoever has the file can sign as this installation and tell whose pseudonyms are whose: it is to be kept like a key.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TypeVar

from sqlalchemy import insert, select

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import NotAllowed, may, refusal
from mpd2.clinic.record import checkpoints
from mpd2.clinic.record.copies import read_export, write_export
from mpd2.clinic.record.entry import Entry, canonical, now
from mpd2.clinic.record.keys import CASES, NAMES, SIGNING, write_private
from mpd2.clinic.record.log import KEYS, RecordLog
from mpd2.clinic.record.schema import CASE_KEYS, ENTRIES, TOMBSTONES
from mpd2.clinic.record.search import values_of
from mpd2.clinic.record.storage import FILE, Storage, has_tables, last_row
from mpd2.clinic.record.tombstones import read_tombstone
from mpd2.clinic.record.verify import Verdict, verify
from mpd2.clinic.settings import RecordOptions
from mpd2.core.errors import UserError
from mpd2.core.files import replacing

RECORD, CASE_ROWS = "record.jsonl", "case-keys.jsonl"
INSIDE = (RECORD, CASE_ROWS, SIGNING, CASES)
BATCH = 1000  # rows written at a time
Row = TypeVar("Row")


def back_up(record: RecordLog, by: Actor, out: Path) -> int:
    """Write a backup; the number of entries in it."""
    granted = may(by, Action.BACK_UP_RECORD)
    record.append(by, Action.BACK_UP_RECORD, granted=granted, case=None, reason="", about={"file": out.name})
    if not granted:
        raise NotAllowed(refusal(by, Action.BACK_UP_RECORD))
    with replacing(out) as draft:
        write_private(draft, b"")
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
            with archive.open(RECORD, "w", force_zip64=True) as raw, io.TextIOWrapper(raw, "utf-8", newline="") as text:
                count = write_export(record, text)
            with archive.open(CASE_ROWS, "w", force_zip64=True) as raw, record.storage.reading() as connection:
                for row in connection.execute(select(CASE_KEYS)):
                    raw.write(f"{canonical(dict(row._mapping))}\n".encode())
            for name in NAMES:
                archive.writestr(name, (record.folder / KEYS / name).read_bytes())
        descriptor = os.open(draft, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)
    return count


def verify_backup(path: Path) -> Verdict:
    """What verifying finds in a backup."""
    with _opened(path) as archive, _lines(archive, RECORD) as lines:
        return verify(read_export(lines, path.name))


def restore(options: RecordOptions, folder: Path, path: Path, by: Actor, replace: bool = False) -> int:
    """Put a backup in the place of the record, once it has proved whole; the number of entries.

    A record that is there is only replaced if that was asked for, and is then kept beside the new one.
    """
    if not may(by, Action.RESTORE_RECORD):
        raise NotAllowed(refusal(by, Action.RESTORE_RECORD))
    verdict = verify_backup(path)
    if not verdict.whole:
        raise UserError(f"{path.name}: this backup is not restored. {verdict.in_words()}")
    _make_room(options, folder, replace)
    with _opened(path) as archive:
        (folder / KEYS).mkdir(parents=True, exist_ok=True, mode=0o700)
        for name in NAMES:
            write_private(folder / KEYS / name, archive.read(name))
        count = _fill(options, folder, archive)
    _tell(RecordLog(options, folder), by, path)
    return count


def _make_room(options: RecordOptions, folder: Path, replace: bool) -> None:
    """Set aside what is there, if that was asked for."""
    storage = Storage(options.storage, folder)
    try:
        used = (storage.file is None or storage.file.exists()) and has_tables(storage)
        if used and storage.file is None:
            with storage.reading() as connection:
                used = last_row(connection) is not None
            if used:
                raise UserError(
                    "record: the database has entries, and nothing is deleted from it; name an empty one as storage"
                )
    finally:
        storage.close()
    there = [folder / name for name in (FILE, f"{FILE}-wal", f"{FILE}-shm", checkpoints.FILE, KEYS)]
    there = [path for path in there if path.exists()]
    if there and not replace:
        raise UserError("record: there is one already; --replace sets it aside and puts the backup in its place")
    aside = folder / f"before-{now().replace(':', '-')}"
    for path in there:
        aside.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.replace(path, aside / path.name)


def _fill(options: RecordOptions, folder: Path, archive: zipfile.ZipFile) -> int:
    """Write the rows of a backup, all or none, and its checkpoints."""
    storage = Storage(options.storage, folder)
    count = 0
    try:
        with _lines(archive, RECORD) as lines:
            copy = read_export(lines, RECORD)
            if storage.open(copy.id) != copy.id:
                raise UserError("record: the database is that of another record; name an empty one as storage")
            with storage.writing() as connection:
                for line in copy.tombstones:
                    says = read_tombstone(line).says
                    connection.execute(insert(TOMBSTONES).values(first=says["first"], last=says["last"], line=line))
                for batch in _batches(copy.rows, BATCH):
                    rows = [values_of(entry) for entry in batch if isinstance(entry, Entry)]
                    connection.execute(insert(ENTRIES), rows)
                    count += len(rows)
                with _lines(archive, CASE_ROWS) as keys:
                    for some in _batches(map(json.loads, keys), BATCH):
                        connection.execute(insert(CASE_KEYS), list(some))
        for place in copy.places:
            for each in place.lines:
                checkpoints.append_line(folder / checkpoints.FILE, each.line)
    finally:
        storage.close()
    return count


def _tell(record: RecordLog, by: Actor, path: Path) -> None:
    """Sign where the record goes on from, and write that it was restored."""
    try:
        with record.storage.reading() as connection:
            last = last_row(connection)
        if last is not None:
            record.checkpoints.sign(record.id, int(last.number), str(last.hash), checkpoints.RESTORED)
        record.append(by, Action.RESTORE_RECORD, granted=True, case=None, reason="", about={"file": path.name})
    finally:
        record.close()


@contextmanager
def _opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """A backup, with the files that it must have and no other."""
    try:
        with zipfile.ZipFile(path) as archive:
            if sorted(archive.namelist()) != sorted(INSIDE):
                raise UserError(f"{path.name}: is no backup of a record")
            yield archive
    except OSError as error:
        raise UserError(f"{path.name}: cannot be read: {error.strerror or error}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError):
        raise UserError(f"{path.name}: is damaged, or no backup of a record") from None


@contextmanager
def _lines(archive: zipfile.ZipFile, name: str) -> Iterator[Iterable[str]]:
    with archive.open(name) as raw, io.TextIOWrapper(raw, "utf-8", errors="replace", newline="\n") as text:
        yield text


def _batches(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    waiting = iter(rows)
    while batch := list(islice(waiting, size)):
        yield batch
