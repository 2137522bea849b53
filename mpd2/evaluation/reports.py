"""The metrics of a run on some cases as plain values, and the one way to save a run with them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mpd2.core.arrays import Floats
from mpd2.core.cohort import SPLITS, Cohort
from mpd2.core.error_rates import error_rates
from mpd2.core.policy import Continuations, Decisions, Policy, route
from mpd2.core.runs import FILLS, Run, save_run
from mpd2.evaluation.intervals import LEVEL, resample_weights, summary
from mpd2.evaluation.metrics import COUNTED, Tally, metrics_of, tally
from mpd2.methods.registry import continuations_of, policy_of

Report = dict[str, Any]


def publish_run(
    run: Run, cohort: Cohort, folder: Path, cases: Cohort | None = None, policy: Policy | None = None
) -> dict[str, Report]:
    """Save a run with its predictions, a report of each split and the error rates of `cohort`; the reports.

    Predictions are for all of `cohort` unless some `cases` are given, and computed unless the `policy` for them is.
    """
    kept = cohort if cases is None else cases
    fills = cohort.train_fills()
    run = replace(run, notes={**run.notes, FILLS: fills}) if fills else run
    policy = policy_of(run, kept) if policy is None else policy
    continuations = continuations_of(run, kept)
    reports = split_reports(run, policy, kept, continuations)
    save_run(run, folder, policy, kept, reports, continuations, error_rates(cohort))
    return reports


def split_reports(
    run: Run, policy: Policy, cohort: Cohort, continuations: Continuations | None = None
) -> dict[str, Report]:
    """A report for each split that has cases; policy and continuations are of every member for all of `cohort`."""
    decisions = route(policy, cohort, run.rule, continuations)
    parts = {split: cohort.split == split for split in SPLITS if (cohort.split == split).any()}
    return {split: report(run, decisions.rows(rows), cohort.rows(rows)) for split, rows in parts.items()}


def report(run: Run, decisions: Decisions, cohort: Cohort) -> Report:
    """Every metric over all cases and for each cohort, under the costs of the table's manifest."""
    cases = tally(cohort, decisions, cohort.manifest.default_costs()).cases  # [E, N, C]
    weights = resample_weights(cohort)  # [R, N]
    # Every cohort keeps its number of cases in every resample, so a part of the weights is a resample of its cohort.
    parts = {key: cohort.sources == key for key in (entry.key for entry in cohort.manifest.cohorts)}
    return {
        "rule": run.rule,
        "seeds": [int(settings["seed"]) for settings in run.settings],
        "level": LEVEL,
        "resamples": len(weights),
        "overall": _stratum(Tally(cases), weights),
        "cohorts": {
            key: _stratum(Tally(cases[:, rows]), weights[:, rows]) for key, rows in parts.items() if rows.any()
        },
    }


def _stratum(counted: Tally, weights: Floats) -> Report:
    members = metrics_of(counted.counts)  # [E, metrics]
    several = len(members) > 1
    spread = members.std(0, ddof=1) if several else np.full(len(COUNTED), np.nan)
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
            for position, name in enumerate(COUNTED)
        },
    }


def _number(value: float) -> float | None:
    """For JSON, which knows no NaN."""
    return None if np.isnan(value) else float(value)
