"""Mao, Mohri, Mohri and Zhong (2023): learn one score an action, weighted by what the action saves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.methods.learned import Learned

if TYPE_CHECKING:
    from torch import Tensor

    from mpd2.methods.stacked import Cases, Loss

TINY = float(np.finfo(np.float32).tiny)  # stands for 0 below a fraction line


@dataclass(frozen=True)
class Mao(Learned):
    """Two-stage deferral: with the classifier frozen, a scorer r learns which action to take, the AI's among them."""

    family: ClassVar[str] = "mao"
    title: ClassVar[str] = "Mao two-stage"

    def outputs(self, readers: int) -> int:
        """r, one score an action."""
        return 1 + readers

    def objective(self, train: Cases) -> Loss:
        """Log loss of every available action, weighted by its saving."""
        costs = train.costs[train.possible]
        least, most = costs.min(), costs.max()

        def loss(scores: Tensor, cases: Cases) -> Tensor:
            return saving_loss(scores, savings(cases.costs, least, most), cases.possible)

        return loss

    def scores(self, outputs: Floats, arrays: Mapping[str, np.ndarray], costs: Costs, cohort: Cohort) -> Floats:
        """r itself."""
        return outputs


def savings(costs: Tensor, least: Tensor, most: Tensor) -> Tensor:
    """What an action saves against the worst, as a share of the range of costs, in [0, 1].

    With a least cost of 0 this is 1 − C / C_max; taken from the least, a constant on every cost changes nothing.
    """
    return (most - costs) / (most - least).clamp_min(TINY)


def saving_loss(scores: Tensor, weights: Tensor, possible: Tensor) -> Tensor:
    """Mean over cases of −Σ_a w_a log softmax_a(r) over the available actions, [E, B, 1 + M] to [E]."""
    chances = scores.masked_fill(~possible, -np.inf).log_softmax(-1).masked_fill(~possible, 0)
    return -(weights * chances).sum(-1).mean(-1)
