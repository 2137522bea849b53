"""Other ways to deal the same cases to train, val and test: at random, or so that a cohort is new to whoever learns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.files import short_hash
from mpd2.core.rng import Stream, stream


def resplit(cohort: Cohort, number: int) -> Cohort:
    """The cases dealt anew by the luck of `number`: in each split as many of each cohort and truth as before.

    A dealt cohort has a fingerprint of its own, for what is learned from it is not what the table teaches.
    """
    luck = stream(number, Stream.DEAL).random(len(cohort))
    strata = (cohort.source, cohort.truth)
    split = np.empty_like(cohort.split)
    split[np.lexsort((luck, *strata))] = cohort.split[np.lexsort((np.arange(len(cohort)), *strata))]
    return replace(cohort, split=split, fingerprint=short_hash([cohort.fingerprint, "resplit", number]))


def newcomer(cohort: Cohort, key: str, local: int, number: int) -> Cohort:
    """To learn from the other cohorts and from `local` cases of cohort `key`, and to be judged on its test cases.

    The local cases are drawn from its train and val by the luck of `number` and keep their split; more of them include
    the fewer. Test cases of the other cohorts and local ones not drawn are left out.
    """
    home = cohort.sources == key
    if not home.any():
        known = ", ".join(dict.fromkeys(cohort.sources.tolist()))
        raise UserError(f"cohort to leave out: found {key!r}, expected one of {known}")
    pool = np.flatnonzero(home & (cohort.split != "test"))
    if not 0 <= local <= len(pool):
        raise UserError(f"local cases of {key}: found {local}, expected from 0 to {len(pool)}")
    kept = home == (cohort.split == "test")  # theirs to learn from, ours to judge by
    kept[stream(number, Stream.LOCAL).permutation(pool)[:local]] = True
    fingerprint = short_hash([cohort.fingerprint, "newcomer", key, local, number])
    return replace(cohort.rows(kept), fingerprint=fingerprint)
