"""What a workspace's table was before rows were added, so that what was made from it can still be told apart.

A run knows the table it was made from by its fingerprint. `earlier.json` keeps the fingerprints the workspace had, each
with how many rows there were: a run of one of them was made before so many rows were added.
"""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError, invalid_entries
from mpd2.core.files import replacing
from mpd2.core.manifest import Record
from mpd2.core.table_file import fingerprint
from mpd2.core.workspace import Workspace

EARLIER = "earlier.json"


class EarlierTable(Record):
    """The table as it was for a while."""

    fingerprint: str = Field(pattern="^[0-9a-f]{16}$")
    rows: int = Field(ge=1, le=10**9)
    until: str = Field(min_length=10, max_length=40)  # date and time when rows were added


class Earlier(Record):
    """The content of `earlier.json`."""

    format: Literal[1] = 1
    tables: tuple[EarlierTable, ...] = Field((), max_length=10_000)  # the oldest first


def read_earlier(folder: Path) -> Earlier:
    """What is kept in a workspace's folder; nothing if no rows were ever added."""
    path = folder / EARLIER
    try:
        return Earlier.model_validate_json(path.read_bytes()) if path.exists() else Earlier()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise UserError(f"{path}: not as this version writes it: {invalid_entries(error)}") from None


def remember(folder: Path, table: EarlierTable) -> None:
    """Keep that the table was this; one that was kept already, as after an interruption, is kept once."""
    before = [each for each in read_earlier(folder).tables if each.fingerprint != table.fingerprint]
    kept = Earlier(tables=(*before, table))
    with replacing(folder / EARLIER) as draft:
        draft.write_text(json.dumps(kept.model_dump(), indent=1), encoding="utf-8")


def rows_by_fingerprint(workspace: Workspace) -> dict[str, int]:
    """How many rows the table had under each fingerprint before; nothing where that cannot be read."""
    try:
        return {table.fingerprint: table.rows for table in read_earlier(workspace.folder).tables}
    except UserError:
        return {}


def rows_added_since(workspace: Workspace, now: Cohort, fingerprint: str) -> int | None:
    """How many rows were added since the table had this fingerprint: 0 for the table of today, whose cases are `now`.

    None where it never was this workspace's table, as after the manifest was changed.
    """
    if fingerprint == now.fingerprint:
        return 0
    before = rows_by_fingerprint(workspace)
    return len(now) - before[fingerprint] if fingerprint in before else None


def made_before(workspace: Workspace, now: Cohort, fingerprint: str) -> str:
    """In words, for a run of this fingerprint; empty if it was made from the table of today."""
    added = rows_added_since(workspace, now, fingerprint)
    if added is None:
        return "made from another table"
    if added == 0:
        return ""
    return "made before 1 row was added" if added == 1 else f"made before {added:,} rows were added"


def fingerprints(workspace: Workspace) -> set[str]:
    """Every fingerprint by which something made from this workspace may know it, as far as its files can be read."""
    found = set(rows_by_fingerprint(workspace))
    with suppress(UserError, OSError):
        found.add(fingerprint(workspace.table.read_bytes(), workspace.manifest()))
    return found
