"""Seeds by conditions, in crews: the ablations' routers, trained wherever there is a worker.

How many routers are multiplied together decides the last bits of a matrix product, and so do threads. A crew is
therefore made up from conditions and seeds alone and works with one thread: the number of workers, and which of them
are lost, change nothing.
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

CREW = 10  # routers trained together; fewer than would be given a second thread
TABLE = "sweep.csv"


@dataclass(frozen=True)
class Crew:
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


def crews_of(base: Config, conditions: Mapping[str, Condition], seeds: Sequence[int]) -> list[Crew]:
    """Every condition with every seed, in crews that depend on nothing else."""
    shifts = [seeds[start : start + CREW] for start in range(0, len(seeds), CREW)]
    return [
        Crew(name, condition.title, tuple(base.but(**condition.changes, seed=seed) for seed in shift))
        for name, condition in conditions.items()
        for shift in shifts
    ]


def sweep(cohort: Cohort, crews: Sequence[Crew], folder: Path, pool: Pool, say: Say) -> pd.DataFrame:
    """Train the crews that are not in the folder yet, keep each as it ends, and draw up the table of all of them."""
    missing = [crew for crew in crews if not _is_there(crew, cohort, folder)]
    if len(missing) < len(crews):
        say(f"{len(crews) - len(missing)} of {len(crews)} crews are there already")
    for done, (crew, run) in enumerate(pool.as_done(train_crew, cohort, missing), start=1):
        publish_run(replace(run, notes={**run.notes, "recipe": crew.recipe(cohort)}), cohort, folder / crew.name)
        say(f"{crew.name}: {run.members} routers, {done} of {len(missing)} crews done")
    rows = pd.concat(_rows(cohort, crews, folder), ignore_index=True)
    with replacing(folder / TABLE) as draft:
        rows.to_csv(draft, index=False, lineterminator="\n")
    return rows


def train_crew(cohort: Cohort, crew: Crew) -> tuple[Crew, Run]:
    """The crew with its run; on the CPU, so that all machines do the same."""
    with threadpool_limits(limits=1):
        return crew, fit_routers(cohort, cohort.manifest.default_costs(), crew.configs, device="cpu")


def _is_there(crew: Crew, cohort: Cohort, folder: Path) -> bool:
    """Whether the crew's run is kept, whole and of these settings."""
    if not (folder / crew.name / CONFIG).is_file():
        return False
    try:
        return load_run(folder / crew.name).notes.get("recipe") == crew.recipe(cohort)
    except UserError:  # damaged: it is made anew
        return False


def _rows(cohort: Cohort, crews: Sequence[Crew], folder: Path) -> Iterator[pd.DataFrame]:
    """What the val cases cost, one row a router: condition, title, seed, n and every metric."""
    val = cohort.subset(split="val")
    for crew in crews:
        run = load_run(folder / crew.name)
        rows = evaluate(val, decisions_of(run, val), cohort.manifest.default_costs()).drop(columns="member")
        rows.insert(0, "condition", crew.condition)
        rows.insert(1, "title", crew.title)
        rows.insert(2, "seed", [int(settings["seed"]) for settings in run.settings])
        yield rows
