"""The database of the record: a SQLite file, or PostgreSQL; one writer at a time, on disk when a block ends."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, Row, create_engine, event, insert, inspect, make_url, select, text
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from mpd2.clinic.record.migrations import upgrade
from mpd2.clinic.record.migrations.versions.v0001_tables import REFUSAL
from mpd2.clinic.record.schema import ENTRIES, GUARDED, IDENTITY, TOMBSTONES
from mpd2.core.errors import UserError

FILE = "record.db"
PATIENCE = 60  # seconds to wait for others who write
BATCH = 2000  # rows read at a time
TURN = 6_815_022  # the number under which PostgreSQL keeps the turn to write
WRITING = "writing"  # option of a connection
REFUSING = """SELECT tgname FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
    WHERE NOT tgisinternal AND tgenabled <> 'D' AND position(:refusal IN prosrc) > 0"""


class Storage:
    """Tables at an address; nothing but rows is known here."""

    def __init__(self, address: str, folder: Path) -> None:
        self.file = None if address else folder / FILE
        self._turn = Lock()
        self.engine = _engine(address or f"sqlite:///{self.file}")
        self._writer = self.engine.execution_options(**{WRITING: True})
        self._inode = 0

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file of our own."""
        return self.engine.dialect.name == "sqlite"

    def open(self, new_id: str) -> str:
        """Make the tables or bring them up to date; the record's id, which is `new_id` if it had none."""
        if self.file:
            try:
                self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            except OSError as error:
                raise UserError(f"record: its folder cannot be made: {error.strerror}") from error
        with self.writing() as connection:
            upgrade(connection)
            found = connection.execute(select(IDENTITY.c.id)).scalars().all()
            if not found:
                connection.execute(insert(IDENTITY).values(id=new_id))
        self._inode = self._inode_now()
        return str(found[0]) if found else new_id

    def is_replaced(self) -> bool:
        """Whether another file is now where ours was; what we wrote to ours nobody would find."""
        return self._inode != self._inode_now()

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that nobody else's is beside: entries follow one another, and a chain never forks."""
        with self._turn, in_words("written, and nothing was done"), self._writer.begin() as connection:
            if not self.is_sqlite:
                connection.execute(text("SET LOCAL synchronous_commit = on"))
                connection.execute(text("SELECT pg_advisory_xact_lock(:turn)"), {"turn": TURN})
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the record."""
        with in_words("read"), self.engine.connect() as connection:
            if not self.is_sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    def missing_guards(self, connection: Connection) -> list[str]:
        """Triggers that are no longer there, or do something else."""
        if self.is_sqlite:
            there, made = dict(_triggers(connection)), _triggers_as_made()
            return [name for name, what in made if there.get(name) != what]
        refusing = set(connection.execute(text(REFUSING), {"refusal": REFUSAL}).scalars())
        kinds = ("update", "delete", "truncate")
        return [name for table in GUARDED for kind in kinds if (name := f"{table}_no_{kind}") not in refusing]

    def flaw(self, connection: Connection) -> str:
        """What is wrong with the file as a database; nothing if all is well."""
        if not self.is_sqlite:
            return ""
        found = str(connection.execute(text("PRAGMA integrity_check(1)")).scalar())
        return "" if found == "ok" else found

    def tidy(self) -> None:
        """Take what was erased out of the files too, where that is ours to do."""
        with in_words("tidied"), self.engine.connect() as connection:
            raw = connection.execution_options(isolation_level="AUTOCOMMIT")
            if self.is_sqlite:
                raw.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
            else:
                raw.execute(text("VACUUM entries"))
                raw.execute(text("VACUUM case_keys"))

    def _inode_now(self) -> int:
        if self.file is None:
            return 0
        try:
            return self.file.stat().st_ino
        except OSError:
            return -1


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
    with in_words("read"):
        return inspect(storage.engine).has_table(ENTRIES.name)


def _engine(address: str) -> Engine:
    try:
        url = make_url(address)
        if url.get_backend_name() == "sqlite":
            engine = create_engine(url, connect_args={"timeout": PATIENCE})
            event.listen(engine, "connect", _prepare)
            event.listen(engine, "begin", _begin)
            return engine
        if url.get_backend_name() != "postgresql":
            raise UserError(f"record: storage is {url.get_backend_name()}, expected SQLite or PostgreSQL")
        return create_engine(url, pool_pre_ping=True)
    except (ArgumentError, ValueError):
        raise UserError(
            "record: storage is no database address; expected one such as postgresql+psycopg://user@host/name"
        ) from None
    except ImportError:
        raise UserError("record: PostgreSQL needs a driver: pip install -r requirements-cluster.txt") from None


def _prepare(connection: sqlite3.Connection, _: object) -> None:
    """Write ahead to a log, wait for the disk at every commit, and overwrite what is erased."""
    connection.isolation_level = None  # transactions begin where we say so
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON")


def _begin(connection: Connection) -> None:
    """Whoever will write takes the turn at once, and not in the middle, where it might have to give up."""
    connection.exec_driver_sql("BEGIN IMMEDIATE" if connection.get_execution_options().get(WRITING) else "BEGIN")


@contextmanager
def in_words(what: str) -> Iterator[None]:
    """A database's error as one that says what to do; never with the values that were written."""
    try:
        yield
    except DBAPIError as error:
        reason = (str(error.orig).strip().splitlines() or [type(error).__name__])[0]
        raise UserError(f"record: it cannot be {what}: {reason}") from None
    except (SQLAlchemyError, sqlite3.Error, UnicodeError) as error:  # of a damaged file, also while it is opened
        raise UserError(f"record: it cannot be {what}: {type(error).__name__}") from None
