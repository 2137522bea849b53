"""Seeds by conditions, in populations of up to ten routers: the ablations, trained wherever there is a worker.

A population is made up from conditions and seeds alone and works with one thread: the number of workers, and which of
them are lost, change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
from threadpoolctl import threadpool_limits

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.files import replacing, short_hash
from mpd2.core.runs import CONFIG, Run, load_run
from mpd2.evaluation.metrics import evaluate
from mpd2.evaluation.reports import publish_run
from mpd2.lab.cluster import Pool
from mpd2.methods.registry import decisions_of
from mpd2.study.definition import RECIPE, Condition, Say
from mpd2.training.config import Config
from mpd2.training.population import fit_routers

TOGETHER = 10  # routers of a population; fewer than would be given a second thread
TABLE = "sweep.csv"


@dataclass(frozen=True)
class Population:
    """Routers of one condition that are trained together and kept as one run."""

    condition: str
    title: str
    configs: tuple[Config, ...]

    @property
    def name(self) -> str:
        """Of its folder: the condition and the first seed."""
        return f"{self.condition}-{self.configs[0].seed}"

    def recipe(self, cohort: Cohort) -> str:
        """What its run depends on, as a short hash."""
        return short_hash([RECIPE, [config.model_dump(mode="json") for config in self.configs], cohort.fingerprint])


def populations_of(base: Config, conditions: Mapping[str, Condition], seeds: Sequence[int]) -> list[Population]:
    """Every condition with every seed, in populations that depend on nothing else."""
    shifts = [seeds[start : start + TOGETHER] for start in range(0, len(seeds), TOGETHER)]
    return [
        Population(name, condition.title, tuple(base.but(**condition.changes, seed=seed) for seed in shift))
        for name, condition in conditions.items()
        for shift in shifts
    ]


def sweep(cohort: Cohort, populations: Sequence[Population], folder: Path, pool: Pool, say: Say) -> pd.DataFrame:
    """Train the populations that are not in the folder yet, keep each as it ends, and make the table of all."""
    missing = [population for population in populations if not _is_there(population, cohort, folder)]
    if len(missing) < len(populations):
        say(f"{len(populations) - len(missing)} of {len(populations)} populations are there already")
    for done, (population, run) in enumerate(pool.as_done(train_population, cohort, missing), start=1):
        kept = replace(run, notes={**run.notes, "recipe": population.recipe(cohort)})
        publish_run(kept, cohort, folder / population.name)
        say(f"{population.name}: {run.members} routers, {done} of {len(missing)} populations done")
    rows = pd.concat(_rows(cohort, populations, folder), ignore_index=True)
    with replacing(folder / TABLE) as draft:
        rows.to_csv(draft, index=False, lineterminator="\n")
    return rows


def train_population(cohort: Cohort, population: Population) -> tuple[Population, Run]:
    """The population with its run; on the CPU, so that all machines do the same."""
    with threadpool_limits(limits=1):
        return population, fit_routers(cohort, cohort.manifest.default_costs(), population.configs, device="cpu")


def _is_there(population: Population, cohort: Cohort, folder: Path) -> bool:
    """Whether the population's run is kept, whole and of these settings."""
    if not (folder / population.name / CONFIG).is_file():
        return False
    try:
        return load_run(folder / population.name).notes.get("recipe") == population.recipe(cohort)
    except UserError:  # damaged: it is made anew
        return False


def _rows(cohort: Cohort, populations: Sequence[Population], folder: Path) -> Iterator[pd.DataFrame]:
    """What the val cases cost, one row a router: condition, title, seed, n and every metric."""
    val = cohort.subset(split="val")
    for population in populations:
        run = load_run(folder / population.name)
        rows = evaluate(val, decisions_of(run, val), cohort.manifest.default_costs()).drop(columns="member")
        rows.insert(0, "condition", population.condition)
        rows.insert(1, "title", population.title)
        rows.insert(2, "seed", [int(settings["seed"]) for settings in run.settings])
        yield rows
