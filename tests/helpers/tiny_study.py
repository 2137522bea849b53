"""The whole study in seconds: few cases, narrow routers, two seeds. `python tiny_study.py DATA HOW` dies on the way."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from places import DATA

from mpd2.core.cohort import Cohort
from mpd2.core.table_file import load_cohort
from mpd2.evaluation.published import PUBLISHED
from mpd2.methods.learned import Learned
from mpd2.methods.plus.method import Plus
from mpd2.methods.recalibrated import Recalibrated
from mpd2.study.catalogue import tables_of
from mpd2.study.definition import ABLATIONS_RUN, CONTENDERS, Contender, Study, StudyPlan
from mpd2.study.reproduce import StudyProgress, reproduce
from mpd2.study.tables import read_table

NAMES = ("studio", "paper", "mpd2-plus", "ai", "recalibrated", "mao", "keswani", "random-reader", "oracle")
CHANGES = {
    "network__width": 8,
    "training__epochs": 7,
    "training__warm_up": 1,
    "training__batch_size": 16,
    "training__learning_rate": 0.01,
}
PLAN = StudyPlan(
    resplits=(0, 1), draws=(0, 1), seeds=(42,), local=(3,), local_draws=(0, 1), recalibrated=("mao", "ai"), checks=5
)


def quick(contender: Contender) -> Contender:
    """With a network that hardly trains."""
    method = contender.method
    if isinstance(method, Learned):
        method = replace(method, net=replace(method.net, hidden=(8,), epochs=3))
    if isinstance(method, Plus | Recalibrated):
        method = replace(method, draws=2)
    return replace(contender, method=method)


@cache
def few_cases() -> Cohort:
    """The benchmark's first eight cases of every cohort in every split, three of them positive."""
    whole = load_cohort(DATA / "glaucoma.csv")
    strata = np.char.add(whole.sources, whole.split)
    parts = [((strata == s) & (whole.truth == truth), n) for s in np.unique(strata) for truth, n in ((0, 5), (1, 3))]
    return whole.rows(np.sort(np.concatenate([np.flatnonzero(part)[:n] for part, n in parts])))


def tiny_study(data: Path) -> Study:
    """A study in the folder `data`, of a table that a paper is about."""
    if not (data / PUBLISHED).exists():
        copytree(DATA / PUBLISHED, data / PUBLISHED)
    return Study(few_cases(), data, (42, 43), CHANGES, {name: quick(CONTENDERS[name]) for name in NAMES}, PLAN)


EVERY_TABLE = tuple(tables_of(Study(few_cases(), DATA)))  # but the map, which takes as long as all others together


class Log:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.standings: list[StudyProgress] = []
        self.said: list[str] = []

    def epochs(self, name: str) -> list[int]:
        """The epochs that were trained of a run."""
        return [s.training.epoch for s in self.standings if s.name == name and s.training]


def made(study: Study, names: Iterable[str] = EVERY_TABLE, force: bool = False, log: Log | None = None) -> list[str]:
    """Reproduce, quietly."""
    log = log or Log()
    return reproduce(study, tuple(names), force, log.standings.append, log.said.append)


@cache
def tiny_tables() -> dict[str, pd.DataFrame]:
    """The tables of a tiny study; leave them as they are."""
    with TemporaryDirectory() as folder:
        study = tiny_study(Path(folder) / "data")
        made(study)
        return {name: read_table(study.data, name) for name in EVERY_TABLE}


def die() -> None:
    """Without a chance to tidy up."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_training(standing: StudyProgress) -> None:
    """In the sixth epoch of the ablations, which are kept after every fifth."""
    if standing.name == ABLATIONS_RUN and standing.training and standing.training.epoch == 6:
        die()


def die_writing(standing: StudyProgress) -> None:
    """With the next table written but not yet in its place."""
    if standing.name == "collapse":
        os.replace = lambda *paths: die()


if __name__ == "__main__":
    reproduce(tiny_study(Path(sys.argv[1])), EVERY_TABLE, False, globals()[sys.argv[2]], print)
