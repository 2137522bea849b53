"""The tables of shadow mode, as queries know them; migrations make them. Times are microseconds since 1970, UTC."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Float, Integer, LargeBinary, MetaData, Table, Text

METADATA = MetaData()


def _number() -> Column[int]:
    return Column("number", BigInteger, primary_key=True, autoincrement=False)


def _of_an_arrival() -> tuple[Column[str], Column[int]]:
    return Column("case", Text, nullable=False), Column("time", BigInteger, nullable=False)


def _writer() -> tuple[Column[str], Column[int]]:
    return Column("by", Text, nullable=False), Column("written", BigInteger, nullable=False)


COUNTER = Table("counter", METADATA, Column("number", BigInteger, nullable=False))
"""One row: the number of the newest row of all tables."""

BASES = Table(
    "bases",
    METADATA,
    Column("digest", Text, primary_key=True),
    Column("content", Text, nullable=False),  # canonical JSON
)

ARRIVALS = Table(
    "arrivals",
    METADATA,
    _number(),
    *_of_an_arrival(),
    Column("cohort", Text, nullable=False),
    Column("group", Text, nullable=False),
    Column("inputs", LargeBinary, nullable=False),
    Column("available", LargeBinary, nullable=False),
    Column("basis", Text, nullable=False),
    Column("action", Integer, nullable=False),
    Column("kept", Integer, nullable=False),
    Column("positive", Float(53)),
    Column("price", Float(53), nullable=False),
    Column("beliefs", LargeBinary, nullable=False),
    Column("stop", Text, nullable=False),
    Column("reason", Text, nullable=False),
    *_writer(),
    Column("place", Text, nullable=False),
)

READINGS = Table(
    "readings",
    METADATA,
    _number(),
    *_of_an_arrival(),
    Column("reader", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("says", Integer, nullable=False),
    Column("confidence", Float(53)),
    Column("declined", Integer, nullable=False),
    *_writer(),
)

OUTCOMES = Table(
    "outcomes",
    METADATA,
    _number(),
    *_of_an_arrival(),
    Column("at", BigInteger, nullable=False),
    Column("truth", Integer, nullable=False),
    Column("done", Integer, nullable=False),
    *_writer(),
)

OVERRIDES = Table(
    "overrides",
    METADATA,
    _number(),
    *_of_an_arrival(),
    Column("at", BigInteger, nullable=False),
    Column("choice", Text, nullable=False),
    Column("reason", Text, nullable=False),
    *_writer(),
)

SETTINGS = Table(
    "settings",
    METADATA,
    _number(),
    Column("start", Text, nullable=False),  # ISO date
    Column("at", BigInteger, nullable=False),
    Column("content", Text, nullable=False),  # canonical JSON
    *_writer(),
)

ACKNOWLEDGEMENTS = Table(
    "acknowledgements",
    METADATA,
    _number(),
    Column("alarm", Text, nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("reason", Text, nullable=False),
    *_writer(),
)

ERASURES = Table(
    "erasures",
    METADATA,
    _number(),
    Column("at", BigInteger, nullable=False),
    Column("cases", BigInteger, nullable=False),  # how many
    Column("by", Text, nullable=False),
)

UNIQUE = {
    "arrivals": ("case", "time"),
    "readings": ("case", "time", "reader", "at"),
    "outcomes": ("case", "time", "at"),
    "overrides": ("case", "time", "at"),
    "settings": ("start", "at"),
    "acknowledgements": ("alarm", "at"),
}
"""By what each table knows a row again that comes a second time."""
