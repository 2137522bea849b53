"""Hemmer et al. (2022): a gate that mixes the AI and the readers into one team."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.methods.learned import Learned, Net

if TYPE_CHECKING:
    from torch import Tensor

    from mpd2.methods.stacked import Cases, Loss

FEE_WEIGHTS = np.append(0.0, np.geomspace(0.25, 64.0, 33))
PUBLISHED = Net(hidden=(64,), learning_rate=5e-3, weight_decay=5e-4)
LEAST_CHANCE = 1e-7  # keeps the logarithm finite where the whole team is wrong


@dataclass(frozen=True)
class Hemmer(Learned):
    """Mixture of experts; whoever has the largest weight decides.

    The published method knows no costs and mixes in the AI's probability. The cost-aware form is a heuristic: cases
    weigh what an error in them costs, the AI joins with its decision, as the readers do, for otherwise it looks worse
    than it acts, and a reader's log-weight is lowered by λ times the fee, λ chosen on val for the least cost.
    """

    net: Net = PUBLISHED
    family: ClassVar[str] = "hemmer"
    title: ClassVar[str] = "Hemmer mixture"

    def outputs(self, readers: int) -> int:
        """Gate logits."""
        return 1 + readers

    def objective(self, train: Cases) -> Loss:
        """Log loss of the team."""

        def loss(outputs: Tensor, cases: Cases) -> Tensor:
            return team_loss(team(outputs, cases.labels if self.cost_aware else cases.votes, cases.possible), cases)

        return loss

    def tune(self, outputs: Tensor, val: Cases) -> dict[str, np.ndarray]:
        """λ of each member, [E]."""
        weights = outputs.new_tensor(FEE_WEIGHTS)[:, None, None, None]
        chosen = (outputs - weights * val.fees).masked_fill(~val.possible, -np.inf).argmax(-1, keepdim=True)
        costs = val.costs.expand_as(outputs).expand(len(weights), -1, -1, -1).gather(-1, chosen)  # [L, E, N, 1]
        return {"fee_weight": FEE_WEIGHTS[costs.mean((-2, -1)).argmin(0).numpy()]}

    def scores(self, outputs: Floats, arrays: Mapping[str, np.ndarray], costs: Costs, cohort: Cohort) -> Floats:
        """log w − λκ, up to a constant of the case."""
        return outputs - arrays["fee_weight"][:, None, None] * np.array([0.0, *costs.fees])


def team(outputs: Tensor, votes: Tensor, possible: Tensor) -> Tensor:
    """The team's distribution over the classes, [E, B, 2]; a vote is the chance of a positive an action gives."""
    import torch  # here, as naming the method does not need it

    weights = outputs.masked_fill(~possible, -np.inf).softmax(-1)  # w, [E, B, 1 + M]
    return torch.stack([(weights * (1 - votes)).sum(-1), (weights * votes).sum(-1)], dim=-1)


def team_loss(chances: Tensor, cases: Cases) -> Tensor:
    """Mean over cases of −log of the team's chance of the truth, weighted by the stakes, [E, B, 2] to [E]."""
    chance = chances[..., 1].where(cases.truth == 1, chances[..., 0])
    return -(cases.stakes * (chance + LEAST_CHANCE).log()).mean(-1)
