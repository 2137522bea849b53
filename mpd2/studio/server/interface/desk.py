"""What the interface asks of shadow mode: the same functions that pages and commands call, by whoever holds a token."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from http import HTTPStatus
from typing import Any, Literal

import numpy as np
import pandas as pd

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import NotAllowed, authorise, may, refusal
from mpd2.clinic.shadow.answering import add_outcomes, add_readings
from mpd2.clinic.shadow.columns import CASE, FIRST, TIME, case_of, time_of
from mpd2.clinic.shadow.columns import Refused as BadCell
from mpd2.clinic.shadow.intake import take_in
from mpd2.clinic.shadow.keeping import Taken
from mpd2.clinic.shadow.rows import Key
from mpd2.clinic.shadow.worklists import seen_worklist
from mpd2.core.errors import LISTED, Problem
from mpd2.core.manifest import MOST
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.shadowing import Shadow
from mpd2.studio.server.interface.answers import Refused
from mpd2.studio.server.interface.bodies import MOST_ROWS, SHOWN, Rows
from mpd2.studio.server.interface.document import document as described
from mpd2.studio.server.interface.fields import FIELDS, Field, Kind
from mpd2.studio.server.interface.rows import checked, number_of

MOST_OF_ONE = MOST  # rows about one case in a request: each of as many readers as there can be
Fate = Literal["accepted", "repeated"]
Adding = Callable[[pd.DataFrame], Taken]


@dataclass(frozen=True)
class Reply:
    """What became of the rows of a request, each by its row as a spreadsheet counts them."""

    rows: int
    fates: Mapping[int, Fate]
    problems: Mapping[int, Sequence[Problem]]

    @property
    def status(self) -> HTTPStatus:
        """Of the whole request."""
        if not self.problems:
            return HTTPStatus.OK
        return HTTPStatus.MULTI_STATUS if self.fates else HTTPStatus.UNPROCESSABLE_ENTITY

    def of_each(self, lengths: Sequence[int]) -> list[Reply]:
        """The replies to requests with so many rows each that were done as one."""
        begins = np.cumsum([0, *lengths]).tolist()
        return [
            Reply(
                rows,
                {at - begin: fate for at, fate in self.fates.items() if begin <= at - FIRST < begin + rows},
                {at - begin: found for at, found in self.problems.items() if begin <= at - FIRST < begin + rows},
            )
            for begin, rows in zip(begins, lengths, strict=False)
        ]

    def content(self) -> dict[str, Any]:
        """As it is answered."""
        counts = Counter(self.fates.values())
        return {
            "accepted": counts["accepted"],
            "repeated": counts["repeated"],
            "refused": len(self.problems),
            "rows": [self._row(at) for at in range(FIRST, FIRST + self.rows)],
        }

    def _row(self, at: int) -> dict[str, Any]:
        if at in self.fates:
            return {"row": number_of(at), "status": self.fates[at]}
        found = self.problems[at]
        more = [f"{len(found) - LISTED} more reasons."] if len(found) > LISTED + 1 else []
        reasons = [*map(reason, found[: LISTED + 1 - len(more)]), *more]
        return {"row": number_of(at), "status": "refused", "reasons": reasons}


ASKS: dict[Kind, Action] = {
    "cases": Action.ROUTE_CASE,
    "readings": Action.ANSWER_CASE,
    "outcomes": Action.ADD_OUTCOMES,
}


def take(kind: Kind, rows: Rows, *, by: Actor) -> Reply:
    """Take in cases, each of which is decided and kept, or what readers say of them, or what turned out."""
    _ask(ASKS[kind], by)
    shadow = here()
    adding: dict[Kind, Adding] = {
        "cases": lambda cells: take_in(cells, shadow.store, shadow.deciders, by=by),
        "readings": lambda cells: add_readings(cells, shadow.store, shadow.deciders, by=by),
        "outcomes": lambda cells: add_outcomes(cells, shadow.store, by=by),
    }
    return _taken(rows, FIELDS[kind](shadow.manifest), adding[kind])


def take_each(kind: Kind, parts: Sequence[Rows], *, by: Actor) -> list[Reply]:
    """The same of several requests, done together; those of somebody who may not are not, so that each is recorded."""
    if len(parts) > 1 and not may(by, ASKS[kind]):
        raise NotAllowed(refusal(by, ASKS[kind]))
    return take(kind, [row for rows in parts for row in rows], by=by).of_each([len(rows) for rows in parts])


def worklist(questions: Sequence[tuple[str, str]], *, by: Actor) -> dict[str, Any]:
    """The cases a reader is awaited for, the one that came in first at the top."""
    _ask(Action.SEE_WORKLIST, by)
    shadow = here()
    reader, day = _asked(questions, shadow.manifest.columns)
    found = seen_worklist(shadow.snapshot(), reader, day, by=by)
    cases = found.head(MOST_ROWS).to_dict("records")
    return {
        "reader": reader,
        "day": day.isoformat() if day else None,
        "waiting": len(found),
        "cases": [case | {"time": case["time"].isoformat().replace("+00:00", "Z")} for case in cases],
    }


def document(prefix: str) -> dict[str, Any]:
    """The OpenAPI document of the run that is active."""
    shadow = here()
    return described(shadow.manifest, shadow.title, prefix)


def here() -> Shadow:
    """Shadow mode of this installation."""
    return Shadow.here(Workshop.here())


def reason(problem: Problem) -> str:
    """What is wrong with a row, in words; which row is said beside it.

    >>> reason(Problem(3, "age", "7000", "a number of years"))
    'column age: found 7000, expected a number of years.'
    """
    said = Problem(None, problem.column, problem.found, problem.expected).sentence("")
    return said.removeprefix(", ").removeprefix(": ")


def _ask(action: Action, by: Actor) -> None:
    """Refuse whoever may not, before anything of what they sent is looked at; the attempt is recorded."""
    if not may(by, action):
        authorise(by, action)


def _asked(questions: Sequence[tuple[str, str]], readers: Sequence[str]) -> tuple[str, date | None]:
    """Which reader and which day are asked for."""
    told = dict(questions)
    if len(told) < len(questions) or not set(told) <= {"reader", "day"}:
        names = ", ".join(name[:SHOWN] for name, _ in questions[:LISTED])
        expected = "reader, and day if wished, once each"
        raise Refused(HTTPStatus.BAD_REQUEST, f"questions: found {names}, expected {expected}")
    reader, day = told.get("reader", ""), told.get("day")
    if reader not in readers:
        raise Refused(HTTPStatus.BAD_REQUEST, f"reader: found {reader[:SHOWN]!r}, expected one of {', '.join(readers)}")
    try:
        return reader, date.fromisoformat(day) if day is not None else None
    except ValueError:
        reason = f"day: found {str(day)[:SHOWN]!r}, expected a day such as 2026-11-18"
        raise Refused(HTTPStatus.BAD_REQUEST, reason) from None


def _taken(rows: Rows, fields: tuple[Field, ...], add: Adding) -> Reply:
    """Hand on what can be handed on, and say of each row what became of it."""
    found = checked(rows, fields)
    fates: dict[int, Fate] = {}
    problems = dict(found.problems)
    parts = layers(found.cells)
    for cells in parts[:MOST_OF_ONE]:
        became, wrong = _added(cells, add)
        fates |= became
        problems |= wrong
    for at in (at for cells in parts[MOST_OF_ONE:] for at in cells.index.tolist()):
        problems[at] = [Problem(at, CASE, f"more than {MOST_OF_ONE} rows about one case", "them in another request")]
    return Reply(len(rows), fates, problems)


def _added(cells: pd.DataFrame, add: Adding) -> tuple[dict[int, Fate], dict[int, list[Problem]]]:
    """What became of rows about different cases, by row."""
    rows = cells.index.tolist()
    taken = add(cells.set_axis(range(FIRST, FIRST + len(rows))))
    problems: dict[int, list[Problem]] = {}
    for problem in taken.refused:
        problems.setdefault(rows[(problem.row or FIRST) - FIRST], []).append(problem)
    accepted = set(taken.accepted)
    keys = {at: key for at, key in keys_of(cells).items() if at not in problems}
    return {at: "accepted" if key in accepted else "repeated" for at, key in keys.items()}, problems


def layers(cells: pd.DataFrame) -> list[pd.DataFrame]:
    """The rows in parts, of each of which every key is another: what a key became is then what its row became."""
    keys = keys_of(cells)
    if keys and len(set(keys.values())) == len(keys):
        return [cells]
    seen: Counter[Key | int] = Counter()
    layer = {}
    for at, key in keys.items():
        layer[at] = seen[key]
        seen[key] += 1
    return [part for _, part in cells.groupby(pd.Series(layer, dtype=int), sort=True)] if layer else []


def keys_of(cells: pd.DataFrame) -> dict[int, Key | int]:
    """Which arrival each row is about, by its row; a row that does not say so is its own."""
    found: dict[int, Key | int] = {}
    for at, (case, time) in zip(cells.index.tolist(), cells[[CASE, TIME]].to_numpy().tolist(), strict=True):
        try:
            found[at] = Key(case_of({CASE: case}), time_of({TIME: time}))
        except BadCell:
            found[at] = at
    return found
