"""Erasing whose cases these were: ids of cases and groups give way to random names, and every figure stays.

What was decided, said and true of a case stays, for figures are made of it. Nothing leads from new names to old ones.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from sqlalchemy import Connection, Text, bindparam, insert, select, text, update

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import authorise
from mpd2.clinic.database.engine import in_words
from mpd2.clinic.shadow import schema
from mpd2.clinic.shadow.store import SUBJECT, ShadowStore, numbers, ticks
from mpd2.core.errors import UserError

ERASED, BYTES = "erased-", 12  # what stands before a random name, and how long that is
ABOUT_CASES = (schema.READINGS, schema.OUTCOMES, schema.OVERRIDES)
BUSY = (
    "the ids are erased, but somebody was reading, and old bytes may still be in the database's own log: run "
    "`clinic erase --tidy` when nobody is"
)


@dataclass(frozen=True)
class Erased:
    """What was erased."""

    cases: int
    groups: int
    arrivals: int


class _Arrival(NamedTuple):
    number: int
    case: str
    time: int
    group: str
    place: str


def erase_case(store: ShadowStore, case: str, reason: str = "", *, by: Actor) -> Erased:
    """Erase the id of one case in all that is kept, and those of the groups it is in."""
    authorise(by, Action.ERASE_CASES, case=case, reason=reason)

    def chosen(arrivals: list[_Arrival]) -> set[str]:
        if not any(each.case == case for each in arrivals) or _is_other_name(case):
            raise UserError("shadow mode: no case with this id is kept; it never came in, or its id is erased already")
        return {case}

    return _erase(store, chosen, by)


def erase_before(store: ShadowStore, before: datetime, reason: str = "", *, by: Actor) -> Erased:
    """Erase the ids of all whose last arrival was before a time; who has come in since, or whose group has, stays."""
    authorise(by, Action.ERASE_CASES, reason=reason, before=before.isoformat())
    limit = ticks(before)

    def chosen(arrivals: list[_Arrival]) -> set[str]:
        since = [each for each in arrivals if each.time >= limit]
        cases, groups = {each.case for each in since}, {each.group for each in since} - {""}
        cases |= {each.case for each in arrivals if each.group in groups}
        return {each.case for each in arrivals if not _is_other_name(each.case)} - cases

    return _erase(store, chosen, by)


def retention_limit(days: int | None, now: datetime | None = None) -> datetime:
    """The time before which ids are past theirs, by the settings."""
    if days is None:
        raise UserError(
            "shadow mode: ids are kept for ever; name a case or a day, or set [clinic] retention_days in the settings"
        )
    return (now or datetime.now(UTC)) - timedelta(days=days)


def tidy(store: ShadowStore) -> None:
    """Take what was erased out of the files too, where that is ours to do."""
    with in_words(SUBJECT, "tidied"), store.engine.connect() as connection:
        raw = connection.execution_options(isolation_level="AUTOCOMMIT")
        if store.is_sqlite:  # bytes in the file itself were overwritten when they were erased
            busy, _, _ = raw.execute(text("PRAGMA wal_checkpoint(TRUNCATE)")).one()
            if busy:
                raise UserError(f"{SUBJECT}: {BUSY}")
        else:
            for table in (schema.ARRIVALS, *ABOUT_CASES):
                raw.execute(text(f"VACUUM FULL {table.name}"))


def _erase(store: ShadowStore, choose: Callable[[list[_Arrival]], set[str]], by: Actor) -> Erased:
    """Give other names to the cases that are chosen among all arrivals, and to their groups, everywhere."""
    table = schema.ARRIVALS
    with store.writing() as connection:
        rows = connection.execute(select(*(table.c[name] for name in _Arrival._fields)))
        arrivals = [_Arrival(*row) for row in rows]
        chosen = choose(arrivals)
        mine = [each for each in arrivals if each.case in chosen]
        if not mine:
            return Erased(0, 0, 0)
        cases = _other_names(chosen)
        groups = _other_names({each.group for each in mine if each.group and not _is_other_name(each.group)})
        places = _places(arrivals, {each.time for each in mine})
        changed = [
            {
                "this": each.number,
                "new_case": cases.get(each.case, each.case),
                "new_group": groups.get(each.group, each.group),
                "new_place": places.get(each.number, each.place),
            }
            for each in arrivals
            if each.case in cases or each.group in groups or each.number in places
        ]
        renamed = update(table).where(table.c.number == bindparam("this"))
        new = {name: bindparam(f"new_{name}", type_=Text) for name in ("case", "group", "place")}
        connection.execute(renamed.values(new), changed)
        for about in ABOUT_CASES:
            renamed = update(about).where(about.c.case == bindparam("old")).values(case=bindparam("new"))
            connection.execute(renamed, [{"old": old, "new": new} for old, new in cases.items()])
        _note(connection, len(cases), by)
    tidy(store)
    return Erased(len(cases), len(groups), len(mine))


def _other_names(ids: Collection[str]) -> dict[str, str]:
    """Random names, one an id, in which nothing of it is."""
    return {each: f"{ERASED}{secrets.token_hex(BYTES)}" for each in ids}


def _is_other_name(given: str) -> bool:
    return re.fullmatch(f"{ERASED}[0-9a-f]{{{2 * BYTES}}}", given) is not None


def _places(arrivals: Iterable[_Arrival], times: Collection[int]) -> dict[int, str]:
    """Where arrivals stand among those of the same time, by number: ids said so until now."""
    by_time = defaultdict(list)
    counted = Counter(each.time for each in arrivals)
    for each in arrivals:
        if each.time in times and counted[each.time] > 1:
            by_time[each.time].append(each)
    return {
        each.number: f"{place:09d}"
        for together in by_time.values()
        for place, each in enumerate(sorted(together, key=lambda each: (each.place, each.case)), start=1)
    }


def _note(connection: Connection, cases: int, by: Actor) -> None:
    """That it happened; whoever has read the rows before reads them anew."""
    values = {"number": numbers(connection, 1), "at": ticks(datetime.now(UTC)), "cases": cases, "by": by.id}
    connection.execute(insert(schema.ERASURES).values(values))
