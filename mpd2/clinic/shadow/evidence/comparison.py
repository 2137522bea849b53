"""What the run would have done against what was done, per 1,000 people, with intervals that hold at every look.

Judged are the cases whose truth is known and of whom no reading is awaited; how many are sent, and how often readers
are asked, is counted in all of them. What was done is the answer the clinic says it acted on; where it says nothing the
comparison is with the AI alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from mpd2.clinic.shadow.snapshot import Snapshot
from mpd2.core.arrays import Bools, Floats
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY
from mpd2.evaluation.clinical.per_thousand import SCREENED
from mpd2.evaluation.over_time.sequences import (
    ALPHA,
    cluster_sums,
    difference_sequence,
    mean_sequence,
    rate_sequence,
    ratio_sequence,
)

ALL, COHORT = "all", "cohort"
AGREEMENT, MISSED, FALSE_ALARMS, COST, SENT, LOAD = "agreement", "missed", "false_alarms", "cost", "sent", "load"
METRICS = (AGREEMENT, MISSED, FALSE_ALARMS, COST, SENT, LOAD)
THIRDS = ("low", "middle", "high")
FEW_VALUES = 5  # an input with so many values or fewer is told apart by each of them


class Compared(NamedTuple):
    """A number of the run, and the same of what was done; each case's share of both, of the C counted among N."""

    counted: Bools  # [N]
    would: Floats  # [C]
    done: Floats | None = None  # [C]; none where nothing can be said of it


