"""The losses once more, straight from the paper's equations: one member, plain loops, no masks that broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

Row = Sequence[float]
Rows = Sequence[Row]


def routing_cost(defer: Row, allocation: Rows, ai: Row, expert: Rows, fees: Row, gamma: float) -> float:
    """L_cost = 1/N Σ_i (1 − d_i) C_i^ai + d_i Σ_j q_ij (C_ij^exp + γ κ_j)."""
    total = 0.0
    for i, d in enumerate(defer):
        total += (1 - d) * ai[i]
        for j, q in enumerate(allocation[i]):
            total += d * q * (expert[i][j] + gamma * fees[j])
    return total / len(defer)


def gsdp(defer: Row, allocation: Rows, group: Sequence[int], prior: Rows) -> float:
    """L_GSDP = Σ_g D_g / D_+ Σ_j q̃_gj log(q̃_gj / p̃_gj), 0 where nothing is deferred."""
    everything = sum(defer)
    if everything == 0:
        return 0.0
    total = 0.0
    for g, shares in enumerate(prior):
        members = [i for i in range(len(defer)) if group[i] == g]
        load = sum(defer[i] for i in members)
        if load == 0:
            continue
        for j, p in enumerate(shares):
            q = sum(defer[i] * allocation[i][j] for i in members) / load
            if q > 0:
                total += load / everything * q * log(q / p)
    return total


def geometric(readers: int, decay: float) -> list[float]:
    """g_{k,ϱ}(t) = (1 − ϱ) ϱ^(t−1) / (1 − ϱ^k)."""
    return [(1 - decay) * decay ** (t - 1) / (1 - decay**readers) for t in range(1, readers + 1)]


def rank_js(defer: Row, allocation: Rows, available: Sequence[Sequence[bool]], decay: Row, margin: float) -> float:
    """L_rank = 1/D_+ Σ_i d_i χ_i JS(r_i ‖ g_{k_i,ϱ}), 0 where nothing is deferred; `decay` is ϱ for 2, 3, … readers."""
    everything = sum(defer)
    if everything == 0:
        return 0.0
    total = 0.0
    for i, d in enumerate(defer):
        ranked = sorted((q for q, there in zip(allocation[i], available[i], strict=True) if there), reverse=True)
        k = len(ranked)
        if k < 2:
            continue
        reference = geometric(k, decay[min(k - 2, len(decay) - 1)])
        # Both sums are 1 at t = k, so only a strict prefix can exceed.
        exceeds = any(sum(ranked[:t]) - sum(reference[:t]) > margin for t in range(1, k))
        if exceeds:
            total += d * jensen_shannon(ranked, reference)
    return total / everything


def jensen_shannon(left: Row, right: Row) -> float:
    """JS = ½ Σ_t r log(r / b) + g log(g / b), b = ½ (r + g)."""
    total = 0.0
    for r, g in zip(left, right, strict=True):
        middle = (r + g) / 2
        for x in (r, g):
            if x > 0:
                total += x * log(x / middle) / 2
    return total


def budget_penalty(defer: Row, target: float, multiplier: float, penalty: float) -> float:
    """λ (d̄ − ρ) + μ/2 [d̄ − ρ]₊²."""
    excess = sum(defer) / len(defer) - target
    return multiplier * excess + penalty / 2 * max(excess, 0.0) ** 2


def ascended(multiplier: float, deferral: float, target: float, step: float) -> float:
    """λ ← [λ + η_λ (d̄ − ρ)]₊."""
    return max(multiplier + step * (deferral - target), 0.0)
