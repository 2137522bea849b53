"""The record as one text that others can read and verify, a line each: what it is, tombstones, entries, checkpoints."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from sqlalchemy import Connection, Row, select

from mpd2.clinic.database.engine import in_words
from mpd2.clinic.record.checkpoints import FILE, place_of, read_place
from mpd2.clinic.record.entry import Entry, canonical, now
from mpd2.clinic.record.keys import PUBLIC, read_public
from mpd2.clinic.record.log import KEYS, RecordLog
from mpd2.clinic.record.schema import CASE_KEYS, IDENTITY
from mpd2.clinic.record.search import entry_of
from mpd2.clinic.record.signed import Damaged
from mpd2.clinic.record.storage import SUBJECT, Storage, all_rows, has_tables, tombstone_lines
from mpd2.clinic.record.verify import Copy
from mpd2.clinic.settings import RecordOptions
from mpd2.core.errors import UserError

FORMAT = 1


@contextmanager
def stored(options: RecordOptions, folder: Path, against: Path | None = None) -> Iterator[Copy]:
    """The record of an installation, however damaged; `against` is a folder with checkpoints and key kept elsewhere."""
    keys = against or folder / KEYS
    try:
        public = read_public((keys / PUBLIC).read_text(encoding="utf-8"), PUBLIC)
    except OSError as error:
        raise UserError(f"{PUBLIC}: the public key cannot be read: {error.strerror}") from error
    places = [read_place(folder / FILE, "beside the record")]
    if options.second_place:
        places.append(read_place(options.second_place / FILE, "in the second place"))
    if against:
        places.append(read_place(against / FILE, "in the folder to compare with"))
    storage = Storage(options.storage, folder)
    try:
        if not has_tables(storage):
            raise UserError("record: there is no record yet, or it was removed")
        with storage.reading() as connection, closing(all_rows(connection)) as rows:
            yield Copy(
                _identity(connection),
                public,
                _checked(rows),
                tombstone_lines(connection),
                places,
                _flaws(storage, connection),
                frozenset(connection.execute(select(CASE_KEYS.c.case)).scalars()),
            )
    finally:
        storage.close()


def _flaws(storage: Storage, connection: Connection) -> list[str]:
    missing = storage.missing_guards(connection)
    guards = f"the triggers that refuse changes are gone or were changed ({', '.join(missing)})" if missing else ""
    return [flaw for flaw in (storage.flaw(connection), guards) if flaw]


def _identity(connection: Connection) -> str:
    found = connection.execute(select(IDENTITY.c.id)).scalars().all()
    return str(found[0]) if len(found) == 1 else ""


def _checked(rows: Iterable[Row[Any]]) -> Iterator[Entry | Damaged]:
    with in_words(SUBJECT, "read"):
        for row in rows:
            try:
                yield entry_of(row)
            except Damaged as error:
                yield error


def write_export(record: RecordLog, out: TextIO) -> int:
    """Write everything, in the form that docs/record.md explains; the number of entries."""
    head = {"exported": now(), "format": FORMAT, "public_key": record.keys.public.pem, "record": record.id}
    out.write(f'{{"header":{canonical(head)}}}\n')
    places = record.checkpoints.places()[:1]  # before the entries are looked at: none may speak of one after them
    count = 0
    with record.storage.reading() as connection:
        for line in (*tombstone_lines(connection), *(each.line for place in places for each in place.lines)):
            out.write(line + "\n")
        with closing(all_rows(connection)) as rows:
            for row in rows:
                out.write(entry_line(_sound(row)) + "\n")
                count += 1
    return count


def entry_line(entry: Entry) -> str:
    """An entry as a line: the hash is the SHA-256 of the text between the first colon and `,"hash"`."""
    return f'{{"entry":{entry.text()},"hash":"{entry.hash}"}}'


def _sound(row: Row[Any]) -> Entry:
    try:
        return entry_of(row)
    except Damaged as error:
        raise UserError(f"record: {error}; `audit verify` says more, and nothing was exported") from None


def read_export(lines: Iterable[str], name: str) -> Copy:
    """An export, to be verified; entries are read as they are asked for."""
    rows = (line.rstrip("\n") for line in lines)
    header = _header(next(rows, ""), name)
    signed: dict[str, list[str]] = {"tombstone": [], "checkpoint": []}
    first: list[str] = []
    for line in rows:
        kind = line[2:12].partition('"')[0]
        if kind not in signed:
            first = [line]
            break
        signed[kind].append(line)
    entries = map(_read_entry, chain(first, rows))
    public = read_public(header["public_key"], name)
    return Copy(header["record"], public, entries, signed["tombstone"], [place_of(signed["checkpoint"], f"in {name}")])


def _header(line: str, name: str) -> dict[str, str]:
    try:
        header = json.loads(line)["header"]
        right = header["format"] == FORMAT and all(isinstance(header[key], str) for key in ("public_key", "record"))
    except (ValueError, TypeError, KeyError, RecursionError):
        right = False
    if not right:
        raise UserError(f"{name}: is no export of a record in format {FORMAT}")
    return dict(header)


def _read_entry(text: str) -> Entry | Damaged:
    try:
        given = json.loads(text)
        entry = Entry(**given["entry"], hash=given["hash"])
        right = entry_line(entry) == text and _has_right_types(entry)
    except (ValueError, TypeError, KeyError, RecursionError):
        return Damaged("a line was changed: it is not an entry as it was written")
    return entry if right else Damaged(f"entry {entry.number} was changed: it is not as it was written")


def _has_right_types(entry: Entry) -> bool:
    """Whether every value is of the kind that its field has."""
    values = asdict(entry)
    kinds: dict[str, type] = {"number": int, "granted": bool, "about": dict}
    return all(type(value) is kinds.get(name, str) for name, value in values.items())
