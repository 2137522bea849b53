"""A problem whose answer is known: every action's error rate is fixed, so the best possible cost can be worked out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from strategies import made_up_manifest

from mpd2.core.arrays import Floats
from mpd2.core.cohort import SPLITS, UNKNOWN, Cohort

AI_RIGHT = np.array([0.92, 0.6, 0.6])  # [regions]
READER_RIGHT = np.array([[0.75, 0.75, 0.95], [0.95, 0.9, 0.5], [0.5, 0.6, 0.95]])  # [regions, M]
SIGNS = np.array([[-1.0, 0.2], [1.0, 0.2], [1.0, 0.8]])  # [regions, 2] vim_risk_z and quality_risk


@dataclass(frozen=True)
class Toy:
    """A cohort and the true expected cost of each of its actions."""

    cohort: Cohort
    expected: Floats  # [N, 1 + M], infinite where a reader is absent

    @property
    def bayes_cost(self) -> float:
        """What nobody can do better than."""
        return float(self.expected.min(-1).mean())


def toy_problem(cases: int, seed: int = 0) -> Toy:
    """Cases in three regions, dealt evenly to the splits: in one the AI is reliable, in each other one a reader is.

    Where the AI is reliable the dearest reader is still better, but not by as much as the fee.
    The AI is calibrated and every reader is wrong as often on sick as on healthy cases; one reading in six is missing.
    """
    random = np.random.default_rng(seed)
    manifest = made_up_manifest(READER_RIGHT.shape[1])
    region = np.arange(cases) // len(SPLITS) % len(AI_RIGHT)
    ai_label = random.integers(0, 2, cases)
    right = AI_RIGHT[region]
    positive = np.where(ai_label == 1, right, 1 - right)
    truth = (random.random(cases) < positive).astype(int)
    readers_right = random.random((cases, 3)) < READER_RIGHT[region]
    available = random.random((cases, 3)) < 5 / 6
    logit = np.log(positive / (1 - positive)) / 2
    vim, quality = (SIGNS[region] + random.normal(0, 0.02, (cases, 2))).T
    cohort = Cohort(
        manifest=manifest,
        fingerprint=f"toy {cases} {seed}",
        ids=np.array([f"case {i}" for i in range(cases)]),
        source=np.zeros(cases, int),
        split=np.array(SPLITS)[np.arange(cases) % len(SPLITS)],
        state=np.column_stack([positive, -logit, logit, vim, quality, 1 - right, *random.random((2, cases))]),
        cluster=np.arange(cases),
        absent=np.zeros((cases, 8), bool),
        drawn=np.full((cases, 1), np.nan),
        truth=truth,
        decisions=np.where(available, np.where(readers_right, truth[:, None], 1 - truth[:, None]), UNKNOWN),
        available=available,
    )
    costs = manifest.default_costs()
    stakes = costs.false_negative * positive + costs.false_positive * (1 - positive)
    ai = (1 - right) * np.where(ai_label == 1, costs.false_positive, costs.false_negative)
    readers = (1 - READER_RIGHT[region]) * stakes[:, None] + np.array(costs.fees)
    return Toy(cohort, np.column_stack([ai, np.where(available, readers, np.inf)]))
