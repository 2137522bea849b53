"""A run in use in a workshop, and files such as a clinic would send on a day."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
from places import DATA

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.table_file import load_cohort
from mpd2.lab import activation
from mpd2.lab.jobs.folder import Workshop

RUN = "glaucoma/mpd2-plus"
START = datetime.now(UTC).replace(microsecond=0) - timedelta(minutes=10)


def use(place: Workshop, run: str = RUN) -> None:
    """Let the local user propose a run and activate it."""
    activation.propose(run, "to be watched", place, by=LOCAL)
    activation.activate(run, place, by=LOCAL)


def known(cases: int, split: str = "test") -> pd.DataFrame:
    """Rows of the benchmark as text."""
    rows = pd.read_csv(DATA / "glaucoma.csv", dtype=str, keep_default_na=False)
    return rows[rows["split"] == split].head(cases).reset_index(drop=True)


def arriving(rows: pd.DataFrame, begin: datetime = START) -> bytes:
    """The rows as cases that come in, a second after each other: nobody knows the truth or what readers say."""
    manifest = load_cohort(DATA / "glaucoma.csv").manifest
    row = manifest.row
    later = [name for name in (row.truth, row.split, row.date, *manifest.columns) if name in rows]
    times = [(begin + timedelta(seconds=i)).isoformat() for i in range(len(rows))]
    there = {f"{column}_available": (rows[column] != "").astype(int) for column in manifest.columns}
    return _csv(rows.drop(columns=later).assign(time=times, **there))


def turned_out(rows: pd.DataFrame, begin: datetime = START) -> bytes:
    """What turned out of them, and what the clinic did: it went by a coin."""
    manifest = load_cohort(DATA / "glaucoma.csv").manifest
    times = [(begin + timedelta(seconds=i)).isoformat() for i in range(len(rows))]
    done = np.arange(len(rows)) % 2
    return _csv(
        pd.DataFrame({
            "case": rows[manifest.row.case], "time": times, "truth": rows[manifest.row.truth], "done": done,
            "at": datetime.now(UTC).isoformat(),
        })
    )  # fmt: skip


def _csv(rows: pd.DataFrame) -> bytes:
    file = io.StringIO()
    rows.to_csv(file, index=False)
    return file.getvalue().encode()
