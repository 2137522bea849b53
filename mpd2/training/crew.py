"""A crew: the members of a population that one thread trains, with their settings as tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from threading import Lock
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from mpd2.core import rng
from mpd2.core.policy import Policy, choose
from mpd2.training import losses
from mpd2.training.config import Config
from mpd2.training.inputs import TrainingInputs
from mpd2.training.network import Noise, SoftPolicy, Weights, soft_policy

STEP_TERMS = 6


@dataclass
class TrainingState:
    """All that changes while training; saved whole, it resumes to the same result. Row e is member e."""

    epoch: int  # epochs done
    current: Tensor  # [E, P] weights
    first_moment: Tensor  # [E, P] AdamW
    second_moment: Tensor  # [E, P] AdamW
    best: Tensor  # [E, P] weights of the best checkpoint so far
    multiplier: Tensor  # [E] λ_def
    best_score: Tensor  # [E]
    best_epoch: Tensor  # [E] 0 = none yet
    active: Tensor  # [E] bool
    history: Tensor  # [epochs, E, len(LOGGED)] NaN where a member no longer trains
    loads: Tensor  # [epochs, E, M] soft validation load of each reader
    problems: dict[int, str]  # why a member had to be stopped
    inputs_digest: str  # of the cases and costs it learns from


class Verdict(NamedTuple):
    """What the members' policies come to on val, [A] each, in the order of LOGGED."""

    cost: Tensor  # as in training
    soft_deferral: Tensor
    hard_deferral: Tensor
    total: Tensor  # reported: of the actions taken, with full fees
    score: Tensor  # picks the checkpoint: a cost, and more where deferral exceeds its target


class Outcome(NamedTuple):
    """What an epoch of a crew came to."""

    terms: Tensor  # [A, STEP_TERMS] of the loss, means over the training cases
    verdict: Verdict
    load: Tensor  # [A, M] soft validation load of each reader
    policy: Policy  # [A, N] on val


