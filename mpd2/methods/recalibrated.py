"""The AI with its threshold set anew: nobody is asked, and every case gets the label of the cheaper expected error.

How likely a case is positive comes from a logistic model of the training cases, of the AI's score alone or of all
inputs. The second is the posterior of MPD²+ with everything as there, so that what MPD²+ does better is what its
readers add.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logit

from mpd2.core.arrays import Floats, Ints
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs, OperatingPoint
from mpd2.core.error_rates.logistic import fit_logistic, sigmoid
from mpd2.core.policy import NOBODY, Continuations, Decisions, Policy
from mpd2.core.runs import Run
from mpd2.core.state import StateLayout
from mpd2.methods.base import COHORT, Ground
from mpd2.methods.common import CONFIDENT, asks_nobody, confident_ai, learning_splits, member_settings, per_member
from mpd2.methods.plus.posterior import (
    DRAWS,
    bootstraps,
    draws_for,
    fit_posterior,
    fit_scaler,
    posterior_arrays,
    posterior_of,
    scaler_notes,
)

PENALTY = 1.0  # on the slope of one score: felt only where there are few cases, or errors of one kind alone


class _Relabelled(ABC):
    """What both versions share: whatever says how likely positive is, the costs of errors make a label of it."""

    @abstractmethod
    def positive(self, run: Run, cohort: Cohort) -> Floats:
        """P(positive | state) by every member, [E, N]."""

    def grounds(self, run: Run, cohort: Cohort) -> dict[Ground, Floats]:
        """The log-odds of positive, whatever errors cost."""
        return {"positive": logit(self.positive(run, cohort).mean(0))}

    def policy(self, run: Run, cohort: Cohort) -> Policy:
        """No deferral."""
        return asks_nobody(run.members, cohort)

    def continuations(self, run: Run, cohort: Cohort) -> Continuations:
        """The cheaper error's label if nobody is asked; a reader who is asked all the same has the last word."""
        point = OperatingPoint(run.costs, run.notes.get(CONFIDENT))
        return _endings(_labels(self.positive(run, cohort), cohort, point), cohort)

    def at(self, run: Run, point: OperatingPoint) -> Run:
        """The same probabilities under other costs of errors."""
        return replace(run, costs=point.costs, notes={**run.notes, CONFIDENT: point.confident})

    def deciding(self, run: Run, cohort: Cohort) -> Callable[[OperatingPoint], Decisions]:
        """What the mean of all members' probabilities decides at any point, [N]."""
        positive, nobody = self.positive(run, cohort).mean(0), np.full((len(cohort), 1), NOBODY)
        return lambda point: Decisions(nobody, _labels(positive, cohort, point))

    def together(self, run: Run, cohort: Cohort) -> Callable[[OperatingPoint], tuple[Policy, Continuations]]:
        """No deferral at any point, and the label of the mean of all members' probabilities, [N]."""
        positive, policy = self.positive(run, cohort).mean(0), asks_nobody(1, cohort).member(0)
        return lambda point: (policy, _endings(_labels(positive, cohort, point), cohort))


@dataclass(frozen=True)
class RecalibratedScore(_Relabelled):
    """Logistic in the AI's log-odds alone (Platt scaling)."""

    key: str = "recalibrated-score"
    name: str = "Recalibrated AI, one score"

    def inputs(self, layout: StateLayout) -> tuple[str, ...]:
        """The AI's scores alone."""
        return layout.scores

    def fit(self, cohort: Cohort, costs: Costs, seeds: Sequence[int]) -> Run:
        """Slope and intercept from train, the same for every seed."""
        settings = member_settings(seeds)
        train, _ = learning_splits(cohort)
        truth = (train.truth == 1).astype(float)[:, None]
        coefficients = fit_logistic(train.ai_log_odds[:, None], truth, np.ones_like(truth), PENALTY)[0]  # [2]
        return Run(
            method=self.key,
            settings=settings,
            arrays={"coefficients": per_member(seeds, coefficients)},
            rule="joint",
            costs=costs,
            readers=cohort.manifest.columns,
            fingerprint=cohort.fingerprint,
        )

    def positive(self, run: Run, cohort: Cohort) -> Floats:
        """P(positive | the AI's score) by every member, [E, N]."""
        slope, intercept = run.arrays["coefficients"].T[..., None]  # [E, 1] each
        return sigmoid(slope * cohort.ai_log_odds + intercept)


@dataclass(frozen=True)
class Recalibrated(_Relabelled):
    """Logistic in a quadratic of all inputs, with a part of its own for each cohort: the posterior of MPD²+."""

    draws: int = DRAWS
    key: str = "recalibrated"
    name: str = "Recalibrated AI"

    def inputs(self, layout: StateLayout) -> tuple[str, ...]:
        """All that is measured, and the cohort."""
        return (*layout.measured, COHORT)

    def fit(self, cohort: Cohort, costs: Costs, seeds: Sequence[int]) -> Run:
        """The posterior of every member's bootstraps of train, all in one go."""
        train, _ = learning_splits(cohort)
        draws = draws_for(self.draws, train)
        settings = member_settings(seeds, draws=draws)
        scaler = fit_scaler(train)
        posterior = fit_posterior(train, scaler, bootstraps(seeds, draws, train))
        return Run(
            method=self.key,
            settings=settings,
            arrays=posterior_arrays(seeds, scaler, posterior),
            rule="joint",
            costs=costs,
            readers=cohort.manifest.columns,
            fingerprint=cohort.fingerprint,
            notes=scaler_notes(scaler),
        )

    def as_made(self, run: Run) -> Recalibrated:
        """With as many bootstraps as a run has."""
        return replace(self, draws=run.settings[0]["draws"])

    def positive(self, run: Run, cohort: Cohort) -> Floats:
        """P(positive | state) by every member, [E, N]."""
        return posterior_of(run, cohort)


def _endings(kept: Ints, cohort: Cohort) -> Continuations:
    """The given label if nobody is asked, [..., N]; a reader who is asked all the same has the last word."""
    shape = (*kept.shape, cohort.readers)
    first = np.where(cohort.available, np.arange(cohort.readers), NOBODY)  # [N, M]
    words = np.where(cohort.available, cohort.decisions, UNKNOWN)
    return Continuations(kept, np.broadcast_to(words, shape), np.broadcast_to(first, shape)[..., None])


def _labels(positive: Floats, cohort: Cohort, point: OperatingPoint) -> Ints:
    """The label of the cheaper expected error, [..., N], but the AI's own where it is too confident to be overruled."""
    return np.where(confident_ai(cohort, point.confident), cohort.ai_label, point.costs.cheaper_label(positive))
