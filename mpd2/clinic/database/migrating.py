"""Bringing tables up to date: each step is a module in a folder `versions`, walked by Alembic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from mpd2.core.errors import UserError


def upgrade(connection: Connection, folder: Path, subject: str, marked_in: str = "alembic_version") -> None:
    """Bring tables up to date, within the transaction of the connection; tables of a newer version are refused.

    `marked_in` is the table that says how far they are: two sets of tables in one database have one each.
    """
    script = ScriptDirectory(str(folder))
    newest = script.get_current_head()
    there = MigrationContext.configure(connection, opts={"version_table": marked_in}).get_current_revision()
    if there == newest:
        return
    if there is not None and there not in {step.revision for step in script.walk_revisions()}:
        raise UserError(
            f"{subject}: it was written by a newer version of MPD² (its tables are at {there}, this version knows them "
            f"up to {newest}); install that version, or restore a backup of this one's"
        )

    def steps(revision: Any, _: MigrationContext) -> Any:
        return script._upgrade_revs("head", revision)

    with EnvironmentContext(Config(), script, fn=steps) as environment:
        environment.configure(connection=connection, version_table=marked_in)
        environment.run_migrations()
