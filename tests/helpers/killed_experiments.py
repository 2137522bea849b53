"""A series of rounds that is killed while it writes its third: `python killed_experiments.py DATA`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tiny_study import die, tiny_study

from mpd2.study.experiments import Experiment, ExperimentCache, Resplit
from mpd2.study.reproduce import StudyProgress, play

ROUNDS = [Experiment(method, Resplit(number)) for number in (0, 1) for method in ("ai", "mao")]
WHOLE = 2


def ledger_in(data: Path) -> ExperimentCache:
    """The ledger of a tiny study."""
    return ExperimentCache(tiny_study(data), (42,))


def die_writing(standing: StudyProgress) -> None:
    """Let putting the next findings in their place be the last thing that is tried."""
    if standing.step > WHOLE:
        os.replace = lambda *paths: die()


if __name__ == "__main__":
    play(ledger_in(Path(sys.argv[1])), ROUNDS, die_writing)
