"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make everything."""
    counter = op.create_table("counter", sa.Column("number", sa.BigInteger, nullable=False))
    op.bulk_insert(counter, [{"number": 0}])
    op.create_table(
        "bases", sa.Column("digest", sa.Text, primary_key=True), sa.Column("content", sa.Text, nullable=False)
    )
    _table(
        "arrivals",
        ("case", "time"),
        _text("case"),
        _time("time"),
        _text("cohort"),
        _text("group"),
        sa.Column("inputs", sa.LargeBinary, nullable=False),
        sa.Column("available", sa.LargeBinary, nullable=False),
        _text("basis"),
        _whole("action"),
        _whole("kept"),
        sa.Column("positive", sa.Float(53)),
        sa.Column("price", sa.Float(53), nullable=False),
        sa.Column("beliefs", sa.LargeBinary, nullable=False),
        _text("stop"),
        _text("reason"),
    )
    _table(
        "readings",
        ("case", "time", "reader", "at"),
        _text("case"),
        _time("time"),
        _text("reader"),
        _time("at"),
        _whole("says"),
        sa.Column("confidence", sa.Float(53)),
        _whole("declined"),
    )
    _table(
        "outcomes",
        ("case", "time", "at"),
        _text("case"),
        _time("time"),
        _time("at"),
        _whole("truth"),
        _whole("done"),
    )
    _table(
        "overrides",
        ("case", "time", "at"),
        _text("case"),
        _time("time"),
        _time("at"),
        _text("choice"),
        _text("reason"),
    )
    _table("settings", ("start", "at"), _text("start"), _time("at"), _text("content"))
    _table("acknowledgements", ("alarm", "at"), _text("alarm"), _time("at"), _text("reason"))


def _table(name: str, unique: tuple[str, ...], *columns: sa.Column[object]) -> None:
    """A table whose rows have a number, a writer and a key of their own."""
    op.create_table(
        name,
        sa.Column("number", _number(), primary_key=True, autoincrement=False),
        *columns,
        _text("by"),
        _time("written"),
        sa.UniqueConstraint(*unique, name=f"{name}_once"),
    )


def _text(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.Text, nullable=False)


def _time(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.BigInteger, nullable=False)


def _whole(name: str) -> sa.Column[object]:
    return sa.Column(name, sa.Integer, nullable=False)


def _number() -> sa.types.TypeEngine[int]:
    """SQLite's own row number, or a large whole number."""
    return sa.Integer() if op.get_bind().dialect.name == "sqlite" else sa.BigInteger()
