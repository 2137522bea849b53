"""The truncated geometric profile: how fast an allocation may fall from its first reader to its last."""

from __future__ import annotations

import numpy as np

from mpd2.core.arrays import Floats


def geometric_profile(decay: tuple[float, ...], readers: int) -> Floats:
    """Reference share of each rank for every number of available readers, the paper's g_{k,ϱ}(t), [M + 1, M].

    Row k is for k available readers and 0 beyond rank k; row 0 is all 0. `decay` holds ϱ in [0, 1] for 2, 3, 4, …
    readers, its last entry for all larger numbers; 1 is the uniform profile and 0 gives everything to the first rank.

    >>> geometric_profile((0.5, 1.0), readers=4).round(3).tolist()[2:]
    [[0.667, 0.333, 0.0, 0.0], [0.333, 0.333, 0.333, 0.0], [0.25, 0.25, 0.25, 0.25]]
    """
    count = np.arange(readers + 1)[:, None]
    rank = np.arange(readers)
    rate = np.array(decay)[np.clip(count - 2, 0, len(decay) - 1)]  # [M + 1, 1]
    weight: Floats = np.where(rank < count, rate**rank, 0.0)  # [M + 1, M]
    # Divided by its sum, not by (1 − ϱ^k) / (1 − ϱ), which has no value at ϱ = 1.
    total: Floats = weight.sum(-1, keepdims=True).clip(min=1.0)
    return weight / total
