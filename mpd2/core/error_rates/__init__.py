"""How likely the AI and every reader are to miss a positive or raise a false alarm, given what is known of a case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.clusters import clusters_of
from mpd2.core.cohort import UNKNOWN, Cohort, learning_split
from mpd2.core.costs import Costs
from mpd2.core.error_rates.logistic import fit_logistic, predict_logistic
from mpd2.core.errors import EmptyCohort, UserError

REACH = 2.0  # standard deviations at which an input levels off, so that no quadratic runs away out of range
PENALTY = 30.0
MOST_CROSSED = 12  # variables of which all products are features
IMAGINED = 5.0  # readings with the average reader's errors that every reader is credited with, spread over all cases


class ErrorRates(NamedTuple):
    """Probabilities of the two errors under every action, the AI first; both [N, 1 + M]."""

    missed: Floats  # P(truth 1 and label 0 | state)
    alarmed: Floats  # P(truth 0 and label 1 | state)


@dataclass(frozen=True, eq=False)
class Expectations:
    """What the model that decides N cases expects of them before anybody is asked.

    Whatever is said of a case (how likely it is positive, who errs, what asking saves) comes from one of these, so that
    no page tells the story of another model than the one that decided.
    """

    positive: Floats  # [N] P(positive | state)
    wrong: Floats  # [N, 1 + M] probability that the AI's own answer, and each reader's, is wrong
    says: Floats  # [N, 1 + M] probability that it is positive; the AI's is known, 0 or 1
    cost: Floats  # [N, 1 + M] errors and fees if the case is kept, and if each reader is asked first; ∞ if unavailable

    def rows(self, index: np.ndarray) -> Expectations:
        """Those of the cases at `index`, positions or a boolean mask."""
        return Expectations(self.positive[index], self.wrong[index], self.says[index], self.cost[index])

    def after(self, answer: int) -> Floats:
        """P(positive) once the AI's own answer, or each reader's, is known to be 0 or 1, [N, 1 + M]; else NaN.

        Of the two joint errors, wrong = missed + alarmed and says = positive − missed + alarmed.
        """
        missed = (self.wrong + self.positive[:, None] - self.says) / 2
        sick, all_such = (missed, 1 - self.says) if answer == 0 else (self.positive[:, None] - missed, self.says)
        return np.divide(sick, all_such, out=np.full(sick.shape, np.nan), where=all_such > 0)


@dataclass(frozen=True, eq=False)
class ErrorModel:
    """P(positive | state) and every reader's error rates given the truth: logistic in a quadratic of the state."""

    means: Floats  # [S] of the training states
    scales: Floats  # [S]
    coefficients: Floats  # [1 + 2 M, P + 1] positive; each reader's misses; each reader's false alarms

    def check(self) -> None:
        """Refuse arrays that no fit can have made."""
        variables = self.means.shape[-1] if self.means.ndim else 0
        features = _feature_count(variables)
        shaped = self.means.shape == self.scales.shape == (variables,) and self.coefficients.ndim == 2
        finite = all(np.isfinite(part).all() for part in (self.means, self.scales, self.coefficients))
        if not (shaped and self.coefficients.shape[1] == features + 1 and finite and (self.scales > 0).all()):
            raise UserError("error model: found arrays that do not fit together; make the run anew")

    def predict(self, cohort: Cohort, positive: Floats | None = None) -> ErrorRates:
        """The error probabilities of every action, whether or not a reader is available.

        Under another model's P(`positive` | state), [N], if given; how readers err given the truth stays the same.
        """
        if len(self.coefficients) != 1 + 2 * cohort.readers:
            raise UserError(f"error model: made for {len(self.coefficients) // 2} readers, given {cohort.readers}")
        rates = predict_logistic(self.coefficients, _features(cohort, self.means, self.scales))
        if positive is not None:
            rates[:, 0] = positive
        return _joint(rates, cohort)


def fit_errors(cohort: Cohort, penalty: float = PENALTY) -> ErrorModel:
    """Estimate the error rates from the cases whose truth is known; a reader's word counts only where available."""
    means, scales = _moments(cohort)
    everything = np.ones((len(cohort), 1), bool)
    coefficients = _fit(cohort, _features(cohort, means, scales), everything, penalty)[0]
    return ErrorModel(means, scales, coefficients)


def error_rates(cohort: Cohort) -> ErrorModel:
    """The error rates learned from the train split."""
    return fit_errors(learning_split(cohort, "train"))


def cross_fitted(cohort: Cohort, folds: int = 5, seed: int = 0, penalty: float = PENALTY) -> ErrorRates:
    """Each case's error probabilities from models that saw neither its truth nor its readers' words."""
    features = _features(cohort, *_moments(cohort))
    fold = stratified_folds(cohort, folds, seed)
    coefficients = _fit(cohort, features, fold[:, None] != np.arange(folds), penalty)  # [folds, T, P + 1]
    rates = predict_logistic(coefficients.reshape(-1, coefficients.shape[-1]), features)
    return _joint(rates.reshape(len(cohort), folds, -1)[np.arange(len(cohort)), fold], cohort)


