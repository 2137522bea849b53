"""How fast the record is written and searched, empty and with very many entries."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np
from sqlalchemy import insert

from mpd2.cli.output import aligned, now_and_then
from mpd2.clinic.access.actions import Action, Role
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.record.copies import stored
from mpd2.clinic.record.entry import Entry, digest, written_time
from mpd2.clinic.record.log import RecordLog
from mpd2.clinic.record.schema import ENTRIES
from mpd2.clinic.record.search import Search, values_of
from mpd2.clinic.record.storage import last_row
from mpd2.clinic.record.verify import verify
from mpd2.clinic.settings import RecordOptions

BATCH = 10_000  # entries written at a time while the record is filled
CASES, PEOPLE = 5_000, 40
ACTIONS = (Action.SEE_CASE, Action.ROUTE_CASE, Action.NOTE, Action.SIGN_IN)


def bench_record(entries: int, appends: int, storage: str, folder: Path | None) -> dict[str, Any]:
    """Appends a second and their p95 with an empty record and with `entries`, and how long a search takes then."""
    with _place(folder) as place:
        options = RecordOptions(storage=storage)
        record = RecordLog(options, place / "record")
        try:
            measured: dict[str, Any] = {"empty": _appends(record, appends)}
            started = perf_counter()
            _fill(record, entries)
            measured["fill_seconds"] = perf_counter() - started
            measured["entries"] = record.length()
            measured["full"] = _appends(record, appends)
            measured["search_milliseconds"] = _searches(record)
        finally:
            record.close()
        started = perf_counter()
        with stored(options, place / "record") as copy:
            measured["whole"] = verify(copy).whole
        measured["verify_seconds"] = perf_counter() - started
    return measured


@contextmanager
def _place(folder: Path | None) -> Iterator[Path]:
    with TemporaryDirectory(dir=folder) as name:
        yield Path(name)


def _appends(record: RecordLog, number: int) -> dict[str, float]:
    """Seconds of single appends, each on disk before the next."""
    by, times = Actor("ada", "Ada", Role.CLINICIAN, "v1"), np.empty(number)
    for at in range(number):
        about = {"workspace": "clinic", "choice": "ai", "score": at / number}
        started = perf_counter()
        record.append(by, Action.ROUTE_CASE, granted=True, case=f"case-{at % CASES}", reason="", about=about)
        times[at] = perf_counter() - started
    return {
        "appends": number,
        "per_second": number / float(times.sum()),
        "p50_milliseconds": 1000 * float(np.quantile(times, 0.5)),
        "p95_milliseconds": 1000 * float(np.quantile(times, 0.95)),
    }


def _fill(record: RecordLog, number: int) -> None:
    """Genuine entries, chained, many in a transaction; the last one is signed."""
    tell = now_and_then()
    with record.storage.writing() as connection:
        cases = [record.pseudonym(connection, f"case-{at}", make=True) for at in range(CASES)]
    for start in range(0, number, BATCH):
        with record.storage.writing() as connection:
            row = last_row(connection)
            assert row is not None
            last, when = (int(row.number), str(row.hash)), datetime.fromisoformat(str(row.time))
            rows = []
            for at in range(start, min(start + BATCH, number)):
                entry = _entry(at, last, when + timedelta(microseconds=at - start), cases[at % CASES])
                last = (entry.number, entry.hash)
                rows.append(values_of(entry))
            connection.execute(insert(ENTRIES), rows)
        tell(f"{start + len(rows):,} of {number:,} entries")
    record.checkpoints.sign(record.id, *last)


def _entry(at: int, last: tuple[int, str], when: datetime, case: str) -> Entry:
    entry = Entry(
        last[0] + 1,
        written_time(when.astimezone(UTC)),
        f"person-{at % PEOPLE}",
        "clinician",
        f"visit-{at // 50}",
        ACTIONS[at % len(ACTIONS)],
        True,
        case,
        "",
        {"workspace": "clinic", "choice": "ai", "score": at % 1000 / 1000},
        last[1],
    )
    return replace(entry, hash=digest(entry.text()))


def _searches(record: RecordLog) -> dict[str, float]:
    """Milliseconds of a first page, the median of a few."""
    kinds: dict[str, Callable[[int], Search]] = {
        "newest": lambda at: Search(),
        "case": lambda at: Search(case=f"case-{at * 37}"),
        "person": lambda at: Search(person=f"person-{at}"),
        "action": lambda at: Search(action=ACTIONS[at % len(ACTIONS)]),
        "case and person": lambda at: Search(case=f"case-{at}", person=f"person-{at}"),
        "refused": lambda at: Search(refused=True),
    }
    return {name: _median(record, make) for name, make in kinds.items()}


def _median(record: RecordLog, make: Callable[[int], Search], times: int = 9) -> float:
    taken = []
    for at in range(1, times + 1):
        started = perf_counter()
        record.search(make(at))
        taken.append(1000 * (perf_counter() - started))
    return float(np.median(taken))


def describe_record(measured: dict[str, Any]) -> str:
    """The measurements as text."""
    rows: list[tuple[object, ...]] = [("", "a second", "p50 ms", "p95 ms")]
    for name in ("empty", "full"):
        part = measured[name]
        speeds = (f"{part[key]:.1f}" for key in ("per_second", "p50_milliseconds", "p95_milliseconds"))
        rows.append((f"appends, {name}", *speeds))
    searches = [f"search by {name}: {each:.1f} ms" for name, each in measured["search_milliseconds"].items()]
    words = f"{measured['entries']:,} entries verified in {measured['verify_seconds']:.1f} s"
    return "\n".join([aligned(rows), *searches, words])
