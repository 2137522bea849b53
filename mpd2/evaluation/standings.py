"""Which method is best by each metric, and which others differ from it by no more than chance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

import numpy as np
import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.evaluation.evidence import Evidence
from mpd2.evaluation.intervals import mean_of, percentiles
from mpd2.evaluation.metrics import METRICS
from mpd2.evaluation.tables import METRICS_OF, statistics

RECENTRED = ("collapse",)  # the table whose intervals are moved by the mean excess of the resamples


def standings(table: str, evidence: Evidence, weights: Floats, unranked: Collection[str] = ()) -> pd.DataFrame:
    """Every method against the best one of each cohort and metric of a table, on the same resamples `weights`, [R, N].

    `table`: as of `tables.statistics`. Only metrics of merit have a best method; methods `unranked` are left out.
    Columns: method, cohort, metric, difference (method minus best), low, high, best, tied (not the best, and the
    interval of the difference holds 0).
    """
    samples: dict[str, dict[str, Floats]] = defaultdict(dict)  # cohort, method: observed, then resamples, [1 + R, K]
    drawn: dict[str, Floats] = {}  # cohort: weights of its cases, each case once in the first, [1 + R, N]
    for method, cohort, rows, statistic in statistics(table, evidence):
        if method not in unranked:
            if cohort not in drawn:
                drawn[cohort] = np.vstack([np.ones(rows.sum()), weights[:, rows]])
            samples[cohort][method] = mean_of(statistic(drawn[cohort]), axis=1)
    parts = [
        _standing(pd.Index(methods, name="method"), np.stack(list(methods.values()))[..., place], sign, table)
        .assign(cohort=cohort, metric=metric)
        for cohort, methods in samples.items()
        for place, metric in enumerate(METRICS_OF[table])
        if (sign := METRICS[metric].merit)
    ]  # fmt: skip
    return pd.concat(parts).reset_index()


def _standing(methods: pd.Index[str], values: Floats, sign: int, table: str) -> pd.DataFrame:
    """One metric of one cohort; `values` as observed and then resampled, [methods, 1 + R]."""
    observed = sign * values[:, 0]
    best = observed == np.fmax.reduce(observed)  # of the numbers there are; none is best where there is none
    apart = (values - values[np.argmax(best)]).T  # [1 + R, methods]
    shift = mean_of(apart[1:], axis=0) - apart[0] if table in RECENTRED else 0.0
    low, high = percentiles(apart[1:]) - shift
    tied = (low <= 0) & (high >= 0) & ~best
    return pd.DataFrame({"difference": apart[0], "low": low, "high": high, "best": best, "tied": tied}, methods)
