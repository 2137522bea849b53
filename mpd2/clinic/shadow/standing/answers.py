"""What was said of arrivals afterwards, beside them: of several rows about the same thing the newest holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from mpd2.clinic.shadow.standing.kept import ARRIVAL, Columns, Kept, newest_last
from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import UNKNOWN
from mpd2.core.manifest import Manifest

NEVER = np.datetime64("NaT", "us")
NOT_AMONG = -1  # place of an arrival that is left out


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


def answers_of(kept: Kept, arrivals: Ints, manifest: Manifest) -> Answers:
    """What was said of some arrivals, [N], by their positions among all that are kept."""
    place = np.full(len(kept.arrivals["number"]), NOT_AMONG)
    place[arrivals] = np.arange(len(arrivals))
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
    _take_readings(found, kept.readings, place, manifest)
    _take_outcomes(found, kept.outcomes, place)
    rows, where = _of_these(kept.overrides, place)
    found.chosen[where] = kept.overrides["choice"][rows].astype(str)
    return found


def as_times(kept: Ints) -> np.ndarray:
    """Times as they are kept, as an array, [N] datetime64[us]."""
    return kept.astype("datetime64[us]")


def _of_these(columns: Columns, place: Ints) -> tuple[Ints, Ints]:
    """The rows of a table about these arrivals, the newest last, and where each arrival is among these."""
    rows = newest_last(columns)
    where = place[columns[ARRIVAL][rows]]
    return rows[where != NOT_AMONG], where[where != NOT_AMONG]


def _take_readings(found: Answers, columns: Columns, place: Ints, manifest: Manifest) -> None:
    rows, where = _of_these(columns, place)
    reader = pd.Index(manifest.columns).get_indexer(pd.Index(columns["reader"][rows], dtype=object))
    found.words[where, reader] = columns["says"][rows]
    found.confidence[where, reader] = columns["confidence"][rows]
    found.declined[where, reader] = columns["declined"][rows] == 1
    found.read_at[where, reader] = as_times(columns["at"][rows])


def _take_outcomes(found: Answers, columns: Columns, place: Ints) -> None:
    rows, where = _of_these(columns, place)
    truth, done, at = columns["truth"][rows], columns["done"][rows], as_times(columns["at"][rows])
    told, acted = truth != UNKNOWN, done != UNKNOWN
    found.truth[where[told]], found.truth_at[where[told]] = truth[told], at[told]
    found.done[where[acted]] = done[acted]
