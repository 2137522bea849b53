"""The dual-head router. A population of E routers is the native shape: every weight has a leading member axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx
from torch.nn import functional

from mpd2.core.arrays import Floats
from mpd2.core.rng import Stream, stream
from mpd2.core.state import PROBABILITY, StateLayout
from mpd2.training.config import Network

AFTER_ENCODERS = ("fusion", "mixing", "defer_hidden", "trunk")
LEAST_MASS = 1e-8  # a support with less allocation mass than this counts as empty


@dataclass(frozen=True)
class Encoders:
    """Which columns of the state each encoder sees; a role that no input has is without one."""

    probability: int
    risk: tuple[int, ...]
    structure: tuple[int, ...]
    ai: tuple[int, ...]
    other: tuple[int, ...]

    @staticmethod
    def of(layout: StateLayout) -> Encoders:
        """The encoders of the roles that are there."""
        roles = (tuple(layout.of_role(role)) for role in ("risk", "structure", "ai", "other"))
        return Encoders(layout.position(PROBABILITY), *roles)

    @property
    def fan_in(self) -> dict[str, int]:
        """How many numbers each encoder sees: of the structure its risk, and how far the AI is from it."""
        seen = {"risk": len(self.risk), "structure": 2 if self.structure else 0, "ai": len(self.ai)}
        return {role: inputs for role, inputs in (*seen.items(), ("other", len(self.other))) if inputs}

    @property
    def blocks(self) -> tuple[str, ...]:
        """Hidden blocks, each Linear-ReLU-LayerNorm-Dropout; a dropout draw has `width` units for each, in order."""
        return (*self.fan_in, *AFTER_ENCODERS)


@dataclass(frozen=True)
class Noise:
    """What is random in a training step."""

    gates: Tensor  # [E, B, M] logistic, η
    factors: Tensor  # [E, B, len(blocks) · width] 0 for a unit left out, 1 / (1 - dropout) for one that stays
    blocks: tuple[str, ...]

    @staticmethod
    def of(gates: Tensor, keeps: Tensor, dropout: float, encoders: Encoders) -> Noise:
        """From which units stay, bool; all blocks at once, because converting costs more than multiplying."""
        return Noise(gates, keeps.to(gates.dtype) / (1 - dropout), encoders.blocks)

    def factor(self, first: str, blocks: int, width: int) -> Tensor:
        """The dropout factors of some blocks that follow one another, [E, B, blocks, width]."""
        start = self.blocks.index(first) * width
        return self.factors[..., start : start + blocks * width].unflatten(-1, (blocks, width))


@dataclass(frozen=True)
class SoftPolicy:
    """A differentiable policy. Symbols: d = `defer`, q = `allocation`, m = `available`."""

    defer_logit: Tensor  # [E, B]
    defer: Tensor  # [E, B]
    allocation: Tensor  # [E, B, M]
    available: Tensor  # [E, B, M] bool

    @property
    def actions(self) -> Tensor:
        """π, [E, B, 1 + M], projected onto the masked simplex as the last safety layer."""
        keep, ask = 1 - self.defer[..., None], self.defer[..., None] * self.allocation
        kept = torch.cat([keep, ask.masked_fill(~self.available, 0)], dim=-1)
        return kept / kept.sum(-1, keepdim=True)


def shapes(width: int, readers: int, encoders: Encoders) -> dict[str, tuple[int, ...]]:
    """Name and shape of every weight of one router, in storage order."""
    fan_in = {**encoders.fan_in, "fusion": len(encoders.fan_in) * width}
    result: dict[str, tuple[int, ...]] = {}
    for block in encoders.blocks:
        result[f"{block}.weight"] = (fan_in.get(block, width), width)
        result |= {f"{block}.{part}": (width,) for part in ("bias", "scale", "shift")}
    for head, outputs in (("defer", 1), ("gate", readers), ("allocation", readers)):
        result[f"{head}.weight"] = (width, outputs)
        result[f"{head}.bias"] = (outputs,)
    if encoders.structure:
        result |= {"anatomy.weight": (len(encoders.structure), 1), "anatomy.bias": (1,)}
    return result | {"temperature": (1,)}


class Weights(Mapping[str, Tensor]):
    """The weights of E routers in one buffer [E, P]; each name is a view into it, [E, ...].

    One row a member: the optimiser, checkpoints and early stopping work on rows, the network on names.
    """

    def __init__(self, flat: Tensor, width: int, readers: int, encoders: Encoders) -> None:
        self.flat = flat
        self.width, self.readers = width, readers
        layout = shapes(width, readers, encoders)
        columns = flat.split([math.prod(shape) for shape in layout.values()], dim=1)
        self._views = {
            name: block.view(len(flat), *shape) for (name, shape), block in zip(layout.items(), columns, strict=True)
        }

    def __getitem__(self, name: str) -> Tensor:
        return self._views[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)


def initial_weights(
    seeds: Sequence[int],
    network: Network,
    readers: int,
    encoders: Encoders,
    anatomy: Floats,
    dtype: torch.dtype = torch.float32,
) -> Weights:
    """Fresh routers: linear layers uniform in ±1/√fan-in, structural risk at `anatomy` [K + 1], the intercept last."""
    layout = shapes(network.width, readers, encoders)
    bound = np.concatenate([np.full(math.prod(layout[name]), _bound(name, layout)) for name in layout])  # [P]
    flat = np.stack([stream(seed, Stream.WEIGHTS).uniform(-bound, bound) for seed in seeds])
    weights = Weights(torch.tensor(flat, dtype=dtype), network.width, readers, encoders)
    for block in encoders.blocks:
        weights[f"{block}.scale"].fill_(1)
    if encoders.structure:
        weights["anatomy.weight"].copy_(torch.as_tensor(anatomy[:-1])[:, None])
        weights["anatomy.bias"].fill_(float(anatomy[-1]))
    weights["temperature"].fill_(math.log(math.expm1(network.temperature - network.temperature_floor)))
    return weights


def _bound(name: str, layout: Mapping[str, tuple[int, ...]]) -> float:
    """Half-width of a weight's first draw; 0 for what does not start at random."""
    layer, _, kind = name.rpartition(".")
    return layout[f"{layer}.weight"][0] ** -0.5 if kind in ("weight", "bias") else 0.0


