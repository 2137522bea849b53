"""Distance to the k-th nearest reference image, features brought to length 1 (Sun et al. 2022)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpd2.core.arrays import Floats

K = 10
ROWS = 1024  # features compared at a time


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Reference features of length 1."""

    features: Floats  # [N, D]
    k: int

    @classmethod
    def fit(cls, features: Floats, k: int = K) -> Neighbours:
        """From features [N, D]; k is at most their number."""
        return cls(unit(features), min(k, len(features)))

    def score(self, features: Floats) -> Floats:
        """Distance to the k-th nearest, 0 to 2, [N]."""
        parts = [self._part(features[first : first + ROWS]) for first in range(0, len(features), ROWS)]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _part(self, features: Floats) -> Floats:
        cosine = unit(features) @ self.features.T  # [n, N]
        kth = -np.partition(-cosine, self.k - 1, axis=1)[:, self.k - 1]
        return np.sqrt(np.clip(2 - 2 * kth, 0, None))


def unit(features: Floats) -> Floats:
    """Features [N, D] brought to length 1."""
    return features / np.maximum(np.linalg.norm(features, axis=1, keepdims=True), 1e-12)
