"""Whose jobs, own runs and workspaces are: everybody sees them, only their owner and admins change them.

What was made before there were owners has none, and only admins change it.
"""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import Field, ValidationError

from mpd2.clinic.access.actor import Actor
from mpd2.core.errors import UserError
from mpd2.core.files import replacing
from mpd2.core.manifest import Record
from mpd2.core.runs import read_description

NOBODY = ""  # the owner of what has none
OWNER = "owner.json"  # in a workspace's folder; it belongs to this installation, and goes into no export and no digest


class Owned(Record):
    """What `owner.json` says."""

    owner: str = Field(min_length=1)


def own_workspace(folder: Path, by: Actor) -> None:
    """Write down whose a workspace is."""
    with replacing(folder / OWNER) as draft:
        draft.write_text(json.dumps(Owned(owner=by.id).model_dump()), encoding="utf-8")


def owner_of_workspace(folder: Path) -> str:
    """Whose a workspace is; nobody's where that is not written or cannot be read."""
    try:
        return Owned.model_validate_json((folder / OWNER).read_bytes()).owner
    except (OSError, ValidationError):
        return NOBODY


def owner_of_run(folder: Path) -> str:
    """Whose an own run is; nobody's where that is not written or cannot be read."""
    try:
        return read_description(folder).known_notes.owner or NOBODY
    except UserError:
        return NOBODY