class Range(NamedTuple):
    """What a number of the run could become, and its difference from what was done; per 1,000."""

    low: float
    high: float
    difference_low: float
    difference_high: float


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the cases, under a name."""

    name: object
    rows: Bools  # [N]


def compare(
    snapshot: Snapshot, costs: Costs, by: str = ALL, learned: Cohort | None = None, alpha: float = ALPHA
) -> pd.DataFrame:
    """The run beside the clinic, in all or by cohort or by an input of the state.

    Columns: part, metric (METRICS), would, done, difference, low, high, n. All are per 1,000 people; cost is in the
    unit of the costs, fees of readings counted in for the run and unknown for the clinic. `low` and `high` are of the
    difference, or of `would` where there is none (agreement, sent, load). An input is cut into thirds of the train
    cases it was `learned` from, so that a part stays the same part from week to week.
    """
    return _table(snapshot, costs, _parts(snapshot, by, learned), alpha)


def weekly(snapshot: Snapshot, costs: Costs, alpha: float = ALPHA) -> pd.DataFrame:
    """The same of all cases that had come in at the end of each week; part is the last day of the week, a Sunday."""
    if not len(snapshot):
        return _table(snapshot, costs, [], alpha)
    since_monday = (snapshot.days.astype(np.int64) + 3) % 7  # day 0, in 1970, was a Thursday
    ends = np.unique(snapshot.days - since_monday) + 6
    return _table(snapshot, costs, [Part(pd.Timestamp(end), snapshot.days <= end) for end in ends], alpha)


def values_of(snapshot: Snapshot, costs: Costs) -> dict[str, Compared]:
    """What each case adds to each metric. Whether a case is sent, and who is asked, is known before its outcome."""
    every, judged = np.ones(len(snapshot), bool), snapshot.countable
    seen = snapshot.rows(judged)
    truth, would, done = seen.cohort.truth, seen.decisions.label, seen.acted_on
    fees = np.append(costs.fees_for(seen.cohort), 0.0)[seen.decisions.consulted].sum(-1)  # NOBODY, the last, is unpaid
    missed, alarms = (
        [((truth == positive) & (label == 1 - positive)).astype(float) for label in (would, done)]
        for positive in (1, 0)
    )
    return {
        AGREEMENT: Compared(judged, (would == done).astype(float)),
        MISSED: Compared(judged, *missed),
        FALSE_ALARMS: Compared(judged, *alarms),
        COST: Compared(judged, costs.of_errors(would, truth) + fees, costs.of_errors(done, truth)),
        SENT: Compared(every, (snapshot.action > 0).astype(float)),
        LOAD: Compared(every, (snapshot.decisions.consulted != NOBODY).sum(-1).astype(float)),
    }


@dataclass(frozen=True)
class LeftOut:
    """Cases whose truth is known and that are in no figure, for a reading is awaited."""

    cases: int
    counted: int
    ranges: dict[str, Range]  # of MISSED and FALSE_ALARMS


def left_out(snapshot: Snapshot) -> LeftOut:
    """How many cases are left out because a reading is awaited, and what figures could become with them.

    A case that is kept is counted at once and one that is sent only when it is read, so that figures lean towards
    cases that were kept. With all of them the run errs at least as often as if it came to be right in every one that is
    awaited, and at most as often as if it came to be wrong in every one.
    """
    known = snapshot.cohort.truth != UNKNOWN
    judged = snapshot.rows(known)
    waits, truth = ~judged.countable, judged.cohort.truth
    cases, ranges = len(judged), {}
    for name, positive in ((MISSED, 1), (FALSE_ALARMS, 0)):
        mine = truth == positive
        errs = int((mine & ~waits & (judged.decisions.label != truth)).sum())
        was = int((mine & (judged.acted_on != truth)).sum())
        most = errs + int((mine & waits).sum())
        if cases:
            ranges[name] = Range(*(SCREENED * count / cases for count in (errs, most, errs - was, most - was)))
    return LeftOut(int(waits.sum()), cases - int(waits.sum()), ranges)


def against(snapshot: Snapshot) -> str:
    """What the comparison is with, in words."""
    told = int((snapshot.done[snapshot.countable] != UNKNOWN).sum())
    cases = int(snapshot.countable.sum())
    if told == 0:
        return "Compared with the AI alone: the outcomes do not say what was done."
    if told == cases:
        return "Compared with what was done."
    return f"Compared with what was done in {told} of {cases} cases, and with the AI alone in the others."


def _parts(snapshot: Snapshot, by: str, learned: Cohort | None) -> list[Part]:
    cohort = snapshot.cohort
    if by == ALL:
        return [Part(ALL, np.ones(len(snapshot), bool))]
    if by == COHORT:
        return [Part(cohort.manifest.cohorts[place].name, cohort.source == place) for place in np.unique(cohort.source)]
    if by not in cohort.layout.names:
        raise UserError(f"by: found {by!r}, expected {ALL}, {COHORT} or one of {', '.join(cohort.layout.names)}")
    if learned is None:
        raise UserError(f"by {by}: the cases that were learned from are needed to say what is low and what is high")
    values = cohort.column(by)
    known = learned.subset(split="train").column(by)
    if len(np.unique(known)) <= FEW_VALUES:
        return [Part(f"{value:g}", values == value) for value in np.unique(values)]
    third = np.searchsorted(np.quantile(known, (1 / 3, 2 / 3)), values)
    return [Part(name, third == place) for place, name in enumerate(THIRDS)]


def _table(snapshot: Snapshot, costs: Costs, parts: Sequence[Part], alpha: float) -> pd.DataFrame:
    rows = np.array([part.rows for part in parts], bool).reshape(len(parts), len(snapshot))  # [P, N]
    frames = []
    for name, (counted, would, done) in values_of(snapshot, costs).items():
        inside, cluster = rows[:, counted], snapshot.cohort.cluster[counted]  # [P, C], [C]
        together = len(np.unique(cluster)) < len(cluster)
        n = inside.sum(1)
        gap = would if done is None else would - done
        low, high = _by_cluster(gap, inside, cluster, alpha) if together else _by_case(name, gap, inside, n, alpha)
        low, high = (np.where(np.isfinite(end), end, np.nan) for end in (low, high))
        ours, theirs = (_mean(values, inside, n) for values in (would, done))
        frames.append(
            pd.DataFrame(
                {
                    "part": [part.name for part in parts],
                    "metric": name,
                    "would": SCREENED * ours,
                    "done": SCREENED * theirs,
                    "difference": SCREENED * (ours - theirs),
                    "low": SCREENED * low,
                    "high": SCREENED * high,
                    "n": n,
                }
            )
        )
    table = pd.concat(frames, ignore_index=True)
    order = {part.name: place for place, part in enumerate(parts)}
    return table.sort_values("part", key=lambda names: names.map(order), kind="stable", ignore_index=True)


def _mean(values: Floats | None, inside: Bools, n: np.ndarray) -> Floats:
    if values is None:
        return np.full(len(n), np.nan)
    return np.where(n > 0, inside @ values / np.maximum(n, 1), np.nan)


def _by_case(name: str, gap: Floats, inside: Bools, n: np.ndarray, alpha: float) -> tuple[Floats, Floats]:
    """Intervals where every case is another person's: exact where only shares are counted."""
    if name in (AGREEMENT, SENT):
        return rate_sequence(inside @ gap, n, alpha)
    if name in (MISSED, FALSE_ALARMS):
        return difference_sequence(inside @ (gap > 0).astype(float), inside @ (gap < 0).astype(float), n, alpha)
    return mean_sequence(inside @ gap, inside @ gap**2, n, alpha)


def _by_cluster(gap: Floats, inside: Bools, cluster: np.ndarray, alpha: float) -> tuple[Floats, Floats]:
    """Intervals where one person may have several cases."""
    ends = [ratio_sequence(cluster_sums(gap[rows], cluster[rows]), alpha) for rows in inside]
    return np.array([float(low) for low, _ in ends]), np.array([float(high) for _, high in ends])
