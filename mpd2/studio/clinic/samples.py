"""Files to begin with: an empty table of cases, and a small day to try the page with."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd

from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.exports import export_cases
from mpd2.clinic.shadow.columns import CASE, TIME
from mpd2.core.cohort import UNKNOWN
from mpd2.core.table_file import write_template
from mpd2.core.table_file.building import availability_columns
from mpd2.lab.shadowing import Shadow
from mpd2.lab.uploads import example_table
from mpd2.present.documents.spreadsheets import to_csv
from mpd2.studio.clinic.store import Clinic

EACH = 20  # cases of each cohort in the example
APART = timedelta(seconds=30)


def template(clinic: Clinic) -> bytes:
    """The columns of a table of cases, without a row."""
    empty = pd.read_csv(io.StringIO(write_template(clinic.manifest)), dtype=str)
    return to_csv(_as_cases(empty, clinic.shadow, []))


def example(clinic: Clinic, by: Actor) -> bytes:
    """Some val cases of the table the run learned from as if they had come in before this hour, APART."""
    row, flags = clinic.manifest.row, availability_columns(clinic.manifest)
    text = io.StringIO(example_table(clinic.shadow.workspace.table, EACH))
    known = pd.read_csv(text, dtype={row.case: str}).convert_dtypes()
    begin = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - len(known) * APART
    times = [(begin + i * APART).isoformat() for i in range(len(known))]
    there = {flag: known[name].notna().astype(int) for name, flag in zip(clinic.names, flags, strict=True)}
    cases = _as_cases(known.assign(**there), clinic.shadow, times)
    return export_cases(lambda: to_csv(cases), "example of the clinic", by=by)


def outcomes(clinic: Clinic, by: Actor) -> bytes:
    """What is known in the run's own table of the cases that came in from there."""
    cohort, learned = clinic.snapshot.cohort, clinic.shadow.learned
    there, place = _in_table(clinic)
    rows = pd.DataFrame({
        CASE: cohort.ids[there],
        TIME: _times(clinic, there),
        "truth": learned.truth[place],
        "done": learned.ai_label[place],
    })  # fmt: skip
    return export_cases(lambda: to_csv(rows[rows["truth"] != UNKNOWN]), "example outcomes", by=by)


def readings(clinic: Clinic, by: Actor) -> bytes:
    """What the awaited readers said in the run's own table of the cases that came in from there; else they decline."""
    columns, learned = list(clinic.names), clinic.shadow.learned
    there, place = _in_table(clinic)
    asked = clinic.snapshot.waiting[there]
    waits = asked != ""
    reader = np.array([columns.index(name) for name in asked[waits]], np.int64)
    says = learned.decisions[place[waits], reader]
    rows = pd.DataFrame({
        CASE: clinic.snapshot.cohort.ids[there][waits],
        TIME: _times(clinic, there[waits]),
        "reader": asked[waits],
        "says": np.where(says == UNKNOWN, "", says.astype(str)),
        "declined": np.where(says == UNKNOWN, "1", ""),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
    })  # fmt: skip
    return export_cases(lambda: to_csv(rows), "example answers", by=by)


def _as_cases(table: pd.DataFrame, shadow: Shadow, times: list[str]) -> pd.DataFrame:
    """A table without what nobody knows when a case comes in, and with when it does."""
    row = shadow.manifest.row
    later = {row.truth, row.split, row.date, *shadow.manifest.columns}
    kept = table[[name for name in table if name not in later]]
    kept.insert(1, TIME, pd.Series(times, index=kept.index, dtype=str))
    return kept


def _in_table(clinic: Clinic) -> tuple[np.ndarray, np.ndarray]:
    """The arrivals that are cases of the run's own table, and where they stand there."""
    place = pd.Index(clinic.shadow.learned.ids).get_indexer(clinic.snapshot.cohort.ids)
    there = np.flatnonzero(place >= 0)
    return there, place[there]


def _times(clinic: Clinic, rows: np.ndarray) -> list[str]:
    return [f"{time}+00:00" for time in clinic.snapshot.times[rows].tolist()]
