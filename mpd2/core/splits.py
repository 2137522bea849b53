"""Other splits of the same cases into train, val and test: a stratified resplit at random, or leaving a cohort out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.files import short_hash
from mpd2.core.rng import Stream, stream


def resplit(cohort: Cohort, number: int) -> Cohort:
    """A random split, number `number`, stratified: in each part as many cases of each cohort and truth as before.

    It has a fingerprint of its own, for what is learned from it is not what the table teaches.
    """
    random = stream(number, Stream.RESPLIT).random(len(cohort))
    strata = (cohort.source, cohort.truth)
    split = np.empty_like(cohort.split)
    split[np.lexsort((random, *strata))] = cohort.split[np.lexsort((np.arange(len(cohort)), *strata))]
    return replace(cohort, split=split, fingerprint=short_hash([cohort.fingerprint, "resplit", number]))


def leave_cohort_out(cohort: Cohort, key: str, local: int, number: int) -> Cohort:
    """Leave cohort `key` out: learn from the others and from `local` of its cases, and test on its test cases.

    The local cases are drawn at random, draw number `number`, from its train and val and keep their split; more of them
    include the fewer. Test cases of the other cohorts and local ones not drawn are left out.
    """
    home = cohort.sources == key
    if not home.any():
        names = ", ".join(dict.fromkeys(cohort.sources.tolist()))
        raise UserError(f"cohort to leave out: found {key!r}, expected one of {names}")
    pool = np.flatnonzero(home & (cohort.split != "test"))
    if not 0 <= local <= len(pool):
        raise UserError(f"local cases of {key}: found {local}, expected from 0 to {len(pool)}")
    kept = home == (cohort.split == "test")  # theirs to learn from, ours to judge by
    kept[stream(number, Stream.LOCAL).permutation(pool)[:local]] = True
    fingerprint = short_hash([cohort.fingerprint, "newcomer", key, local, number])
    return replace(cohort.rows(kept), fingerprint=fingerprint)
