"""What a reader says given the truth and the state: P(reader j says positive | truth, state), readers pooled."""

from __future__ import annotations

import numpy as np

from mpd2.core.arrays import Floats
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.error_rates.logistic import row_blocks, sigmoid
from mpd2.methods.plus.pooling import Pooled, fit_pooled
from mpd2.methods.plus.posterior import Scaler

COMMON, APART = 10.0, 3.0  # penalties on what readers share and on how far one departs from it
LAPSE = 0.01  # nobody is taken to be surer than this of what a reader will say


def fit_answers(train: Cohort, scaler: Scaler, weights: Floats) -> tuple[Pooled, Pooled]:
    """Models of every reader's word about the negative and about the positive, for T weightings of the cases, [N, T].

    A reader's word counts only where available. One who was never heard answers like the population. Weightings share
    nothing, so where they would need much memory together they are fitted a few at a time.
    """
    design, spoken = scaler.linear(train), train.available & (train.decisions != UNKNOWN)  # [N, Q], [N, M]
    size = train.readers * max(len(train), design.shape[1] ** 2)
    sets = row_blocks(weights.shape[1], size)

    def fit(truth: int) -> Pooled:
        part = train.truth == truth
        targets = (train.decisions[part, None] == 1).astype(float)  # [N, 1, M]
        found = []
        for some in sets:
            counted = weights[part, some, None] * spoken[part, None]  # [N, T, M]
            found.append(fit_pooled(design[part], np.broadcast_to(targets, counted.shape), counted, COMMON, APART))
        return Pooled(
            np.concatenate([each.population for each in found]), np.concatenate([each.readers for each in found])
        )

    return fit(0), fit(1)


def predict_answers(coefficients: np.ndarray, scaler: Scaler, cohort: Cohort) -> Floats:
    """P(says positive | truth 0 or 1), [..., B, 2, M, Q] to [..., N, M, 2]: the mean over the B models of a member."""
    design, models = scaler.linear(cohort), coefficients.astype(float)
    parts = row_blocks(len(design), models.size // design.shape[1])
    rates = [sigmoid(models @ design[part].T).mean(-4) for part in parts]  # [..., 2, M, N] each
    return np.moveaxis(np.concatenate(rates, axis=-1), (-3, -2, -1), (-1, -2, -3)).clip(LAPSE, 1 - LAPSE)
