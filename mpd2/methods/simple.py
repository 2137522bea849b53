"""Methods without a network: what a learned one has to beat, and the oracle that nothing beats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.policy import Policy
from mpd2.core.runs import Run
from mpd2.core.state import UNCERTAINTY, StateLayout
from mpd2.methods.common import CERTAIN, SHARPNESS, asks_nobody, heard, learning_splits, member_settings, per_member

LEVELS = np.linspace(0, 1, 41)  # quantiles of a signal on val that are tried as its threshold


@dataclass(frozen=True)
class AiOnly:
    """Nobody is ever asked."""

    key: str = "ai"
    name: str = "AI only"

    def fit(self, cohort: Cohort, costs: Costs, seeds: Sequence[int]) -> Run:
        """Nothing to learn."""
        return _run(self.key, cohort, costs, seeds)

    def policy(self, run: Run, cohort: Cohort) -> Policy:
        """No deferral."""
        return asks_nobody(run.members, cohort)


@dataclass(frozen=True)
class BestReader:
    """The one reader whose readings, where there are any, lower the cost on train the most; elsewhere the AI."""

    key: str = "best-reader"
    name: str = "Best single reader"

    def fit(self, cohort: Cohort, costs: Costs, seeds: Sequence[int]) -> Run:
        """Choose the reader."""
        train, _ = learning_splits(cohort)
        actions = costs.of_actions(train)
        total = np.where(train.available, actions[:, 1:], actions[:, :1]).mean(0)  # [M]
        best = np.where(heard(train), total, np.inf).argmin()
        return _run(self.key, cohort, costs, seeds, best=np.arange(cohort.readers) == best)

    def policy(self, run: Run, cohort: Cohort) -> Policy:
        """Ask the one reader wherever available."""
        return _policy(run, cohort, readers=np.where(run.arrays["best"], CERTAIN, -CERTAIN)[:, None])


@dataclass(frozen=True)
class RandomReader:
    """Any available reader, by the luck of the draw; another seed is another draw."""

    key: str = "random-reader"
    name: str = "Random reader"

    def fit(self, cohort: Cohort, costs: Costs, seeds: Sequence[int]) -> Run:
        """Nothing to learn."""
        return _run(self.key, cohort, costs, seeds)

    def policy(self, run: Run, cohort: Cohort) -> Policy:
        """Draw by seed, case and reader, so that a case has the same draw whatever else is in the table."""
        seeds, cases, readers = (
            pd.util.hash_array(np.array(names, object))
            for names in ([str(s["seed"]) for s in run.settings], cohort.ids, cohort.manifest.columns)
        )
        mixed = seeds[:, None, None] ^ cases[:, None] ^ readers  # [E, N, M]
        draw = pd.util.hash_array(mixed.ravel()).reshape(mixed.shape) / 2.0**64
        return _policy(run, cohort, ai=-CERTAIN, readers=draw)


@dataclass(frozen=True)
class AlwaysDefer:
    """Every case goes to whoever of the available readers was cheapest, errors and fee together, on train."""

    key: str = "always-defer"
    name: str = "Always defer"

    def fit(self, cohort: Cohort, costs: Costs, seeds: Sequence[int]) -> Run:
        """Rank the readers."""
        train, _ = learning_splits(cohort)
        return _run(self.key, cohort, costs, seeds, reading_cost=reading_costs(train, costs))

    def policy(self, run: Run, cohort: Cohort) -> Policy:
        """Defer all."""
        return _policy(run, cohort, ai=-CERTAIN, readers=preference(run.arrays["reading_cost"][0], cohort.available))


Signal = Literal["uncertainty", "quality", "distance"]


@dataclass(frozen=True)
class Threshold:
    """Defers where any of its signals is above its threshold, to the reader that `AlwaysDefer` would ask."""

    key: str
    name: str
    signals: tuple[Signal, ...]  # kinds of state variables, the first of each

    def inputs(self, layout: StateLayout) -> tuple[str, ...]:
        """Its signals."""
        of = {"uncertainty": (UNCERTAINTY,), "quality": layout.qualities, "distance": layout.distances}
        return tuple(name for signal in self.signals for name in of[signal][:1])

    def applies(self, layout: StateLayout) -> bool:
        """Whether there is any of its signals."""
        return bool(self.inputs(layout))

    def fit(self, cohort: Cohort, costs: Costs, seeds: Sequence[int]) -> Run:
        """Rank the readers on train and choose the thresholds, all together, for the least cost on val."""
        if not self.applies(cohort.layout):
            raise UserError(f"{self.name}: needs an input that tells {' or '.join(self.signals)}; the table has none")
        train, val = learning_splits(cohort)
        reading_cost = reading_costs(train, costs)
        actions = costs.of_actions(val)
        reader = preference(reading_cost, val.available).argmax(-1)
        asked = np.where(val.available.any(-1), actions[np.arange(len(val)), 1 + reader], actions[:, 0])  # [N]

        signals = self._signals(val)  # [N, S]
        grid = np.meshgrid(*np.quantile(signals, LEVELS, axis=0).T)
        thresholds = np.stack([values.ravel() for values in grid], axis=-1)  # [T, S]
        defers = (signals > thresholds[:, None]).any(-1)  # [T, N]
        best = np.where(defers, asked, actions[:, 0]).mean(-1).argmin()
        scale = self._signals(train).std(0)
        return _run(
            self.key,
            cohort,
            costs,
            seeds,
            reading_cost=reading_cost,
            threshold=thresholds[best],
            scale=np.where(scale > 0, scale, 1.0),
        )

    def policy(self, run: Run, cohort: Cohort) -> Policy:
        """The more a signal is above its threshold, the surer the deferral."""
        threshold, scale, reading_cost = (run.arrays[name][0] for name in ("threshold", "scale", "reading_cost"))
        excess = ((self._signals(cohort) - threshold) / scale).max(-1, keepdims=True)  # [N, 1]
        return _policy(run, cohort, readers=excess + preference(reading_cost, cohort.available))

    def _signals(self, cohort: Cohort) -> Floats:
        return np.column_stack([cohort.column(name) for name in self.inputs(cohort.layout)])


@dataclass(frozen=True)
class Oracle:
    """The cheapest action of every case, known from the answers: a bound on every method, and not deployable."""

    key: str = "oracle"
    name: str = "Per-case oracle (not deployable)"

    def fit(self, cohort: Cohort, costs: Costs, seeds: Sequence[int]) -> Run:
        """Nothing to learn."""
        return _run(self.key, cohort, costs, seeds)

    def policy(self, run: Run, cohort: Cohort) -> Policy:
        """Look every answer up."""
        silent = (cohort.available & (cohort.decisions == UNKNOWN)).any(-1)
        unknown = cohort.ids[(cohort.truth == UNKNOWN) | silent]
        if len(unknown):
            raise UserError(
                f"the oracle needs the truth and every available reader's word of all cases; {len(unknown)} of "
                f"{len(cohort)} lack them, the first is {unknown[0]}"
            )
        costs = run.costs.of_actions(cohort)
        return _policy(run, cohort, ai=-SHARPNESS * costs[:, :1], readers=-SHARPNESS * costs[:, 1:])


def reading_costs(train: Cohort, costs: Costs) -> Floats:
    """Mean cost of each reader's readings, errors and fee, [M]; a reader never heard is taken to be always wrong."""
    total = np.where(train.available, costs.of_actions(train)[:, 1:], 0.0).sum(0)
    worst = max(costs.false_negative, costs.false_positive) + np.array(costs.fees)
    return np.where(heard(train), total / np.maximum(train.available.sum(0), 1), worst)


def preference(reading_cost: Floats, available: np.ndarray) -> Floats:
    """A score for every reader, [N, M]: 0 for the cheapest available one, below 0 for the others, absent ones last."""
    cost = np.where(available, reading_cost, CERTAIN)
    return -SHARPNESS * (cost - cost.min(-1, keepdims=True))


def _run(key: str, cohort: Cohort, costs: Costs, seeds: Sequence[int], **arrays: np.ndarray) -> Run:
    """The same member for every seed."""
    return Run(
        method=key,
        settings=member_settings(seeds),
        arrays={name: per_member(seeds, values) for name, values in arrays.items()},
        rule="joint",
        costs=costs,
        readers=cohort.manifest.columns,
        fingerprint=cohort.fingerprint,
    )


def _policy(run: Run, cohort: Cohort, readers: np.ndarray | float, ai: np.ndarray | float = 0.0) -> Policy:
    """The softmax policy of scores for the AI and the readers, of any shape that spreads over members and cases."""
    shape = (run.members, len(cohort))
    scores = [np.broadcast_to(ai, (*shape, 1)), np.broadcast_to(readers, (*shape, cohort.readers))]
    return Policy.from_scores(np.concatenate(scores, axis=-1), cohort.available)
