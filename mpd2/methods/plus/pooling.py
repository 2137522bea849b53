"""Logistic regression of many readers at once, each drawn towards what is common to all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from mpd2.core.arrays import Floats
from mpd2.core.logistic import INTERCEPT_PENALTY, ITERATIONS, TOLERANCE


@dataclass(frozen=True, eq=False)
class Pooled:
    """T sets of M readers with Q coefficients each: β_j = μ + δ_j."""

    population: Floats  # μ, [T, Q]
    readers: Floats  # β, [T, M, Q]


def fit_pooled(design: np.ndarray, targets: np.ndarray, weights: np.ndarray, common: float, apart: float) -> Pooled:
    """Partial pooling: `common` / 2 · |μ|² holds the population down, `apart` / 2 · |δ_j|² each reader to it.

    `design` is [N, Q] with the constant last, which of the two penalties feels only the second; `targets` and `weights`
    are [N, T, M], and where a weight is 0 the reader said nothing. A reader with few words is near the population, one
    with none is the population. Newton steps, all sets and
    readers in one stacked solve: the population is eliminated last (Schur), so that no matrix is larger than Q × Q.
    """
    cases, size = design.shape
    sets, readers = targets.shape[1:]
    targets = np.where(weights > 0, targets, 0.0)
    ridge = np.append(np.full(size - 1, common), INTERCEPT_PENALTY)  # [Q]
    products = (design[:, :, None] * design[:, None, :]).reshape(cases, size**2)  # [N, Q²]
    flat, wanted = (part.reshape(cases, sets * readers) for part in (weights, targets))  # [N, T·M]

    def logits_of(coefficients: Floats) -> Floats:
        return (design @ coefficients.reshape(-1, size).T).reshape(cases, sets, readers)

    def objective(population: Floats, deviation: Floats, logits: Floats) -> Floats:
        losses = (weights * (np.logaddexp(0.0, logits) - targets * logits)).sum((0, 2))  # [T]
        return losses + (ridge * population**2).sum(-1) / 2 + apart * (deviation**2).sum((-2, -1)) / 2

    def curvature(rates: Floats) -> tuple[Floats, Floats, Floats]:
        """Hessians of the data [T, M, Q, Q], with the reader's penalty inverted, and the population's Schur block."""
        data = ((flat * rates * (1 - rates)).T @ products).reshape(sets, readers, size, size)
        inverse = np.linalg.inv(data + apart * np.eye(size))
        schur = (data - data @ inverse @ data).sum(1) + np.diag(ridge)  # [T, Q, Q]
        return data, inverse, schur

    population, deviation = np.zeros((sets, size)), np.zeros((sets, readers, size))
    logits = logits_of(population[:, None] + deviation)
    value, step = objective(population, deviation, logits), np.ones(sets)
    for _ in range(ITERATIONS):
        rates = expit(logits).reshape(cases, sets * readers)  # [N, T·M]
        gradient = ((flat * (rates - wanted)).T @ design).reshape(sets, readers, size)
        data, inverse, schur = curvature(rates)
        slope = gradient + apart * deviation  # [T, M, Q]
        within = np.einsum("tmqp,tmp->tmq", inverse, slope)
        left = gradient.sum(1) + ridge * population - np.einsum("tmqp,tmp->tq", data, within)
        down = np.linalg.solve(schur, left[..., None])[..., 0]  # [T, Q]
        aside = within - np.einsum("tmqp,tmpr,tr->tmq", inverse, data, down)
        gain = (left * down).sum(-1) + (slope * within).sum((-2, -1))  # twice what a parabola would promise

        tried = population - step[:, None] * down, deviation - step[:, None, None] * aside
        tried_logits = logits_of(tried[0][:, None] + tried[1])
        tried_value = objective(*tried, tried_logits)
        better = tried_value <= value + TOLERANCE * (1 + value)
        population = np.where(better[:, None], tried[0], population)
        deviation = np.where(better[:, None, None], tried[1], deviation)
        logits = np.where(better[:, None], tried_logits, logits)
        value = np.where(better, tried_value, value)
        step = np.where(better, np.minimum(1.0, 2 * step), step / 2)
        if (gain <= TOLERANCE * (1 + value)).all():
            break
    return Pooled(population, population[:, None] + deviation)
