"""The free energy of the logits (Liu et al. 2020): how little the classifier sees of anything it knows."""

from __future__ import annotations

from scipy.special import logsumexp

from mpd2.core.arrays import Floats


def energy(logits: Floats) -> Floats:
    """−log Σ exp ℓ of logits [N, C]; larger is stranger, [N].

    >>> import numpy as np
    >>> energy(np.array([[0.0, 5.0], [0.0, 1.0]])).round(2)
    array([-5.01, -1.31])
    """
    return -logsumexp(logits, axis=1)