@dataclass(frozen=True)
class Normaliser:
    """Mean and scale of the state on the training cases; they travel with the weights."""

    mean: Tensor  # [S]
    scale: Tensor  # [S]

    def __call__(self, state: Tensor) -> Tensor:
        return (state - self.mean) / self.scale


def structural_risk(weights: Mapping[str, Tensor], state: Tensor, encoders: Encoders) -> Tensor:
    """Probability of positive from the structure alone, the paper's p_str, [E, B]."""
    return sigmoid(_dot(weights, "anatomy", state[..., list(encoders.structure)]))


def soft_policy(
    weights: Mapping[str, Tensor],
    normaliser: Normaliser,
    encoders: Encoders,
    state: Tensor,  # [E, B, S] as in the table
    available: Tensor,  # [E, B, M] bool
    temperature_floor: float,
    noise: Noise | None = None,
) -> SoftPolicy:
    """The policy (d, q) of every member for its own batch.

    Without noise the gates are at their median and all units stay.
    """
    branches = _blocks(weights, _encoded(weights, normaliser, encoders, state), noise).flatten(
        -2
    )  # [E, B, roles · width]
    fused = _blocks(weights, {"fusion": branches}, noise)[..., 0, :]
    fused = _blocks(weights, {"mixing": fused}, noise)[..., 0, :]
    defer_hidden, trunk = _blocks(weights, {"defer_hidden": fused, "trunk": fused}, noise).unbind(-2)
    defer_logit = _full(_dot(weights, "defer", defer_hidden))  # [E, B]
    temperature = _full(temperature_floor + softplus(weights["temperature"]))[..., None]  # [E, 1, 1]
    allocation = allocate(
        gates=_full(_linear(weights, "gate", trunk)),
        logits=_full(_linear(weights, "allocation", trunk)),
        available=available,
        temperature=temperature,
        noise=None if noise is None else noise.gates,
    )
    return SoftPolicy(defer_logit, sigmoid(defer_logit) * available.any(-1), allocation, available)


def _encoded(
    weights: Mapping[str, Tensor], normaliser: Normaliser, encoders: Encoders, state: Tensor
) -> dict[str, Tensor]:
    """What each encoder sees, [E, B, inputs] each."""
    scaled = normaliser(state)
    seen = {role: scaled[..., list(getattr(encoders, role))] for role in encoders.fan_in if role != "structure"}
    if encoders.structure:
        anatomy = structural_risk(weights, state, encoders)  # [E, B]
        apart = (state[..., encoders.probability] - anatomy).abs()
        seen["structure"] = torch.stack([2 * anatomy - 1, apart], dim=-1)
    return {role: seen[role] for role in encoders.fan_in}


