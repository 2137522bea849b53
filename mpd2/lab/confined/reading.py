"""The tables of visitors: asked of a reading process, and again what they are elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import pandas as pd

from mpd2.core.cohort import Cohort
from mpd2.core.manifest import Manifest
from mpd2.core.table_file import Purpose, cohort_from_cells, fingerprint, known_columns, word_columns
from mpd2.core.table_file.cells import LONGEST_CELL, CellLimits
from mpd2.lab.confined.messages import cells_from_bytes
from mpd2.lab.confined.process import ask
from mpd2.lab.imports.files import BROWSER, MEGA, Limits, RawTable, refuse_large
from mpd2.lab.imports.formats.grids import MOST_COLUMNS

KEPT = CellLimits(rows=BROWSER.rows, columns=MOST_COLUMNS, length=LONGEST_CELL, unpacked=200 * MEGA)
"""What the files of a workspace may have that a visitor opens."""


def read_table(data: bytes, name: str, sheet: str = "", limits: Limits = BROWSER) -> RawTable:
    """The table in the bytes of a CSV, Parquet or Excel file, as `imports.files.read_table` reads it."""
    refuse_large(len(data), limits.size, name, "")
    told, (cells,) = ask("table", name, [data], sheet=sheet, limits=asdict(limits))
    return RawTable(name, cells_from_bytes(cells), tuple(told["notes"]), tuple(told["sheets"]), told["sheet"])


def read_cohort(data: bytes, name: str, manifest: Manifest, purpose: Purpose, limits: CellLimits) -> Cohort:
    """The cases of a table, as `table_file.read_cohort` reads it: of no other columns than those its manifest knows."""
    told = _as_json(CellLimits(limits.rows, limits.columns, limits.length, limits.unpacked, known_columns(manifest)))
    _, (cells,) = ask("known", name, [data], words=word_columns(manifest), limits=told)
    frame: pd.DataFrame = cells_from_bytes(cells)
    return cohort_from_cells(frame, name, manifest, fingerprint(data, manifest), purpose)


def check_workspace(table: bytes, manifest: str, files: Mapping[str, bytes], name: str) -> None:
    """Refuse a table that is not fit for training, and Parquet `files` that are larger than they seem."""
    parts = [table, manifest.encode(), *files.values()]
    ask("workspace", name, parts, files=list(files), limits=_as_json(KEPT))


def _as_json(limits: CellLimits) -> dict[str, object]:
    known = None if limits.known is None else sorted(limits.known)
    return {"rows": limits.rows, "columns": limits.columns, "length": limits.length, "unpacked": limits.unpacked,
            "known": known}  # fmt: skip
