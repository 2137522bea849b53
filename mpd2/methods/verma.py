"""Verma, Barrejón and Nalisnick (2023): one-vs-all, a logit for every class and for every reader to be right."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.error_rates.logistic import sigmoid
from mpd2.methods.common import SHARPNESS
from mpd2.methods.learned import Learned

if TYPE_CHECKING:
    from torch import Tensor

    from mpd2.methods.stacked import Cases, Loss

CLASSES = 2


@dataclass(frozen=True)
class Verma(Learned):
    """One-vs-all deferral. The AI is as sure as the class head of its own label."""

    family: ClassVar[str] = "verma"
    title: ClassVar[str] = "Verma one-vs-all"

    def outputs(self, readers: int) -> int:
        """Logits of the classes, then of each reader to be right."""
        return CLASSES + readers

    def objective(self, train: Cases) -> Loss:
        """The one-vs-all surrogate."""
        return one_vs_all_loss

    def scores(self, outputs: Floats, arrays: Mapping[str, np.ndarray], costs: Costs, cohort: Cohort) -> Floats:
        """Plain: the logits. Cost-aware: what to expect if an error is a miss as often as the AI sees a positive."""
        ai = np.where(cohort.ai_label == 1, outputs[..., 1], outputs[..., 0])  # [E, N]
        logits = np.concatenate([ai[..., None], outputs[..., CLASSES:]], axis=-1)  # [E, N, 1 + M]
        if not self.cost_aware:
            return logits
        positive = cohort.ai_probability[:, None]
        stakes = costs.false_negative * positive + costs.false_positive * (1 - positive)  # [N, 1]
        return -SHARPNESS * (sigmoid(-logits) * stakes + np.array([0.0, *costs.fees]))


def one_vs_all_loss(outputs: Tensor, cases: Cases) -> Tensor:
    """Mean over cases of the summed binary cross-entropies of classes and available readers, in bits, [E]."""
    import torch  # here, as naming the method does not need it
    from torch.nn import functional

    classes = functional.one_hot(cases.truth.long(), CLASSES)
    targets = torch.cat([classes, 1 - cases.wrong[..., 1:]], dim=-1).expand_as(outputs)
    counted = torch.cat([torch.ones_like(classes, dtype=torch.bool), cases.possible[..., 1:]], dim=-1)
    losses = functional.binary_cross_entropy_with_logits(outputs, targets, reduction="none")
    return (losses * counted).sum(-1).mean(-1) / math.log(2)