def stratified_folds(cohort: Cohort, folds: int, seed: int) -> Ints:
    """A fold for every case, [N]: clusters are shuffled, then dealt out within each cohort and truth."""
    if folds < 2:
        raise UserError(f"folds: found {folds}, expected at least 2")
    clusters = clusters_of(cohort)
    shuffled = np.random.default_rng(seed).random(len(clusters))
    fold = np.empty(len(clusters), np.int64)
    fold[np.lexsort((shuffled, clusters.kind))] = np.arange(len(clusters)) % folds
    return fold[clusters.of]


def expected_costs(errors: ErrorRates, costs: Costs) -> Floats:
    """Expected clinical cost plus fee of every action, [N, 1 + M]; availability is left to whoever decides."""
    fees = np.array([0.0, *costs.fees])
    return costs.false_negative * errors.missed + costs.false_positive * errors.alarmed + fees


def expectations(errors: ErrorRates, cohort: Cohort, costs: Costs) -> Expectations:
    """What error rates say of the cases they are of: whoever is asked has the last word."""
    wrong = errors.missed + errors.alarmed
    positive = np.where(cohort.ai_label == 1, 1 - wrong[:, 0], wrong[:, 0])  # the AI misses it or raises an alarm
    possible = np.column_stack([np.ones(len(cohort), bool), cohort.available])
    says = positive[:, None] - errors.missed + errors.alarmed
    return Expectations(positive, wrong, says, np.where(possible, expected_costs(errors, costs), np.inf))


def levelled(values: Floats, means: Floats, scales: Floats) -> Floats:
    """Values in standard deviations, levelled off smoothly (tanh) at REACH of them on either side; any [..., P]."""
    return REACH * np.tanh((values - means) / scales / REACH)


def _moments(cohort: Cohort) -> tuple[Floats, Floats]:
    if not len(cohort):
        raise EmptyCohort("error rates cannot be estimated without cases")
    scales = cohort.state.std(0)
    return cohort.state.mean(0), np.where(scales > 0, scales, 1.0)


def _features(cohort: Cohort, means: Floats, scales: Floats) -> Floats:
    """The squashed standardised state, its squares and products, [N, P]."""
    state = levelled(cohort.state, means, scales)
    left, right = _pairs(state.shape[1])
    return np.column_stack([state, state[:, left] * state[:, right]])


def _pairs(variables: int) -> tuple[Ints, Ints]:
    """The pairs whose products are features: all, or of many variables each with itself, for all would be too many."""
    every = np.arange(variables)
    return np.triu_indices(variables) if variables <= MOST_CROSSED else (every, every)


def _feature_count(variables: int) -> int:
    """P: the state, its squares and products."""
    return variables + len(_pairs(variables)[0])


def _fit(cohort: Cohort, features: Floats, seen: Bools, penalty: float) -> Floats:
    """Coefficients of F sets of models, [F, T, P + 1] with T = 1 + 2 M; set f learns from the cases `seen[:, f]`."""
    sick, well = (cohort.truth == 1)[:, None], (cohort.truth == 0)[:, None]
    spoken = cohort.available & (cohort.decisions != UNKNOWN)
    targets = np.column_stack([sick, cohort.decisions == 0, cohort.decisions == 1])[:, None, :]  # [N, 1, T]
    counted = np.column_stack([sick | well, spoken & sick, spoken & well])[:, None, :] & seen[:, :, None]
    positives = counted & targets  # [N, F, T]

    kind = np.repeat([0, 1, 2], [1, cohort.readers, cohort.readers])  # positive, a miss, a false alarm
    alike = (kind[:, None] == kind).astype(float)  # [T, T]
    average = (positives.sum(0) @ alike + 0.5) / (counted.sum(0) @ alike + 1)  # [F, T]
    weights = counted + IMAGINED / len(cohort)
    rates = (positives + IMAGINED / len(cohort) * average) / weights

    flat = (len(cohort), -1)
    coefficients = fit_logistic(features, rates.reshape(flat), weights.reshape(flat), penalty)
    return coefficients.reshape(seen.shape[1], len(kind), -1)


def _joint(rates: Floats, cohort: Cohort) -> ErrorRates:
    """From P(positive) and error rates given the truth, [N, 1 + 2 M], to joint probabilities.

    What the AI says is known from the state, so that in any one case it can make only one of the two errors.
    """
    positive = rates[:, :1]
    missing, alarming = np.split(rates[:, 1:], 2, axis=1)
    alarm = cohort.ai_label[:, None]
    return ErrorRates(
        missed=positive * np.column_stack([1 - alarm, missing]),
        alarmed=(1 - positive) * np.column_stack([alarm, alarming]),
    )
