"""Ridge-penalised logistic regression for many targets at once."""

from __future__ import annotations

import numpy as np

from mpd2.arrays import Floats

ITERATIONS = 100
TOLERANCE = 1e-10  # stop when no target can lower its objective by more than this
INTERCEPT_PENALTY = 1e-6  # keeps the intercept finite where a target has no positive or no row at all


def fit_logistic(features: np.ndarray, targets: np.ndarray, weights: np.ndarray, penalty: float) -> Floats:
    """Coefficients of every target, the intercept last, [T, P + 1].

    Minimises Σ_n w_nt · logloss_nt + ½ penalty · |β_t|² for each target t by damped Newton steps, all targets in one
    stacked solve. `features` is [N, P]; `targets` [N, T] lies in [0, 1]; `weights` is [N, T], and a row of weight 0
    plays no part. Only a vanishing penalty is put on the intercept: a target without positives gets a tiny rate, a
    target without rows gets ½ everywhere.
    """
    design = _with_intercept(features)  # [N, Q], Q = P + 1
    width = design.shape[1]
    upper = np.triu_indices(width)
    products = design[:, upper[0]] * design[:, upper[1]]  # [N, Q (Q + 1) / 2]
    ridge = np.full(width, penalty)
    ridge[-1] = INTERCEPT_PENALTY
    targets = np.where(weights > 0, targets, 0.0)

    def objective(logits: Floats, coefficients: Floats) -> Floats:
        losses = np.logaddexp(0.0, logits) - targets * logits  # [N, T]
        return (weights * losses).sum(0) + (ridge * coefficients**2).sum(1) / 2  # [T]

    positives, rows = (weights * targets).sum(0), weights.sum(0)
    coefficients = np.zeros((targets.shape[1], width))
    coefficients[:, -1] = np.log((positives + 0.5) / (rows - positives + 0.5))
    logits = design @ coefficients.T  # [N, T]
    value = objective(logits, coefficients)
    step = np.ones(len(value))
    for _ in range(ITERATIONS):
        rates = sigmoid(logits)
        gradient = (weights * (rates - targets)).T @ design + ridge * coefficients  # [T, Q]
        hessian = np.empty((len(value), width, width))
        hessian[:, upper[0], upper[1]] = hessian[:, upper[1], upper[0]] = (weights * rates * (1 - rates)).T @ products
        hessian[:, np.arange(width), np.arange(width)] += ridge
        direction = np.linalg.solve(hessian, gradient[:, :, None])[:, :, 0]  # [T, Q]
        proposed = coefficients - step[:, None] * direction
        proposed_logits = design @ proposed.T
        proposed_value = objective(proposed_logits, proposed)
        better = proposed_value <= value
        coefficients = np.where(better[:, None], proposed, coefficients)
        logits = np.where(better, proposed_logits, logits)
        value = np.where(better, proposed_value, value)
        step = np.where(better, np.minimum(1.0, 2 * step), step / 2)
        if ((gradient * direction).sum(1) < TOLERANCE).all():
            break
    return coefficients


def predict_logistic(coefficients: np.ndarray, features: np.ndarray) -> Floats:
    """The rate of every target in every row, [N, T]."""
    return sigmoid(_with_intercept(features) @ coefficients.T)


def sigmoid(logits: np.ndarray) -> Floats:
    """1 / (1 + e^−x), without overflow."""
    return np.exp(-np.logaddexp(0.0, -logits))


def _with_intercept(features: np.ndarray) -> Floats:
    return np.column_stack([features, np.ones(len(features))])
