"""How the tables of shadow mode came to be what they are: each step a module in `versions`."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection

from mpd2.clinic.database import migrating

MARKED_IN = "shadow_version"  # the record may be in the same database, with a mark of its own


def upgrade(connection: Connection) -> None:
    """Bring the tables up to date, within the transaction of the connection; tables of a newer version are refused."""
    migrating.upgrade(connection, Path(__file__).parent, "shadow mode", MARKED_IN)
