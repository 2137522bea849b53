"""The tables of the record in their database; entries follow one another, so that a chain never forks."""

from __future__ import annotations

from collections.abc import Generator
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, create_engine, insert, inspect, select, text

from mpd2.clinic.database.engine import Database, in_words
from mpd2.clinic.record.migrations import upgrade
from mpd2.clinic.record.migrations.versions.v0001_tables import REFUSAL
from mpd2.clinic.record.schema import ENTRIES, GUARDED, IDENTITY, TOMBSTONES

SUBJECT = "record"  # what messages call it
FILE = "record.db"
BATCH = 2000  # rows read at a time
TURN = 6_815_022  # the number under which PostgreSQL keeps the turn to write
REFUSING = """SELECT tgname FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
    WHERE NOT tgisinternal AND tgenabled <> 'D' AND position(:refusal IN prosrc) > 0"""


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
        """Triggers that are no longer there, or do something else."""
        if self.is_sqlite:
            there, made = dict(_triggers(connection)), _triggers_as_made()
            return [name for name, what in made if there.get(name) != what]
        refusing = set(connection.execute(text(REFUSING), {"refusal": REFUSAL}).scalars())
        kinds = ("update", "delete", "truncate")
        return [name for table in GUARDED for kind in kinds if (name := f"{table}_no_{kind}") not in refusing]

    def tidy(self) -> None:
        """Take what was erased out of the files too, where that is ours to do."""
        with in_words(SUBJECT, "tidied"), self.engine.connect() as connection:
            raw = connection.execution_options(isolation_level="AUTOCOMMIT")
            if self.is_sqlite:
                raw.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
            else:
                raw.execute(text("VACUUM entries"))
                raw.execute(text("VACUUM case_keys"))


def _triggers(connection: Connection) -> tuple[tuple[str, str], ...]:
    """Name and text of every trigger of a file."""
    found = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid"))
    return tuple((row.name, row.sql) for row in found)


@cache
def _triggers_as_made() -> tuple[tuple[str, str], ...]:
    """What a new file has."""
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        upgrade(connection)
        made = _triggers(connection)
    engine.dispose()
    return made


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
