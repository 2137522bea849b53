"""Keswani, Lease and Kenthapadi (2021): a weighted committee of the AI and the readers."""

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


@dataclass(frozen=True)
class Keswani(Learned):
    """Joint committee, projected on its weightiest member so that one action is taken.

    As published, the AI votes with its probability and nobody is paid. In the cost-aware form it votes with its
    decision, as the readers do, cases weigh what an error in them costs, and fees are added by weight. Between a
    committee all right and one all wrong lies exactly 1 of log loss, so that a committee of one loses, up to a
    constant, what its action costs. The published factor 1 − t^(−1/2) of the loss is left out, for Adam undoes it.
    """

    family: ClassVar[str] = "keswani"
    title: ClassVar[str] = "Keswani committee"

    def outputs(self, readers: int) -> int:
        """Logits of the committee's weights."""
        return 1 + readers

    def objective(self, train: Cases) -> Loss:
        """Log loss of the vote plus fees."""

        def loss(outputs: Tensor, cases: Cases) -> Tensor:
            return committee_loss(outputs, cases.labels if self.cost_aware else cases.votes, cases)

        return loss

    def scores(self, outputs: Floats, arrays: Mapping[str, np.ndarray], costs: Costs, cohort: Cohort) -> Floats:
        """log D; its masked softmax is the renormalised weight of everybody."""
        return -np.logaddexp(0.0, -outputs)


def committee_loss(outputs: Tensor, votes: Tensor, cases: Cases) -> Tensor:
    """Mean over cases of the vote's log loss weighted by the stakes, plus the fees by weight, [E]."""
    from torch.nn import functional  # here, as naming the method does not need it

    # D = sigmoid of the outputs, renormalised over the available, in logarithms so that no sum of weights can vanish
    shares = functional.logsigmoid(outputs).masked_fill(~cases.possible, -np.inf).softmax(-1)  # [E, B, 1 + M]
    vote = (shares * votes).sum(-1)  # v
    towards = (2 * cases.truth - 1) * (2 * vote - 1)
    return (cases.stakes * functional.softplus(-towards) + (shares * cases.fees).sum(-1)).mean(-1)
