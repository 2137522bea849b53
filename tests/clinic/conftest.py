"""Both kinds of storage: a file of its own, and a private PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from postgres import postgres
from sqlalchemy import create_engine, text

from mpd2.clinic.settings import RecordOptions

Options = Callable[..., RecordOptions]


@pytest.fixture(scope="session")
def database() -> Iterator[str]:
    with postgres() as address:
        yield address


@pytest.fixture
def empty_database(database: str) -> str:
    """The same, with nothing in it."""
    engine = create_engine(database, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    return database


@pytest.fixture(params=["sqlite", "postgresql"])
def options(request: pytest.FixtureRequest) -> Options:
    """Settings of an empty record in each kind of storage."""
    address = request.getfixturevalue("empty_database") if request.param == "postgresql" else ""

    def made(**settings: object) -> RecordOptions:
        return RecordOptions(storage=address, **settings)

    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "record"
