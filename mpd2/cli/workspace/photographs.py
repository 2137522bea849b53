"""A folder of photographs attached to a workspace."""

from __future__ import annotations

from argparse import Namespace

from mpd2.core.errors import UserError
from mpd2.core.text import listed, numbered
from mpd2.imaging.attached import attach, attached, column_of
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces.cells import table_cells
from mpd2.lab.workspaces.shelf import changing, find_own

SHOWN = 5  # cases without a file that are named


def photographs_workspace(args: Namespace) -> int:
    """Attach it, and say how many cases have their file there."""
    workspace = find_own(args.name, Workshop.here())
    manifest = workspace.manifest()
    column = column_of(manifest)
    cells = table_cells(workspace.table.read_bytes(), manifest)
    if not column or column not in cells:
        what = f"a column {column!r} that its table does not have" if column else "no [photographs] in its manifest"
        raise UserError(f"{args.name}: found {what}, expected [photographs] with the column of the files' names")
    with changing(workspace):
        place = attach(workspace.folder, args.folder)
    found = attached(workspace.folder, cells[manifest.row.case], cells[column])
    missing = found.missing() if found else []
    named = len(found.names) if found else 0
    print(
        f"{args.name}: {place} is attached; {named - len(missing)} of {numbered(len(cells), 'case')} have a photograph"
    )
    if missing:
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        print(f"not there, or not inside the folder: those of {listed(missing[:SHOWN])}{more}")
    return 0
