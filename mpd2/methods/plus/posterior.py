"""P(glaucoma | state) as a calibrated probability.

Logistic in a quadratic of the six measured inputs, with a linear part that each cohort has for itself: cameras and
people differ. The AI's probability and uncertainty follow from its two scores and would only say the same again.
Forests, boosted trees, kernels and networks were no better on val; see ADR 0009.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mpd2.core.arrays import Floats
from mpd2.core.cohort import MEASURED, STATE, Cohort
from mpd2.core.error_rates import levelled
from mpd2.core.errors import EmptyCohort
from mpd2.core.logistic import fit_logistic, sigmoid
from mpd2.core.rng import Stream, stream
from mpd2.core.runs import Run
from mpd2.methods.common import per_member

PENALTY = 5.0
DRAWS = 16  # bootstraps of the training cases behind a member
COHORTS = "cohorts"  # the note of a run that says which cohorts have a part of their own


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
        return np.column_stack([levelled(_measured(cohort), self.means, self.scales), np.ones(len(cohort))])

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


def bootstraps(seeds: Sequence[int], draws: int, cases: int) -> Floats:
    """How often each case is drawn in each bootstrap of every member, [N, E · B]; members draw as if alone."""
    even = np.full(cases, 1 / cases)
    drawn = [stream(seed, Stream.BOOTSTRAP, draw).multinomial(cases, even) for seed in seeds for draw in range(draws)]
    return np.array(drawn, float).T


def posterior_arrays(seeds: Sequence[int], scaler: Scaler, coefficients: Floats) -> dict[str, np.ndarray]:
    """What a run keeps of its posterior besides the scaler's cohorts, which are a note; `coefficients` [E · B, P]."""
    return {
        "state.mean": per_member(seeds, scaler.means),
        "state.scale": per_member(seeds, scaler.scales),
        "posterior": coefficients.reshape(len(seeds), -1, coefficients.shape[-1]).astype(np.float32),  # [E, B, P]
    }


def scaler_of(run: Run) -> Scaler:
    """Where the training cases of a run lay."""
    means, scales = (run.arrays[f"state.{part}"][0] for part in ("mean", "scale"))
    return Scaler(means, scales, tuple(run.notes[COHORTS]))


def posterior_of(run: Run, cohort: Cohort) -> Floats:
    """P(glaucoma | state) by every member of a run, [E, N]."""
    return predict_posterior(run.arrays["posterior"], scaler_of(run), cohort)


def _measured(cohort: Cohort) -> Floats:
    return cohort.state[:, [STATE.index(name) for name in MEASURED]]
