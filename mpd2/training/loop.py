"""Fit a population of routers: epochs, multiplier, checkpoint choice, callbacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from threading import Lock

import numpy as np
import torch
from torch import Tensor

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.policy import Policy
from mpd2.training.config import LOGGED, Config
from mpd2.training.crew import Crew, TrainingState
from mpd2.training.devices import pick_device, threads_for
from mpd2.training.inputs import TrainingInputs, prepare
from mpd2.training.network import Normaliser, Weights, initial_weights

LARGEST_CREW = 20  # of more members, what one step works on no longer stays in the processor's cache


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

    A member is the router one gets alone with that configuration, whatever else is trained beside it, in however many
    crews. A member whose loss is not finite stops with a message and leaves the others alone; it keeps its best
    checkpoint if it has one.
    """
    _check_alike(configs)
    place = pick_device(device)
    inputs = prepare(cohort, configs, costs or cohort.manifest.default_costs(), place, dtype)
    state = _resumed(resume, inputs) if resume else _fresh(configs, inputs, cohort.readers, place, dtype)
    epochs = max(config.training.epochs for config in configs)
    with threads_for(len(configs) if place.type == "cpu" else 1) as threads, ThreadPoolExecutor(threads) as pool:
        crews: list[Crew] = []
        while state.epoch < epochs and bool(state.active.any()):
            if not crews or not all(crew.all_active() for crew in crews):
                crews = _crews(state, configs, inputs, threads)
            outcomes = list((pool.map if threads > 1 else map)(Crew.epoch, crews))
            state.history, state.loads = _with_room(state.history), _with_room(state.loads)
            for crew, outcome in zip(crews, outcomes, strict=True):
                crew.settle(outcome)
            state.epoch += 1
            policies = [(crew.rows.cpu(), outcome.policy) for crew, outcome in zip(crews, outcomes, strict=True)]
            progress = _progress(state, configs, epochs, policies)
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
    flat = initial_weights(seeds, configs[0].network, readers, inputs.encoders, inputs.anatomy, dtype).flat.to(place)
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


def _crews(state: TrainingState, configs: Sequence[Config], inputs: TrainingInputs, threads: int) -> list[Crew]:
    """Those still training, in even crews: one a thread, or more where one would be too large."""
    turn, rows = Lock(), state.active.nonzero()[:, 0]
    parts = rows.tensor_split(min(max(threads, -(-len(rows) // LARGEST_CREW)), len(rows)))
    return [Crew(state, part, configs, inputs, turn) for part in parts]


def _with_room(log: Tensor) -> Tensor:
    """A log, [epochs, E, ...], with one epoch more, NaN until it is filled in."""
    return torch.cat([log, log.new_full((1, *log.shape[1:]), torch.nan)])


def _progress(
    state: TrainingState, configs: Sequence[Config], epochs: int, policies: Sequence[tuple[Tensor, Policy]]
) -> Progress:
    """`policies` are those of the members that trained in this epoch, beside their positions."""
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
        policy=lambda: _among_all(policies, len(configs)),
        stop=stop,
    )


def _among_all(policies: Sequence[tuple[Tensor, Policy]], members: int) -> Policy:
    """The policies of some members in their places among all, [E, N]; NaN for the others."""
    some = policies[0][1]
    defer, allocation = (np.full((members, *part.shape[1:]), np.nan) for part in (some.defer, some.allocation))
    for rows, policy in policies:
        defer[rows], allocation[rows] = policy.defer, policy.allocation
    return Policy(defer, allocation, some.available)


def _trained(state: TrainingState, configs: Sequence[Config], inputs: TrainingInputs, readers: int) -> Trained:
    kept = (state.best_epoch > 0).cpu().numpy()
    if not kept.any():
        raise UserError("no router could be trained: " + "; ".join(state.problems.values()))
    return Trained(
        configs=tuple(config for config, keep in zip(configs, kept, strict=True) if keep),
        positions=tuple(np.flatnonzero(kept).tolist()),
        weights=Weights(state.best[torch.as_tensor(kept)].cpu(), configs[0].network.width, readers, inputs.encoders),
        normaliser=Normaliser(inputs.normaliser.mean.cpu(), inputs.normaliser.scale.cpu()),
        best_epoch=state.best_epoch.cpu().numpy()[kept],
        history=state.history.double().cpu().numpy()[:, kept],
        loads=state.loads.double().cpu().numpy()[:, kept],
        problems=dict(state.problems),
    )
