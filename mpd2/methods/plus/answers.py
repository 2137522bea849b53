"""What a reader says given the truth and the state: P(reader j says glaucoma | truth, state), readers pooled."""

from __future__ import annotations

import numpy as np

from mpd2.core.arrays import Floats
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.logistic import sigmoid
from mpd2.methods.plus.pooling import Pooled, fit_pooled
from mpd2.methods.plus.posterior import Scaler

COMMON, APART = 10.0, 3.0  # penalties on what readers share and on how far one departs from it
LAPSE = 0.01  # nobody is taken to be surer than this of what a reader will say


def fit_answers(train: Cohort, scaler: Scaler, weights: Floats) -> tuple[Pooled, Pooled]:
    """Models of every reader's word about the healthy and about the sick, for T weightings of the cases, [N, T].

    A reader's word counts only where available. One who was never heard answers like the population.
    """
    design, spoken = scaler.linear(train), train.available & (train.decisions != UNKNOWN)  # [N, Q], [N, M]

    def fit(truth: int) -> Pooled:
        part = train.truth == truth
        counted = weights[part, :, None] * spoken[part, None]  # [N, T, M]
        targets = np.broadcast_to((train.decisions[part, None] == 1).astype(float), counted.shape)
        return fit_pooled(design[part], targets, counted, COMMON, APART)

    return fit(0), fit(1)


def predict_answers(coefficients: np.ndarray, scaler: Scaler, cohort: Cohort) -> Floats:
    """P(says glaucoma | truth 0 or 1), [..., B, 2, M, Q] to [..., N, M, 2]: the mean over the B models of a member."""
    rates = sigmoid(coefficients.astype(float) @ scaler.linear(cohort).T).mean(-4)  # [..., 2, M, N]
    return np.moveaxis(rates, (-3, -2, -1), (-1, -2, -3)).clip(LAPSE, 1 - LAPSE)
