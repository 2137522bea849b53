"""The four terms a router is trained on. Each returns one number a member, [E]; no term loops over anything."""

from __future__ import annotations

import torch
from torch import Tensor

from mpd2.training.network import SoftPolicy

TINY = 1e-8  # stands for 0 in a logarithm
ROUNDING = 1e-6  # a prefix that exceeds its reference by less is equal to it


def weighted_mean(values: Tensor, weight: Tensor) -> Tensor:
    """Mean over cases by weight, [E, B] to [E]; 0 where nothing has weight."""
    total = weight.sum(-1)
    return (values * weight).sum(-1) / total.masked_fill(total <= 0, 1)


def routing_cost(policy: SoftPolicy, cost: Tensor) -> Tensor:
    """Expected clinical cost plus weighted fees, the paper's L_cost.

    `cost` [E, B, 1 + M] holds C_ai and every C_exp + γκ, and must be finite also where nobody reads.
    """
    return (policy.actions * cost).sum(-1).mean(-1)


def gsdp(policy: SoftPolicy, group: Tensor, prior: Tensor, detach: bool = False) -> Tensor:
    """Pull of each group's deferred load towards its prior, the paper's L_GSDP.

    Σ_g (D_g / D_+) KL(q̃_g ‖ p̃_g) with q̃_g the load-weighted mean allocation of group g. `group` is one-hot,
    [E, B, G]; `prior` is [E, G, M] with mass on every reader a case of the group can have.
    """
    defer = policy.defer.detach() if detach else policy.defer
    load = torch.bmm(group.transpose(1, 2), defer[..., None] * policy.allocation)  # Q_gj, [E, G, M]
    total = load.sum(-1, keepdim=True)  # D_g
    target = total * prior
    deferred = total.sum((-1, -2))  # D_+, [E]
    divergence = _x_log_ratio(load, target).sum((-1, -2))
    return divergence / deferred.masked_fill(deferred <= 0, 1)


def rank_js(policy: SoftPolicy, profile: Tensor, margin: Tensor, detach: bool = False) -> Tensor:
    """Penalty on a sorted allocation that is steeper than a truncated geometric one, the paper's L_rank.

    `profile` [E, 1 + M, M] holds in row k the reference for k available readers; `margin` [E] is m_maj. Cases with
    fewer than two readers have nothing to spread and cost nothing.
    """
    # An absent reader's 0 must not stand before a present one's.
    last = policy.allocation.masked_fill(~policy.available, -1)
    ranked = last.sort(dim=-1, descending=True).values.clamp_min(0)  # [E, B, M]
    readers = policy.available.sum(-1)  # k, [E, B]
    reference = profile.gather(1, readers[..., None].expand_as(ranked))  # [E, B, M]
    excess = (ranked - reference).cumsum(-1).amax(-1)  # max_t R(t) - G(t)
    too_peaked = excess > margin[:, None] + ROUNDING  # χ
    middle = (ranked + reference) / 2
    divergence = (_x_log_ratio(ranked, middle) + _x_log_ratio(reference, middle)).sum(-1) / 2
    defer = policy.defer.detach() if detach else policy.defer
    return weighted_mean(divergence * too_peaked, weight=defer)


def budget_penalty(policy: SoftPolicy, target: Tensor, multiplier: Tensor, penalty: Tensor) -> Tensor:
    """One-sided augmented Lagrangian: λ (d̄ − ρ) + μ/2 [d̄ − ρ]₊². All arguments [E]."""
    excess = policy.defer.mean(-1) - target
    return multiplier * excess + penalty / 2 * excess.clamp_min(0) ** 2


def ascended(multiplier: Tensor, deferral: Tensor, target: Tensor, step: Tensor) -> Tensor:
    """The multiplier after an epoch: [λ + η_λ (d̄ − ρ)]₊, all [E]."""
    return (multiplier + step * (deferral - target)).clamp_min(0)


def _x_log_ratio(numerator: Tensor, denominator: Tensor) -> Tensor:
    """x log(x / y) with 0 log 0 = 0. At x = 0 the slope is a large finite number, so a shut gate can open again."""
    return numerator * (_log(numerator) - _log(denominator))


def _log(values: Tensor) -> Tensor:
    return values.masked_fill(values <= 0, TINY).log()
