"""What was said of arrivals afterwards, beside them: of several rows about the same thing the newest holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Row

from mpd2.clinic.shadow.store import Kept
from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import UNKNOWN
from mpd2.core.manifest import Manifest

NEVER = np.datetime64("NaT", "us")


@dataclass(frozen=True, eq=False)
class Answers:
    """What is known of N arrivals besides what they came in with."""

    words: Ints  # [N, M] what readers say; UNKNOWN
    confidence: Floats  # [N, M] NaN where not told
    declined: Bools  # [N, M]
    read_at: np.ndarray  # [N, M] datetime64[us]
    truth: Ints  # [N] UNKNOWN
    truth_at: np.ndarray  # [N] datetime64[us]
    done: Ints  # [N] the answer the clinic acted on; UNKNOWN
    chosen: np.ndarray  # [N] str, another choice; ""


def answers_of(kept: Kept, arrivals: Sequence[tuple[str, int]], manifest: Manifest) -> Answers:
    """What was said of these arrivals, by case and time as they are kept."""
    place = {key: i for i, key in enumerate(arrivals)}
    shape = (len(arrivals), len(manifest.columns))
    found = Answers(
        words=np.full(shape, UNKNOWN),
        confidence=np.full(shape, np.nan),
        declined=np.zeros(shape, bool),
        read_at=np.full(shape, NEVER),
        truth=np.full(len(arrivals), UNKNOWN),
        truth_at=np.full(len(arrivals), NEVER),
        done=np.full(len(arrivals), UNKNOWN),
        chosen=np.full(len(arrivals), "", f"U{max(map(len, (*manifest.columns, 'ai')))}"),
    )
    _take_readings(found, _newest_last(kept.readings, place), place, manifest)
    _take_outcomes(found, _newest_last(kept.outcomes, place), place)
    choices = _newest_last(kept.overrides, place)
    for row in choices:
        found.chosen[place[row.case, row.time]] = row.choice
    return found


def as_times(kept: Sequence[int]) -> np.ndarray:
    """Times as they are kept, as an array, [N] datetime64[us]."""
    return np.array(kept, np.int64).astype("datetime64[us]")


def _newest_last(rows: Sequence[Row[Any]], place: Mapping[tuple[str, int], int]) -> list[Row[Any]]:
    return sorted((row for row in rows if (row.case, row.time) in place), key=lambda row: (row.at, row.number))


def _take_readings(
    found: Answers, rows: Sequence[Row[Any]], place: Mapping[tuple[str, int], int], manifest: Manifest
) -> None:
    column = {name: j for j, name in enumerate(manifest.columns)}
    rows = [row for row in rows if row.reader in column]
    where = np.array([place[row.case, row.time] for row in rows], np.int64)
    reader = np.array([column[row.reader] for row in rows], np.int64)
    found.words[where, reader] = [row.says for row in rows]
    found.confidence[where, reader] = [np.nan if row.confidence is None else row.confidence for row in rows]
    found.declined[where, reader] = [bool(row.declined) for row in rows]
    found.read_at[where, reader] = as_times([row.at for row in rows])


def _take_outcomes(found: Answers, rows: Sequence[Row[Any]], place: Mapping[tuple[str, int], int]) -> None:
    where = np.array([place[row.case, row.time] for row in rows], np.int64)
    truth, done = (np.array([getattr(row, name) for row in rows], np.int64) for name in ("truth", "done"))
    at = as_times([row.at for row in rows])
    told, acted = truth != UNKNOWN, done != UNKNOWN
    found.truth[where[told]], found.truth_at[where[told]] = truth[told], at[told]
    found.done[where[acted]] = done[acted]
