"""Readers of a cohort that has none: what the readers of the most alike cases of other cohorts said of those.

The paper's rule for ORIGA. Only cases of the same truth are looked among. Similarity is the cosine in the space of each
encoder; it is standardised over all of the pool (mean 0, sd 1 for each query), the mean over encoders is taken, and the
seven nearest remain. A reader's word is the majority of what that reader said of those of the seven that they read; if
it is a tie, what they said of the nearest. Who has read none of the seven is absent. These labels are induced: nobody
has said any of them of these photographs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mpd2.core.arrays import Floats, Ints
from mpd2.core.cohort import UNKNOWN
from mpd2.core.errors import UserError

NEIGHBOURS = 7
NOBODY = -1  # stands where a pool has fewer cases than neighbours are asked for


def nearest(
    queries: Sequence[Floats], truth: Ints, pool: Sequence[Floats], pool_truth: Ints, neighbours: int = NEIGHBOURS
) -> Ints:
    """The pool's most alike cases of each query's truth, nearest first, [Q, neighbours]; NOBODY where there are fewer.

    `queries` and `pool` have unit vectors for each encoder, [Q, F] and [P, F]; `truth` is [Q], `pool_truth` [P]. Of two
    that are equally alike the first in the pool is nearer.
    """
    _check(queries, truth, pool, pool_truth)
    found = np.full((len(truth), neighbours), NOBODY)
    for label in np.unique(truth):
        asked, among = np.flatnonzero(truth == label), np.flatnonzero(pool_truth == label)  # [Qc], [Pc]
        if not len(among):
            raise UserError(f"retrieved readers: no case with the truth {label} is in the other cohorts, expected some")
        similar = [standardised(of[asked] @ space[among].T) for of, space in zip(queries, pool, strict=True)]
        fused = np.mean(similar, axis=0)  # [Qc, Pc]
        order = np.argsort(-fused, axis=1, kind="stable")[:, :neighbours]
        found[asked, : order.shape[1]] = among[order]
    return found


def standardised(similar: Floats) -> Floats:
    """Similarities with mean 0 and sd 1 for each query, [Q, P]; 0 where all are the same.

    >>> standardised(np.array([[0.1, 0.3], [0.5, 0.5]])).round(3).tolist()
    [[-1.0, 1.0], [0.0, 0.0]]
    """
    spread = similar.std(1, keepdims=True)
    return np.asarray((similar - similar.mean(1, keepdims=True)) / np.where(spread > 1e-12, spread, 1.0))


def induced(neighbours: Ints, decisions: Ints) -> Ints:
    """What each reader is taken to say, [Q, K] places in a pool and its decisions [P, M] to [Q, M]; UNKNOWN if absent.

    >>> induced(np.array([[0, 1, 2]]), np.array([[1, 0, -1], [0, 0, -1], [-1, 1, -1]])).tolist()
    [[1, 0, -1]]
    """
    readers = decisions.shape[1]
    padded = np.vstack([decisions, np.full((1, readers), UNKNOWN)])  # the last row is nobody's
    said = padded[neighbours]  # [Q, K, M]; NOBODY is the last row
    yes, no = (said == 1).sum(1), (said == 0).sum(1)  # [Q, M]
    first = (said != UNKNOWN).argmax(1)  # [Q, M] the nearest neighbour that the reader has read
    word = np.take_along_axis(said, first[:, None, :], 1)[:, 0]  # [Q, M], UNKNOWN where there is none
    return np.where(yes > no, 1, np.where(no > yes, 0, word))


def _check(queries: Sequence[Floats], truth: Ints, pool: Sequence[Floats], pool_truth: Ints) -> None:
    if not queries or len(queries) != len(pool):
        raise UserError("retrieved readers: expected the same encoders, at least one, for both sides")
    sizes = {len(each) for each in queries} | {len(truth)}, {len(each) for each in pool} | {len(pool_truth)}
    if any(len(size) != 1 for size in sizes):
        raise UserError("retrieved readers: expected a vector of every encoder for every case")
