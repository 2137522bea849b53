"""A training that is killed while it writes its fourth checkpoint: `python killed_training.py CHECKPOINT`."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from toy import toy_problem

from mpd2.training.checkpoints import checkpointing
from mpd2.training.config import PAPER
from mpd2.training.loop import Progress, train

COHORT = toy_problem(90).cohort
CONFIGS = [
    PAPER.but(
        seed=seed,
        network__width=6,
        training__batch_size=10,
        training__epochs=7,
        training__warm_up=1,
        training__learning_rate=rate,
    )
    for seed, rate in ((1, 1e-2), (2, 3e-3))
]
LAST_WHOLE = 3


def die_writing(progress: Progress) -> None:
    """Let the rename of the next checkpoint be the last thing that is tried."""
    if progress.epoch > LAST_WHOLE:
        os.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    train(COHORT, CONFIGS, device="cpu", callbacks=[die_writing, checkpointing(Path(sys.argv[1]), COHORT, every=1)])
