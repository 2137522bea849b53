"""Rows that belong together (one patient, one exam): they are dealt out, folded and resampled as one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpd2.core.arrays import Ints
from mpd2.core.cohort import Cohort


@dataclass(frozen=True, eq=False)
class Clusters:
    """The G clusters of N cases, in the order in which they first occur."""

    of: Ints  # [N] each case's cluster
    first: Ints  # [G] its first row
    cohorts: Ints  # [G] the same number for clusters with as many rows in each cohort; a lone case's is its cohort.
    # Where fewer than RARE have as many they count by the cohort of most of their rows.
    kind: Ints  # [G] the same number for clusters with the same cohorts and truths; sorted by cohorts, then truths

    def __len__(self) -> int:
        return len(self.first)


def clusters_of(cohort: Cohort) -> Clusters:
    """The clusters of some cases and their kinds."""
    return clusters_from(cohort.cluster, cohort.source, cohort.truth, len(cohort.manifest.cohorts))


def clusters_from(cluster: Ints, source: Ints, truth: Ints, size: int) -> Clusters:
    """The clusters of rows of `size` cohorts, each [N]."""
    _, first, of = np.unique(cluster, return_index=True, return_inverse=True)
    order = np.argsort(first)  # as they first occur, so that lone cases are in the order of their rows
    first, of = first[order], np.argsort(order)[of]
    if len(first) == len(source):
        kind = np.unique(np.column_stack([source, truth]), axis=0, return_inverse=True)[1]
        return Clusters(of, first, source, kind.reshape(-1))
    rows, positives = np.zeros((len(first), size), int), np.zeros((len(first), size), int)
    np.add.at(rows, (of, source), 1)
    np.add.at(positives, (of, source), truth == 1)
    cohorts = _common(rows, rows.argmax(1))
    both = np.column_stack([cohorts, _common(positives, _by_sum(positives))])
    return Clusters(of, first, cohorts, np.unique(both, axis=0, return_inverse=True)[1].reshape(-1))


def effective_cases(cluster: np.ndarray) -> float:
    """How many independent cases n rows are worth, [n] to a number, if those of a cluster always went together (Kish).

    n² / Σ m² for clusters of m rows: n where every row stands alone, and no row is counted that might only repeat
    another. What is promised counts by this.

    >>> effective_cases(np.array([1, 2, 3])), effective_cases(np.array([1, 1, 2, 2]))
    (3.0, 2.0)
    """
    sizes = np.unique(cluster, return_counts=True)[1]
    return len(cluster) ** 2 / float((sizes**2).sum()) if len(cluster) else 0.0


def design_effect(values: np.ndarray, cluster: np.ndarray) -> float:
    """By how much clusters widen the variance of the mean of n numbers, [n]; 1 where every row stands alone.

    The variance of the ratio of cluster sums over that of independent rows, between 1 and what it would be if rows of
    a cluster always went together; that is also the answer where all numbers are the same and nothing can be seen.
    """
    sizes, of = np.unique(cluster, return_counts=True, return_inverse=True)[::-1][:2]
    if len(sizes) == len(cluster):
        return 1.0
    most = len(cluster) / effective_cases(cluster)
    apart = values - values.mean()
    alone = float((apart**2).sum())
    if alone <= 0 or len(sizes) < 2:
        return most
    together = float((np.bincount(of.reshape(-1), apart) ** 2).sum()) * len(sizes) / (len(sizes) - 1)
    return float(np.clip(together / alone, 1.0, most))


def _common(patterns: Ints, instead: Ints) -> Ints:
    """Patterns by number, [G, C] to [G]; one that fewer than RARE clusters have counts by another number, [G]."""
    _, which, groups = np.unique(patterns, axis=0, return_inverse=True, return_counts=True)
    which = which.reshape(-1)
    numbers = np.where(groups[which] >= RARE, which, groups.size + instead)
    return np.unique(numbers, return_inverse=True)[1].reshape(-1)


def _by_sum(patterns: Ints) -> Ints:
    """The sum of each pattern, [G, C] to [G]; one that fewer than RARE clusters have counts as 1 if it is above 0."""
    sums = patterns.sum(1)
    return np.where(np.bincount(sums)[sums] >= RARE, sums, np.minimum(sums, 1))


RARE = 10  # clusters; with fewer of a pattern no split would get its share
