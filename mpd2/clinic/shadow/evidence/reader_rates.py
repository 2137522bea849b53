"""How good each reader is by now: what was learned of them and what their cases have turned out to be, together."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mpd2.clinic.shadow.snapshot import Snapshot
from mpd2.core.arrays import Bools, Floats
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.evaluation.over_time.reader_updates import updated_rates

RATES = {"Sens": 1, "Spec": 0}
"""The share of cases of one truth that a reader answers so, by its name, and that truth."""


def reader_rates(snapshot: Snapshot, learned: Cohort) -> pd.DataFrame:
    """A row a rate and reader: metric (of RATES), column, reader, value, low, high, learned, n_learned, n.

    `learned` is the rate among the training cases alone, NaN where a reader read none of that truth; `n` counts the
    reader's new cases with that truth. Intervals are of 95 %.
    """
    train = learned.subset(split="train")
    rows = []
    for metric, truth in RATES.items():
        hits_before, before = _counted(train, truth)
        hits_since, since = _counted(snapshot.cohort, truth)
        found = updated_rates(hits_before, before, hits_since, since)
        was = np.divide(hits_before, before, out=np.full(len(before), np.nan), where=before > 0)
        for j, (column, reader) in enumerate(zip(train.manifest.columns, train.manifest.readers, strict=True)):
            rows.append({
                "metric": metric,
                "column": column,
                "reader": reader.name,
                "value": float(found.rate[j]),
                "low": float(found.low[j]),
                "high": float(found.high[j]),
                "learned": float(was[j]),
                "n_learned": int(before[j]),
                "n": int(since[j]),
            })  # fmt: skip
    return pd.DataFrame(rows)


def _counted(cohort: Cohort, truth: int) -> tuple[Floats, Floats]:
    """How many cases of a truth each reader answered rightly, and how many they answered, [M]."""
    there: Bools = (cohort.truth == truth)[:, None] & (cohort.decisions != UNKNOWN)
    right = there & (cohort.decisions == truth)
    return right.sum(0).astype(float), there.sum(0).astype(float)
