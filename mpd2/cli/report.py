"""What the decisions of a run come to on some cases, as plain values and as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mpd2.arrays import Floats
from mpd2.cli.output import aligned
from mpd2.cohort import Cohort
from mpd2.intervals import LEVEL, RESAMPLES, resample_weights, summary
from mpd2.metrics import METRICS, Tally, metrics_of, tally
from mpd2.policy import Policy, route
from mpd2.runs import Run

Report = dict[str, Any]


def report(run: Run, policy: Policy, cohort: Cohort) -> Report:
    """Every metric over all cases and for each cohort, under the costs of the table's manifest."""
    cases = tally(cohort, route(policy, cohort, run.rule), cohort.manifest.default_costs()).cases  # [E, N, C]
    weights = resample_weights(cohort)  # [R, N]
    # Every cohort keeps its number of cases in every resample, so a part of the weights is a resample of its cohort.
    parts = {key: cohort.sources == key for key in (entry.key for entry in cohort.manifest.cohorts)}
    return {
        "rule": run.rule,
        "seeds": [int(settings["seed"]) for settings in run.settings],
        "level": LEVEL,
        "resamples": RESAMPLES,
        "overall": _stratum(Tally(cases), weights),
        "cohorts": {
            key: _stratum(Tally(cases[:, rows]), weights[:, rows]) for key, rows in parts.items() if rows.any()
        },
    }


def _stratum(counted: Tally, weights: Floats) -> Report:
    members = metrics_of(counted.counts)  # [E, metrics]
    several = len(members) > 1
    spread = members.std(0, ddof=1) if several else np.full(len(METRICS), np.nan)
    ends = summary({"run": counted}, weights)[["value", "low", "high"]].to_numpy()  # [metrics, 3]
    return {
        "n": counted.cases.shape[-2],
        "metrics": {
            name: {
                "mean": _number(ends[position, 0]),
                "sd": _number(spread[position]),
                "low": _number(ends[position, 1]),
                "high": _number(ends[position, 2]),
                "members": [_number(value) for value in members[:, position]],
            }
            for position, name in enumerate(METRICS)
        },
    }


def _number(value: float) -> float | None:
    """For JSON, which knows no NaN."""
    return None if np.isnan(value) else float(value)


def describe(found: Report) -> str:
    """The report as a table: a column for all cases and for each cohort, two lines a metric."""
    strata = {"all cases": found["overall"]} | found["cohorts"]
    rows = [("", *strata), ("n", *(stratum["n"] for stratum in strata.values()))]
    for name in METRICS:
        cells = [stratum["metrics"][name] for stratum in strata.values()]
        rows += [(name, *map(_level, cells)), ("", *map(_interval, cells))]
    routers = len(found["seeds"])
    what = f"mean ± sd over {routers} routers" if routers > 1 else f"the router of seed {found['seeds'][0]}"
    return f"{aligned(rows)}\n\n{what}, {found['rule']} rule; in brackets the {LEVEL:.0%} bootstrap interval over cases"


def _level(cell: Mapping[str, float | None]) -> str:
    mean, sd = cell["mean"], cell["sd"]
    if mean is None:
        return "none"
    return f"{mean:.3f}" if sd is None else f"{mean:.3f} ± {sd:.3f}"


def _interval(cell: Mapping[str, float | None]) -> str:
    low, high = cell["low"], cell["high"]
    return "" if low is None or high is None else f"[{low:.3f}, {high:.3f}]"
