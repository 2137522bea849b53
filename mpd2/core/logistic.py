"""Ridge-penalised logistic regression for many targets at once."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from mpd2.core.arrays import Floats
from mpd2.core.errors import UserError

ITERATIONS = 100
TOLERANCE = 1e-11  # relative; a smaller change of an objective counts as none
INTERCEPT_PENALTY = 1e-6  # keeps the intercept finite where a target has no positive or no row at all


def fit_logistic(features: np.ndarray, targets: np.ndarray, weights: np.ndarray, penalty: float) -> Floats:
    """Coefficients of every target, the intercept last, [T, P + 1].

    Minimises Σ_n w_nt · logloss_nt + ½ penalty · |β_t|² for each target t by Newton steps, all targets in one stacked
    solve; a step that would raise a target's objective is halved. `features` is [N, P]; `targets` [N, T] lies in
    [0, 1]; `weights` is [N, T], and a row of weight 0 plays no part. The intercept has only a vanishing penalty: a
    target without positives gets a tiny rate, a target without rows the rate ½.
    """
    if not penalty > 0:
        raise UserError(f"penalty of a logistic model: found {penalty}, expected a number above 0")
    design = _with_intercept(features)  # [N, Q], Q = P + 1
    targets = np.where(weights > 0, targets, 0.0)
    ridge = np.append(np.full(features.shape[1], penalty), INTERCEPT_PENALTY)  # [Q]
    upper = np.triu_indices(len(ridge))
    products = design[:, upper[0]] * design[:, upper[1]]  # [N, Q (Q + 1) / 2]

    def objective(coefficients: Floats, logits: Floats) -> Floats:
        losses = np.logaddexp(0.0, logits) - targets * logits  # [N, T]
        return (weights * losses).sum(0) + (ridge * coefficients**2).sum(1) / 2  # [T]

    def newton_direction(coefficients: Floats, logits: Floats) -> tuple[Floats, Floats]:
        rates = sigmoid(logits)
        gradient = (weights * (rates - targets)).T @ design + ridge * coefficients  # [T, Q]
        curvature = (weights * rates * (1 - rates)).T @ products
        hessian = np.empty((len(gradient), len(ridge), len(ridge)))
        hessian[:, upper[0], upper[1]] = hessian[:, upper[1], upper[0]] = curvature
        direction = np.linalg.solve(hessian + np.diag(ridge), gradient[:, :, None])[:, :, 0]
        return direction, (gradient * direction).sum(1)  # [T, Q], [T]: twice the gain a parabola would promise

    positives, rows = (weights * targets).sum(0), weights.sum(0)
    start = np.log((positives + 0.5) / (rows - positives + 0.5))
    coefficients = np.column_stack([np.zeros((len(start), features.shape[1])), start])
    logits = design @ coefficients.T  # [N, T]
    value = objective(coefficients, logits)
    step = np.ones(len(start))
    for _ in range(ITERATIONS):
        direction, gain = newton_direction(coefficients, logits)
        proposed = coefficients - step[:, None] * direction
        proposed_logits = design @ proposed.T
        proposed_value = objective(proposed, proposed_logits)
        better = proposed_value <= value + TOLERANCE * (1 + value)
        coefficients = np.where(better[:, None], proposed, coefficients)
        logits = np.where(better, proposed_logits, logits)
        value = np.where(better, proposed_value, value)
        step = np.where(better, np.minimum(1.0, 2 * step), step / 2)
        if (gain <= TOLERANCE * (1 + value)).all():
            break
    return coefficients


def predict_logistic(coefficients: np.ndarray, features: np.ndarray) -> Floats:
    """The rate of every target in every row, [N, T]."""
    return sigmoid(_with_intercept(features) @ coefficients.T)


def sigmoid(logits: np.ndarray) -> Floats:
    """1 / (1 + e^−x), without overflow."""
    return np.asarray(expit(logits))


def _with_intercept(features: np.ndarray) -> Floats:
    return np.column_stack([features, np.ones(len(features))])
