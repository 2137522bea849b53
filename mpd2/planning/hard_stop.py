"""Cases no router should decide about: a recording too poor to judge, or a case unlike everything seen in training.

This is apart from deferral: it does not weigh costs, and says "record again" or "specialist regardless" whatever
the AI and the readers would say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.evaluation.map import nearest

LEVEL = 0.99  # share of training cases that neither limit may stop
NO_STOP, AGAIN, SPECIALIST = "", "record again", "specialist regardless"


@dataclass(frozen=True, eq=False)
class StopThresholds:
    """The largest quality risk and distance that still count as seen before."""

    train: Cohort
    quality: float
    distance: float  # to the nearest training case, in standard deviations

    def stops(self, cohort: Cohort) -> pd.DataFrame:
        """One row a case: case_id, quality, distance and stop, one of NO_STOP, AGAIN and SPECIALIST.

        A new recording comes first: it may be all that is wrong.
        """
        quality, distance = poorness(cohort), distances(self.train, cohort)
        stop = np.where(distance > self.distance, SPECIALIST, NO_STOP)
        return pd.DataFrame({
            "case_id": cohort.ids,
            "quality": quality,
            "distance": distance,
            "stop": np.where(quality > self.quality, AGAIN, stop),
        })  # fmt: skip


def fit_limits(train: Cohort, level: float = LEVEL) -> StopThresholds:
    """Limits that as many training cases keep as `level` says, each case judged by the others."""
    if not 0 < level < 1:
        raise UserError(f"level of the hard stop: found {level}, expected a number between 0 and 1")
    quality, distance = poorness(train), distances(train, train)
    return StopThresholds(train, *(float(_limit(values, level)) for values in (quality, distance)))


def poorness(cohort: Cohort) -> Floats:
    """How poor each recording is, [N]; 0 where the table does not tell."""
    return cohort.column(cohort.layout.qualities[0]) if cohort.layout.qualities else np.zeros(len(cohort))


def distances(train: Cohort, cohort: Cohort) -> Floats:
    """How far each case is from the nearest training case other than itself, [N]."""
    rows, apart = nearest(train, cohort.state, 2)
    itself = train.ids[rows[:, 0]] == cohort.ids
    return np.where(itself, apart[:, 1], apart[:, 0])


def _limit(values: Floats, level: float) -> Floats:
    """The value that a new case exceeds with a probability of at most 1 − level, if it is like these ones."""
    rank = int(np.ceil(level * (len(values) + 1)))
    return np.sort(values)[rank - 1] if rank <= len(values) else np.asarray(np.inf)
