"""Pictures of the cases of a workspace, where it has them: which case has one, and small copies without metadata."""

from __future__ import annotations

import base64

import pandas as pd

from mpd2.core.cache import cached, depends_on
from mpd2.core.errors import UserError
from mpd2.imaging.attached import FOLDER, RECORD, Attached, attached, column_of, thumbnail
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces.cells import table_cells
from mpd2.studio.shell import workspaces


def has_pictures(workspace: str) -> bool:
    """Whether the cases of a workspace have pictures."""
    return attached_to(workspace) is not None


@cached
def attached_to(workspace: str) -> Attached | None:
    """The pictures of a workspace; none where its table names none or no folder holds them."""
    space, about = workspaces.find(workspace), workspaces.manifest(workspace)
    column = column_of(about)
    if not column:
        return None
    depends_on(space.folder / RECORD)
    depends_on(space.folder / FOLDER)
    rows = table_rows(workspace)
    if column not in rows:
        return None
    try:
        return attached(space.folder, rows.index, rows[column])
    except UserError:
        return None


@cached
def table_rows(workspace: str) -> pd.DataFrame:
    """Every cell of a workspace's table as text, by the case's id."""
    space = workspaces.find(workspace)
    depends_on(space.manifest_path)
    depends_on(space.table)
    about = space.manifest()
    return table_cells(space.table.read_bytes(), about).set_index(about.row.case)


def small(workspace: str, case_id: str) -> bytes | None:
    """A small JPEG of a case; none where there is no picture that can be read."""
    found = attached_to(workspace)
    path = None if found is None else found.path(case_id)
    if path is None:
        return None
    try:
        return thumbnail(path, Workshop.here().thumbnails / workspace)
    except (UserError, OSError):
        return None


def small_uri(workspace: str, case_id: str) -> str:
    """The same as text that stands in a page by itself; empty where there is none."""
    found = small(workspace, case_id)
    return f"data:image/jpeg;base64,{base64.b64encode(found).decode()}" if found else ""
