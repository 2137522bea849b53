"""Ridge-penalised logistic regression for many targets at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

import numpy as np
from scipy.special import expit

from mpd2.core.arrays import Floats
from mpd2.core.errors import UserError

ITERATIONS = 100
TOLERANCE = 1e-11  # relative; a smaller change of an objective counts as none
CLOSE = 1e-7  # the same where curvature is shared: far below what draws differ in
INTERCEPT_PENALTY = 1e-6  # keeps the intercept finite where a target has no positive or no row at all
WHOLE = 2**25  # numbers held at once; where a product of features needs more, rows are taken block by block
BLOCK = 2**20  # numbers of such a block


def fit_logistic(
    features: np.ndarray, targets: np.ndarray, weights: np.ndarray, penalty: float, alike: bool = False
) -> Floats:
    """Coefficients of every target, the intercept last, [T, P + 1].

    Minimises Σ_n w_nt · logloss_nt + ½ penalty · |β_t|² for each target t by Newton steps, all targets in one stacked
    solve; a step that would raise a target's objective is halved. `features` is [N, P]; `targets` [N, T] lies in
    [0, 1]; `weights` is [N, T], and a row of weight 0 plays no part. The intercept has only a vanishing penalty: a
    target without positives gets a tiny rate, a target without rows the rate ½. Sums over rows are made in blocks
    where there are many, so that memory does not grow with the table. Targets that are `alike`, one under slightly
    different weights, then start from what their mean gives and share its curvature.
    """
    if not penalty > 0:
        raise UserError(f"penalty of a logistic model: found {penalty}, expected a number above 0")
    ridge = np.append(np.full(features.shape[1], penalty), INTERCEPT_PENALTY)  # [Q], Q = P + 1
    upper = np.triu_indices(len(ridge))
    held = len(upper[0]) + 4 * targets.shape[1]
    parts = row_blocks(len(features), held, len(ridge) + 4 * targets.shape[1])
    blocks = [_Block(features[part], targets[part], weights[part], len(parts) == 1) for part in parts]

    def objective(coefficients: Floats) -> Floats:
        (losses,) = summed((block.losses(coefficients),) for block in blocks)
        return losses + (ridge * coefficients**2).sum(1) / 2  # [T]

    def hessian(coefficients: Floats, parts: Sequence[_Block]) -> Floats:
        (curvature,) = summed((block.curvature(coefficients),) for block in parts)
        full = np.empty((len(curvature), len(ridge), len(ridge)))
        full[:, upper[0], upper[1]] = full[:, upper[1], upper[0]] = curvature
        return full + np.diag(ridge)

    def newton_direction(coefficients: Floats) -> tuple[Floats, Floats]:
        (slope,) = summed((block.gradient(coefficients),) for block in blocks)
        gradient = slope + ridge * coefficients  # [T, Q]
        if shared is None:
            direction = np.asarray(np.linalg.solve(hessian(coefficients, blocks), gradient[:, :, None])[:, :, 0], float)
        else:
            direction = np.asarray(np.linalg.solve(shared[0], gradient.T).T, float)
        return direction, (gradient * direction).sum(1)  # [T, Q], [T]: twice the gain a parabola would promise

    positives, rows = (weights * np.where(weights > 0, targets, 0.0)).sum(0), weights.sum(0)
    start = np.log((positives + 0.5) / (rows - positives + 0.5))
    coefficients = np.column_stack([np.zeros((len(start), features.shape[1])), start])
    shared: Floats | None = None
    if alike and len(parts) > 1 and len(start) > 1:
        middle = [part.mean(1, keepdims=True) for part in (targets, weights)]  # [N, 1]
        mean = fit_logistic(features, middle[0], middle[1], penalty)
        coefficients = np.repeat(mean, len(start), axis=0)
        shared = hessian(mean, [_Block(features[p], middle[0][p], middle[1][p], keep=False) for p in parts])
    value = objective(coefficients)
    step = np.ones(len(start))
    for _ in range(ITERATIONS):
        direction, gain = newton_direction(coefficients)
        proposed = coefficients - step[:, None] * direction
        proposed_value = objective(proposed)
        better = proposed_value <= value + TOLERANCE * (1 + value)
        coefficients = np.where(better[:, None], proposed, coefficients)
        value = np.where(better, proposed_value, value)
        step = np.where(better, np.minimum(1.0, 2 * step), step / 2)
        if (gain <= (TOLERANCE if shared is None else CLOSE) * (1 + value)).all():
            break
    return coefficients


def row_blocks(rows: int, width: int, narrow: int | None = None) -> list[slice]:
    """All rows in one piece where they need no more than WHOLE numbers, `width` a row; else pieces of about BLOCK.

    A row of a piece may need fewer, `narrow`.

    >>> row_blocks(10, 5), len(row_blocks(2**20, 2**10))
    ([slice(0, 10, None)], 1024)
    """
    size = rows if rows * width <= WHOLE else max(1, BLOCK // (narrow or width))
    return [slice(start, min(start + size, rows)) for start in range(0, max(rows, 1), max(size, 1))]


def summed(parts: Iterable[tuple[Floats, ...]]) -> tuple[Floats, ...]:
    """The sums of arrays over blocks, of at least one block."""
    return reduce(lambda sums, part: tuple(map(np.add, sums, part)), parts)


class _Block:
    """Some of the rows of a fit, and what they add to its sums."""

    def __init__(self, features: np.ndarray, targets: np.ndarray, weights: np.ndarray, keep: bool) -> None:
        self.design = _with_intercept(features)  # [B, Q]
        self.targets, self.weights = np.where(weights > 0, targets, 0.0), weights  # [B, T]
        self._upper = np.triu_indices(self.design.shape[1])
        left, right = self._upper
        self._products = self.design[:, left] * self.design[:, right] if keep else None  # [B, Q (Q + 1) / 2]

    def losses(self, coefficients: Floats) -> Floats:
        """Σ_n w_nt · logloss_nt, [T]."""
        logits = self.design @ coefficients.T
        return (self.weights * (np.logaddexp(0.0, logits) - self.targets * logits)).sum(0)

    def gradient(self, coefficients: Floats) -> Floats:
        """Of these losses, [T, Q]."""
        rates = sigmoid(self.design @ coefficients.T)
        return (self.weights * (rates - self.targets)).T @ self.design

    def curvature(self, coefficients: Floats) -> Floats:
        """The upper triangle of their Hessian, [T, Q (Q + 1) / 2]."""
        rates = sigmoid(self.design @ coefficients.T)
        curved = (self.weights * rates * (1 - rates)).T
        if self._products is not None:
            return curved @ self._products
        return np.stack([((self.design * each[:, None]).T @ self.design)[self._upper] for each in curved])


def predict_logistic(coefficients: np.ndarray, features: np.ndarray) -> Floats:
    """The rate of every target in every row, [N, T]."""
    return sigmoid(_with_intercept(features) @ coefficients.T)


def sigmoid(logits: np.ndarray) -> Floats:
    """1 / (1 + e^−x), without overflow."""
    return np.asarray(expit(logits))


def _with_intercept(features: np.ndarray) -> Floats:
    return np.column_stack([features, np.ones(len(features))])
