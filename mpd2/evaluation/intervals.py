"""How sure a number is: bootstrap, paired bootstrap, Student's and Wilson's intervals, all at LEVEL.

A resample is a weight for every case, so all resamples of all members of a method are one matrix product. For a
population the statistic is the mean over its members.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from statistics import NormalDist

import numpy as np
import pandas as pd
from scipy import stats

from mpd2.core.arrays import Floats
from mpd2.core.clusters import clusters_of
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.evaluation.metrics import COUNTED, METRICS, Tally, metrics_of

RESAMPLES = 2000
FEWEST = 200  # resamples, however large a table
MOST_WEIGHTS, MOST_DRAWN = 40_000_000, 2**22  # numbers that are kept, and drawn at once
LEVEL = 0.95
TAILS = np.array([(1 - LEVEL) / 2, (1 + LEVEL) / 2])


Statistic = Callable[[Floats], Floats]
"""From R weightings of the cases, [R, N], to the metrics of every member, [R, E, ...]."""


@dataclass(frozen=True)
class Estimate:
    """A number with its interval, and where there are such its sd over members, the paper's number and a title."""

    value: float
    low: float
    high: float
    sd: float = np.nan
    published: float = np.nan
    title: str = ""

    def __neg__(self) -> Estimate:
        return Estimate(-self.value, -self.high, -self.low)

    def __add__(self, constant: float) -> Estimate:
        return Estimate(self.value + constant, self.low + constant, self.high + constant)

    def __sub__(self, other: Estimate) -> Estimate:
        """A difference that is not paired: its interval is wider than it need be."""
        return Estimate(self.value - other.value, self.low - other.high, self.high - other.low)

    def __str__(self) -> str:
        """A difference and its interval, if it has one, in plain text.

        >>> print(Estimate(-0.035, -0.051, 0.017), Estimate(0.0001, -0.0004, 0.3), Estimate(0.1, np.nan, np.nan))
        -0.035 [-0.051, +0.017] +0.000 [+0.000, +0.300] +0.100
        """
        if np.isnan(self.value):
            return "–"
        value, low, high = (round(part, 3) + 0.0 for part in (self.value, self.low, self.high))  # no negative zero
        if np.isnan(self.low):
            return f"{value:+.3f}"
        return f"{value:+.3f} [{low:+.3f}, {high:+.3f}]"


