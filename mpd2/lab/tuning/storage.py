"""Where a study lives: a SQLite file by default, or a database that several machines can reach."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep

import optuna
from optuna.exceptions import StorageInternalError
from optuna.storages import RDBStorage
from sqlalchemy import event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from mpd2.core.errors import UserError

PATIENCE = 60  # seconds to wait for another process that writes to the same file
TRIES = 5  # to set up the tables of a database, which another worker may do at the same moment


@contextmanager
def connected(place: str) -> Iterator[RDBStorage]:
    """The storage at a place, with its connections closed when the block ends; losing it is told in words."""
    storage = connect(place)
    try:
        yield storage
    except StorageInternalError:
        shown = make_url(storage.url).render_as_string(hide_password=True)
        raise UserError(f"storage: {shown} was lost on the way; give the same command once it is back") from None
    finally:
        storage.remove_session()
        storage.engine.dispose()


def connect(place: str) -> RDBStorage:
    """The storage at a database URL, such as postgresql+psycopg://user:password@host/name, or in a SQLite file."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)  # what happens is told by us
    if "://" not in place:
        try:
            Path(place).parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(f"storage: {place} cannot be made: {error.strerror}") from None
        place = f"sqlite:///{place}"
    embedded, shown = place.startswith("sqlite"), ""
    try:
        shown = make_url(place).render_as_string(hide_password=True)
        storage = _set_up(place, {"connect_args": {"timeout": PATIENCE}} if embedded else {})
    except (ArgumentError, ValueError):
        raise UserError(
            "storage: found something that is neither a file nor a database URL; "
            "expected one such as runs/tuning.db or postgresql+psycopg://user:password@host/name"
        ) from None
    except ImportError:
        raise UserError(f"storage: {shown} needs a driver: pip install -r requirements-cluster.txt") from None
    except OperationalError as error:
        reason = str(error.orig).strip().splitlines()[0]
        raise UserError(f"storage: {shown} cannot be reached: {reason}") from None
    except DBAPIError as error:
        raise UserError(f"storage: {shown} cannot be used: {str(error.orig).strip().splitlines()[0]}") from None
    if embedded:
        _quicken(storage)
    return storage


def _quicken(storage: RDBStorage) -> None:
    """Write ahead to a log, so that a report after every epoch does not wait for the disk; a killed process loses none.

    Of a machine that loses its power, the last moments may be missing.
    """

    def prepare(connection: sqlite3.Connection, _: object) -> None:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")

    event.listen(storage.engine, "connect", prepare)
    storage.engine.dispose()  # connections made so far are not prepared


def _set_up(url: str, options: dict[str, dict[str, int]]) -> RDBStorage:
    """Connect, and make the tables if they are not there; two who make them at once get in each other's way."""
    for attempt in range(1, TRIES + 1):
        try:
            return RDBStorage(url, engine_kwargs=options)
        except OperationalError:
            raise
        except DBAPIError:
            if attempt == TRIES:
                raise
            sleep(0.2 * attempt)
    raise AssertionError("the last attempt returns or raises")
