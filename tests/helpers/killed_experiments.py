"""A series of experiments that is killed when its third begins: `python killed_experiments.py DATA HOW`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tiny_study import die, tiny_study

from mpd2.study.experiments import Experiment, ExperimentCache, Resplit
from mpd2.study.reproduce import StudyProgress, run_missing

EXPERIMENTS = [Experiment(method, Resplit(number)) for number in (0, 1) for method in ("ai", "mao")]
WHOLE = 2


def cache_in(data: Path) -> ExperimentCache:
    """The cache of a tiny study."""
    return ExperimentCache(tiny_study(data), (42,))


def die_writing(standing: StudyProgress) -> None:
    """Let putting the next result in its place be the last thing that is tried."""
    if standing.step > WHOLE:
        os.replace = lambda *paths: die()


def die_waiting(standing: StudyProgress) -> None:
    """While others run the experiments."""
    if standing.step > WHOLE:
        die()


if __name__ == "__main__":
    run_missing(cache_in(Path(sys.argv[1])), EXPERIMENTS, globals()[sys.argv[2]])
