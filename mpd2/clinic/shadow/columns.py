"""Reading the cells that say which arrival a row is about, a row at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pandas as pd

from mpd2.core.errors import Problem
from mpd2.core.table_file.cells import SHOWN, as_text, shortened

CASE, TIME = "case", "time"
FIRST = 2  # the row of the first case, as a spreadsheet counts
LONGEST = 100  # characters of an id
SKEW = timedelta(minutes=5)  # by which the clock of whoever sends may be ahead of ours
A_TIME = "a date and time such as 2026-11-16T08:30:00+00:00"

Read = TypeVar("Read")


class Refused(Exception):
    """Why one row cannot be taken."""

    def __init__(self, column: str, found: str, expected: str) -> None:
        super().__init__(column, found, expected)
        self.problem = Problem(None, column, found, expected)


def row_by_row(
    frame: pd.DataFrame, known: Collection[str], read: Callable[[Mapping[str, str]], Read]
) -> tuple[list[tuple[int, Read]], list[Problem]]:
    """What is read of each row, with its number, and why others cannot be; a cell of an unknown column refuses its row.

    An unknown column without a single cell filled in is passed over.
    """
    cells = as_text(frame)
    good: list[tuple[int, Read]] = []
    bad: list[Problem] = []
    for number, values in enumerate(cells.to_dict("records"), start=FIRST):
        row = {str(name): str(value).strip() for name, value in values.items()}
        try:
            refuse_unknown(row, known)
            good.append((number, read(row)))
        except Refused as refusal:
            bad.append(at_row(refusal.problem, number))
    return good, bad


def at_row(problem: Problem, row: int) -> Problem:
    """The same problem in a row."""
    return Problem(row, problem.column, problem.found, problem.expected)


def refuse_unknown(row: Mapping[str, str], known: Collection[str]) -> None:
    """Refuse a row with something in a column that nobody knows."""
    for name, cell in row.items():
        if cell and name not in known:
            raise Refused(shortened(name, SHOWN), "a column that is not known", f"one of {', '.join(known)}")


def case_of(row: Mapping[str, str], column: str = CASE) -> str:
    """The id of the case a row is about."""
    case = row.get(column, "")
    if not 1 <= len(case) <= LONGEST or "\0" in case:
        raise Refused(column, shown(case), f"an id of 1 to {LONGEST} characters")
    return case


def time_of(
    row: Mapping[str, str], column: str = TIME, otherwise: datetime | None = None, now: datetime | None = None
) -> datetime:
    """A time in UTC, which it is taken to be unless it says otherwise; where `now` is told, one that has come."""
    text = row.get(column, "")
    if not text and otherwise is not None:
        return otherwise
    try:
        found = datetime.fromisoformat(text)
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Refused(column, shown(text), A_TIME) from None
    if now is not None and found > now + SKEW:
        raise Refused(column, shown(text), f"a time that has come: here it is {now:%Y-%m-%d %H:%M} UTC")
    return found


def bit_of(row: Mapping[str, str], column: str, otherwise: int | None = None) -> int:
    """0 or 1; an empty cell is what is said `otherwise`, if anything is."""
    text = row.get(column, "")
    if not text and otherwise is not None:
        return otherwise
    if text not in ("0", "1", "0.0", "1.0"):
        raise Refused(column, shown(text), "0 or 1" if otherwise is None else "0, 1 or an empty cell")
    return int(float(text))


def shown(text: str) -> str:
    """A cell in a message."""
    return shortened(text, SHOWN) or "an empty cell"


def in_order(problems: Sequence[Problem]) -> tuple[Problem, ...]:
    """By rows."""
    return tuple(sorted(problems, key=lambda problem: problem.row or 0))
