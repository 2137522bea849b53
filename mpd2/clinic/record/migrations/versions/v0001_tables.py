"""The first tables, and the triggers that keep what is written as it is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

GUARDED = ("entries", "identity", "tombstones")
REFUSAL = "the record is never changed"
IN_A_TOMBSTONE = 'EXISTS (SELECT 1 FROM tombstones WHERE OLD.number BETWEEN tombstones."first" AND tombstones."last")'


def upgrade() -> None:
    """Make everything."""
    op.create_table("identity", sa.Column("id", sa.Text, primary_key=True))
    op.create_table(
        "entries",
        sa.Column("number", _number(), primary_key=True, autoincrement=False),
        sa.Column("time", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("visit", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("granted", sa.Integer, nullable=False),
        sa.Column("case", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("about", sa.Text, nullable=False),
        sa.Column("previous", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
    )
    with_case = sa.text("\"case\" <> ''")
    op.create_index("entries_case", "entries", ["case", "number"], sqlite_where=with_case, postgresql_where=with_case)
    refused = sa.text("granted = 0")
    op.create_index("entries_refused", "entries", ["number"], sqlite_where=refused, postgresql_where=refused)
    op.create_index("entries_actor", "entries", ["actor", "number"])
    op.create_index("entries_action", "entries", ["action", "number"])
    op.create_index("entries_time", "entries", ["time"])
    op.create_table(
        "tombstones",
        sa.Column("first", _number(), primary_key=True, autoincrement=False),
        sa.Column("last", sa.BigInteger, nullable=False),
        sa.Column("line", sa.Text, nullable=False),
    )
    op.create_table(
        "case_keys",
        sa.Column("lookup", sa.Text, primary_key=True),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("case", sa.Text, nullable=False),
    )
    for statement in _sqlite_triggers() if _is_sqlite() else _postgres_triggers():
        op.execute(statement)


def _is_sqlite() -> bool:
    return op.get_bind().dialect.name == "sqlite"


def _number() -> sa.types.TypeEngine[int]:
    """SQLite's own row number, or a large whole number."""
    return sa.Integer() if _is_sqlite() else sa.BigInteger()


def _sqlite_triggers() -> list[str]:
    refuse = f"BEGIN SELECT RAISE(ABORT, '{REFUSAL}'); END"
    return [
        *(f"CREATE TRIGGER {table}_no_update BEFORE UPDATE ON {table} {refuse}" for table in GUARDED),
        *(f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} {refuse}" for table in GUARDED[1:]),
        f"CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries WHEN NOT {IN_A_TOMBSTONE} {refuse}",
    ]


def _postgres_triggers() -> list[str]:
    return [
        "CREATE FUNCTION record_refuses() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE EXCEPTION '{REFUSAL}'; END $$",
        "CREATE FUNCTION record_refuses_unless_in_a_tombstone() RETURNS trigger LANGUAGE plpgsql AS "
        f"$$ BEGIN IF NOT {IN_A_TOMBSTONE} THEN RAISE EXCEPTION '{REFUSAL}'; END IF; RETURN OLD; END $$",
        *(
            f"CREATE TRIGGER {table}_no_{what} BEFORE {what} ON {table} {each} EXECUTE FUNCTION record_refuses()"
            for table in GUARDED
            for what, each in (("update", "FOR EACH ROW"), ("truncate", "FOR EACH STATEMENT"))
        ),
        *(
            f"CREATE TRIGGER {table}_no_delete BEFORE DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION record_refuses()"
            for table in GUARDED[1:]
        ),
        "CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries FOR EACH ROW "
        "EXECUTE FUNCTION record_refuses_unless_in_a_tombstone()",
    ]