def resamples_for(cases: int) -> int:
    """How many resamples are drawn: RESAMPLES, or of a very large table as many as are held at once, 200 at least.

    >>> resamples_for(899), resamples_for(60_000), resamples_for(10**7)
    (2000, 666, 200)
    """
    return min(RESAMPLES, max(FEWEST, MOST_WEIGHTS // max(cases, 1)))


def resample_weights(cohort: Cohort, resamples: int | None = None, seed: int = 0, by_cluster: bool = True) -> Floats:
    """How often each case is drawn in each resample, [R, N]; every cohort keeps its number of cases.

    R is `resamples_for` so many cases unless it is given. What is drawn are clusters, each in place of one with as
    many rows in every cohort; or, to show what difference that makes, single rows as if none belonged together.
    """
    resamples = resamples_for(len(cohort)) if resamples is None else resamples
    if resamples < 1:
        raise UserError(f"resamples: found {resamples}, expected at least 1")
    clusters = clusters_of(cohort if by_cluster else replace(cohort, cluster=np.arange(len(cohort))))
    n, stratum = len(clusters), clusters.cohorts  # G, [G]
    order = np.argsort(stratum, kind="stable")  # clusters of a stratum side by side
    ends = np.cumsum(np.bincount(stratum))[stratum]  # [G]
    sizes = np.bincount(stratum)[stratum]
    random, weights = np.random.default_rng(seed), np.empty((resamples, n))
    step = max(1, MOST_DRAWN // max(n, 1))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        drawn = order[random.integers(ends - sizes, ends, size=(size, n))]  # [some of R, G]
        cells = drawn + n * np.arange(size)[:, None]
        weights[start : start + size] = np.bincount(cells.ravel(), minlength=size * n).reshape(size, n)
    return weights if n == len(cohort) else weights[:, clusters.of]


def bootstrap(tally: Tally, weights: Floats) -> Floats:
    """COUNTED of every resample, [R, ..., metrics]."""
    return metrics_of(tally.weighted(weights))


def percentiles(samples: Floats) -> Floats:
    """Lower and upper end of the percentile interval over the first axis, [R, ...] -> [2, ...].

    A resample in which the metric does not exist (NaN) is left out; without any other the ends are NaN.

    >>> percentiles(np.array([*range(41), np.nan])).round(9).tolist()
    [1.0, 39.0]
    """
    ranked = np.sort(samples, axis=0)  # NaN last
    last = np.maximum((~np.isnan(samples)).sum(0) - 1, 0)
    position = np.multiply.outer(TAILS, last)  # [2, ...]
    below = np.floor(position).astype(int)
    low = np.take_along_axis(ranked, below, axis=0)
    high = np.take_along_axis(ranked, np.minimum(below + 1, last), axis=0)
    return low + (high - low) * (position - below)


def summary(tallies: Mapping[str, Tally], weights: Floats) -> pd.DataFrame:
    """Every metric of every method with its interval: method, metric, value, low, high.

    All leading axes of a tally are members of that method's population.
    """
    value = np.stack([observed(tally) for tally in tallies.values()])  # [methods, metrics]
    low, high = percentiles(np.stack([_mean_of_members(tally, weights) for tally in tallies.values()], axis=1))
    names = pd.DataFrame(list(product(tallies, COUNTED)), columns=["method", "metric"])
    return names.assign(value=value.ravel(), low=low.ravel(), high=high.ravel())


def observed(tally: Tally) -> Floats:
    """COUNTED of the cases as they are, mean over members, [metrics]."""
    return _mean_of_members(tally, np.ones((1, tally.cases.shape[-2])))[0]


def paired_difference(first: Tally, second: Tally, weights: Floats) -> pd.DataFrame:
    """What `first` has more than `second` on the same resamples: metric, difference, low, high, in_favour.

    `in_favour` is the share of resamples in which `first` is the better of the two by the metric's direction; a tie
    counts half, a resample without the metric not at all.
    """
    samples = _mean_of_members(first, weights) - _mean_of_members(second, weights)  # [R, metrics]
    low, high = percentiles(samples)
    gain = samples * np.array([METRICS[name].direction for name in COUNTED])
    wins = (gain > 0).sum(0) + 0.5 * (gain == 0).sum(0)
    exist = (~np.isnan(samples)).sum(0)
    in_favour = np.where(exist > 0, wins / np.maximum(exist, 1), np.nan)
    difference = observed(first) - observed(second)
    return pd.DataFrame({"metric": COUNTED, "difference": difference, "low": low, "high": high, "in_favour": in_favour})


def wilson(successes: np.ndarray | int, n: np.ndarray | int, effect: np.ndarray | float = 1.0) -> tuple[Floats, Floats]:
    """Wilson's interval of a rate, low and high; with no trial at all it is the whole of 0 to 1.

    Where trials belong together their number is divided by the design `effect` of their clusters.

    >>> [round(float(end), 3) for end in wilson(8, 10)]
    [0.49, 0.943]
    """
    successes, n = np.asarray(successes, float), np.asarray(n, float)
    if np.any((successes < 0) | (successes > n)):
        raise UserError("successes: found a number below 0 or above the number of trials")
    successes, n = successes / effect, n / effect
    z = NormalDist().inv_cdf(TAILS[1])
    centre = (successes + z**2 / 2) / (n + z**2)
    spread = successes * (n - successes) / np.maximum(n, 1)
    half = z * np.sqrt(spread + z**2 / 4) / (n + z**2)
    return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)


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


def _mean_of_members(tally: Tally, weights: Floats) -> Floats:
    """The statistic of every resample: the mean over members of COUNTED, [R, metrics]."""
    samples = bootstrap(tally, weights)  # [R, ..., metrics]
    return samples.reshape(len(weights), -1, len(COUNTED)).mean(1)
