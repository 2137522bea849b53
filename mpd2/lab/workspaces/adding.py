"""Rows added to a workspace later: those there stay where they are, new ones find their split.

A case that belongs to a patient who is there already goes to that patient's split. All others are dealt as those there
were: each kind of case (its cohort, whether it is positive) in the same shares of train, val and test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pandas as pd

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import authorise
from mpd2.core.cohort import SPLITS, Cohort
from mpd2.core.errors import Problem, TableError
from mpd2.core.files import replacing, short_hash
from mpd2.core.manifest import Manifest
from mpd2.core.rng import Stream, stream
from mpd2.core.table_file import cohort_from_frame
from mpd2.core.table_file.cells import folded
from mpd2.core.workspace import Workspace
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.owners import owner_of_workspace
from mpd2.lab.workspaces.cells import table_cells, written_cells
from mpd2.lab.workspaces.earlier import EarlierTable, remember
from mpd2.lab.workspaces.shelf import changing, checked, find_own


@dataclass(frozen=True, eq=False)
class Addition:
    """What adding some rows comes to; nothing is written yet."""

    before: Cohort
    after: Cohort  # all rows, the new ones last
    table: bytes  # of all of them
    given: int  # new rows that came with their split
    joined: int  # that went where the others of their patient are
    dealt: int  # that were dealt
    ignored: tuple[str, ...] = ()  # columns the table does not have

    @property
    def rows(self) -> int:
        """How many are new."""
        return len(self.after) - len(self.before)

    @property
    def splits(self) -> dict[str, int]:
        """How many new rows each split gets."""
        new = self.after.split[len(self.before) :]
        return {split: int((new == split).sum()) for split in SPLITS}

    def in_words(self) -> str:
        """The same as a sentence or two."""
        counts = ", ".join(f"{count:,} to {split}" for split, count in self.splits.items() if count)
        how = [(self.given, "as they say"), (self.joined, "with others of theirs"), (self.dealt, "dealt at random")]
        ways = ", ".join(f"{count:,} {words}" for count, words in how if count)
        unread = (
            f" Columns that the table does not have are left out: {', '.join(self.ignored)}." if self.ignored else ""
        )
        return f"{self.rows:,} rows more: {counts} ({ways}).{unread}"


def look_at_rows(workspace: Workspace, cells: pd.DataFrame, name: str) -> Addition:
    """What adding these rows would come to; all that is wrong with them is said by row of the file called `name`.

    `cells` is text, its index the rows as a spreadsheet counts them, its columns those of the workspace's table; a
    column of splits may be missing or have empty cells, and so may what nobody has read.
    """
    manifest, before = workspace.manifest(), workspace.cohort()
    there = table_cells(workspace.table.read_bytes(), manifest)
    new = cells.reindex(columns=there.columns, fill_value="")
    optional = {manifest.row.split, *manifest.columns, *manifest.drawn}
    gone = [column for column in _needed(manifest) if column not in cells and column not in optional]
    if gone:
        raise TableError(name, [Problem(None, column, "no such column", "the workspace's columns") for column in gone])
    split, joined, dealt = _splits(there, new, manifest, name, before.fingerprint)
    new = new.assign(**{manifest.row.split: split})
    _check_rows(there, new, manifest, name)
    table = written_cells(pd.concat([there, new], ignore_index=True), manifest.table)
    after = checked(table, workspace.manifest_path.read_text(encoding="utf-8"))
    ignored = tuple(str(column) for column in cells if column not in there)
    return Addition(before, after, table, len(new) - joined - dealt, joined, dealt, ignored)


def add_rows(workspace_name: str, cells: pd.DataFrame, name: str, place: Workshop, *, by: Actor) -> Addition:
    """Add rows to a workspace of somebody's own; all of them or none. What was made before is kept and says so."""
    workspace = find_own(workspace_name, place)
    authorise(by, Action.ADD_CASES, owner_of_workspace(workspace.folder), workspace=workspace_name, rows=len(cells))
    with changing(workspace):
        addition = look_at_rows(workspace, cells, name)
        now = datetime.now(UTC).isoformat(timespec="seconds")
        before = addition.before
        remember(workspace.folder, EarlierTable(fingerprint=before.fingerprint, rows=len(before), until=now))
        with replacing(workspace.table) as draft:  # if this is where it ends, the table of today is remembered too
            draft.write_bytes(addition.table)
    return addition


