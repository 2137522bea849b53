"""Virtual-logit matching (ViM): how much of a feature lies where reference images have nothing.

Wang et al. 2022. It lives in the space the head takes: the origin is where the head gives zero logits, o = −W⁺ b, the
principal subspace is that of reference features about o, and the residual is scaled to the size of the logits by α.
Departure: α comes from images that the subspace was not fitted on, which otherwise is too large by as much as the
subspace is overfitted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from mpd2.core.arrays import Floats


@dataclass(frozen=True, eq=False)
class Vim:
    """What ViM knows of its reference."""

    origin: Floats  # [D] o
    residual: Floats  # [D, D - d] an orthonormal basis of what is left of the principal subspace
    alpha: float

    @classmethod
    def fit(cls, features: Floats, held_out: Floats, logits_held_out: Floats, weight: Floats, bias: Floats) -> Vim:
        """From features [N, D] to fit the subspace, and others [H, D] with logits [H, C] to fit α."""
        origin = -np.linalg.pinv(weight) @ bias  # [D]
        centred = features - origin
        _, vectors = np.linalg.eigh(centred.T @ centred / len(centred))  # eigenvalues ascending
        residual = np.ascontiguousarray(vectors[:, : features.shape[1] - dimension(*features.shape)])
        norms = np.linalg.norm((held_out - origin) @ residual, axis=1)  # [H]
        return cls(origin, residual, float(logits_held_out.max(1).mean() / max(norms.mean(), 1e-12)))

    def score(self, features: Floats, logits: Floats) -> Floats:
        """Larger is stranger, [N]: the virtual logit against the free energy of the others."""
        virtual = self.alpha * np.linalg.norm((features - self.origin) @ self.residual, axis=1)
        return virtual - logsumexp(logits, axis=1)


def dimension(cases: int, width: int) -> int:
    """Of the principal subspace: the authors' rule for the width, and at most half as many as there are cases.

    >>> dimension(5000, 768), dimension(5000, 64), dimension(40, 768)
    (512, 32, 20)
    """
    usual = 1000 if width >= 2048 else 512 if width >= 768 else width // 2
    return max(1, min(usual, cases // 2, width - 1))
