"""A clinic of a benchmark's own, filled with many days of cases, readings and outcomes as they would have come in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pandas as pd

from mpd2.cli.bench.crowd.own_place import own_place
from mpd2.cli.output import now_and_then
from mpd2.clinic.access.actions import Role
from mpd2.clinic.access.actor import LOCAL
from mpd2.clinic.access.tokens import new_token, settings_lines
from mpd2.clinic.settings import SETTINGS
from mpd2.clinic.shadow.answering import add_outcomes, add_readings
from mpd2.clinic.shadow.columns import CASE, TIME
from mpd2.clinic.shadow.intake import take_in
from mpd2.clinic.shadow.keeping import Taken
from mpd2.core.arrays import Ints
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.errors import UserError
from mpd2.core.rng import Stream, stream
from mpd2.core.table_file.building import availability_columns
from mpd2.lab import activation
from mpd2.lab.shadowing import Shadow
from mpd2.planning.day import CASES_A_DAY
from mpd2.studio.server.interface.fields import case_fields

FEWEST_DAYS = 60  # that the cases come from, however few there are
KNOWN_AFTER = 28  # days until the truth of a case is known
AT_ONCE = 5_000  # rows that are handed over together
MORE = "more"  # in the ids of cases that come in after the clinic was filled


@contextmanager
def clinic_of_its_own(folder: str, run: str) -> Iterator[tuple[Shadow, str]]:
    """Shadow mode with an active run and a record, in a folder, and a token by which programs may send cases."""
    token, settings, before = new_token(), Path(folder) / "settings.toml", os.environ.get(SETTINGS)
    settings.write_text(f"[record]\n\n{settings_lines('intake', Role.CLINICIAN, token)}", encoding="utf-8")
    os.environ[SETTINGS] = str(settings)
    try:
        with own_place(folder) as place:
            activation.propose(run, "to be measured", place, by=LOCAL)
            activation.activate(run, place, by=LOCAL)
            yield Shadow.here(place), token
    finally:
        if before is None:
            del os.environ[SETTINGS]
        else:
            os.environ[SETTINGS] = before


@dataclass(frozen=True, eq=False)
class Past:
    """Cases drawn with replacement from those of a table that no member learned from, and when each comes in."""

    cells: pd.DataFrame  # [T] rows of the table as text, in the order of `known`
    known: Cohort  # [T]
    drawn: Ints  # [N] rows of `known`
    begin: datetime
    a_day: int

    @classmethod
    def of(cls, shadow: Shadow, cases: int, seed: int = 0) -> Past:
        """So many cases, the last of them yesterday."""
        learned, row = shadow.learned, shadow.manifest.row
        known = learned.rows(np.isin(learned.split, ("val", "test")))
        cells = pd.read_csv(shadow.workspace.table, dtype=str, keep_default_na=False).set_index(row.case, drop=False)
        drawn = stream(seed, Stream.ARRIVAL).integers(len(known), size=cases)
        days = max(FEWEST_DAYS, -(-cases // CASES_A_DAY))
        midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return cls(cells.loc[known.ids], known, drawn, midnight - timedelta(days=days), -(-cases // days))

    def __len__(self) -> int:
        return len(self.drawn)

    @property
    def names(self) -> np.ndarray:
        """The id of each case, [N] str."""
        return np.array([f"case-{number:07d}" for number in range(len(self))])

    @property
    def times(self) -> np.ndarray:
        """When each comes in, [N] datetime64[us]."""
        return np.datetime64(self.begin.replace(tzinfo=None), "us") + np.arange(len(self)) * self._gap

    @property
    def is_told(self) -> np.ndarray:
        """Whether the truth of each is known by now, [N]."""
        latest = datetime.now(UTC) - timedelta(days=KNOWN_AFTER + 1)
        return np.asarray(self.times <= np.datetime64(latest.replace(tzinfo=None), "us"))

    def arrivals(self) -> pd.DataFrame:
        """The cases as a table to take in: nobody knows their truth or what readers say."""
        manifest = self.known.manifest
        fields = [each.name for each in case_fields(manifest) if each.name in self.cells.columns]
        there = {flag: self.known.available[self.drawn, j].astype(int)
                 for j, flag in enumerate(availability_columns(manifest))}  # fmt: skip
        rows = self.cells[fields].iloc[self.drawn].reset_index(drop=True)
        named = pd.DataFrame({manifest.row.case: self.names, TIME: in_utc(self.times), **there})
        return pd.concat([rows, named], axis=1)

    def as_json(self, number: int, at: datetime) -> dict[str, Any]:
        """One more case, as a program sends it."""
        place, manifest = int(self.drawn[number % len(self)]), self.known.manifest
        cells = self.cells.iloc[place]
        row: dict[str, Any] = {CASE: f"{MORE}-{number:07d}", TIME: at.isoformat()}
        for each in case_fields(manifest):
            if each.name in self.cells and each.name != manifest.row.case and cells[each.name]:
                row[each.name] = cells[each.name] if each.form == "words" else float(cells[each.name])
        there = zip(availability_columns(manifest), self.known.available[place].tolist(), strict=True)
        return row | {flag: int(can) for flag, can in there}

    def own_words(self) -> Ints:
        """What the clinic's own reader says of each case, one of those who read it by chance, [N]; and who, [N]."""
        words = self.known.decisions[self.drawn]  # [N, M]
        chance = stream(1, Stream.ARRIVAL).random(words.shape)
        return np.where(words != UNKNOWN, chance, -1.0).argmax(1)

    @property
    def _gap(self) -> np.timedelta64:
        return np.timedelta64(timedelta(days=1) // self.a_day, "us")


def fill(shadow: Shadow, past: Past) -> dict[str, Any]:
    """Take everything in by the functions that every way in uses; rows a second of each kind."""
    told = {"cases": _timed(past.arrivals(), "cases", lambda rows: _taken_in(rows, shadow))}
    told["readings"] = _timed(_own_readings(past), "readings", lambda rows: _read(rows, shadow))
    asked = _awaited(shadow, past)
    while len(asked):
        _timed(asked, "readings that were asked for", lambda rows: _read(rows, shadow))
        asked = _awaited(shadow, past)
    told["outcomes"] = _timed(_outcomes(past), "outcomes", lambda rows: add_outcomes(rows, shadow.store, by=LOCAL))
    return told


def in_utc(times: np.ndarray) -> list[str]:
    """Times as a table has them."""
    return [f"{time}+00:00" for time in times.astype("datetime64[us]").astype(str).tolist()]


def _taken_in(rows: pd.DataFrame, shadow: Shadow) -> Taken:
    return take_in(rows, shadow.store, shadow.deciders, by=LOCAL)


def _read(rows: pd.DataFrame, shadow: Shadow) -> Taken:
    return add_readings(rows, shadow.store, shadow.deciders, by=LOCAL)


def _own_readings(past: Past) -> pd.DataFrame:
    """The clinic's own reader has read each case an hour after it came in."""
    reader, cases = past.own_words(), np.arange(len(past))
    words = past.known.decisions[past.drawn[cases], reader]
    return pd.DataFrame({
        CASE: past.names,
        TIME: in_utc(past.times),
        "reader": np.array(past.known.manifest.columns)[reader],
        "says": words.astype(str),
        "at": in_utc(past.times + np.timedelta64(1, "h")),
    })[words != UNKNOWN]  # fmt: skip


def _awaited(shadow: Shadow, past: Past) -> pd.DataFrame:
    """What the readers say who are awaited, but for the cases of the last day; whoever did not read it declines."""
    now = shadow.snapshot()
    waits = np.flatnonzero((now.waiting != "") & (now.times < past.times[-1] - np.timedelta64(1, "D")))
    place = np.array([name.rpartition("-")[2] for name in now.cohort.ids[waits].tolist()], np.int64)
    reader = pd.Index(shadow.manifest.columns).get_indexer(pd.Index(now.waiting[waits]))
    words = past.known.decisions[past.drawn[place], reader]
    heard = (now.decisions.consulted[waits] >= 0).sum(1)
    return pd.DataFrame({
        CASE: now.cohort.ids[waits],
        TIME: in_utc(now.times[waits]),
        "reader": now.waiting[waits],
        "says": np.where(words == UNKNOWN, "", words.astype(str)),
        "declined": np.where(words == UNKNOWN, "1", ""),
        "at": in_utc(now.times[waits] + np.timedelta64(1, "h") * (2 + heard)),
    })  # fmt: skip


def _outcomes(past: Past) -> pd.DataFrame:
    """What turned out of the cases of long enough ago, and what the clinic acted on: its own reader's word."""
    done = past.known.decisions[past.drawn, past.own_words()]
    return pd.DataFrame({
        CASE: past.names,
        TIME: in_utc(past.times),
        "truth": past.known.truth[past.drawn].astype(str),
        "done": np.where(done == UNKNOWN, "", done.astype(str)),
        "at": in_utc(past.times + np.timedelta64(KNOWN_AFTER, "D")),
    })[past.is_told]  # fmt: skip


def _timed(rows: pd.DataFrame, what: str, take: Callable[[pd.DataFrame], Taken]) -> dict[str, float]:
    """Hand rows over, and say how fast that was."""
    tell, wall, spent = now_and_then(), perf_counter(), process_time()
    for start in range(0, len(rows), AT_ONCE):
        taken = take(rows.iloc[start : start + AT_ONCE])
        if taken.refused:
            raise UserError(f"{what}: refused, {taken.refused[0].sentence('the table')}")
        tell(f"{min(start + AT_ONCE, len(rows)):,} of {len(rows):,} {what}")
    seconds = perf_counter() - wall
    return {
        "rows": len(rows),
        "seconds": seconds,
        "a_second": len(rows) / seconds if len(rows) else 0.0,
        "cpu_milliseconds_a_row": 1000 * (process_time() - spent) / max(len(rows), 1),
    }
