"""Mahalanobis distance to the nearest class (Lee et al. 2018): one covariance for all classes, shrunk.

No truth is needed: a reference image counts for the class the classifier says.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpd2.core.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Mahalanobis:
    """Class means and the tied precision."""

    means: Floats  # [C, D]
    precision: Floats  # [D, D]

    @classmethod
    def fit(cls, features: Floats, classes: Ints) -> Mahalanobis:
        """From features [N, D] and the class of each [N]; the covariance is shrunk after Ledoit and Wolf (2004)."""
        from sklearn.covariance import ledoit_wolf

        present, member = np.unique(classes, return_inverse=True)
        means = np.stack([features[member == index].mean(0) for index in range(len(present))])  # [C, D]
        covariance, _ = ledoit_wolf(features - means[member], assume_centered=True)
        return cls(means, np.linalg.pinv(covariance, hermitian=True))

    def score(self, features: Floats) -> Floats:
        """Distance to the nearest class mean, [N]."""
        away = features[:, None] - self.means  # [N, C, D]
        squared = ((away @ self.precision) * away).sum(-1)
        return np.sqrt(np.clip(squared, 0, None).min(1))
