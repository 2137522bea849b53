"""The tables of the record in their database; entries follow one another, so that a chain never forks."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, insert, inspect, select, text

from mpd2.clinic.database.engine import Database, in_words
from mpd2.clinic.record.migrations import upgrade
from mpd2.clinic.record.schema import ENTRIES, GUARDED, IDENTITY, TOMBSTONES

SUBJECT = "record"  # what messages call it
FILE = "record.db"
BATCH = 2000  # rows read at a time
TURN = 6_815_022  # the number under which PostgreSQL keeps the turn to write


class Storage(Database):
    """Tables at an address; nothing but rows is known here."""

    def __init__(self, address: str, folder: Path) -> None:
        super().__init__(address, folder / FILE, SUBJECT, TURN)

    def open(self, new_id: str) -> str:
        """Make the tables or bring them up to date; the record's id, which is `new_id` if it had none."""
        self.make_folder()
        with self.writing() as connection:
            upgrade(connection)
            found = connection.execute(select(IDENTITY.c.id)).scalars().all()
            if not found:
                connection.execute(insert(IDENTITY).values(id=new_id))
        self.remember_file()
        return str(found[0]) if found else new_id

    def missing_guards(self, connection: Connection) -> list[str]:
        """Triggers that are no longer there."""
        query = (
            "SELECT name FROM sqlite_master WHERE type = 'trigger'"
            if self.is_sqlite
            else "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'"
        )
        there = set(connection.execute(text(query)).scalars())
        kinds = ("update", "delete") if self.is_sqlite else ("update", "delete", "truncate")
        return [name for table in GUARDED for kind in kinds if (name := f"{table}_no_{kind}") not in there]

    def tidy(self) -> None:
        """Take what was erased out of the files too, where that is ours to do."""
        with in_words(SUBJECT, "tidied"), self.engine.connect() as connection:
            raw = connection.execution_options(isolation_level="AUTOCOMMIT")
            if self.is_sqlite:
                raw.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
            else:
                raw.execute(text("VACUUM entries"))
                raw.execute(text("VACUUM case_keys"))


def last_row(connection: Connection) -> Row[Any] | None:
    """The newest entry."""
    return connection.execute(select(ENTRIES).order_by(ENTRIES.c.number.desc()).limit(1)).first()


def all_rows(connection: Connection) -> Generator[Row[Any], None, None]:
    """Every entry in order, a batch in memory at a time."""
    query = select(ENTRIES).order_by(ENTRIES.c.number)
    with connection.execution_options(yield_per=BATCH).execute(query) as found:
        yield from found


def tombstone_lines(connection: Connection) -> list[str]:
    """What stands for erased entries, in order."""
    return [str(line) for line in connection.execute(select(TOMBSTONES.c.line).order_by(TOMBSTONES.c.first)).scalars()]


def has_tables(storage: Storage) -> bool:
    """Whether a record was ever begun there."""
    with in_words(SUBJECT, "read"):
        return inspect(storage.engine).has_table(ENTRIES.name)
