"""The structural risk: how likely a case is positive as its structure alone tells it, the paper's p_str."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.error_rates.logistic import fit_logistic

PENALTY = 1.0  # keeps the structural risk from becoming a step function on few cases


def fit_anatomy(train: Cohort) -> Floats:
    """Logistic fit of truth on the K inputs of structure, [K + 1], the intercept last: where routers start."""
    everything = np.ones((len(train), 1))
    return fit_logistic(_structure(train), train.truth[:, None], everything, PENALTY)[0]


def structural_risk(cohort: Cohort, anatomy: Floats) -> Floats:
    """P(positive | structure) of every case under `fit_anatomy`'s coefficients, [N]."""
    risk: Floats = expit(_structure(cohort) @ anatomy[:-1] + anatomy[-1])
    return risk


def _structure(cohort: Cohort) -> Floats:
    return cohort.state[:, cohort.layout.of_role("structure")]
