"""Logistic regression of many readers at once, each drawn towards what is common to all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from mpd2.core.arrays import Floats
from mpd2.core.error_rates.logistic import CLOSE, INTERCEPT_PENALTY, ITERATIONS, TOLERANCE, row_blocks


@dataclass(frozen=True, eq=False)
class Pooled:
    """T sets of M readers with Q coefficients each: β_j = μ + δ_j."""

    population: Floats  # μ, [T, Q]
    readers: Floats  # β, [T, M, Q]


def fit_pooled(design: np.ndarray, targets: np.ndarray, weights: np.ndarray, common: float, apart: float) -> Pooled:
    """Partial pooling: `common` / 2 · |μ|² holds the population down, `apart` / 2 · |δ_j|² each reader to it.

    `design` is [N, Q] with the constant last, which of the two penalties feels only the second; `targets` and `weights`
    are [N, T, M], and where a weight is 0 the reader said nothing. A reader with few words is near the population, one
    with none is the population. Newton steps, all sets and readers in one stacked solve: the population is eliminated
    last (Schur), so that no matrix is larger than Q × Q. Where rows are many, sums are made reader by reader, and
    several sets start from what their mean weights give and share its curvature, which hardly differs from their own.
    """
    size, (sets, readers) = design.shape[1], targets.shape[1:]
    ridge = np.append(np.full(size - 1, common), INTERCEPT_PENALTY)  # [Q]
    held = len(design) * (size**2 + 4 * sets * readers) + 4 * sets * readers * size**2
    whole = len(row_blocks(held, 1)) == 1
    rows: _Rows | _Heard = (_Rows if whole else _Heard)(design, targets, weights)

    def objective(population: Floats, deviation: Floats) -> Floats:
        losses = rows.losses(population[:, None] + deviation)  # [T]
        return losses + (ridge * population**2).sum(-1) / 2 + apart * (deviation**2).sum((-2, -1)) / 2

    population, deviation = np.zeros((sets, size)), np.zeros((sets, readers, size))
    shared: _Curvature | None = None
    if sets > 1 and not whole:
        mean = fit_pooled(design, targets.mean(1, keepdims=True), weights.mean(1, keepdims=True), common, apart)
        population, deviation = population + mean.population, deviation + mean.readers - mean.population[:, None]
        middle = _Heard(design, targets[:, :1], weights.mean(1, keepdims=True))
        shared = _Curvature.of(middle.curvature(mean.readers), ridge, apart)
    value, step = objective(population, deviation), np.ones(sets)
    for _ in range(ITERATIONS):
        coefficients = population[:, None] + deviation
        gradient = rows.gradient(coefficients)  # [T, M, Q]
        curved = _Curvature.of(rows.curvature(coefficients), ridge, apart) if shared is None else shared
        slope = gradient + apart * deviation  # [T, M, Q]
        within = np.einsum("tmqp,tmp->tmq", curved.inverse, slope)
        left = gradient.sum(1) + ridge * population - np.einsum("tmqp,tmp->tq", curved.data, within)
        down = np.linalg.solve(curved.schur, left[..., None])[..., 0]  # [T, Q]
        aside = within - curved.following(down, exactly=whole)
        gain = (left * down).sum(-1) + (slope * within).sum((-2, -1))  # twice what a parabola would promise

        tried = population - step[:, None] * down, deviation - step[:, None, None] * aside
        tried_value = objective(*tried)
        better = tried_value <= value + TOLERANCE * (1 + value)
        population = np.where(better[:, None], tried[0], population)
        deviation = np.where(better[:, None, None], tried[1], deviation)
        value = np.where(better, tried_value, value)
        step = np.where(better, np.minimum(1.0, 2 * step), step / 2)
        if (gain <= (TOLERANCE if shared is None else CLOSE) * (1 + value)).all():
            break
    return Pooled(population, population[:, None] + deviation)


@dataclass(frozen=True, eq=False)
class _Curvature:
    """Second derivatives of T sets, or of one that stands for all."""

    data: Floats  # [T, M, Q, Q] of the losses
    inverse: Floats  # [T, M, Q, Q] with the reader's penalty, inverted
    schur: Floats  # [T, Q, Q] of the population once readers follow it

    def following(self, down: Floats, exactly: bool) -> Floats:
        """How readers follow the population, [T, Q] to [T, M, Q]; in one product as ever, or quickly in two."""
        if exactly:
            return np.asarray(np.einsum("tmqp,tmpr,tr->tmq", self.inverse, self.data, down))
        return np.asarray((self.inverse @ (self.data @ down[:, None, :, None]))[..., 0])

    @staticmethod
    def of(data: Floats, ridge: Floats, apart: float) -> _Curvature:
        """From the Hessians of the data."""
        inverse = np.asarray(np.linalg.inv(data + apart * np.eye(len(ridge))), float)
        return _Curvature(data, inverse, (data - data @ inverse @ data).sum(1) + np.diag(ridge))


class _Rows:
    """All rows of a fit at once; `coefficients` are [T, M, Q]."""

    def __init__(self, design: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> None:
        self.design = design  # [N, Q]
        self.targets, self.weights = np.where(weights > 0, targets, 0.0), weights  # [N, T, M]
        self.products = (design[:, :, None] * design[:, None, :]).reshape(len(design), -1)  # [N, Q²]

    def losses(self, coefficients: Floats) -> Floats:
        """Σ w · logloss of each set, [T]."""
        logits = self._logits(coefficients)
        return (self.weights * (np.logaddexp(0.0, logits) - self.targets * logits)).sum((0, 2))

    def gradient(self, coefficients: Floats) -> Floats:
        """Of these losses, [T, M, Q]."""
        sloped = self.weights * (expit(self._logits(coefficients)) - self.targets)
        return (self._flat(sloped).T @ self.design).reshape(coefficients.shape)

    def curvature(self, coefficients: Floats) -> Floats:
        """Their Hessians, [T, M, Q, Q]."""
        rates = expit(self._logits(coefficients))
        data = self._flat(self.weights * rates * (1 - rates)).T @ self.products
        return data.reshape(*coefficients.shape, coefficients.shape[-1])

    def _logits(self, coefficients: Floats) -> Floats:
        sets, readers, size = coefficients.shape
        return (self.design @ coefficients.reshape(-1, size).T).reshape(len(self.design), sets, readers)

    def _flat(self, values: Floats) -> Floats:
        return values.reshape(len(values), self.weights.shape[1] * self.weights.shape[2])


class _Heard:
    """The same sums reader by reader, over the rows each has read: slower for few rows, and small in memory."""

    def __init__(self, design: np.ndarray, targets: np.ndarray, weights: np.ndarray) -> None:
        self.design = design
        read = [np.flatnonzero(weights[:, :, j].any(1)) for j in range(weights.shape[2])]
        self.readers = [(rows, targets[rows, :, j], weights[rows, :, j]) for j, rows in enumerate(read)]  # [n, T] each

    def losses(self, coefficients: Floats) -> Floats:
        """Σ w · logloss of each set, [T]."""
        found = np.zeros(len(coefficients))
        for j, (rows, targets, weights) in enumerate(self.readers):
            logits = self.design[rows] @ coefficients[:, j].T  # [n, T]
            found += (weights * (np.logaddexp(0.0, logits) - targets * logits)).sum(0)
        return found

    def gradient(self, coefficients: Floats) -> Floats:
        """Of these losses, [T, M, Q]."""
        found = np.zeros(coefficients.shape)
        for j, (rows, targets, weights) in enumerate(self.readers):
            design = self.design[rows]
            found[:, j] = (weights * (expit(design @ coefficients[:, j].T) - targets)).T @ design
        return found

    def curvature(self, coefficients: Floats) -> Floats:
        """Their Hessians, [T, M, Q, Q]."""
        found = np.zeros((*coefficients.shape, coefficients.shape[-1]))
        for j, (rows, _, weights) in enumerate(self.readers):
            design = self.design[rows]
            rates = expit(design @ coefficients[:, j].T)
            for t, curved in enumerate((weights * rates * (1 - rates)).T):
                found[t, j] = (design * curved[:, None]).T @ design
        return found
