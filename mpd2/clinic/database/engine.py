"""A database: a SQLite file, or PostgreSQL; one writer at a time, on disk when a block ends."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from mpd2.core.errors import UserError

PATIENCE = 60  # seconds to wait for others who write
WRITING = "writing"  # option of a connection


class Database:
    """What is kept at an address, or in a file if there is none; nothing is known here of its tables."""

    def __init__(self, address: str, file: Path, subject: str, turn: int) -> None:
        self.subject = subject  # what messages call it
        self.file = None if address else file
        self._number = turn  # under which PostgreSQL keeps the turn to write
        self._turn = Lock()
        self.engine = _engine(address or f"sqlite:///{file}", subject)
        self._writer = self.engine.execution_options(**{WRITING: True})
        self._inode = 0

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a file of our own."""
        return self.engine.dialect.name == "sqlite"

    def make_folder(self) -> None:
        """Make the folder of the file, for nobody else to look into."""
        if self.file:
            try:
                self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            except OSError as error:
                raise UserError(f"{self.subject}: its folder cannot be made: {error.strerror}") from error

    def remember_file(self) -> None:
        """The file that is there now is ours."""
        self._inode = self._inode_now()

    def is_replaced(self) -> bool:
        """Whether another file is now where ours was; what we wrote to ours nobody would find."""
        return self._inode != self._inode_now()

    def close(self) -> None:
        """Let go of the database."""
        self.engine.dispose()

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that nobody else's is beside: what is written follows one after another."""
        with self._turn, in_words(self.subject, "written, and nothing was done"), self._writer.begin() as connection:
            if not self.is_sqlite:
                connection.execute(text("SET LOCAL synchronous_commit = on"))
                connection.execute(text("SELECT pg_advisory_xact_lock(:turn)"), {"turn": self._number})
            yield connection

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of everything."""
        with in_words(self.subject, "read"), self.engine.connect() as connection:
            if not self.is_sqlite:
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    def flaw(self, connection: Connection) -> str:
        """What is wrong with the file as a database; nothing if all is well."""
        if not self.is_sqlite:
            return ""
        found = str(connection.execute(text("PRAGMA integrity_check(1)")).scalar())
        return "" if found == "ok" else found

    def _inode_now(self) -> int:
        if self.file is None:
            return 0
        try:
            return self.file.stat().st_ino
        except OSError:
            return -1


def _engine(address: str, subject: str) -> Engine:
    try:
        url = make_url(address)
        if url.get_backend_name() == "sqlite":
            engine = create_engine(url, connect_args={"timeout": PATIENCE})
            event.listen(engine, "connect", _prepare)
            event.listen(engine, "begin", _begin)
            return engine
        if url.get_backend_name() != "postgresql":
            raise UserError(f"{subject}: storage is {url.get_backend_name()}, expected SQLite or PostgreSQL")
        return create_engine(url, pool_pre_ping=True)
    except (ArgumentError, ValueError):
        raise UserError(
            f"{subject}: storage is no database address; expected one such as postgresql+psycopg://user@host/name"
        ) from None
    except ImportError:
        raise UserError(f"{subject}: PostgreSQL needs a driver: pip install -r requirements-cluster.txt") from None


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
def in_words(subject: str, what: str) -> Iterator[None]:
    """A database's error as one that says what to do; never with the values that were written."""
    try:
        yield
    except DBAPIError as error:
        reason = (str(error.orig).strip().splitlines() or [type(error).__name__])[0]
        raise UserError(f"{subject}: it cannot be {what}: {reason}") from None
    except (SQLAlchemyError, sqlite3.Error, UnicodeError) as error:  # of a damaged file, also while it is opened
        raise UserError(f"{subject}: it cannot be {what}: {type(error).__name__}") from None
