"""The AI with its threshold set anew: nobody is asked, and every case gets the label of the cheaper expected error.

How likely glaucoma is comes from a logistic model of the training cases, of the AI's score alone or of all inputs. The
second is the posterior of MPD²+ with everything as there, so that what MPD²+ does better is what its readers add.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.special import logit

from mpd2.core.arrays import Floats, Ints
from mpd2.core.cohort import MEASURED, UNKNOWN, Cohort
from mpd2.core.costs import Costs, OperatingPoint
from mpd2.core.logistic import fit_logistic, sigmoid
from mpd2.core.policy import NOBODY, Continuations, Decisions, Policy
from mpd2.core.runs import Run
from mpd2.methods.base import COHORT, Ground
from mpd2.methods.common import CONFIDENT, asks_nobody, confident_ai, learning_splits, member_settings, per_member
from mpd2.methods.plus.posterior import (
    COHORTS,
    DRAWS,
    bootstraps,
    fit_posterior,
    fit_scaler,
    posterior_arrays,
    posterior_of,
)

PENALTY = 1.0  # on the slope of one score: felt only where there are few cases, or errors of one kind alone


class _Relabelled(ABC):
    """What both versions share: whatever says how likely glaucoma is, the costs of errors make a label of it."""

    @abstractmethod
    def glaucoma(self, run: Run, cohort: Cohort) -> Floats:
        """P(glaucoma | state) by every member, [E, N]."""

    def grounds(self, run: Run, cohort: Cohort) -> dict[Ground, Floats]:
        """The log-odds of glaucoma, whatever errors cost."""
        return {"glaucoma": logit(self.glaucoma(run, cohort).mean(0))}

    def policy(self, run: Run, cohort: Cohort) -> Policy:
        """No deferral."""
        return asks_nobody(run.members, cohort)

    def continuations(self, run: Run, cohort: Cohort) -> Continuations:
        """The cheaper error's label if nobody is asked; a reader who is asked all the same has the last word."""
        point = OperatingPoint(run.costs, run.notes.get(CONFIDENT))
        return _endings(_labels(self.glaucoma(run, cohort), cohort, point), cohort)

    def at(self, run: Run, point: OperatingPoint) -> Run:
        """The same probabilities under other costs of errors."""
        return replace(run, costs=point.costs, notes={**run.notes, CONFIDENT: point.confident})

    def deciding(self, run: Run, cohort: Cohort) -> Callable[[OperatingPoint], Decisions]:
        """What the mean of all members' probabilities decides at any point, [N]."""
        glaucoma, nobody = self.glaucoma(run, cohort).mean(0), np.full((len(cohort), 1), NOBODY)
        return lambda point: Decisions(nobody, _labels(glaucoma, cohort, point))

    def together(self, run: Run, cohort: Cohort) -> Callable[[OperatingPoint], tuple[Policy, Continuations]]:
        """No deferral at any point, and the label of the mean of all members' probabilities, [N]."""
        glaucoma, policy = self.glaucoma(run, cohort).mean(0), asks_nobody(1, cohort).member(0)
        return lambda point: (policy, _endings(_labels(glaucoma, cohort, point), cohort))


@dataclass(frozen=True)
class RecalibratedScore(_Relabelled):
    """Logistic in the AI's log-odds alone (Platt scaling)."""

    inputs: ClassVar[tuple[str, ...]] = ("logit_0", "logit_1")
    key: str = "recalibrated-score"
    name: str = "Recalibrated AI, one score"

    def fit(self, cohort: Cohort, costs: Costs, seeds: Sequence[int]) -> Run:
        """Slope and intercept from train, the same for every seed."""
        settings = member_settings(seeds)
        train, _ = learning_splits(cohort)
        truth = (train.truth == 1).astype(float)[:, None]
        coefficients = fit_logistic(_log_odds(train)[:, None], truth, np.ones_like(truth), PENALTY)[0]  # [2]
        return Run(
            method=self.key,
            settings=settings,
            arrays={"coefficients": per_member(seeds, coefficients)},
            rule="joint",
            costs=costs,
            readers=cohort.manifest.columns,
            fingerprint=cohort.fingerprint,
        )

    def glaucoma(self, run: Run, cohort: Cohort) -> Floats:
        """P(glaucoma | the AI's score) by every member, [E, N]."""
        slope, intercept = run.arrays["coefficients"].T[..., None]  # [E, 1] each
        return sigmoid(slope * _log_odds(cohort) + intercept)


@dataclass(frozen=True)
class Recalibrated(_Relabelled):
    """Logistic in a quadratic of all inputs, with a part of its own for each cohort: the posterior of MPD²+."""

    draws: int = DRAWS
    inputs: ClassVar[tuple[str, ...]] = (*MEASURED, COHORT)
    key: str = "recalibrated"
    name: str = "Recalibrated AI"

    def fit(self, cohort: Cohort, costs: Costs, seeds: Sequence[int]) -> Run:
        """The posterior of every member's bootstraps of train, all in one go."""
        settings = member_settings(seeds, draws=self.draws)
        train, _ = learning_splits(cohort)
        scaler = fit_scaler(train)
        posterior = fit_posterior(train, scaler, bootstraps(seeds, self.draws, len(train)))
        return Run(
            method=self.key,
            settings=settings,
            arrays=posterior_arrays(seeds, scaler, posterior),
            rule="joint",
            costs=costs,
            readers=cohort.manifest.columns,
            fingerprint=cohort.fingerprint,
            notes={COHORTS: scaler.cohorts},
        )

    def glaucoma(self, run: Run, cohort: Cohort) -> Floats:
        """P(glaucoma | state) by every member, [E, N]."""
        return posterior_of(run, cohort)


def _endings(kept: Ints, cohort: Cohort) -> Continuations:
    """The given label if nobody is asked, [..., N]; a reader who is asked all the same has the last word."""
    shape = (*kept.shape, cohort.readers)
    first = np.where(cohort.available, np.arange(cohort.readers), NOBODY)  # [N, M]
    words = np.where(cohort.available, cohort.decisions, UNKNOWN)
    return Continuations(kept, np.broadcast_to(words, shape), np.broadcast_to(first, shape)[..., None])


def _labels(glaucoma: Floats, cohort: Cohort, point: OperatingPoint) -> Ints:
    """The label of the cheaper expected error, [..., N], but the AI's own where it is too confident to be overruled."""
    return np.where(confident_ai(cohort, point.confident), cohort.ai_label, point.costs.cheaper_label(glaucoma))


def _log_odds(cohort: Cohort) -> Floats:
    """log p_ai / (1 − p_ai), [N], from the two scores: the probability itself may be rounded to 0 or 1."""
    return cohort.column("logit_1") - cohort.column("logit_0")
