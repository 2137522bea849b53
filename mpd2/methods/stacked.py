"""Small networks trained side by side.

A population of E members is the native shape: every weight has a leading member axis, and a member is what its seed
would give alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.rng import Stream, orders, stream
from mpd2.core.runs import Run
from mpd2.methods.learned import Net
from mpd2.training.devices import threads_for

CHUNK = 4096  # cases routed at once, so that memory does not grow with the table


@dataclass(frozen=True)
class Cases:
    """Cases as tensors, the AI first among the actions; whatever an absent reader might say is blanked to 0."""

    state: Tensor  # [..., B, 8] standardised
    possible: Tensor  # [..., B, 1 + M] bool
    labels: Tensor  # [..., B, 1 + M] 0 or 1
    truth: Tensor  # [..., B] 0 or 1
    ai_probability: Tensor  # [..., B]
    stakes: Tensor  # [..., B] what an error costs in this case
    fees: Tensor  # [..., B, 1 + M]

    def __getitem__(self, index: Any) -> Cases:
        return Cases(*(getattr(self, field.name)[index] for field in fields(self)))

    @property
    def votes(self) -> Tensor:
        """The labels with the AI's probability in place of its own, [..., B, 1 + M]."""
        return torch.cat([self.ai_probability[..., None], self.labels[..., 1:]], dim=-1)

    @property
    def wrong(self) -> Tensor:
        """Whether an action's label is an error, [..., B, 1 + M] 0 or 1; 0 for the absent."""
        return ((self.labels != self.truth[..., None]) & self.possible).to(self.labels)

    @property
    def costs(self) -> Tensor:
        """Clinical cost plus fee of every action, [..., B, 1 + M]; 0 for the absent."""
        return self.stakes[..., None] * self.wrong + self.fees


Loss = Callable[[Tensor, Cases], Tensor]
"""From outputs [E, B, out] and cases [E, B] (or [1, B]) to a loss for each member, [E]."""

Layers = Sequence[tuple[Tensor, Tensor]]
"""Weights [E, in, out] and biases [E, 1, out], the input's layer first."""


def to_cases(cohort: Cohort, costs: Costs, mean: np.ndarray, scale: np.ndarray) -> Cases:
    """A cohort as tensors, its state standardised."""
    possible = np.column_stack([np.ones(len(cohort), bool), cohort.available])

    def tensor(values: np.ndarray) -> Tensor:
        return torch.tensor(values, dtype=torch.float32)

    return Cases(
        state=tensor((cohort.state - mean) / scale),
        possible=torch.tensor(possible),
        labels=tensor(np.where(possible, cohort.action_labels, 0)),
        truth=tensor(cohort.truth),
        ai_probability=tensor(cohort.ai_probability),
        stakes=tensor(np.where(cohort.truth == 1, costs.false_negative, costs.false_positive)),
        fees=tensor(np.where(possible, [0.0, *costs.fees], 0.0)),
    )


def initial_layers(seeds: Sequence[int], sizes: Sequence[int]) -> Layers:
    """Fresh networks: hidden layers uniform in ±1/√fan-in, the last one 0.

    From 0 all readers start alike, so that nothing depends on the order of their columns.
    """
    randoms = [stream(seed, Stream.WEIGHTS) for seed in seeds]

    def draw(fan_in: int, *shape: int) -> Tensor:
        values = np.stack([random.uniform(-(fan_in**-0.5), fan_in**-0.5, shape) for random in randoms])
        return torch.tensor(values, dtype=torch.float32, requires_grad=True)

    hidden = [(draw(before, before, after), draw(before, 1, after)) for before, after in pairwise(sizes[:-1])]
    last = [torch.zeros(len(seeds), rows, sizes[-1], requires_grad=True) for rows in (sizes[-2], 1)]
    return [*hidden, (last[0], last[1])]


def forward(layers: Layers, state: Tensor) -> Tensor:
    """The outputs of every member for its own cases, [E, B, 8] to [E, B, out]."""
    *hidden, (weight, bias) = layers
    for inner_weight, inner_bias in hidden:
        state = torch.relu(torch.baddbmm(inner_bias, state, inner_weight))
    return torch.baddbmm(bias, state, weight)


def train_population(
    train: Cases, val: Cases, outputs: int, net: Net, seeds: Sequence[int], loss: Loss
) -> tuple[Layers, pd.DataFrame]:
    """Each member at its lowest validation loss, and what was logged, one row an epoch and member."""
    layers = initial_layers(seeds, (train.state.shape[-1], *net.hidden, outputs))
    parameters = [values for layer in layers for values in layer]
    optimiser = torch.optim.Adam(parameters, lr=net.learning_rate, weight_decay=net.weight_decay, fused=True)
    cases, val_state = len(train.state), val.state.expand(len(seeds), -1, -1)
    bounds = np.linspace(0, cases, -(-cases // net.batch_size) + 1).round().astype(int).tolist()  # even batches
    best = [values.detach().clone() for values in parameters]
    best_score, best_epoch = torch.full((len(seeds),), torch.inf), torch.zeros(len(seeds))
    logs = []
    with threads_for(1):  # a crew a thread, as routers train, was measured to save nothing here
        for epoch in range(net.epochs):
            shuffled = train[torch.as_tensor(orders(seeds, epoch, cases))]  # [E, N]
            total = torch.zeros(len(seeds))
            for low, high in pairwise(bounds):
                batch = shuffled[:, low:high]
                losses = loss(forward(layers, batch.state), batch)  # [E]
                optimiser.zero_grad()
                losses.sum().backward()  # members share nothing, so each gets the gradient of its own loss
                optimiser.step()
                total += losses.detach() * (high - low)
            with torch.no_grad():
                score = loss(forward(layers, val_state), val[None])
            # Whoever has waited too long has stopped, even while others go on.
            active = epoch - best_epoch < net.patience
            better = active & (score < best_score)
            kept = better[:, None, None]
            best = [torch.where(kept, new.detach(), old) for new, old in zip(parameters, best, strict=True)]
            best_score, best_epoch = torch.where(better, score, best_score), best_epoch.where(~better, epoch)
            logs.append(torch.stack([total / cases, score]).T.where(active[:, None], torch.nan))
            if not active.any():
                break
    return list(zip(best[::2], best[1::2], strict=True)), _history(torch.stack(logs), seeds)


@torch.inference_mode()
def population_outputs(run: Run, cohort: Cohort) -> Floats:
    """The outputs of every member of a run for every case, [E, N, out]."""
    depth = sum(name.endswith(".weight") for name in run.arrays)
    weights, biases = (
        [torch.tensor(run.arrays[f"{layer}.{part}"]) for layer in range(depth)] for part in ("weight", "bias")
    )
    layers = list(zip(weights, biases, strict=True))
    state = (cohort.state - run.arrays["state.mean"][0]) / run.arrays["state.scale"][0]
    parts = torch.tensor(state, dtype=torch.float32).split(CHUNK)
    return torch.cat([forward(layers, part.expand(run.members, -1, -1)) for part in parts], dim=1).double().numpy()


def _history(logs: Tensor, seeds: Sequence[int]) -> pd.DataFrame:
    epochs, members, _ = logs.shape
    frame = pd.DataFrame(logs.flatten(0, 1).numpy(), columns=["loss", "score"])
    frame.insert(0, "epoch", np.repeat(np.arange(1, epochs + 1), members))
    frame.insert(1, "seed", np.tile(seeds, epochs))
    return frame.dropna(subset=["score"]).reset_index(drop=True)
