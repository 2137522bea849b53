"""MPD²: the paper's dual-head router as a method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.policy import Policy
from mpd2.core.runs import Run
from mpd2.core.state import StateLayout
from mpd2.training.config import PAPER, Config, parse_config


@dataclass(frozen=True)
class Mpd2:
    """The dual-head router with one configuration, whatever the seed."""

    config: Config = PAPER
    key: str = "mpd2"
    name: str = "MPD²"

    def inputs(self, layout: StateLayout) -> tuple[str, ...]:
        """The whole state."""
        return layout.names

    def fit(self, cohort: Cohort, costs: Costs, seeds: Sequence[int]) -> Run:
        """Train one router a seed, together."""
        from mpd2.training.population import fit_routers  # brings torch, which naming the method does not need

        return fit_routers(cohort, costs, [self.config.but(seed=seed) for seed in seeds])

    def as_made(self, run: Run) -> Mpd2:
        """With the configuration of a run's first router."""
        return replace(self, config=parse_config(dict(run.settings[0])))

    def policy(self, run: Run, cohort: Cohort) -> Policy:
        """Apply every router to every case."""
        from mpd2.training.population import population_policy

        return population_policy(run, cohort)
