"""Keswani, Lease and Kenthapadi (2021): a weighted committee of the AI and the readers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from mpd2.core.arrays import Floats
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.policy import NOBODY, Decisions
from mpd2.core.runs import Run
from mpd2.methods.stacked import Cases, Learned, Loss

LEAST_VOICE = 0.01  # a share of the vote below this is nobody's voice: not heard and not paid


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
    # D = sigmoid of the outputs, renormalised over the available, in logarithms so that no sum of weights can vanish
    shares = functional.logsigmoid(outputs).masked_fill(~cases.possible, -torch.inf).softmax(-1)  # [E, B, 1 + M]
    vote = (shares * votes).sum(-1)  # v
    towards = (2 * cases.truth - 1) * (2 * vote - 1)
    return (cases.stakes * functional.softplus(-towards) + (shares * cases.fees).sum(-1)).mean(-1)


def committee_decisions(run: Run, cohort: Cohort) -> Decisions:
    """The committee unprojected: everybody with a voice is asked and paid, weightiest first, and the vote decides."""
    method = Keswani(cost_aware=run.method == Keswani.family)
    shares = method.policy(run, cohort).actions  # D, [E, N, 1 + M]
    shares = np.where(shares < LEAST_VOICE, 0.0, shares)
    votes = np.column_stack([cohort.ai_label if method.cost_aware else cohort.ai_probability, cohort.decisions])
    vote = (shares * votes).sum(-1) / shares.sum(-1)  # v, [E, N]
    asked = shares[..., 1:] > 0
    silent = (asked & (cohort.decisions == UNKNOWN)).any(-1)
    order = np.argsort(-shares[..., 1:], axis=-1, kind="stable")
    return Decisions(
        consulted=np.where(np.take_along_axis(asked, order, -1), order, NOBODY),
        label=np.where(silent, UNKNOWN, vote >= 0.5),
    )
