"""Erasing: that it happened, and where arrivals of one time stand once their ids no longer say so."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Make room for it."""
    op.add_column("arrivals", sa.Column("place", sa.Text, nullable=False, server_default=""))
    op.create_table(
        "erasures",
        sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("cases", sa.BigInteger, nullable=False),
        sa.Column("by", sa.Text, nullable=False),
    )
