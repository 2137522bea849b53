"""A workspace under another name: whole, or without the ids by which its people could be found.

Without its ids a table is another table, so nothing made from it goes along: runs know their cases by id. They are made
again by a build. The measurements stay as they are, and who knows them may still know the person.
"""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from random import SystemRandom
from typing import Literal

import pandas as pd

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import authorise
from mpd2.core.manifest import Manifest
from mpd2.core.manifest_text import to_toml
from mpd2.core.table_file import MANIFEST
from mpd2.core.workspace import Workspace
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces.archive import kept_files
from mpd2.lab.workspaces.cells import table_cells, written_cells
from mpd2.lab.workspaces.shelf import checked, find, new_folder

Ids = Literal["keep", "random", "none"]
LENGTH = 8  # bytes of a random id


@dataclass(frozen=True, eq=False)
class Copied:
    """A copy, and how its cases are called where they came from."""

    workspace: Workspace
    ids: Ids
    key: pd.DataFrame | None = None  # with random ids: `before` and `id`, one row a case; kept by nobody but the caller
    dropped: tuple[str, ...] = ()  # columns left out

    def in_words(self) -> str:
        """What was done, and what has to be done still."""
        if self.ids == "keep":
            return f"{self.workspace.name}: a copy with everything, ids too."
        how = "each id is a random one" if self.ids == "random" else "cases are numbered, their order mixed"
        gone = ", ".join(["the datasheet", *(f"column {column}" for column in self.dropped)])
        return (
            f"{self.workspace.name}: a copy in which {how}. Left out: {gone}. Runs, tables and map are not copied, "
            "since they know their cases by id: build it to make them. Its measurements are unchanged, and whoever "
            "knows them may still know the person."
        )


def copy(name: str, new: str, ids: Ids, place: Workshop, *, by: Actor) -> Copied:
    """A copy of a workspace under the name `new`; one without its ids has only the columns the manifest names."""
    workspace = find(name, place)
    authorise(by, Action.MAKE_WORKSPACE, workspace=new, copied_from=name, ids=ids)
    if ids == "keep":
        with new_folder(new, place, by=by) as draft:
            for path, source in kept_files(workspace).items():
                (draft / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, draft / path)
        return Copied(find(new, place), ids)
    manifest = workspace.manifest()
    text = workspace.manifest_path.read_text(encoding="utf-8")
    if manifest.row.date:
        text = to_toml(manifest.but(row=manifest.row.model_dump() | {"date": ""}))
    cells = table_cells(workspace.table.read_bytes(), manifest)
    plain, key = without_ids(cells, manifest, random=ids == "random")
    table = written_cells(plain, manifest.table)
    checked(table, text)
    with new_folder(new, place, by=by) as draft:
        (draft / MANIFEST).write_bytes(text.encode())
        (draft / manifest.table).write_bytes(table)
    made = find(new, place)
    return Copied(
        made, ids, key if ids == "random" else None, tuple(str(column) for column in cells if column not in plain)
    )


def without_ids(cells: pd.DataFrame, manifest: Manifest, *, random: bool) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The cells with other ids of cases and of whoever they belong to, in another order; and the key to the cases'.

    Columns that the manifest does not name are left out, since they may hold anything, and so are dates.
    """
    order = list(range(len(cells)))
    SystemRandom().shuffle(order)
    mixed = cells.iloc[order].reset_index(drop=True)
    case, groups = manifest.row.case, manifest.groups
    new = {case: _others(mixed[case].tolist(), random)}
    if groups is not None:
        new[groups.column] = _others(mixed[groups.column].tolist(), random)
    key = pd.DataFrame({"before": mixed[case], "id": new[case]})
    named = set(_named(manifest))
    kept = [column for column in cells if column in named]
    return mixed[kept].assign(**new), key


def _named(manifest: Manifest) -> list[str]:
    """The columns that stay."""
    row, groups = manifest.row, [manifest.groups.column] if manifest.groups else []
    inputs = [each.column for each in manifest.inputs]
    given = [row.case, row.cohort, row.split, row.truth]
    return [*filter(None, given), *groups, *manifest.ai.columns, *inputs, *manifest.drawn, *manifest.columns]


def _others(ids: Sequence[str], random: bool) -> list[str]:
    """Another id for each, the same for the same: random, or numbers in the order of the rows."""
    different = list(dict.fromkeys(ids))
    if not random:
        names = {name: str(number) for number, name in enumerate(different, start=1)}
        return [names[name] for name in ids]
    fresh: dict[str, None] = {}
    while len(fresh) < len(different):
        fresh[secrets.token_hex(LENGTH)] = None
    names = dict(zip(different, fresh, strict=True))
    return [names[name] for name in ids]
