"""Files with further cases, read as the workspace's table is kept."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from mpd2.core.errors import Problem, TableError
from mpd2.core.table_file.cells import folded
from mpd2.core.workspace import Workspace
from mpd2.lab.imports.arranging import arranged
from mpd2.lab.imports.files import RawTable
from mpd2.lab.imports.normalise import normalise
from mpd2.lab.imports.values import Column, as_parts


def rows_of_files(workspace: Workspace, cases: RawTable, readings: RawTable | None = None) -> pd.DataFrame:
    """The cases of a file in the form of those that were imported, as `look_at_rows` and `add_rows` take them.

    A case need not have a split, nor a reader have read any of them. Where no column names the cases, the file's name
    and the row do, so that the same file is not added twice unseen.
    """
    manifest = workspace.manifest()
    cases, readings = arranged(cases, readings, manifest)
    row, cells = manifest.row, cases.cells
    if row.case not in cells:
        cells = cells.assign(**{row.case: [f"{cases.name[:80]} row {number}" for number in cells.index]})
    splits = _splits(cases, row.split)
    rest = replace(cases, cells=cells.drop(columns=row.split, errors="ignore"))
    made = normalise(rest, readings, manifest, everybody=False).frame
    return made.assign(**{row.split: splits})


def _splits(cases: RawTable, column: str) -> pd.Series:
    """What the file says of each row's split, "" where it says nothing."""
    if column not in cases.cells:
        return pd.Series("", cases.cells.index)
    said = as_parts(Column.of(cases.cells[column]))
    found = pd.Series(said.values, cases.cells.index)
    wrong = found.index[said.wrong]
    if len(wrong):
        expected = "one of train, val, test, or empty"
        problems = [Problem(int(at), column, str(cases.cells[column][at]), expected) for at in wrong]
        raise TableError(cases.name, folded(problems))
    return found