class Crew:
    """Some of the members still training. All crews are put together anew when a member stops.

    Crews share nothing but the inputs, the state, in which each has its own rows, and `turn`: Python serves one crew
    at a time, and would change hands at every operation if they did not take turns with what needs it most.
    """

    def __init__(
        self, state: TrainingState, rows: Tensor, configs: Sequence[Config], inputs: TrainingInputs, turn: Lock
    ) -> None:
        self.state, self.inputs, self.turn = state, inputs, turn
        self.rows = rows  # [A] positions among all members
        self.configs = [configs[row] for row in self.rows.tolist()]
        network = configs[0].network
        self.floor, self.dropout = network.temperature_floor, network.dropout
        self.detach = configs[0].objective.detach_defer

        steps = -(-len(inputs.train) // configs[0].training.batch_size)
        self.bounds = np.linspace(0, len(inputs.train), steps + 1).round().astype(int).tolist()  # even batches
        readers = inputs.train.available.shape[1]
        self.weights = Weights(state.current[self.rows], network.width, readers, inputs.encoders)
        self.gradient = torch.zeros_like(self.weights.flat)
        self.leaves = {name: view.detach().requires_grad_() for name, view in self.weights.items()}
        self.first, self.second = state.first_moment[self.rows], state.second_moment[self.rows]
        self.optimiser = self._optimiser()

        self.multiplier = state.multiplier[self.rows]
        self.gsdp_weight = self._each(lambda c: c.objective.gsdp_weight)
        self.rank_weight = self._each(lambda c: c.objective.rank_weight)
        self.margin = self._each(lambda c: c.objective.rank_margin)
        # Without a budget the target is 1, which no deferral rate can exceed: the multiplier then stays at 0.
        self.target = self._each(lambda c: 1.0 if c.budget.target is None else c.budget.target)
        self.penalty = self._each(lambda c: c.budget.penalty)
        self.dual_step = self._each(lambda c: c.budget.dual_step)
        self.train_cost, self.val_cost = inputs.train.cost[self.rows], inputs.val.cost[self.rows]
        self.prior, self.profile = inputs.prior[self.rows], inputs.profile[self.rows]

    def _each(self, setting: Callable[[Config], float]) -> Tensor:
        return self.weights.flat.new_tensor([setting(config) for config in self.configs])

    def _optimiser(self) -> torch.optim.AdamW:
        """AdamW with one parameter a member, so that each has its own step size; the moments are ours to save."""
        rows = [torch.nn.Parameter(row) for row in self.weights.flat]
        alike: dict[tuple[float, float], list[torch.nn.Parameter]] = {}  # one call for all who step alike
        for row, config in zip(rows, self.configs, strict=True):
            alike.setdefault((config.training.learning_rate, config.training.weight_decay), []).append(row)
        groups = [{"params": some, "lr": rate, "weight_decay": decay} for (rate, decay), some in alike.items()]
        optimiser = torch.optim.AdamW(groups, fused=True)
        done = float(self.state.epoch * (len(self.bounds) - 1))
        for position, row in enumerate(rows):
            row.grad = self.gradient[position]
            optimiser.state[row] = {
                "step": torch.tensor(done, device=row.device),
                "exp_avg": self.first[position],
                "exp_avg_sq": self.second[position],
            }
        return optimiser

    def all_active(self) -> bool:
        """Whether everybody here still trains."""
        return bool(self.state.active[self.rows].all())

    def epoch(self) -> Outcome:
        """Train and validate once; the state is left as it is until `settle`."""
        terms, soft = self._train(), self._val_policy()
        policy = to_policy(soft, self.inputs.val.available)
        return Outcome(terms, self._validate(soft, policy), (soft.defer[..., None] * soft.allocation).mean(1), policy)

    def settle(self, outcome: Outcome) -> None:
        """Put what the epoch came to into the state, whose last log is the epoch's; who is done stops."""
        self._keep_better(outcome.verdict)
        self._stop_finished(outcome.terms, outcome.verdict)
        self._write_down(outcome)

    def _train(self) -> Tensor:
        """One pass over the training cases in each member's own order, then one step of the multiplier.

        Returns the terms of the loss, means over the cases, [A, STEP_TERMS].
        """
        batches = self._shuffled()
        terms = self.weights.flat.new_zeros((len(self.rows), STEP_TERMS))
        for low, high in pairwise(self.bounds):
            terms += self._step(*(part[:, low:high] for part in batches)) * (high - low)
        terms /= len(self.inputs.train)
        self.multiplier = losses.ascended(self.multiplier, terms[:, -1], self.target, self.dual_step)
        return terms

    def _shuffled(self) -> tuple[Tensor, ...]:
        """Every array of an epoch in each member's order, [A, N, ...]."""
        train = self.inputs.train
        seeds, epoch, cases = [c.seed for c in self.configs], self.state.epoch, len(train)
        readers, units = train.available.shape[1], len(self.inputs.encoders.blocks) * self.weights.width
        order = torch.as_tensor(rng.orders(seeds, epoch, cases), device=train.state.device)
        gates = torch.as_tensor(rng.gate_noise(seeds, epoch, cases, readers)).to(train.state)
        keeps = torch.as_tensor(rng.dropout_keeps(seeds, epoch, cases, units, self.dropout)).to(train.state.device)
        costs = self.train_cost.gather(1, order[..., None].expand(-1, -1, self.train_cost.shape[-1]))
        return train.state[order], train.available[order], train.group[order], costs, gates, keeps

    def _step(
        self, state: Tensor, available: Tensor, group: Tensor, cost: Tensor, gates: Tensor, keeps: Tensor
    ) -> Tensor:
        """One optimiser step of every member; the terms of its loss, [A, STEP_TERMS]."""
        with self.turn:
            noise = Noise.of(gates, keeps, self.dropout, self.inputs.encoders)
            scales, encoders = self.inputs.normaliser, self.inputs.encoders
            policy = soft_policy(self.leaves, scales, encoders, state, available, self.floor, noise)
            routing = losses.routing_cost(policy, cost)
            gsdp = losses.gsdp(policy, group, self.prior, self.detach)
            rank = losses.rank_js(policy, self.profile, self.margin, self.detach)
            budget = losses.budget_penalty(policy, self.target, self.multiplier, self.penalty)
            loss = routing + self.gsdp_weight * gsdp + self.rank_weight * rank + budget
        # Members share nothing, so each row gets the gradient of its own loss.
        parts = torch.autograd.grad(loss.sum(), list(self.leaves.values()))
        torch.cat([part.flatten(1) for part in parts], dim=1, out=self.gradient)
        self.optimiser.step()
        return torch.stack([loss, routing, gsdp, rank, budget, policy.defer.mean(-1)], dim=-1).detach()

    def _val_policy(self) -> SoftPolicy:
        """The policies on val, [A, N]."""
        val, members = self.inputs.val, len(self.rows)
        return soft_policy(
            self.weights,
            self.inputs.normaliser,
            self.inputs.encoders,
            val.state.expand(members, -1, -1),
            val.available.expand(members, -1, -1),
            self.floor,
        )

    def _validate(self, soft: SoftPolicy, policy: Policy) -> Verdict:
        """What the policies on val come to; `policy` is `soft` as plain arrays."""
        cost, deferral = losses.routing_cost(soft, self.val_cost), soft.defer.mean(-1)
        staged = np.array([config.rule == "staged" for config in self.configs])[:, None]
        chosen = np.where(staged, choose(policy, "staged"), choose(policy, "joint"))
        action = torch.as_tensor(chosen).to(self.rows.device)  # [A, N]
        total = self.inputs.val.total.expand(len(self.rows), -1, -1).gather(-1, action[..., None])[..., 0].mean(-1)
        base = torch.where(self._each(lambda c: c.training.checkpoint == "hard") > 0, total, cost)
        score = base + self._each(lambda c: c.training.violation_weight) * (deferral - self.target).clamp_min(0)
        return Verdict(cost, deferral, (action > 0).to(total).mean(-1), total, score)

    def _keep_better(self, verdict: Verdict) -> None:
        """Keep the weights of whoever has a better score than ever after its warm-up."""
        state, epoch = self.state, self.state.epoch + 1
        better = (verdict.score < state.best_score[self.rows]) & (epoch > self._warm_up())
        rows = self.rows[better]
        state.best[rows], state.best_score[rows] = self.weights.flat[better], verdict.score[better]
        state.best_epoch[rows] = epoch

    def _stop_finished(self, terms: Tensor, verdict: Verdict) -> None:
        """Stop whoever ran out of patience or epochs, and with a message whoever is no longer finite."""
        state, epoch, warm_up = self.state, self.state.epoch + 1, self._warm_up()
        finite = terms.isfinite().all(-1) & self.weights.flat.isfinite().all(-1) & verdict.score.isfinite()
        waited = epoch - torch.maximum(state.best_epoch[self.rows].to(warm_up), warm_up)
        patience, epochs = self._each(lambda c: c.training.patience), self._each(lambda c: c.training.epochs)
        for row in self.rows[~finite].tolist():
            state.problems[row] = (
                f"member {row + 1} stopped in epoch {epoch}: its loss was no longer a finite number; "
                "try a smaller learning rate or smaller weights"
            )
        state.active[self.rows] = finite & ~((waited >= patience) | (epoch >= epochs))

    def _warm_up(self) -> Tensor:
        """Epochs before a checkpoint may be kept, [A]; a training shorter than that still has its last epoch."""
        return self._each(lambda c: min(c.training.warm_up, c.training.epochs - 1))

    def _write_down(self, outcome: Outcome) -> None:
        """Put weights, moments, multipliers and the epoch's log into the state."""
        state, rows = self.state, self.rows
        state.current[rows] = self.weights.flat
        state.first_moment[rows], state.second_moment[rows] = self.first, self.second
        state.multiplier[rows] = self.multiplier
        tail = torch.stack([*outcome.verdict, self.multiplier], dim=-1)
        state.history[-1, rows], state.loads[-1, rows] = torch.cat([outcome.terms, tail], dim=-1), outcome.load


def to_policy(soft: SoftPolicy, available: Tensor) -> Policy:
    """A differentiable policy as plain arrays."""
    return Policy(soft.defer.double().cpu().numpy(), soft.allocation.double().cpu().numpy(), available.cpu().numpy())
