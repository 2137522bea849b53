"""How the tables of the record came to be what they are: each step a module in `versions`."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection

from mpd2.clinic.database import migrating


def upgrade(connection: Connection) -> None:
    """Bring the tables up to date, within the transaction of the connection; tables of a newer version are refused."""
    migrating.upgrade(connection, Path(__file__).parent, "record")
