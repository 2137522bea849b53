"""What every baseline that learns a network shares; the networks themselves are in `stacked`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.policy import Policy
from mpd2.core.runs import Run
from mpd2.core.state import StateLayout
from mpd2.methods.common import CERTAIN, heard, learning_splits, member_settings, per_member

if TYPE_CHECKING:
    from torch import Tensor

    from mpd2.methods.stacked import Cases, Loss


@dataclass(frozen=True)
class Net:
    """The shape of a network and how it is trained."""

    hidden: tuple[int, ...] = (64, 64)
    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    batch_size: int = 128
    epochs: int = 200
    patience: int = 20  # epochs without a better validation loss before a member stops


@dataclass(frozen=True)
class Learned(ABC):
    """A baseline with one network, in two forms.

    The cost-aware form prices errors and readings as they are; the plain one, as published, counts errors: every error
    costs 1 and a reading nothing.
    """

    cost_aware: bool = True
    net: Net = Net()

    family: ClassVar[str]
    title: ClassVar[str]

    @property
    def key(self) -> str:
        """Short name, as on the command line and in files."""
        return self.family if self.cost_aware else f"{self.family}-plain"

    @property
    def name(self) -> str:
        """Name as shown."""
        return self.title if self.cost_aware else f"{self.title}, plain"

    def inputs(self, layout: StateLayout) -> tuple[str, ...]:
        """The whole state."""
        return layout.names

    @abstractmethod
    def outputs(self, readers: int) -> int:
        """How many numbers the network gives for a case."""

    @abstractmethod
    def objective(self, train: Cases) -> Loss:
        """What training keeps small, and what picks the checkpoint on val."""

    def tune(self, outputs: Tensor, val: Cases) -> dict[str, np.ndarray]:
        """What is chosen on val once the networks stand, [E, ...] each; `outputs` is [E, N, out]."""
        return {}

    @abstractmethod
    def scores(self, outputs: Floats, arrays: Mapping[str, np.ndarray], costs: Costs, cohort: Cohort) -> Floats:
        """A score for every action, [E, N, 1 + M]; the largest among the available is chosen."""

    def priced(self, costs: Costs) -> Costs:
        """The costs as this form sees them."""
        return costs if self.cost_aware else Costs(1.0, 1.0, (0.0,) * len(costs.fees))

    def fit(self, cohort: Cohort, costs: Costs, seeds: Sequence[int]) -> Run:
        """Train one network a seed, together."""
        from mpd2.methods import stacked  # brings torch, which naming the method does not need

        settings = member_settings(seeds, **asdict(self.net))
        splits = learning_splits(cohort)
        scale = splits[0].state.std(0)
        moments = splits[0].state.mean(0), np.where(scale > 0, scale, 1.0)
        fixed = {"state.mean": moments[0], "state.scale": moments[1], "heard": heard(splits[0])}
        arrays = {name: per_member(seeds, values) for name, values in fixed.items()}

        train, val = (stacked.to_cases(part, self.priced(costs), *moments) for part in splits)
        outputs = self.outputs(cohort.readers)
        layers, history = stacked.train_population(train, val, outputs, self.net, seeds, self.objective(train))
        for layer, (weight, bias) in enumerate(layers):
            arrays |= {f"{layer}.weight": weight.numpy(), f"{layer}.bias": bias.numpy()}
        arrays |= self.tune(stacked.forward(layers, val.state.expand(len(seeds), -1, -1)), val[None])
        return Run(
            method=self.key,
            settings=settings,
            arrays=arrays,
            rule="joint",
            costs=costs,
            readers=cohort.manifest.columns,
            fingerprint=cohort.fingerprint,
            history=history,
        )

    def as_made(self, run: Run) -> Self:
        """With networks as a run's are."""
        kept = {name: value for name, value in run.settings[0].items() if name != "seed"}
        return replace(self, net=Net(**kept | {"hidden": tuple(kept["hidden"])}))

    def policy(self, run: Run, cohort: Cohort) -> Policy:
        """Apply every network to every case."""
        from mpd2.methods import stacked

        scores = self.scores(stacked.population_outputs(run, cohort), run.arrays, self.priced(run.costs), cohort)
        scores[..., 1:] = np.where(run.arrays["heard"][:, None], scores[..., 1:], -CERTAIN)
        return Policy.from_scores(scores, cohort.available)
