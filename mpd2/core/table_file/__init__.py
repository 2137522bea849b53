"""From a file to a `Cohort`: read, check every cell, and say everything that is wrong at once."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from mpd2.core.cohort import Cohort
from mpd2.core.errors import Problem, TableError, UserError
from mpd2.core.manifest import Manifest, load_manifest
from mpd2.core.state import PROBABILITY
from mpd2.core.table_file.building import OTHER, availability_columns, build_cohort
from mpd2.core.table_file.cells import as_text, read_cells
from mpd2.core.table_file.rules import Purpose, problems_of, rules_of

__all__ = [
    "MANIFEST",
    "OTHER",
    "Purpose",
    "cohort_from_cells",
    "cohort_from_frame",
    "fingerprint",
    "known_columns",
    "load_cohort",
    "manifest_beside",
    "problems_frame",
    "read_cohort",
    "table_bytes",
    "word_columns",
    "write_template",
]

MANIFEST = "manifest.toml"


def problems_frame(problems: Sequence[Problem]) -> pd.DataFrame:
    """The problems as a table to look at or download, one row each."""
    files = {"file": [problem.file for problem in problems]} if any(problem.file for problem in problems) else {}
    return pd.DataFrame(
        {
            **files,
            "row": pd.array([problem.row for problem in problems], dtype="Int64"),
            "column": [problem.column for problem in problems],
            "found": [problem.found for problem in problems],
            "expected": [problem.expected for problem in problems],
            "further rows": [", ".join(map(str, problem.also)) for problem in problems],
        }
    )


def load_cohort(path: Path, manifest: Manifest | None = None, purpose: Purpose = "training") -> Cohort:
    """The cases of a CSV or Parquet file; without a manifest, the one beside it is read."""
    if manifest is None:
        manifest = load_manifest(manifest_beside(path))
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}") from None
    return read_cohort(data, path.name, manifest, purpose)


def manifest_beside(table: Path) -> Path:
    """The TOML file of a table's own name, else the manifest of its workspace."""
    own = table.with_suffix(".toml")
    return own if own.is_file() or not table.with_name(MANIFEST).is_file() else table.with_name(MANIFEST)


def read_cohort(data: bytes, name: str, manifest: Manifest, purpose: Purpose = "training") -> Cohort:
    """The cases in the bytes of a CSV or Parquet file called `name`; the name's ending says which.

    For training, every case needs a truth and a split, and every reader at least one decision. For routing these may
    be missing, and a column `<reader column>_available` of 0 and 1 may say who can be asked. A case to be routed may
    also come from a cohort the manifest does not know, or name none: it then counts as OTHER, which the manifest of
    these cases has as well. All problems of the cells are reported at once, unless rows do not even fit the header:
    then these are.
    """
    cells = read_cells(data, name, word_columns(manifest))
    return cohort_from_cells(cells, name, manifest, fingerprint(data, manifest), purpose)


def cohort_from_cells(
    cells: pd.DataFrame, name: str, manifest: Manifest, identity: str, purpose: Purpose = "training"
) -> Cohort:
    """The cases of the cells that were read of a table called `name`; `identity` is the fingerprint of its bytes."""
    return build_cohort(_checked(cells, name, manifest, purpose), manifest, identity)


def cohort_from_frame(frame: pd.DataFrame, manifest: Manifest, purpose: Purpose = "training") -> Cohort:
    """The cases of a data frame, one row a case, checked like those of a file; its rows are counted from 2.

    They are those of the CSV file that `table_bytes` makes of the frame, fingerprint and all.
    """
    cells = as_text(frame)
    cells.index = pd.RangeIndex(2, len(cells) + 2)
    if cells.empty:
        raise TableError("table", [Problem(None, "", "a header and no rows", "at least one case")])
    checked = _checked(cells, "table", manifest, purpose)
    return build_cohort(checked, manifest, fingerprint(table_bytes(cells), manifest))


def table_bytes(cells: pd.DataFrame) -> bytes:
    """A table as the bytes of a CSV file."""
    return cells.to_csv(index=False, lineterminator="\n").encode()


def _checked(cells: pd.DataFrame, name: str, manifest: Manifest, purpose: Purpose) -> pd.DataFrame:
    """The columns a cohort is built from, known to be good."""
    rules = rules_of(cells, manifest, purpose)
    problems = problems_of(cells, rules)
    if problems:
        raise TableError(name, problems)
    return cells[list(rules)]


def word_columns(manifest: Manifest) -> tuple[str, ...]:
    """The columns that hold no numbers."""
    row, group = manifest.row, (manifest.groups.column,) if manifest.groups else ()
    return (row.case, row.cohort, row.split, row.date, *group)


def known_columns(manifest: Manifest) -> frozenset[str]:
    """Every column that a table of this manifest may have; any other one is passed over."""
    measured = (*manifest.ai.columns, PROBABILITY, *(each.column for each in manifest.inputs), *manifest.drawn)
    return frozenset((*word_columns(manifest), *manifest.row.names, *measured, *manifest.columns,
                      *availability_columns(manifest)))  # fmt: skip


def fingerprint(data: bytes, manifest: Manifest) -> str:
    """A short hash of a table's bytes and its manifest, by which a run knows the table it was made from."""
    return hashlib.sha256(data + manifest.identity().encode()).hexdigest()[:16]


def write_template(manifest: Manifest) -> str:
    """An empty CSV table with the columns a training table of this manifest has."""
    text = io.StringIO()
    measured = (*manifest.ai.columns, *(each.column for each in manifest.inputs), *manifest.drawn)
    group = (manifest.groups.column,) if manifest.groups else ()
    csv.writer(text, lineterminator="\n").writerow([*manifest.row.names, *group, *manifest.columns, *measured])
    return text.getvalue()
