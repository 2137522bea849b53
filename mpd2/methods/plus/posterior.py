"""P(positive | state) as a calibrated probability.

Logistic in a quadratic of the K measured inputs, with a linear part that each cohort has for itself: devices and
people differ. The AI's probability and uncertainty follow from its scores and would only say the same again.
Forests, boosted trees, kernels and networks were no better on val; see ADR 0009.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mpd2.core.arrays import Floats, Ints
from mpd2.core.clusters import clusters_of
from mpd2.core.cohort import Cohort
from mpd2.core.error_rates import MOST_CROSSED, levelled
from mpd2.core.error_rates.logistic import fit_logistic, row_blocks, sigmoid
from mpd2.core.errors import EmptyCohort
from mpd2.core.rng import Stream, stream
from mpd2.core.runs import Run
from mpd2.methods.common import per_member

PENALTY = 5.0
DRAWS = 16  # bootstraps of the training cases behind a member
FEW = 2_500  # training clusters above which there are fewer draws: with many cases all of them come out alike
FEWEST_DRAWS = 2
MOST_OWN = 256  # coefficients of all cohorts' own parts together
COHORTS = "cohorts"  # the note of a run that says which cohorts have a part of their own
FULL = "full_cohorts"  # the note that says how many of them, the first, differ in more than their level


@dataclass(frozen=True, eq=False)
class Scaler:
    """Where the measured inputs of the training cases lie, [K] each, and the G cohorts that may differ."""

    means: Floats
    scales: Floats
    cohorts: tuple[str, ...] = ()
    full: int | None = None  # so many of them, the first, differ in every input, the others only in level; none: all

    def linear(self, cohort: Cohort) -> Floats:
        """The inputs of each cohort's own part, those that all share, and a constant, [N, Q G + Q], Q = K + 1."""
        common = self._common(cohort)
        return np.column_stack([self._own(cohort, common), common])

    def quadratic(self, cohort: Cohort) -> Floats:
        """The same with squares and products of what all share, the constant last, [N, Q G + Q (Q + 1) / 2].

        Of more than MOST_CROSSED inputs only the AI's scores are multiplied with all others.
        """
        common = self._common(cohort)  # its constant makes the linear terms products too
        left, right = _pairs(common.shape[1], len(cohort.layout.scores))
        return np.column_stack([self._own(cohort, common), common[:, left] * common[:, right]])

    def _common(self, cohort: Cohort) -> Floats:
        """The measured inputs in standard deviations, levelled off at REACH, and a constant, [N, Q]."""
        return np.column_stack([levelled(_measured(cohort), self.means, self.scales), np.ones(len(cohort))])

    def _own(self, cohort: Cohort, common: Floats) -> Floats:
        """The same once more for the case's own cohort, 0 for all others, [N, Q G]; a new cohort has only 0.

        Of a cohort that differs only in level there is the constant alone.
        """
        member = cohort.sources[:, None] == np.array(self.cohorts, str)  # [N, G]
        full = member[:, : self.full]
        parts = (full[:, :, None] * common[:, None]).reshape(len(cohort), full.shape[1] * common.shape[1])
        return parts if self.full is None else np.column_stack([parts, member[:, self.full :]])


def fit_scaler(train: Cohort, by_cohort: bool = True) -> Scaler:
    """Mean and standard deviation of every measured input; one that never varies is left as it is.

    Where parts of their own would need more than MOST_OWN coefficients only the largest cohorts have one, the others
    a level, and one without cases nothing.
    """
    if not len(train):
        raise EmptyCohort("nothing can be learned without cases")
    inputs = _measured(train)
    scales = inputs.std(0)
    cohorts = tuple(entry.key for entry in train.manifest.cohorts) if by_cohort else ()
    full = None
    if len(cohorts) * (inputs.shape[1] + 1) > MOST_OWN:
        cases = np.bincount(train.source, minlength=len(cohorts))
        cohorts = tuple(cohorts[place] for place in np.argsort(-cases, kind="stable") if cases[place])
        full = MOST_OWN // (inputs.shape[1] + 1)
    return Scaler(inputs.mean(0), np.where(scales > 0, scales, 1.0), cohorts, full)


def fit_posterior(train: Cohort, scaler: Scaler, weights: Floats) -> Floats:
    """Coefficients of one model for each of the T weightings of the training cases, [N, T] to [T, P]."""
    targets = np.broadcast_to((train.truth == 1).astype(float)[:, None], weights.shape)
    return fit_logistic(scaler.quadratic(train)[:, :-1], targets, weights, PENALTY, alike=True)


def predict_posterior(coefficients: np.ndarray, scaler: Scaler, cohort: Cohort) -> Floats:
    """P(positive | state), [..., B, P] to [..., N]: the mean over the B models of a member.

    A mean of probabilities is nearer to one half than the probability of a mean, as not knowing the model should be.
    """
    design, models = scaler.quadratic(cohort), coefficients.astype(float)
    parts = row_blocks(len(design), models.size // design.shape[1])
    return np.concatenate([sigmoid(models @ design[part].T).mean(-2) for part in parts], axis=-1)


def draws_for(draws: int, train: Cohort) -> int:
    """How many of the wanted draws are made: all, or where there are many cases fewer, but not below FEWEST_DRAWS."""
    clusters = len(clusters_of(train))
    return draws if clusters <= FEW else max(min(draws, FEWEST_DRAWS), draws * FEW // clusters)


def bootstraps(seeds: Sequence[int], draws: int, train: Cohort) -> Floats:
    """How often each case is drawn in each bootstrap of every member, [N, E · B]; members draw as if alone.

    What is drawn are clusters: rows that belong together come and go together.
    """
    clusters = clusters_of(train)
    size, even = len(clusters), np.full(len(clusters), 1 / len(clusters))
    drawn = [stream(seed, Stream.BOOTSTRAP, draw).multinomial(size, even) for seed in seeds for draw in range(draws)]
    return np.array(drawn, float).T[clusters.of]


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
    return Scaler(means, scales, tuple(run.notes[COHORTS]), run.notes.get(FULL))


def scaler_notes(scaler: Scaler) -> dict[str, Any]:
    """What a run says of its cohorts."""
    return {COHORTS: scaler.cohorts} | ({} if scaler.full is None else {FULL: scaler.full})


def posterior_of(run: Run, cohort: Cohort) -> Floats:
    """P(positive | state) by every member of a run, [E, N]."""
    return predict_posterior(run.arrays["posterior"], scaler_of(run), cohort)


def _pairs(columns: int, scores: int) -> tuple[Ints, Ints]:
    """The pairs of columns, the constant last, whose products all share: every pair, or of many those with a score."""
    if columns <= MOST_CROSSED + 1:
        return np.triu_indices(columns)
    left, right = np.triu_indices(columns)
    kept = (left < scores) | (left == right) | (right == columns - 1)  # scores come first among the measured
    return left[kept], right[kept]


def _measured(cohort: Cohort) -> Floats:
    return cohort.state[:, cohort.layout.informative]
