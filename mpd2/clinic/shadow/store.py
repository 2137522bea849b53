"""The store of shadow mode: rows go in once and stay as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Any, Literal

import orjson
from sqlalchemy import Connection, Row, Table, insert, select, tuple_, update

from mpd2.clinic.database.engine import Database
from mpd2.clinic.shadow import schema
from mpd2.clinic.shadow.migrations import upgrade
from mpd2.clinic.shadow.rows import Acknowledgement, Arrival, Basis, Key, Outcome, Override, Reading, Setting
from mpd2.clinic.shadow.standing.kept import TABLES as READ
from mpd2.clinic.shadow.standing.kept import Kept, nothing_kept

FILE = "shadow.db"
SUBJECT = "shadow mode"  # what messages call it
TURN = 6_815_023  # the number under which PostgreSQL keeps the turn to write; the record has its own
AT_ONCE = 500  # rows that are written, or keys that are looked for, together
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)

Line = Arrival | Reading | Outcome | Override | Setting | Acknowledgement
Fate = Literal["new", "repeated", "other"]
TABLES: dict[type[Line], Table] = {
    Arrival: schema.ARRIVALS,
    Reading: schema.READINGS,
    Outcome: schema.OUTCOMES,
    Override: schema.OVERRIDES,
    Setting: schema.SETTINGS,
    Acknowledgement: schema.ACKNOWLEDGEMENTS,
}
TIMES = ("time", "at", "written")


@dataclass(frozen=True)
class Written:
    """What became of a row: it is new, it was there with the same content, or it is there with another one."""

    row: Line
    fate: Fate


class ShadowStore(Database):
    """Tables at an address, or in a file of a folder if that is empty."""

    def __init__(self, address: str, folder: Path) -> None:
        super().__init__(address, folder / FILE, SUBJECT, TURN)
        self._reading = Lock()
        self._kept = nothing_kept()

    def open(self) -> None:
        """Make the tables or bring them up to date."""
        self.make_folder()
        with self.writing() as connection:
            upgrade(connection)
        self.remember_file()

    def version(self) -> int:
        """A number that grows with each row that is written, by whichever process."""
        with self.reading() as connection:
            return int(connection.execute(select(schema.COUNTER.c.number)).scalar_one())

    def write(self, rows: Sequence[Line], bases: Iterable[Basis] = ()) -> list[Written]:
        """Write rows of one kind, all that are new or none; when it returns, they are on disk.

        A row that is there already is left as it is, whether its content is the same or not.
        """
        found: list[Written] = []
        if not rows:
            return found
        table = TABLES[type(rows[0])]
        with self.writing() as connection:
            for basis in bases:
                _keep(connection, basis)
            for start in range(0, len(rows), AT_ONCE):
                some = [as_values(row) for row in rows[start : start + AT_ONCE]]
                there = _known(connection, table, some)
                fates: list[Fate] = []
                new: list[dict[str, Any]] = []
                for row, values in zip(rows[start : start + AT_ONCE], some, strict=True):
                    key = tuple(values[name] for name in schema.UNIQUE[table.name])
                    before = there.get(key)
                    fates.append("new" if before is None else "repeated" if _same(row, before, values) else "other")
                    if before is None:
                        there[key] = values
                        new.append(values)
                if new:
                    first = numbers(connection, len(new))
                    connection.execute(
                        insert(table), [values | {"number": first + place} for place, values in enumerate(new)]
                    )
                found += [Written(*each) for each in zip(rows[start : start + AT_ONCE], fates, strict=True)]
        return found

    def fates(self, rows: Sequence[Line]) -> list[Fate]:
        """What would become of rows of one kind if they were written now, one after another."""
        found: list[Fate] = []
        with self.reading() as connection:
            for start in range(0, len(rows), AT_ONCE):
                part = rows[start : start + AT_ONCE]
                table, some = TABLES[type(part[0])], [as_values(row) for row in part]
                there = _known(connection, table, some)
                for row, values in zip(part, some, strict=True):
                    key = tuple(values[name] for name in schema.UNIQUE[table.name])
                    before = there.setdefault(key, values)
                    found.append("new" if before is values else "repeated" if _same(row, before, values) else "other")
        return found

    def arrivals(self, keys: Sequence[Key]) -> dict[Key, Arrival]:
        """Those arrivals that are there, by key."""
        found: dict[Key, Arrival] = {}
        with self.reading() as connection:
            for start in range(0, len(keys), AT_ONCE):
                some = [{"case": key.case, "time": ticks(key.time)} for key in keys[start : start + AT_ONCE]]
                known = _known(connection, schema.ARRIVALS, some)
                found |= {row.key: row for row in (_arrival(values) for values in known.values())}
        return found

    def times_of(self, cases: Sequence[str]) -> dict[str, list[datetime]]:
        """When each case has come in, the first time first; those that never have are left out."""
        found: dict[str, list[datetime]] = {}
        table = schema.ARRIVALS
        with self.reading() as connection:
            for start in range(0, len(cases), AT_ONCE):
                named = table.c.case.in_(cases[start : start + AT_ONCE])
                for row in connection.execute(select(table.c.case, table.c.time).where(named).order_by(table.c.time)):
                    found.setdefault(row.case, []).append(moment(row.time))
        return found

    def newest_readings(self, keys: Sequence[Key]) -> dict[tuple[Key, str], Reading]:
        """What each reader said last of some arrivals."""
        rows = (Reading(**row | {"declined": bool(row["declined"])}) for row in self._said(schema.READINGS, keys))
        return {(row.key, row.reader): row for row in rows}

    def newest_outcomes(self, keys: Sequence[Key]) -> dict[Key, Outcome]:
        """What was said last of the outcomes of some arrivals."""
        return {row.key: row for row in (Outcome(**row) for row in self._said(schema.OUTCOMES, keys))}

    def acknowledgements(self) -> list[Acknowledgement]:
        """Every acknowledgement, the newest last."""
        table = schema.ACKNOWLEDGEMENTS
        with self.reading() as connection:
            rows = connection.execute(select(table).order_by(table.c.at, table.c.number)).mappings().all()
        return [Acknowledgement(**dict(row) | {name: moment(row[name]) for name in ("at", "written")}) for row in rows]

    def basis(self, digest: str) -> Basis:
        """By what cases were decided."""
        with self.reading() as connection:
            content = connection.execute(select(schema.BASES.c.content).where(schema.BASES.c.digest == digest))
            return Basis(orjson.loads(content.scalar_one()))

    def settings(self) -> list[Setting]:
        """Every setting, in the order in which they hold: by their first day, then by when they were made."""
        query = select(schema.SETTINGS).order_by(schema.SETTINGS.c.start, schema.SETTINGS.c.at)
        with self.reading() as connection:
            return [_setting(row) for row in connection.execute(query)]

    def _said(self, table: Table, keys: Sequence[Key]) -> Iterator[dict[str, Any]]:
        """The rows of a table about some arrivals, the newest last."""
        with self.reading() as connection:
            for start in range(0, len(keys), AT_ONCE):
                some = [(key.case, ticks(key.time)) for key in keys[start : start + AT_ONCE]]
                query = select(table).where(tuple_(table.c.case, table.c.time).in_(some))
                for row in connection.execute(query.order_by(table.c.at, table.c.number)).mappings():
                    yield dict(row) | {name: moment(row[name]) for name in TIMES}

    def everything(self) -> Kept:
        """What a snapshot is made of, at one moment; rows that were read before are not read again."""
        with self._reading, self.reading() as connection:
            before = self._kept
            version = int(connection.execute(select(schema.COUNTER.c.number)).scalar_one())
            if version == before.version:
                return before
            if _erased_since(connection, before.version):
                before = nothing_kept()

            def newer(table: Table) -> list[Row[Any]]:
                query = select(table).where(table.c.number > before.version).order_by(table.c.number)
                return list(connection.execute(query))

            content = connection.execute(select(schema.BASES).order_by(schema.BASES.c.digest))
            bases = {row.digest: Basis(orjson.loads(row.content)) for row in content}
            self._kept = before.with_rows(version, bases, {table.name: newer(table) for table in READ})
            return self._kept


def ticks(time: datetime) -> int:
    """A time as it is kept.

    >>> ticks(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000000
    """
    return (time - EPOCH) // MICROSECOND


def moment(kept: int) -> datetime:
    """A time that was kept."""
    return EPOCH + kept * MICROSECOND


def as_values(row: Line) -> dict[str, Any]:
    """A row as its table keeps it."""
    values = {each.name: getattr(row, each.name) for each in fields(row)}
    if isinstance(row, Setting):
        values = {"start": row.start.isoformat(), "at": row.at, "by": row.by, "written": row.written}
        values["content"] = row.text()
    return values | {name: ticks(values[name]) for name in TIMES if name in values}


def _arrival(values: dict[str, Any]) -> Arrival:
    return Arrival(**values | {name: moment(values[name]) for name in ("time", "written")})


def _setting(row: Row[Any]) -> Setting:
    content = orjson.loads(row.content)
    return Setting(
        date.fromisoformat(row.start), **content, at=moment(row.at), by=row.by, written=moment(row.written),
        number=row.number,
    )  # fmt: skip


def _keep(connection: Connection, basis: Basis) -> None:
    if connection.execute(select(schema.BASES.c.digest).where(schema.BASES.c.digest == basis.digest)).first() is None:
        content = orjson.dumps(basis.content, option=orjson.OPT_SORT_KEYS).decode()
        connection.execute(insert(schema.BASES).values(digest=basis.digest, content=content))


def _known(connection: Connection, table: Table, some: list[dict[str, Any]]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The rows of a table that have the keys of these values, by key."""
    names = schema.UNIQUE[table.name]
    keys = [tuple(values[name] for name in names) for values in some]
    query = select(table).where(tuple_(*(table.c[name] for name in names)).in_(keys))
    return {tuple(row[name] for name in names): dict(row) for row in connection.execute(query).mappings()}


def _same(row: Line, before: dict[str, Any], values: dict[str, Any]) -> bool:
    """Whether what was given of a row is what was given of the one that is there."""
    given = ("content",) if isinstance(row, Setting) else type(row).GIVEN
    return all(before[name] == values[name] for name in given)


def _erased_since(connection: Connection, version: int) -> bool:
    """Whether rows that were read at a version are no longer what they were."""
    table = schema.ERASURES
    return connection.execute(select(table.c.number).where(table.c.number > version).limit(1)).first() is not None


def numbers(connection: Connection, count: int) -> int:
    """The first of so many numbers for new rows."""
    after = connection.execute(
        update(schema.COUNTER).values(number=schema.COUNTER.c.number + count).returning(schema.COUNTER.c.number)
    ).scalar_one()
    return int(after) - count + 1
