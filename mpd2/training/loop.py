"""Fit a population of routers: epochs, multiplier, checkpoint choice, callbacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from mpd2.core import rng
from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.policy import Policy, choose
from mpd2.training import losses
from mpd2.training.config import LOGGED, Config
from mpd2.training.devices import pick_device, threads_for
from mpd2.training.inputs import TrainingInputs, prepare
from mpd2.training.network import BLOCKS, Noise, Normaliser, SoftPolicy, Weights, initial_weights, soft_policy

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


@dataclass(frozen=True)
class Progress:
    """A training after an epoch. `state()` is a consistent copy that can be saved."""

    epoch: int
    epochs: int
    configs: Sequence[Config]
    log: Mapping[str, Floats]  # name from LOGGED to [E]
    load: Floats  # [E, M]
    active: np.ndarray  # [E] bool
    state: Callable[[], TrainingState]
    policy: Callable[[], Policy]  # [E, N] on val after this epoch, NaN where a member no longer trains
    stop: Callable[[Sequence[int]], None]  # ends the training of the members at these positions, and of nobody else


Callback = Callable[[Progress], None]
"""Called after every epoch; raise `Cancelled` to stop there."""


@dataclass(frozen=True)
class Trained:
    """The outcome: each member at its best checkpoint."""

    configs: tuple[Config, ...]
    positions: tuple[int, ...]  # of the members here, among all that were asked for
    weights: Weights  # [E, ...]
    normaliser: Normaliser
    best_epoch: np.ndarray  # [E]
    history: Floats  # [epochs, E, len(LOGGED)]
    loads: Floats  # [epochs, E, M]
    problems: Mapping[int, str]  # position among all members asked for, to why it is missing here


def train(
    cohort: Cohort,
    configs: Sequence[Config],
    costs: Costs | None = None,
    *,
    device: str = "auto",
    dtype: torch.dtype = torch.float32,
    callbacks: Sequence[Callback] = (),
    resume: TrainingState | None = None,
) -> Trained:
    """Train all `configs` together on the cohort's train split, choosing checkpoints on val.

    A member is the router one gets alone with that configuration, whatever else is trained beside it. A member whose
    loss is not finite stops with a message and leaves the others alone; it keeps its best checkpoint if it has one.
    """
    _check_alike(configs)
    place = pick_device(device)
    inputs = prepare(cohort, configs, costs or cohort.manifest.default_costs(), place, dtype)
    state = _resumed(resume, inputs) if resume else _fresh(configs, inputs, cohort.readers, place, dtype)
    epochs = max(config.training.epochs for config in configs)
    with threads_for(len(configs)):
        members = None
        while state.epoch < epochs and bool(state.active.any()):
            if members is None or not members.all_active():
                members = _ActiveMembers(state, configs, inputs)
            terms = members.train_epoch()
            soft = members.val_policy()
            policy = to_policy(soft, inputs.val.available)
            verdict = members.validate(soft, policy)
            members.keep_better(verdict)
            members.stop_finished(terms, verdict)
            members.write_down(terms, verdict, soft)
            state.epoch += 1
            progress = _progress(state, configs, epochs, members.rows.cpu().numpy(), policy)
            for callback in callbacks:
                callback(progress)
    return _trained(state, configs, inputs, cohort.readers)


def _check_alike(configs: Sequence[Config]) -> None:
    if not configs:
        raise UserError("a population needs at least one member")
    for what, values in (
        ("network", {config.network for config in configs}),
        ("batch size", {config.training.batch_size for config in configs}),
        ("detach_defer", {config.objective.detach_defer for config in configs}),
    ):
        if len(values) > 1:
            raise UserError(f"members of one population must share the {what}; found {len(values)} different ones")


def _fresh(
    configs: Sequence[Config], inputs: TrainingInputs, readers: int, place: torch.device, dtype: torch.dtype
) -> TrainingState:
    seeds = [config.seed for config in configs]
    flat = initial_weights(seeds, configs[0].network, readers, inputs.anatomy, dtype).flat.to(place)
    members = len(configs)
    return TrainingState(
        epoch=0,
        current=flat,
        first_moment=torch.zeros_like(flat),
        second_moment=torch.zeros_like(flat),
        best=flat.clone(),
        multiplier=flat.new_zeros(members),
        best_score=flat.new_full((members,), torch.inf),
        best_epoch=torch.zeros(members, dtype=torch.int64, device=place),
        active=torch.ones(members, dtype=torch.bool, device=place),
        history=flat.new_zeros((0, members, len(LOGGED))),
        loads=flat.new_zeros((0, members, readers)),
        problems={},
        inputs_digest=inputs.digest(),
    )


def _resumed(state: TrainingState, inputs: TrainingInputs) -> TrainingState:
    """A copy to go on with, if it learned from the same cases and costs."""
    if state.inputs_digest != inputs.digest():
        raise UserError("the unfinished training learned from other cases or costs; go on with those, or start anew")
    return deepcopy(state)


class Verdict(NamedTuple):
    """What the members' policies come to on val, [A] each, in the order of LOGGED."""

    cost: Tensor  # as in training
    soft_deferral: Tensor
    hard_deferral: Tensor
    total: Tensor  # reported: of the actions taken, with full fees
    score: Tensor  # picks the checkpoint: a cost, and more where deferral exceeds its target


