"""How well a probability is calibrated: predicted against observed shares."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.errors import UserError
from mpd2.evaluation.intervals import wilson

BINS = 10
DRAWN = 200  # truths drawn to see what chance alone does
OVERALL = "all"


def reliability_curve(probability: np.ndarray, cohort: Cohort, bins: int = BINS) -> pd.DataFrame:
    """Predicted against observed, in bins of about as many cases each; for all cases and for each cohort.

    `probability` is [N]. Columns: cohort, bin, predicted (mean), observed (share with glaucoma), low, high (Wilson's
    interval of 95 %), n.
    """
    parts = [_bins(key, probability[rows], cohort.truth[rows], bins) for key, rows in _strata(cohort).items()]
    return pd.concat(parts, ignore_index=True)


def calibration_errors(probability: np.ndarray, cohort: Cohort, bins: int = BINS) -> pd.DataFrame:
    """How far predicted and observed shares are apart, the expected calibration error; overall and for each cohort.

    Columns: cohort, ece, by_chance (what a perfectly calibrated probability would show on as many cases, on average),
    log_loss, brier, n.
    """
    rows = []
    for key, part in _strata(cohort).items():
        predicted, truth = probability[part], cohort.truth[part]
        drawn = np.random.default_rng(0).random((DRAWN, len(predicted))) < predicted
        sure = np.clip(np.where(truth == 1, predicted, 1 - predicted), 1e-12, 1.0)
        rows.append({
            "cohort": key,
            "ece": float(_ece(predicted, truth, bins)),
            "by_chance": float(_ece(predicted, drawn, bins).mean()),
            "log_loss": float(-np.log(sure).mean()),
            "brier": float(((predicted - truth) ** 2).mean()),
            "n": len(predicted),
        })  # fmt: skip
    return pd.DataFrame(rows)


def _strata(cohort: Cohort) -> dict[str, Bools]:
    """All cases, then those of each cohort that has any."""
    if (cohort.truth == UNKNOWN).any():
        raise UserError("calibration can only be judged on cases whose truth is known")
    members = {entry.key: cohort.sources == entry.key for entry in cohort.manifest.cohorts}
    return {OVERALL: np.ones(len(cohort), bool)} | {key: rows for key, rows in members.items() if rows.any()}


def _bins(key: str, predicted: np.ndarray, truth: np.ndarray, bins: int) -> pd.DataFrame:
    place = _places(predicted, bins)
    n = np.bincount(place)
    observed = np.bincount(place, truth) / n
    low, high = wilson(np.bincount(place, truth), n)
    return pd.DataFrame({
        "cohort": key,
        "bin": np.arange(len(n)) + 1,
        "predicted": np.bincount(place, predicted) / n,
        "observed": observed,
        "low": low,
        "high": high,
        "n": n,
    })  # fmt: skip


def _ece(predicted: np.ndarray, truth: np.ndarray, bins: int) -> Floats:
    """Of one set of truths, [N], or of several, [R, N]."""
    place = _places(predicted, bins)
    apart = (truth - predicted) @ (place[:, None] == np.arange(bins))  # [..., bins]
    return np.abs(apart).sum(-1) / len(predicted)


def _places(predicted: np.ndarray, bins: int) -> Ints:
    """The bin of every case, about as many cases in each."""
    place = np.empty(len(predicted), np.int64)
    place[np.argsort(predicted, kind="stable")] = (
        np.arange(len(predicted)) * min(bins, len(predicted)) // len(predicted)
    )
    return place
