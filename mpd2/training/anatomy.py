"""The structural risk: glaucoma as the cup-to-disc ratios alone tell it, the paper's p_str."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from mpd2.core.arrays import Floats
from mpd2.core.cohort import STATE, Cohort
from mpd2.core.logistic import fit_logistic

ANATOMY = [STATE.index(name) for name in ("vCDR", "aCDR")]
PENALTY = 1.0  # keeps the structural risk from becoming a step function on few cases


def fit_anatomy(train: Cohort) -> Floats:
    """Logistic fit of truth on (vCDR, aCDR), [3] (w_vCDR, w_aCDR, b): where every router's structural risk starts."""
    everything = np.ones((len(train), 1))
    return fit_logistic(train.state[:, ANATOMY], train.truth[:, None], everything, PENALTY)[0]


def structural_risk(state: Floats, anatomy: Floats) -> Floats:
    """P(glaucoma | vCDR, aCDR) of every case under `fit_anatomy`'s coefficients; `state` is [N, 8]."""
    risk: Floats = expit(state[:, ANATOMY] @ anatomy[:2] + anatomy[2])
    return risk
