"""A population of routers as a run: train it, keep what it learned, apply it to cases."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import torch

from mpd2.core.arrays import Bools, Floats
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.policy import RULES, Policy
from mpd2.core.runs import Run
from mpd2.training.config import LOGGED, Config, parse_config
from mpd2.training.crew import TrainingState, to_policy
from mpd2.training.devices import threads_for
from mpd2.training.loop import Callback, Trained, train
from mpd2.training.network import Encoders, Normaliser, Weights, shapes, soft_policy

METHOD = "mpd2"  # what a run of routers says its method is
CHUNK = 4096  # cases routed at once, so that memory does not grow with the table
MANY = 32  # chunks from which on every core takes its own; fewer are done before threads have begun


def fit_routers(
    cohort: Cohort,
    costs: Costs,
    configs: Sequence[Config],
    *,
    device: str = "auto",
    callbacks: Sequence[Callback] = (),
    resume: TrainingState | None = None,
) -> Run:
    """Train a population of any configurations as one run. All members must share the decision rule."""
    if len({config.rule for config in configs}) > 1:
        raise UserError("members of one run must share the decision rule; found " + " and ".join(RULES))
    return run_of(train(cohort, configs, costs, device=device, callbacks=callbacks, resume=resume), cohort, costs)


def run_of(trained: Trained, cohort: Cohort, costs: Costs) -> Run:
    """A trained population as a run, to be kept or applied."""
    members = len(trained.configs)
    arrays = {name: view.numpy().copy() for name, view in trained.weights.items()}
    for part in ("mean", "scale"):
        arrays[f"state.{part}"] = np.tile(getattr(trained.normaliser, part).numpy(), (members, 1))
    return Run(
        method=METHOD,
        settings=tuple(config.model_dump(mode="json") for config in trained.configs),
        arrays=arrays,
        rule=trained.configs[0].rule,
        costs=costs,
        readers=cohort.manifest.columns,
        fingerprint=cohort.fingerprint,
        history=history_frame(trained, cohort.manifest.columns),
        notes={"best_epoch": trained.best_epoch.tolist(), "problems": list(trained.problems.values())},
    )


def history_frame(trained: Trained, readers: Sequence[str]) -> pd.DataFrame:
    """What was logged, one row an epoch and member; epochs after a member stopped are left out."""
    epochs, members, _ = trained.history.shape
    frame = pd.DataFrame(
        np.concatenate([trained.history, trained.loads], axis=-1).reshape(epochs * members, -1).astype(np.float32),
        columns=[*LOGGED, *(f"load:{reader}" for reader in readers)],
    )
    frame.insert(0, "epoch", np.repeat(np.arange(1, epochs + 1), members))
    frame.insert(1, "seed", np.tile([config.seed for config in trained.configs], epochs))
    return frame.dropna(subset=["score"]).reset_index(drop=True)


def population_policy(run: Run, cohort: Cohort) -> Policy:
    """The policy of every router of a run for every case, [E, N]."""
    floor = parse_config(dict(run.settings[0])).network.temperature_floor
    encoders = Encoders.of(cohort.layout)
    weights = _weights(run, cohort.readers, encoders)
    normaliser = Normaliser(*(torch.tensor(run.arrays[f"state.{part}"][0]) for part in ("mean", "scale")))

    defer = np.empty((run.members, len(cohort)))
    allocation = np.empty((*defer.shape, cohort.readers))

    def apply(start: int) -> None:
        rows = slice(start, start + CHUNK)
        part = _chunk_policy(weights, normaliser, encoders, cohort.state[rows], cohort.available[rows], floor)
        defer[:, rows], allocation[:, rows] = part.defer, part.allocation

    starts = range(0, len(cohort), CHUNK)
    if len(starts) < MANY:
        for start in starts:
            apply(start)
    else:
        with threads_for(len(starts)) as threads, ThreadPoolExecutor(threads) as pool:
            list(pool.map(apply, starts))
    return Policy(defer, allocation, cohort.available)


def _weights(run: Run, readers: int, encoders: Encoders) -> Weights:
    width = run.arrays["trunk.bias"].shape[1]
    names = shapes(width, readers, encoders)
    flat = np.concatenate([run.arrays[name].reshape(run.members, -1) for name in names], axis=1)
    return Weights(torch.tensor(flat), width, readers, encoders)


@torch.inference_mode()
def _chunk_policy(
    weights: Weights, normaliser: Normaliser, encoders: Encoders, states: Floats, present: Bools, floor: float
) -> Policy:
    members = len(weights.flat)
    state = torch.tensor(states, dtype=weights.flat.dtype)  # [N, S]
    available = torch.tensor(present)  # [N, M]
    each = (members, -1, -1)
    soft = soft_policy(weights, normaliser, encoders, state.expand(each), available.expand(each), floor)
    return to_policy(soft, available)
