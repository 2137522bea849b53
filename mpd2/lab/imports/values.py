"""Cells of text as numbers, answers and dates, column by column, for people write them in many ways."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pandas as pd
import pyarrow as pa

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import UNKNOWN
from mpd2.core.table_file.cells import DECIMAL_COMMA
from mpd2.lab.imports.words import BITS, MISSING, PART_OF, UNSURE, plain

PERCENT = re.compile(r"^[+-]?\d+(?:[.,]\d+)?\s*%$")
YEAR_FIRST = re.compile(r"^(\d{4})[-/.]?(\d{1,2})[-/.]?(\d{1,2})(?:[ T](.*))?$")
YEAR_LAST = re.compile(r"^(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?:[ T](.*))?$")
CENTURY = 69  # a year of two digits below this is of this century


@dataclass(frozen=True, eq=False)
class Column:
    """A column of text, its N cells as K distinct ones."""

    codes: Ints  # [N] which of the distinct cells
    texts: list[str]  # [K] in the order in which they first stand there

    @classmethod
    def of(cls, cells: pd.Series) -> Column:
        """The distinct cells of a column of text."""
        codes, texts = pd.factorize(cells)
        return cls(codes.astype(np.int64), np.asarray(texts, object).tolist())

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def numbers(self) -> Values:
        """The cells as numbers."""
        return as_numbers(self)


@dataclass(frozen=True, eq=False)
class Values:
    """What the cells of a column mean."""

    values: np.ndarray  # [N] numbers with NaN, answers with UNKNOWN, or texts with ""
    wrong: Bools  # [N] cells that say something else
    notes: list[str] = field(default_factory=list)


def is_empty(text: str) -> bool:
    """Whether a cell has nothing to say."""
    return not text or not (text[-1].isdigit() or len(text) > LONGEST or plain(text) not in MISSING)


LONGEST = max(map(len, MISSING))


def as_numbers(column: Column) -> Values:
    """The cells as numbers, [N]. Decimal commas are read where no cell has a point, and per cent where all are that."""
    found = _floats(column.texts)
    said = ~np.isnan(found)
    said[~said] = [not is_empty(column.texts[position]) for position in np.flatnonzero(~said)]
    notes = []
    odd = np.flatnonzero(said & np.isnan(found))
    if len(odd):
        commas = [position for position in odd if DECIMAL_COMMA.match(column.texts[position])]
        points = [p for p in np.flatnonzero(~np.isnan(found)) if "." in column.texts[p]]
        if commas and not points:
            found[commas] = [float(column.texts[position].replace(",", ".")) for position in commas]
            notes.append(f"decimal commas are read as points: {column.texts[commas[0]]}")
        if all(PERCENT.match(column.texts[position]) for position in np.flatnonzero(said)):
            found[said] = [float(column.texts[p].rstrip("% ").replace(",", ".")) / 100 for p in np.flatnonzero(said)]
            notes.append(f"per cent are read as shares: {column.texts[int(np.flatnonzero(said)[0])]}")
    wrong = said & np.isnan(found)
    return Values(found[column.codes], wrong[column.codes], notes)


def _floats(texts: list[str]) -> Floats:
    """Finite numbers, NaN for all else, [K]."""
    try:
        found = np.array(pa.array(texts, pa.large_string()).cast(pa.float64()).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:  # some are no numbers
        found = pd.to_numeric(pd.Series(texts, dtype=object), errors="coerce").to_numpy(float, copy=True)
    found[np.isinf(found)] = np.nan
    return found


def as_bits(column: Column, words: Mapping[str, int] | None = None) -> Values:
    """The cells as 0, 1 or UNKNOWN, [N]; `words` says what further words mean. Who is unsure gives no answer."""
    own = {plain(word): value for word, value in (words or {}).items()}
    known = {**BITS, **own}
    plus = any(text == "+" for text in column.texts)
    found, wrong = np.full(len(column.texts), UNKNOWN), np.zeros(len(column.texts), bool)
    notes: list[str] = []
    unsure: list[str] = []
    for position, text in enumerate(column.texts):
        word = plain(text)
        meaning = known.get(word)
        if word in MISSING and not (word in own or (word == "-" and plus)):
            continue
        if meaning is None and word in UNSURE:
            unsure.append(f"{text} is read as no answer")
            continue
        if meaning is None:
            meaning = _whole_bit(word)
        if meaning is None:
            wrong[position] = bool(text)
        else:
            found[position] = meaning
            if word not in ("0", "1") and len(notes) < 2:
                notes.append(f"{text} is read as {meaning}")
    return Values(found[column.codes], wrong[column.codes], [*notes, *unsure])


def _whole_bit(word: str) -> int | None:
    try:
        number = float(word)
    except ValueError:
        return None
    return int(number) if number in (0.0, 1.0) else None


def as_parts(column: Column) -> Values:
    """The cells as train, val, test or "", [N]."""
    parts = [PART_OF.get(plain(text), "") for text in column.texts]
    wrong = np.array([not part for part in parts], bool)
    renamed = [
        f"{text} is read as {part}" for text, part in zip(column.texts, parts, strict=True) if part not in ("", text)
    ]
    return Values(np.array(parts, object)[column.codes], wrong[column.codes], renamed)


def as_dates(column: Column) -> Values:
    """The cells as days (2024-03-01), with their time where one is given, or "", [N].

    In 03.04.2024 the day stands first; in 03/04/2024 too, unless another cell of the column cannot be read like that.
    """
    split = [YEAR_LAST.match(text) for text in column.texts]
    month_first = any(found and int(found[3]) > 12 for found in split)
    found = [_day(text, last, month_first) for text, last in zip(column.texts, split, strict=True)]
    wrong = np.array([not day and not is_empty(text) for day, text in zip(found, column.texts, strict=True)], bool)
    notes = []
    slashes = [text for text, last in zip(column.texts, split, strict=True) if last and last[2] == "/"]
    if slashes and not month_first and not any(last and int(last[1]) > 12 for last in split):
        notes.append(f"the day is taken to stand before the month: {slashes[0]}")
    return Values(np.array(found, object)[column.codes], wrong[column.codes], notes)


def _day(text: str, last: re.Match[str] | None, month_first: bool) -> str:
    first = YEAR_FIRST.match(text)
    if first:
        year, month, day, time = int(first[1]), int(first[2]), int(first[3]), first[4]
    elif last:
        year, month, day, time = int(last[4]), int(last[3]), int(last[1]), last[5]
        month, day = (day, month) if month_first else (month, day)
        year += (2000 if year < CENTURY else 1900) if len(last[4]) == 2 else 0
    else:
        return ""
    try:
        whole = dt.date(year, month, day).isoformat()
        clock = dt.time.fromisoformat(time.strip()) if time else dt.time()
    except ValueError:
        return ""
    return whole if clock.replace(tzinfo=None) == dt.time() else f"{whole} {clock.isoformat()}"