class _ActiveMembers:
    """The members still training, with their settings as tensors. Rebuilt when one of them stops."""

    def __init__(self, state: TrainingState, configs: Sequence[Config], inputs: TrainingInputs) -> None:
        self.state, self.inputs = state, inputs
        self.rows = state.active.nonzero()[:, 0]  # [A] positions among all members
        self.configs = [configs[row] for row in self.rows.tolist()]
        network = configs[0].network
        self.floor, self.dropout = network.temperature_floor, network.dropout
        self.detach = configs[0].objective.detach_defer

        steps = -(-len(inputs.train) // configs[0].training.batch_size)
        self.bounds = np.linspace(0, len(inputs.train), steps + 1).round().astype(int).tolist()  # even batches
        readers = inputs.train.available.shape[1]
        self.weights = Weights(state.current[self.rows], network.width, readers)
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

    def train_epoch(self) -> Tensor:
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
        readers, units = train.available.shape[1], len(BLOCKS) * self.weights.width
        order = torch.as_tensor(rng.orders(seeds, epoch, cases), device=train.state.device)
        gates = torch.as_tensor(rng.gate_noise(seeds, epoch, cases, readers)).to(train.state)
        keeps = torch.as_tensor(rng.dropout_keeps(seeds, epoch, cases, units, self.dropout)).to(train.state.device)
        costs = self.train_cost.gather(1, order[..., None].expand(-1, -1, self.train_cost.shape[-1]))
        return train.state[order], train.available[order], train.group[order], costs, gates, keeps

    def _step(
        self, state: Tensor, available: Tensor, group: Tensor, cost: Tensor, gates: Tensor, keeps: Tensor
    ) -> Tensor:
        """One optimiser step of every member; the terms of its loss, [A, STEP_TERMS]."""
        noise = Noise.of(gates, keeps, self.dropout)
        policy = soft_policy(self.leaves, self.inputs.normaliser, state, available, self.floor, noise)
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

    def val_policy(self) -> SoftPolicy:
        """The policies on val, [A, N]."""
        val, members = self.inputs.val, len(self.rows)
        return soft_policy(
            self.weights,
            self.inputs.normaliser,
            val.state.expand(members, -1, -1),
            val.available.expand(members, -1, -1),
            self.floor,
        )

    def validate(self, soft: SoftPolicy, policy: Policy) -> Verdict:
        """What the policies on val come to; `policy` is `soft` as plain arrays."""
        cost, deferral = losses.routing_cost(soft, self.val_cost), soft.defer.mean(-1)
        staged = np.array([config.rule == "staged" for config in self.configs])[:, None]
        chosen = np.where(staged, choose(policy, "staged"), choose(policy, "joint"))
        action = torch.as_tensor(chosen).to(self.rows.device)  # [A, N]
        total = self.inputs.val.total.expand(len(self.rows), -1, -1).gather(-1, action[..., None])[..., 0].mean(-1)
        base = torch.where(self._each(lambda c: c.training.checkpoint == "hard") > 0, total, cost)
        score = base + self._each(lambda c: c.training.violation_weight) * (deferral - self.target).clamp_min(0)
        return Verdict(cost, deferral, (action > 0).to(total).mean(-1), total, score)

    def keep_better(self, verdict: Verdict) -> None:
        """Keep the weights of whoever has a better score than ever after its warm-up."""
        state, epoch = self.state, self.state.epoch + 1
        better = (verdict.score < state.best_score[self.rows]) & (epoch > self._warm_up())
        rows = self.rows[better]
        state.best[rows], state.best_score[rows] = self.weights.flat[better], verdict.score[better]
        state.best_epoch[rows] = epoch

    def stop_finished(self, terms: Tensor, verdict: Verdict) -> None:
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

    def write_down(self, terms: Tensor, verdict: Verdict, soft: SoftPolicy) -> None:
        """Put weights, moments, multipliers and the epoch's log into the state."""
        state = self.state
        state.current[self.rows] = self.weights.flat
        state.first_moment[self.rows], state.second_moment[self.rows] = self.first, self.second
        state.multiplier[self.rows] = self.multiplier
        log = state.history.new_full((1, *state.history.shape[1:]), torch.nan)
        log[0, self.rows] = torch.cat([terms, torch.stack([*verdict, self.multiplier], dim=-1)], dim=-1)
        load = state.loads.new_full((1, *state.loads.shape[1:]), torch.nan)
        load[0, self.rows] = (soft.defer[..., None] * soft.allocation).mean(1)
        state.history, state.loads = torch.cat([state.history, log]), torch.cat([state.loads, load])


def to_policy(soft: SoftPolicy, available: Tensor) -> Policy:
    """A differentiable policy as plain arrays."""
    return Policy(soft.defer.double().cpu().numpy(), soft.allocation.double().cpu().numpy(), available.cpu().numpy())


def _progress(
    state: TrainingState, configs: Sequence[Config], epochs: int, rows: np.ndarray, policy: Policy
) -> Progress:
    """`policy` is that of the members at `rows`, who trained in this epoch."""
    log = state.history[-1].double().cpu().numpy()

    def stop(members: Sequence[int]) -> None:
        state.active[list(members)] = False

    return Progress(
        epoch=state.epoch,
        epochs=epochs,
        configs=configs,
        log={name: log[:, position] for position, name in enumerate(LOGGED)},
        load=state.loads[-1].double().cpu().numpy(),
        active=state.active.cpu().numpy().copy(),
        state=lambda: deepcopy(state),
        policy=lambda: _among_all(policy, rows, len(configs)),
        stop=stop,
    )


def _among_all(policy: Policy, rows: np.ndarray, members: int) -> Policy:
    """The policy of some members in its place among all, [E, N]; NaN for the others."""
    defer, allocation = (np.full((members, *part.shape[1:]), np.nan) for part in (policy.defer, policy.allocation))
    defer[rows], allocation[rows] = policy.defer, policy.allocation
    return Policy(defer, allocation, policy.available)


def _trained(state: TrainingState, configs: Sequence[Config], inputs: TrainingInputs, readers: int) -> Trained:
    kept = (state.best_epoch > 0).cpu().numpy()
    if not kept.any():
        raise UserError("no router could be trained: " + "; ".join(state.problems.values()))
    return Trained(
        configs=tuple(config for config, keep in zip(configs, kept, strict=True) if keep),
        positions=tuple(np.flatnonzero(kept).tolist()),
        weights=Weights(state.best[torch.as_tensor(kept)].cpu(), configs[0].network.width, readers),
        normaliser=Normaliser(inputs.normaliser.mean.cpu(), inputs.normaliser.scale.cpu()),
        best_epoch=state.best_epoch.cpu().numpy()[kept],
        history=state.history.double().cpu().numpy()[:, kept],
        loads=state.loads.double().cpu().numpy()[:, kept],
        problems=dict(state.problems),
    )
