"""Smooth random fields: pigment, choroid, clouds."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray


def clouds(side: int, cells: int, random: np.random.Generator) -> NDArray[np.float32]:
    """A smooth field of mean 0 and standard deviation near 1 that changes about `cells` times across, [side, side]."""
    draws = random.standard_normal((cells + 3, cells + 3), dtype=np.float32)
    weights = _spline(side, cells)
    return (2.2 * (weights @ draws @ weights.T)).astype(np.float32, copy=False)


@lru_cache(maxsize=32)
def _spline(side: int, cells: int) -> NDArray[np.float32]:
    """Weights of a uniform cubic B-spline, [side, cells + 3]: each row has four, which add up to 1."""
    at = (np.arange(side) + 0.5) / side * cells
    cell = at.astype(int)
    t = at - cell
    four = np.stack([(1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, 1 + 3 * t + 3 * t**2 - 3 * t**3, t**3], 1) / 6  # [side, 4]
    weights = np.zeros((side, cells + 3), np.float32)
    weights[np.arange(side)[:, None], cell[:, None] + np.arange(4)] = four
    weights.flags.writeable = False
    return weights