def allocate(gates: Tensor, logits: Tensor, available: Tensor, temperature: Tensor, noise: Tensor | None) -> Tensor:
    """To whom, given that a case is deferred: the paper's q, [E, B, M]; all 0 where nobody is available.

    Stage I draws a support s by masked Gumbel-sigmoid gates with a straight-through gradient, stage II spreads a
    masked softmax a over it: q ∝ a·s. A support without mass is repaired to all available readers. An unavailable
    reader is masked before any arithmetic, so neither its value nor its gradient can be other than 0.
    """
    absent = ~available
    tilted = _tempered(gates if noise is None else gates + noise, absent, temperature).masked_fill(absent, -torch.inf)
    relaxed = sigmoid(tilted)
    hard = (tilted >= 0).to(relaxed.dtype)
    nobody = absent.all(-1, keepdim=True)  # [E, B, 1]; a softmax over nothing would be NaN
    masked = _tempered(logits, absent, temperature).masked_fill(absent & ~nobody, -torch.inf)
    spread = torch.softmax(masked, dim=-1)
    empty = (spread * hard).sum(-1, keepdim=True) < LEAST_MASS
    support = torch.where(empty, available.to(hard.dtype), hard) + (relaxed - relaxed.detach())
    shared = spread * support
    return shared / shared.sum(-1, keepdim=True).where(~nobody, 1)


def _blocks(weights: Mapping[str, Tensor], inputs: Mapping[str, Tensor], noise: Noise | None) -> Tensor:
    """Linear, ReLU, LayerNorm, Dropout of the blocks named, each on its own inputs [E, B, in], [E, B, blocks, width].

    All at once, because on tensors this small an operation costs as much as its arithmetic.
    """
    hidden = torch.relu(_side_by_side([_linear(weights, name, values) for name, values in inputs.items()]))
    hidden = functional.layer_norm(hidden, hidden.shape[-1:])
    scale, shift = (_side_by_side([weights[f"{name}.{part}"] for name in inputs]) for part in ("scale", "shift"))
    hidden = torch.addcmul(shift[:, None], hidden, scale[:, None])
    return hidden if noise is None else hidden * noise.factor(next(iter(inputs)), *hidden.shape[-2:])


def _side_by_side(parts: Sequence[Tensor]) -> Tensor:
    """Tensors [..., width] as one, [..., parts, width]; a single one is not copied."""
    return torch.stack(list(parts), dim=-2) if len(parts) > 1 else parts[0].unsqueeze(-2)


def _linear(weights: Mapping[str, Tensor], name: str, inputs: Tensor) -> Tensor:
    return torch.baddbmm(weights[f"{name}.bias"][:, None], inputs, weights[f"{name}.weight"])


def _dot(weights: Mapping[str, Tensor], name: str, inputs: Tensor) -> Tensor:
    """A layer with one output, [E, B, in] to [E, B].

    No matrix product: matrix times vector is rounded in one way for a single member and in another for several.
    """
    return (inputs * weights[f"{name}.weight"].transpose(-1, -2)).sum(-1) + weights[f"{name}.bias"]


class Sigmoid(torch.autograd.Function):
    """1 / (1 + e⁻ˣ), rounded alike wherever in a tensor a value stands.

    `torch.sigmoid` and `softplus` compute the last elements of a tensor by another formula than the others, so that a
    member's policy would depend on how many members stand beside it.
    """

    @staticmethod
    def forward(ctx: FunctionCtx, values: Tensor) -> Tensor:
        """The value, and what the slope needs."""
        result = torch.exp(-values).add_(1).reciprocal_()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        """The gradient times y (1 − y)."""
        (result,) = ctx.saved_tensors
        slope: Tensor = torch.ops.aten.sigmoid_backward(gradient, result)
        return slope


sigmoid: Callable[[Tensor], Tensor] = Sigmoid.apply


def softplus(values: Tensor) -> Tensor:
    """log(1 + eˣ), rounded alike wherever in a tensor a value stands."""
    return values.clamp_min(0) + torch.log1p(torch.exp(-values.abs()))


def _tempered(logits: Tensor, absent: Tensor, temperature: Tensor) -> Tensor:
    """Logits over temperature, the absent's blanked first: whatever stands there would spoil the gradient."""
    return logits.masked_fill(absent, 0) / temperature


def _full(values: Tensor) -> Tensor:
    """At least single precision: under autocast the policy itself is not computed in half."""
    return values.float() if values.dtype in (torch.float16, torch.bfloat16) else values
