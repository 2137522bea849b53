"""What a population learns from: a cohort as tensors, with each member's own costs and prior."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort, learning_split
from mpd2.core.costs import Costs
from mpd2.core.error_rates import ErrorRates, cross_fitted, expected_costs, fit_errors
from mpd2.training.anatomy import fit_anatomy
from mpd2.training.config import Config
from mpd2.training.groups import Groups, fit_groups
from mpd2.training.network import Encoders, Normaliser
from mpd2.training.prior import geometric_profile, group_prior

CONSTANT = 1e-9  # a spread up to this is rounding; to divide by it would blow up any later case


@dataclass(frozen=True)
class Examples:
    """N cases as tensors; costs differ from member to member."""

    state: Tensor  # [N, S]
    available: Tensor  # [N, M] bool
    group: Tensor  # [N, G] one-hot
    cost: Tensor  # [E, N, 1 + M] training cost of every action, C + γκ; 0 where a reader is absent
    total: Tensor  # [N, 1 + M] observed clinical cost plus full fee, what is reported

    def __len__(self) -> int:
        return len(self.state)


@dataclass(frozen=True)
class TrainingInputs:
    """Everything fixed before the first step: training and validation examples, priors, scales."""

    train: Examples
    val: Examples
    prior: Tensor  # [E, G, M]
    profile: Tensor  # [E, 1 + M, M]
    normaliser: Normaliser
    encoders: Encoders
    anatomy: Floats  # [K + 1] where the structural risk starts

    def digest(self) -> str:
        """SHA-256 of all cases and costs: what tells the inputs of one training from another's."""
        parts = [
            part for cases in (self.train, self.val) for part in (cases.state, cases.available, cases.cost, cases.total)
        ]
        return hashlib.sha256(b"".join(part.cpu().numpy().tobytes() for part in parts)).hexdigest()


def prepare(
    cohort: Cohort, configs: Sequence[Config], costs: Costs, device: torch.device, dtype: torch.dtype
) -> TrainingInputs:
    """Fit on train all that is not trained by gradient, and lay out both splits as tensors."""
    train, val = learning_split(cohort, "train"), learning_split(cohort, "val")
    groups = fit_groups(train)

    def tensor(values: np.ndarray) -> Tensor:
        return torch.as_tensor(values.copy(), dtype=dtype, device=device)

    def examples(part: Cohort, expected: ErrorRates | None) -> Examples:
        return Examples(
            state=tensor(part.state),
            available=torch.as_tensor(part.available.copy(), device=device),
            group=tensor(_one_hot(groups, part)),
            cost=tensor(np.stack([training_costs(part, costs, config, expected) for config in configs])),
            total=tensor(np.nan_to_num(costs.of_actions(part), posinf=0.0)),
        )

    denoise = any(config.objective.expected_share > 0 for config in configs)
    scale = train.state.std(0)
    return TrainingInputs(
        train=examples(train, cross_fitted(train) if denoise else None),
        val=examples(val, fit_errors(train).predict(val) if denoise else None),
        prior=tensor(np.stack([group_prior(train, groups, costs, c.prior, c.objective.rank_decay) for c in configs])),
        profile=tensor(np.stack([geometric_profile(c.objective.rank_decay, cohort.readers) for c in configs])),
        normaliser=Normaliser(tensor(train.state.mean(0)), tensor(np.where(scale > CONSTANT, scale, 1.0))),
        encoders=Encoders.of(cohort.layout),
        anatomy=fit_anatomy(train),
    )


def training_costs(cohort: Cohort, costs: Costs, config: Config, expected: ErrorRates | None) -> Floats:
    """Cost of every action in training, [N, 1 + M]: clinical, observed or partly expected, plus γ times the fee."""
    objective = config.objective
    free = Costs(costs.false_negative, costs.false_positive, (0.0,) * cohort.readers)
    clinical = np.nan_to_num(free.of_actions(cohort), posinf=0.0)
    if objective.ai_cost == "soft":
        sick = cohort.truth == 1
        chance = cohort.ai_probability
        clinical[:, 0] = np.where(sick, costs.false_negative * (1 - chance), costs.false_positive * chance)
    if objective.expected_share > 0 and expected is not None:
        hoped = expected_costs(expected, free)
        clinical = (1 - objective.expected_share) * clinical + objective.expected_share * hoped
    clinical[:, 1:] = np.where(cohort.available, clinical[:, 1:] + objective.fee_weight * costs.fees_for(cohort), 0.0)
    return clinical


def _one_hot(groups: Groups, cohort: Cohort) -> Floats:
    return np.eye(len(groups.family_of))[groups.assign(cohort)]
