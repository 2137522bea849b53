"""P(glaucoma | state) as a calibrated probability, and how well it is calibrated.

Logistic in a quadratic of the six measured inputs, with a linear part that each cohort has for itself: cameras and
people differ. The AI's probability and uncertainty follow from its two scores and would only say the same again.
Forests, boosted trees, kernels and networks were no better on val; see ADR 0009.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import STATE, UNKNOWN, Cohort
from mpd2.core.errors import EmptyCohort, UserError
from mpd2.core.logistic import fit_logistic, sigmoid
from mpd2.evaluation.intervals import wilson

MEASURED = ("logit_0", "logit_1", "vim_risk_z", "quality_risk", "vCDR", "aCDR")
REACH = 2.0  # standard deviations at which an input levels off, so that no quadratic runs away out of range
PENALTY = 5.0
BINS = 10
DRAWN = 200  # truths drawn to see what chance alone does
OVERALL = "all"


@dataclass(frozen=True, eq=False)
class Scaler:
    """Where the measured inputs of the training cases lie, [6] each, and the G cohorts that may differ."""

    means: Floats
    scales: Floats
    cohorts: tuple[str, ...] = ()

    def linear(self, cohort: Cohort) -> Floats:
        """The inputs of each cohort's own part, those that all share, and a constant, [N, 7 G + 7]."""
        common = self._common(cohort)
        return np.column_stack([self._own(cohort, common), common])

    def quadratic(self, cohort: Cohort) -> Floats:
        """The same with squares and products of what all share, the constant last, [N, 7 G + 28]."""
        common = self._common(cohort)  # its constant makes the linear terms products too
        left, right = np.triu_indices(common.shape[1])
        return np.column_stack([self._own(cohort, common), common[:, left] * common[:, right]])

    def _common(self, cohort: Cohort) -> Floats:
        """The measured inputs in standard deviations, levelled off at REACH, and a constant, [N, 7]."""
        levelled = REACH * np.tanh((_measured(cohort) - self.means) / self.scales / REACH)
        return np.column_stack([levelled, np.ones(len(cohort))])

    def _own(self, cohort: Cohort, common: Floats) -> Floats:
        """The same once more for the case's own cohort, 0 for all others, [N, 7 G]; a new cohort has only 0."""
        member = cohort.sources[:, None] == np.array(self.cohorts, str)  # [N, G]
        return (member[:, :, None] * common[:, None]).reshape(len(cohort), len(self.cohorts) * common.shape[1])


def fit_scaler(train: Cohort, by_cohort: bool = True) -> Scaler:
    """Mean and standard deviation of every measured input; one that never varies is left as it is."""
    if not len(train):
        raise EmptyCohort("nothing can be learned without cases")
    inputs = _measured(train)
    scales = inputs.std(0)
    cohorts = tuple(entry.key for entry in train.manifest.cohorts) if by_cohort else ()
    return Scaler(inputs.mean(0), np.where(scales > 0, scales, 1.0), cohorts)


def fit_posterior(train: Cohort, scaler: Scaler, weights: Floats) -> Floats:
    """Coefficients of one model for each of the T weightings of the training cases, [N, T] to [T, 7 G + 28]."""
    targets = np.repeat((train.truth == 1).astype(float)[:, None], weights.shape[1], axis=1)
    return fit_logistic(scaler.quadratic(train)[:, :-1], targets, weights, PENALTY)


def predict_posterior(coefficients: np.ndarray, scaler: Scaler, cohort: Cohort) -> Floats:
    """P(glaucoma | state), [..., B, 7 G + 28] to [..., N]: the mean over the B models of a member.

    A mean of probabilities is nearer to one half than the probability of a mean, as not knowing the model should be.
    """
    return np.asarray(sigmoid(coefficients.astype(float) @ scaler.quadratic(cohort).T).mean(-2))


# ---------------------------------------------------------------------------------- how well it is calibrated


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
    found = {entry.key: cohort.sources == entry.key for entry in cohort.manifest.cohorts}
    return {OVERALL: np.ones(len(cohort), bool)} | {key: rows for key, rows in found.items() if rows.any()}


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


def _measured(cohort: Cohort) -> Floats:
    return cohort.state[:, [STATE.index(name) for name in MEASURED]]