def _needed(manifest: Manifest) -> list[str]:
    groups = [manifest.groups.column] if manifest.groups else []
    row = [manifest.row.case, manifest.row.cohort, manifest.row.truth]
    return [*filter(None, row), *groups, *manifest.ai.columns, *(each.column for each in manifest.inputs)]


def _check_rows(there: pd.DataFrame, new: pd.DataFrame, manifest: Manifest, name: str) -> None:
    """Refuse new rows that are wrong, or whose ids are taken, by their own row numbers."""
    problems: list[Problem] = []
    try:
        cohort_from_frame(new, manifest)
    except TableError as error:
        # that a reader has read none of the new rows is no fault
        problems += [_renumbered(each, new.index) for each in error.problems if each.row is not None]
    ids = manifest.row.case
    taken = new[ids].isin(there[ids])
    problems += [Problem(int(row), ids, new[ids][row], TAKEN) for row in new.index[taken]]
    if problems:
        raise TableError(name, folded(problems))


TAKEN = "an id that no row of the workspace has"


def _renumbered(problem: Problem, rows: pd.Index) -> Problem:
    """A problem by the rows of the file; a frame's are counted from 2."""
    at = [int(rows[row - 2]) for row in (problem.row, *problem.also) if row is not None]
    return Problem(at[0], problem.column, problem.found, problem.expected, tuple(at[1:]))


def _splits(
    there: pd.DataFrame, new: pd.DataFrame, manifest: Manifest, name: str, seed: str
) -> tuple[list[str], int, int]:
    """The split of each new row; how many go where others of theirs are, and how many were dealt."""
    column, key = manifest.row.split, manifest.groups.column if manifest.groups else manifest.row.case
    who, said = new[key].tolist(), new[column].tolist()
    known = dict(zip(there[key], there[column], strict=True))
    for each, split in zip(who, said, strict=True):
        if split:
            known.setdefault(each, split)
    wrong = [row for row, each in enumerate(who) if said[row] and said[row] != known[each]]
    if wrong:
        where = f"as other rows of this {manifest.groups.word if manifest.groups else 'case'}"
        rows = new.index.tolist()
        found = [Problem(rows[row], column, said[row], f"{known[who[row]]}, {where}") for row in wrong]
        raise TableError(name, folded(found))
    unknown = [each not in known for each in who]
    if any(unknown):
        known |= _dealt(there, new[unknown], manifest, key, seed)
    return [known[each] for each in who], said.count("") - sum(unknown), sum(unknown)


def _dealt(there: pd.DataFrame, new: pd.DataFrame, manifest: Manifest, key: str, seed: str) -> dict[str, str]:
    """A split for each of those who are new, by id."""
    old, fresh = (_kinds(cells, manifest, key) for cells in (there, new))
    split_of = there.drop_duplicates(key).set_index(key)[manifest.row.split]
    draws = stream(int(short_hash([seed, *fresh.index.tolist()])[:8], 16), Stream.RESPLIT)
    chosen: dict[str, str] = {}
    for kind, members in fresh.groupby(fresh, sort=True).groups.items():
        alike = split_of[old[old == kind].index] if (old == kind).any() else split_of
        shares = [float((alike == split).mean()) for split in SPLITS]
        order = draws.permutation(np.array(members))
        chosen |= dict(zip(order.tolist(), _in_shares(shares, len(order), float(draws.random())), strict=True))
    return chosen


def _kinds(cells: pd.DataFrame, manifest: Manifest, key: str) -> pd.Series:
    """By who is read, what is alike: the cohort of the first row, and whether any row is positive."""
    cohort = cells[manifest.row.cohort] if manifest.row.cohort else pd.Series("", cells.index)
    positive = (pd.to_numeric(cells[manifest.row.truth], errors="coerce") == 1).groupby(cells[key], sort=False).any()
    first = cohort.groupby(cells[key], sort=False).first()
    return first.astype(str) + positive.map({True: "\n1", False: "\n0"})


def _in_shares(shares: Sequence[float], number: int, offset: float) -> list[str]:
    """So many splits in these shares, by systematic sampling: of few, each with its share's probability.

    >>> _in_shares([0.5, 0.25, 0.25], 4, 0.1)
    ['train', 'train', 'val', 'test']
    """
    ends = np.cumsum(shares)
    places = np.searchsorted(ends / ends[-1], (np.arange(number) + offset) / number, side="right")
    return [SPLITS[place] for place in places.clip(max=len(SPLITS) - 1)]
