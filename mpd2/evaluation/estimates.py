"""A figure of several members, its spread and its interval: over resampled cases, or over seeds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from mpd2.core.arrays import Floats
from mpd2.evaluation.intervals import TAILS, percentiles

Statistic = Callable[[Floats], Floats]
"""From R weightings of the cases, [R, N], to the figures of every member, [R, E, ...]."""


def estimates(statistic: Statistic, weights: Floats, recentred: bool = False) -> dict[str, Floats]:
    """Mean and sd over members and the bootstrap interval of the mean: value, sd, low, high.

    Where resampling itself shifts a statistic, `recentred` takes the mean shift off the interval.
    """
    members = statistic(np.ones((1, weights.shape[1])))[0]  # [E, ...]
    value = mean_of(members, axis=0)
    samples = mean_of(statistic(weights), axis=1)  # [R, ...]
    shift = mean_of(samples, axis=0) - value if recentred else 0.0
    low, high = percentiles(samples) - shift
    return {"value": value, "sd": sd_of(members), "low": low, "high": high}


def mean_of(values: Floats, axis: int) -> Floats:
    """The mean of the numbers there are; NaN where there is none."""
    there = ~np.isnan(values)
    n = there.sum(axis)
    return np.where(n > 0, np.where(there, values, 0.0).sum(axis) / np.maximum(n, 1), np.nan)


def sd_of(values: Floats) -> Floats:
    """The standard deviation over the first axis (n - 1) of the numbers there are; NaN with fewer than two."""
    n = (~np.isnan(values)).sum(0)
    square = mean_of((values - mean_of(values, axis=0)) ** 2, axis=0)
    return np.where(n > 1, np.sqrt(square * n / np.maximum(n - 1, 1)), np.nan)


def student(values: Floats) -> dict[str, Floats]:
    """Mean, sd, standard error and t interval over the first axis."""
    n = (~np.isnan(values)).sum(0)
    mean, sd = mean_of(values, axis=0), sd_of(values)
    se = sd / np.sqrt(np.maximum(n, 1))
    half = stats.t.ppf(TAILS[1], np.maximum(n - 1, 1)) * se
    return {"value": mean, "sd": sd, "se": se, "low": mean - half, "high": mean + half, "n": n}
