"""Keeping rows that were read from a table: what is new is written, what is there already is told apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from mpd2.clinic.access.authorise import NotAllowed, recorded_together
from mpd2.clinic.shadow.columns import TIME
from mpd2.clinic.shadow.rows import Arrival, Basis, Key, Outcome, Reading
from mpd2.clinic.shadow.store import ShadowStore
from mpd2.core.errors import Problem

Kept = TypeVar("Kept", Arrival, Reading, Outcome)


@dataclass(frozen=True)
class Taken:
    """What became of the rows of a table; rows are counted as in a spreadsheet, the first case being row 2."""

    accepted: tuple[Key, ...] = ()
    repeated: tuple[Key, ...] = ()  # they were there already, with the same content
    refused: tuple[Problem, ...] = ()  # one a row and reason

    def __add__(self, other: Taken) -> Taken:
        return Taken(self.accepted + other.accepted, self.repeated + other.repeated, self.refused + other.refused)


def keep(
    store: ShadowStore,
    rows: Sequence[tuple[int, Kept]],
    ask: Callable[[Kept], None],
    conflict: str,
    bases: Iterable[Basis] = (),
) -> Taken:
    """Write those of the numbered rows that are new, each asked about first; a `conflict` says what was expected."""
    fates = store.fates([row for _, row in rows])
    new, refused = [], []
    with recorded_together():
        for (number, row), fate in zip(rows, fates, strict=True):
            if fate == "new":
                try:
                    ask(row)
                    new.append((number, row))
                except NotAllowed as refusal:
                    refused.append(Problem(number, "", str(refusal), "somebody who may"))
            elif fate == "other":
                refused.append(_conflict(number, row, conflict))
    written = [each.fate for each in store.write([row for _, row in new], bases)]
    became = list(zip(new, written, strict=True))
    refused += [_conflict(number, row, conflict) for (number, row), fate in became if fate == "other"]
    repeated = [row for (_, row), fate in zip(rows, fates, strict=True) if fate == "repeated"]
    repeated += [row for (_, row), fate in became if fate == "repeated"]  # somebody else was quicker
    return Taken(
        tuple(row.key for (_, row), fate in became if fate == "new"), tuple(row.key for row in repeated), tuple(refused)
    )


def _conflict(number: int, row: Arrival | Reading | Outcome, expected: str) -> Problem:
    return Problem(number, TIME, f"{row.case} at {row.time.isoformat()}", expected)
