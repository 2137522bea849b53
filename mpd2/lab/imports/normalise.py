"""Somebody's files as the table that is kept: their column names, cells as the rest of the software reads them.

Every problem is told at once, by the row of their own spreadsheet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools
from mpd2.core.errors import Problem, TableError
from mpd2.core.manifest import Input, Manifest
from mpd2.core.table_file.cells import SHOWN, shortened
from mpd2.core.table_file.rules import LARGEST
from mpd2.core.text import count
from mpd2.lab.imports.drafting import UNNAMED
from mpd2.lab.imports.files import RawTable
from mpd2.lab.imports.long_form import Pivot, pivoted
from mpd2.lab.imports.values import Column, Values, as_bits, as_dates, as_numbers, as_parts
from mpd2.lab.imports.words import UNSURE, plain

LONGEST_ID = 100  # characters
NUMBER = "a number"


@dataclass(frozen=True, eq=False)
class Normalised:
    """The table that is kept, one row a case; a split is not in it if nobody has given one."""

    frame: pd.DataFrame  # [N, columns] of text; its index is the row in the person's own file
    manifest: Manifest
    notes: tuple[str, ...]  # how cells were read, in sentences

    @property
    def has_split(self) -> bool:
        """Whether the table says which cases are to learn from."""
        return self.manifest.row.split in self.frame


def normalise(
    cases: RawTable,
    readings: RawTable | None,
    manifest: Manifest,
    words: Mapping[str, int] | None = None,
    everybody: bool = True,
) -> Normalised:
    """The table that is kept. `words` says what cells of truth and readers mean beyond yes and no.

    Unless rows are to be added to others, `everybody` must have read something.
    Columns the manifest does not name are left out. Readings of a second file become one column a reader.
    """
    task = manifest.task
    meanings = {task.negative: 0, task.positive: 1, **(words or {})}
    made = _Maker(cases, meanings)
    row = manifest.row
    made.ids(row.case)
    if row.cohort:
        made.cohort(row.cohort, manifest)
    if row.split in cases.cells:
        made.take(row.split, as_parts, "one of train, val, test")
    if manifest.groups:
        made.text(manifest.groups.column, "which rows belong together")
    if row.date:
        made.take(row.date, as_dates, "a date such as 2024-03-01", empty_is_wrong=False)
    made.take(row.truth, made.as_bits, f"0 or 1, or {task.negative} or {task.positive}")
    for column in manifest.ai.columns:
        made.ai(column, shares=manifest.ai.probability is not None)
    for each in manifest.inputs:
        made.input(each)
    for column in manifest.drawn:
        if column in cases.cells:
            made.take(column, as_numbers, NUMBER, empty_is_wrong=False)
    wide = [column for column in manifest.columns if column in cases.cells]
    for column in wide:
        made.take(column, made.as_bits, "0 or 1, or yes or no, or empty", empty_is_wrong=False)
    if readings is not None and manifest.long is not None and row.case in made.columns:
        made.add(pivoted(readings, manifest, made.columns[row.case], meanings, cases.name))
    for column in manifest.columns if everybody else ():
        made.somebody(column)
    if made.problems:
        raise TableError(cases.name, made.problems)
    order = dict.fromkeys((row.case, *map(str, cases.cells), *manifest.columns))
    kept = {name: made.columns[name] for name in order if name in made.columns}
    frame = pd.DataFrame(kept, index=cases.cells.index, dtype=object)
    return Normalised(frame, manifest, tuple(made.notes))


class _Maker:
    """Collects the columns of the table that is kept, and what is wrong with them."""

    def __init__(self, cases: RawTable, words: Mapping[str, int]) -> None:
        self.cases, self.words = cases, words
        self.rows = cases.cells.index.to_numpy()
        self.columns: dict[str, np.ndarray] = {}
        self.problems: list[Problem] = []
        self.notes: list[str] = []

    def as_bits(self, column: Column) -> Values:
        """Answers in the words of this table."""
        return as_bits(column, self.words)

    def cells(self, name: str) -> Column | None:
        """A column of the cases; a problem if there is none."""
        if name in self.cases.cells:
            return self.cases.column(name)
        self.problems.append(Problem(None, name, "no such column", "a column of this name in the table"))
        return None

    def take(
        self,
        name: str,
        read: Callable[[Column], Values],
        expected: str,
        *,
        empty_is_wrong: bool = True,
    ) -> None:
        """One column as numbers, answers, parts or dates."""
        column = self.cells(name)
        if column is None:
            return
        found = read(column)
        texts = _written(found.values)
        self.refuse(name, column, found.wrong, expected)
        if empty_is_wrong:
            self.refuse(name, column, (texts == "") & ~found.wrong, expected)
        self.columns[name] = texts
        self.note(name, found.notes)

    def refuse(self, name: str, column: Column, wrong: Bools, expected: str, found: str = "") -> None:
        """One problem for all rows of a column that are wrong in the same way."""
        places = np.flatnonzero(wrong)
        if len(places):
            first = found or shortened(column.texts[column.codes[places[0]]], SHOWN) or "an empty cell"
            rows = self.rows[places].tolist()
            self.problems.append(Problem(rows[0], name, first, expected, tuple(rows[1:])))

    def note(self, name: str, notes: list[str]) -> None:
        """What was read in another way than it was written."""
        if notes:
            self.notes.append(f"{name}: {', '.join(notes)}.")

    def ids(self, name: str) -> None:
        """What the cases are called; by their row where nothing is said."""
        if name not in self.cases.cells:
            self.columns[name] = np.array([f"row {row}" for row in self.rows.tolist()], object)
            self.notes.append(f"{name}: made from the rows, for no column names the cases.")
            return
        column = self.cells(name)
        assert column is not None
        self.text(name, "a name for each case")
        first = np.unique(column.codes, return_index=True)[1]
        again = np.ones(len(column), bool)
        again[first] = False
        again &= np.array([bool(text) for text in column.texts], bool)[column.codes]
        self.refuse(name, column, again, "an id that no row above has")

    def text(self, name: str, expected: str) -> None:
        """Names as they are."""
        column = self.cells(name)
        if column is None:
            return
        lengths = np.array([len(text) for text in column.texts])[column.codes]
        self.refuse(name, column, lengths == 0, expected)
        self.refuse(name, column, lengths > LONGEST_ID, f"at most {LONGEST_ID} characters")
        self.columns[name] = np.array(column.texts, object)[column.codes]

    def cohort(self, name: str, manifest: Manifest) -> None:
        """Where the cases come from; those that do not say are of a cohort of their own, if the manifest has it."""
        column = self.cells(name)
        if column is None:
            return
        keys = [entry.key for entry in manifest.cohorts]
        empty = UNNAMED if UNNAMED in keys else ""
        texts = [text or empty for text in column.texts]
        wrong = np.array([text not in keys for text in texts], bool)[column.codes]
        self.refuse(name, column, wrong, f"one of {', '.join(keys)}")
        self.columns[name] = np.array(texts, object)[column.codes]
        unnamed = int((self.columns[name] == UNNAMED).sum()) if empty and "" in column.texts else 0
        if unnamed:
            self.notes.append(f"{name}: {count(unnamed)} cases without one are of the cohort {UNNAMED}.")

    def ai(self, name: str, shares: bool) -> None:
        """The AI's number; a probability in per cent is made a share."""
        self.number(name, empty=False, low=0.0 if shares else None, high=1.0 if shares else None, per_cent=shares)

    def input(self, given: Input) -> None:
        """A measurement, or words that have numbers."""
        column = self.cells(given.column)
        if column is None:
            return
        if not given.codes:
            low, high = (given.low, given.high) if given.strict else (None, None)
            self.number(given.column, empty=given.missing, low=low, high=high)
            return
        spelt = {plain(word): word for word in given.codes}
        texts = [text if text in given.codes else spelt.get(plain(text), "") for text in column.texts]
        silent = np.array([not text or plain(text) in NOT_SAID for text in column.texts], bool)
        unknown = np.array([not word for word in texts], bool) & ~silent
        expected = f"one of {', '.join(given.codes)}"
        self.refuse(given.column, column, unknown[column.codes], expected)
        if not given.missing:
            self.refuse(given.column, column, (silent & (np.array(texts, object) == ""))[column.codes], expected)
        self.columns[given.column] = np.array(texts, object)[column.codes]

    def number(
        self, name: str, *, empty: bool, low: float | None = None, high: float | None = None, per_cent: bool = False
    ) -> None:
        """A column of numbers, within bounds that are refused."""
        column = self.cells(name)
        if column is None:
            return
        found = column.numbers
        values = found.values
        if per_cent and np.nanmax(values, initial=0) > 1 and np.nanmedian(values) > 1 and np.nanmax(values) <= 100:
            values = values / 100
            found = replace(found, notes=[*found.notes, "read as per cent"])
        bounded = low is not None and high is not None
        expected = f"{NUMBER} from {low:g} to {high:g}" if bounded else NUMBER
        self.refuse(name, column, found.wrong, f"{expected}, or empty" if empty else expected)
        if not empty:
            self.refuse(name, column, np.isnan(values) & ~found.wrong, expected, "an empty cell")
        least, most = (-LARGEST if low is None else low), (LARGEST if high is None else high)
        outside = (values < least) | (values > most)
        self.refuse(name, column, outside, f"a number from {least:g} to {most:g}")
        self.columns[name] = _written(values, column, found)
        self.note(name, found.notes)

    def add(self, pivot: Pivot) -> None:
        """The readers of a second file."""
        self.problems += pivot.problems
        self.notes += pivot.notes
        for column, bits in pivot.columns.items():
            if column not in self.columns:
                self.columns[column] = _written(bits)

    def somebody(self, column: str) -> None:
        """A reader must have read something."""
        expected = "a reader who has read at least one case"
        if column in self.columns and not (self.columns[column] != "").any():
            self.problems.append(Problem(None, column, "no reading at all", expected))
        elif column not in self.columns and not any(problem.column == column for problem in self.problems):
            self.problems.append(Problem(None, column, "no such column", expected))


NOT_SAID = frozenset({"na", "n/a", "nan", "null", "#n/a", "missing", "?", "-", "."}) | UNSURE


def _written(values: np.ndarray, column: Column | None = None, read: Values | None = None) -> np.ndarray:
    """Values as the text of a table, [N]; a number that was written well stays as it was written."""
    if values.dtype == object:
        return values
    if values.dtype.kind == "i":
        return np.array(["", "0", "1"], object)[values + 1]
    if column is not None and read is not None and not read.notes:
        texts = np.array(column.texts, object)
        return np.where(np.isnan(values), "", texts[column.codes])
    distinct, codes = np.unique(values, return_inverse=True)
    texts = np.array(["" if np.isnan(value) else repr(float(value)) for value in distinct], object)
    return texts[codes]
