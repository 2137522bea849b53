"""Partial pooling: the optimum it finds, and what few words and none do to a reader."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from mpd2.core.arrays import Floats
from mpd2.core.error_rates.logistic import sigmoid
from mpd2.methods.plus.pooling import fit_pooled

COMMON, APART = 4.0, 2.0


def readings(words: list[int], seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """A design, targets and weights, [N, 3], [N, 1, M] and [N, 1, M]: reader j has said `words[j]` words."""
    random = np.random.default_rng(seed)
    cases = max(words)
    design = np.column_stack([random.normal(size=(cases, 2)), np.ones(cases)])
    slopes = random.normal(size=(len(words), 3))
    targets = (random.random((cases, len(words))) < sigmoid(design @ slopes.T)).astype(float)
    weights = (np.arange(cases)[:, None] < np.array(words)).astype(float)
    return design, targets[:, None], weights[:, None]


def test_the_fit_is_the_least_penalised_loss() -> None:
    design, targets, weights = readings([60, 25, 8])
    found = fit_pooled(design, targets, weights, COMMON, APART)

    def loss(flat: Floats) -> float:
        population, readers = flat[:3], flat[3:].reshape(3, 3)
        logits = design @ readers.T
        fit = (weights[:, 0] * (np.logaddexp(0, logits) - targets[:, 0] * logits)).sum()
        apart = APART / 2 * ((readers - population) ** 2).sum()
        return float(fit + COMMON / 2 * (population[:2] ** 2).sum() + 5e-7 * population[2] ** 2 + apart)

    best = minimize(loss, np.zeros(12), method="BFGS", options={"gtol": 1e-9})
    assert loss(np.concatenate([found.population[0], found.readers[0].ravel()])) == pytest.approx(best.fun, abs=1e-7)
    assert found.population[0] == pytest.approx(best.x[:3], abs=1e-3)


def test_a_reader_never_heard_is_the_population() -> None:
    found = fit_pooled(*readings([80, 80, 0]), COMMON, APART)
    assert found.readers[0, 2] == pytest.approx(found.population[0], abs=1e-6)


def test_a_stronger_pull_brings_readers_nearer_to_each_other() -> None:
    apart = [
        np.linalg.norm(found.readers[0] - found.population[0])
        for pull in (0.1, 1.0, 100.0)
        for found in [fit_pooled(*readings([60, 25, 8]), COMMON, pull)]
    ]
    assert apart == sorted(apart, reverse=True)


def test_sets_fitted_together_are_what_each_is_alone() -> None:
    design, targets, weights = readings([50, 30])
    other = np.random.default_rng(1).integers(0, 3, weights.shape) * weights
    both = fit_pooled(design, np.repeat(targets, 2, 1), np.concatenate([weights, other], 1), COMMON, APART)
    for position, one in enumerate((weights, other)):
        alone = fit_pooled(design, targets, one, COMMON, APART)
        assert both.readers[position] == pytest.approx(alone.readers[0], abs=1e-6)
