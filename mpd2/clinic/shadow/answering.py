"""What comes after a case: readers' answers, outcomes, a clinician's other choice, and what holds on a day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

import pandas as pd

from mpd2.clinic.access.actions import Action, Role
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import authorise, may
from mpd2.clinic.settings import load_settings
from mpd2.clinic.shadow.columns import CASE, TIME, Refused, bit_of, case_of, in_order, row_by_row, shown, time_of
from mpd2.clinic.shadow.deciders import Deciders, setting_of
from mpd2.clinic.shadow.deciding import AI
from mpd2.clinic.shadow.keeping import Taken, keep
from mpd2.clinic.shadow.rows import Acknowledgement, Key, Outcome, Override, Reading, Setting
from mpd2.clinic.shadow.store import ShadowStore
from mpd2.core.cohort import UNKNOWN
from mpd2.core.errors import Problem, UserError

READING_COLUMNS = (CASE, TIME, "reader", "says", "confidence", "declined", "at")
OUTCOME_COLUMNS = (CASE, TIME, "truth", "done", "at")
LONGEST = 500  # characters of a reason
Said = TypeVar("Said", Reading, Outcome)
UNSAID = datetime.min.replace(tzinfo=UTC)  # in place of a time that was not given


def reader_of(by: Actor) -> str | None:
    """The reader's column somebody who is signed in answers for; none where the settings name none for them.

    They are known by their subject, or by an e-mail address that the provider has verified; never by a name.
    """
    readers = load_settings().clinic.readers
    return readers.get(by.id) or (readers.get(by.email) if by.email else None)


def to_be_named(by: Actor) -> str:
    """What the settings would have to say so that somebody answers for a reader."""
    return f'[clinic.readers] takes the line "{by.id}" = "a reader\'s column"; names can be changed and do not count'


def add_readings(
    frame: pd.DataFrame, store: ShadowStore, deciders: Deciders, now: datetime | None = None, *, by: Actor
) -> Taken:
    """Keep what readers say of cases that have come in; a row that is not as it should be is refused with its reason.

    Columns: case, time (of the arrival; may be empty where the case came in once), reader (column), says (0 or 1),
    confidence (0 to 1, may be empty), declined (1 where the reader will not answer) and at (when, not after
    `now`, the clock's time if none is told; else now). A later answer of the same reader takes the place of the one
    before.
    """
    if not may(by, Action.ANSWER_CASE):
        authorise(by, Action.ANSWER_CASE, rows=len(frame))
    now = now or datetime.now(UTC)
    read, problems = row_by_row(frame, READING_COLUMNS, lambda row: _reading(row, deciders.manifest.columns, now, by))
    rows, unknown = _of_arrivals(read, store)
    before = store.newest_readings([row.key for _, row in rows if row.at == UNSAID])
    dated = []
    for number, row in rows:
        last = before.get((row.key, row.reader))
        same = last is not None and all(getattr(last, name) == getattr(row, name) for name in Reading.GIVEN)
        dated.append((number, _at(row, last.at if same and last else now)))

    def ask(row: Reading) -> None:
        about = {name: getattr(row, name) for name in ("reader", *Reading.GIVEN)} | {"time": row.time.isoformat()}
        authorise(by, Action.ANSWER_CASE, None, row.case, "", _not_theirs(row, by), **about)

    taken = keep(store, dated, ask, "another time of reading: there is another answer of this reader at this time")
    return Taken(taken.accepted, taken.repeated, in_order((*problems, *unknown, *taken.refused)))


def add_outcomes(frame: pd.DataFrame, store: ShadowStore, now: datetime | None = None, *, by: Actor) -> Taken:
    """Keep what turned out to be true of cases that have come in, and what the clinic acted on.

    Columns: case, time (as for readings), truth (0 or 1), done (0 or 1: the answer the clinic acted on; may be empty)
    and at (when it became known, as for readings; else now). A later outcome takes the place of the one before.
    """
    if not may(by, Action.ADD_OUTCOMES):
        authorise(by, Action.ADD_OUTCOMES, rows=len(frame))
    now = now or datetime.now(UTC)
    read, problems = row_by_row(frame, OUTCOME_COLUMNS, lambda row: _outcome(row, now, by))
    rows, unknown = _of_arrivals(read, store)
    before = store.newest_outcomes([row.key for _, row in rows if row.at == UNSAID])
    dated = []
    for number, row in rows:
        last = before.get(row.key)
        same = last is not None and (last.truth, last.done) == (row.truth, row.done)
        dated.append((number, _at(row, last.at if same and last else now)))

    def ask(row: Outcome) -> None:
        authorise(by, Action.ADD_OUTCOMES, case=row.case, time=row.time.isoformat(), truth=row.truth, done=row.done)

    taken = keep(store, dated, ask, "another time: there is another outcome of this case at this time")
    return Taken(taken.accepted, taken.repeated, in_order((*problems, *unknown, *taken.refused)))


def override(key: Key, choice: str, reason: str, store: ShadowStore, *, by: Actor) -> Override:
    """A clinician's other choice for an arrival, `ai` or a reader's column; what the run says stays beside it."""
    authorise(by, Action.OVERRIDE, case=key.case, reason=reason, time=key.time.isoformat(), choice=choice)
    words, arrival = _reason(reason), store.arrivals([key]).get(key)
    if arrival is None:
        raise UserError(f"case {key.case}: found none that came in at {key.time.isoformat()}")
    columns = store.basis(arrival.basis).content["readers"]
    if choice not in (AI, *columns):
        raise UserError(f"choice: found {choice!r}, expected one of {', '.join((AI, *columns))}")
    row = Override(key.case, key.time, datetime.now(UTC), choice, words, by.id)
    store.write([row])
    return row


def acknowledge(alarm: str, reason: str, store: ShadowStore, *, by: Actor) -> Acknowledgement:
    """Say that an alarm was seen, and what is done about it."""
    authorise(by, Action.ACKNOWLEDGE_ALARM, reason=reason, alarm=alarm)
    row = Acknowledgement(alarm, datetime.now(UTC), _reason(reason), by.id)
    store.write([row])
    return row


def set_day(setting: Setting, store: ShadowStore, deciders: Deciders, *, by: Actor) -> Setting:
    """Let a setting hold from its first day on; cases that were decided before stay as they were."""
    before = setting_of(store.settings(), setting.start, deciders.usual)
    roster = {"away", "at_most"}
    if {name: setting.day.get(name) for name in roster} != {name: before.day.get(name) for name in roster}:
        authorise(by, Action.CHANGE_ROSTER, start=setting.start.isoformat(), **setting.content())
    authorise(by, Action.CHANGE_SETTING, start=setting.start.isoformat(), **setting.content())
    deciders.under(setting)  # which refuses what cannot be
    row = replace(setting, at=datetime.now(UTC), written=datetime.now(UTC), by=by.id)
    store.write([row])
    return row


def _reading(row: Mapping[str, str], columns: Sequence[str], now: datetime, by: Actor) -> Reading:
    reader = row.get("reader", "")
    if reader not in columns:
        raise Refused("reader", shown(reader), f"one of {', '.join(columns)}")
    declined = bool(bit_of(row, "declined", 0))
    if declined and row.get("says"):
        raise Refused("says", shown(row["says"]), "an empty cell where the reader has declined")
    says = UNKNOWN if declined else bit_of(row, "says")
    return Reading(
        case_of(row), time_of(row, otherwise=UNSAID), reader, time_of(row, "at", UNSAID, now), says,
        _confidence(row), declined, by.id,
    )  # fmt: skip


def _outcome(row: Mapping[str, str], now: datetime, by: Actor) -> Outcome:
    truth, done = bit_of(row, "truth", UNKNOWN), bit_of(row, "done", UNKNOWN)
    if truth == done == UNKNOWN:
        raise Refused("truth", "an empty cell", "0 or 1, or what was done")
    at = time_of(row, "at", UNSAID, now)
    return Outcome(case_of(row), time_of(row, otherwise=UNSAID), at, truth, done, by.id)


def _confidence(row: Mapping[str, str]) -> float | None:
    text = row.get("confidence", "")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:  # refuses NaN too
        raise Refused("confidence", shown(text), "a number from 0 to 1, or an empty cell")
    return value


def _of_arrivals(read: list[tuple[int, Said]], store: ShadowStore) -> tuple[list[tuple[int, Said]], list[Problem]]:
    """The rows that are about a case that has come in, each with its time, and what is wrong with the others."""
    times = store.times_of(list(dict.fromkeys(row.case for _, row in read)))
    good: list[tuple[int, Said]] = []
    bad = []
    for number, row in read:
        there = times.get(row.case, [])
        given = row.time != UNSAID
        if not there or (given and row.time not in there):
            at = f" at {row.time.isoformat()}" if given else ""
            bad.append(Problem(number, CASE, f"{shown(row.case)}{at}", "a case that has come in"))
        elif not given and len(there) > 1:
            bad.append(Problem(number, TIME, "an empty cell", f"which time of the {len(there)} that this case came in"))
        else:
            good.append((number, row if given else replace(row, time=there[0])))
    return good, bad


def _at(row: Said, otherwise: datetime) -> Said:
    return replace(row, at=otherwise) if row.at == UNSAID else row


def _not_theirs(row: Reading, by: Actor) -> str:
    """What speaks against it that somebody answers for a reader; empty if nothing does."""
    if by.role is not Role.READER:
        return ""
    own = reader_of(by)
    if own is None:
        return f"no reader is named for you in the settings: {to_be_named(by)}"
    return "" if own == row.reader else f"you answer for {own}, not for {row.reader}"


def _reason(reason: str) -> str:
    words = reason.strip()
    if not 1 <= len(words) <= LONGEST:
        raise UserError(f"reason: found {len(words)} characters, expected from 1 to {LONGEST}")
    return words
