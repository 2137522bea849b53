"""A training as people see it in a terminal, or in a log file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from rich import progress as bars
from rich.console import Console

from mpd2.training.loop import Callback, Progress

SHOWN = {"loss": "loss", "soft_deferral": "defer", "multiplier": "λ", "val_total": "val cost"}
"""Names from the training's log, and how they are shown."""

LOG_EVERY = 10  # epochs between two lines where nothing can be drawn over


@contextmanager
def progress_bar(epochs: int, done: int = 0, console: Console | None = None) -> Iterator[Callback]:
    """A callback that draws a bar with the time left; where there is no terminal it writes a line now and then."""
    console = console or Console(stderr=True, highlight=False)
    columns = (
        bars.TextColumn("epoch {task.completed:.0f}/{task.total:.0f}"),
        bars.BarColumn(bar_width=8),  # short, so that all fits into 80 columns
        bars.TextColumn("{task.description}"),
        bars.TimeRemainingColumn(compact=True),
    )
    with bars.Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("preparing", total=epochs, completed=done)

        def show(progress: Progress) -> None:
            ended = not progress.active.any()
            bar.update(
                task,
                completed=progress.epoch,
                total=progress.epoch if ended else epochs,  # all may be done before their time
                description=describe(progress),
            )
            if not console.is_terminal and (ended or progress.epoch % LOG_EVERY == 0):
                console.print(f"epoch {progress.epoch}/{epochs}: {describe(progress)}", soft_wrap=True)

        yield show


def describe(progress: Progress) -> str:
    """The means over the routers that trained in this epoch."""
    return ", ".join(f"{name} {_mean(progress.log[key]):.3f}" for key, name in SHOWN.items())


def _mean(values: np.ndarray) -> float:
    """Of what is finite: a router that stopped, or came to grief, has no number."""
    finite = values[np.isfinite(values)]
    return float(finite.mean()) if len(finite) else np.nan
