"""A search in seconds: a toy problem, narrow routers, few steps. `python tiny_search.py STORAGE` is a worker on it."""

from __future__ import annotations

import sys
from pathlib import Path
from time import sleep

from optuna.study import Study
from toy import toy_problem

from mpd2.lab.tuning.storage import connect
from mpd2.lab.tuning.study import SearchPlan, SearchProgress, SearchWorker, open_study
from mpd2.lab.tuning.watch import Vigil
from mpd2.training.config import STUDIO, Config

COHORT = toy_problem(180).cohort
BASE = STUDIO.but(network__width=16, training__batch_size=12, training__epochs=10)
TRIALS, BATCH = 12, 4
VIGIL = Vigil(every=0.1, dead_after=2.0)
NAME = "search"


def plan_of(base: Config = BASE, seeds: tuple[int, ...] = (1, 2), seed: int = 0) -> SearchPlan:
    """The plan of a tiny study."""
    return SearchPlan(base=base, seeds=seeds, seed=seed, fingerprint=COHORT.fingerprint)


def worker_on(
    storage: str | Path, plan: SearchPlan | None = None, trials: int = TRIALS, batch: int = BATCH
) -> SearchWorker:
    """A worker on the study in a storage, which is made if it is not there."""
    plan = plan or plan_of()
    return SearchWorker(open_study(connect(str(storage)), NAME, plan), plan, COHORT, trials, batch, "cpu", VIGIL)


def searched(storage: str | Path, plan: SearchPlan | None = None, trials: int = TRIALS, batch: int = BATCH) -> Study:
    """A study that has its trials."""
    worker = worker_on(storage, plan, trials, batch)
    worker.run(lambda standing: None)
    return worker.study


def dawdle(standing: SearchProgress) -> None:
    """Take long enough for others to take part, or to see a trial running."""
    sleep(0.05)


if __name__ == "__main__":
    worker_on(sys.argv[1]).run(dawdle)
