"""Other splits of the same cases into train, val and test: a stratified resplit at random, or leaving a cohort out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mpd2.core.clusters import Clusters, clusters_of
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.files import short_hash
from mpd2.core.rng import Stream, stream


def resplit(cohort: Cohort, number: int) -> Cohort:
    """A random split, number `number`, stratified: in each part as many clusters of each kind as before.

    A cluster is of the kind of its rows' cohorts and truths, and never divided; where rows do not belong together every
    case is one. The split has a fingerprint of its own, for what is learned from it is not what the table teaches.
    """
    clusters = clusters_of(cohort)
    _refuse_divided(cohort, clusters)
    random = stream(number, Stream.RESPLIT).random(len(clusters))
    before, split = cohort.split[clusters.first], np.empty(len(clusters), cohort.split.dtype)
    split[np.lexsort((random, clusters.kind))] = before[np.lexsort((np.arange(len(clusters)), clusters.kind))]
    fingerprint = short_hash([cohort.fingerprint, "resplit", number])
    return replace(cohort, split=split[clusters.of], fingerprint=fingerprint).refilled()


def leave_cohort_out(cohort: Cohort, key: str, local: int, number: int) -> Cohort:
    """Leave cohort `key` out: learn from the others and from `local` of its cases, and test on its test cases.

    The local cases are drawn at random, draw number `number`, from its train and val and keep their split; more of them
    include the fewer. Test cases of the other cohorts and local ones not drawn are left out: where a cluster has rows
    in several cohorts, nothing is learned from the other rows of those that are judged.
    """
    _refuse_divided(cohort, clusters_of(cohort))
    home = cohort.sources == key
    if not home.any():
        names = ", ".join(dict.fromkeys(cohort.sources.tolist()))
        raise UserError(f"cohort to leave out: found {key!r}, expected one of {names}")
    pool = np.flatnonzero(home & (cohort.split != "test"))  # each of one split, as are its cluster's others
    if not 0 <= local <= len(pool):
        raise UserError(f"local cases of {key}: found {local}, expected from 0 to {len(pool)}")
    kept = home == (cohort.split == "test")  # theirs to learn from, ours to judge by
    kept[stream(number, Stream.LOCAL).permutation(pool)[:local]] = True
    fingerprint = short_hash([cohort.fingerprint, "newcomer", key, local, number])
    return replace(cohort.rows(kept), fingerprint=fingerprint).refilled()


def _refuse_divided(cohort: Cohort, clusters: Clusters) -> None:
    divided = cohort.split != cohort.split[clusters.first][clusters.of]
    if divided.any():
        word = cohort.manifest.groups.word if cohort.manifest.groups else "group"
        raise UserError(
            f"split: the rows of {int(divided.sum())} cases are in another split than their {word}'s others"
        )
