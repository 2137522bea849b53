"""What a person sees of a training."""

from __future__ import annotations

from io import StringIO

import numpy as np
from rich.console import Console

from mpd2.training.config import LOGGED, PAPER
from mpd2.training.crew import TrainingState
from mpd2.training.loop import Progress
from mpd2.training.progress import describe, progress_bar


def unused(*_: object) -> TrainingState:
    raise AssertionError("a bar needs no state and stops nobody")


def told(epoch: int, active: bool = True, **log: list[float]) -> Progress:
    """What a training of two routers says after an epoch."""
    values = {name: np.array(log.get(name, [0.5, 0.5])) for name in LOGGED}
    return Progress(epoch, 40, [PAPER, PAPER], values, np.zeros((2, 3)), np.array([active, False]), *[unused] * 3)


def test_the_line_shows_means_over_routers() -> None:
    line = describe(told(1, loss=[0.2, 0.4], soft_deferral=[0.1, 0.3], multiplier=[0.0, 1.0], val_total=[0.25, 0.75]))
    assert line == "loss 0.300, defer 0.200, λ 0.500, val cost 0.500"


def test_a_router_that_stopped_or_came_to_grief_is_left_out_of_the_means() -> None:
    assert describe(told(1, loss=[0.2, np.nan])).startswith("loss 0.200,")
    assert describe(told(1, loss=[np.inf, 0.3])).startswith("loss 0.300,")
    assert describe(told(1, loss=[np.nan, np.nan])).startswith("loss nan,")


def test_a_terminal_shows_a_bar_that_fits_into_eighty_columns() -> None:
    screen = Console(file=StringIO(), force_terminal=True, width=80, color_system=None)
    with progress_bar(150, console=screen) as show:
        show(told(99))
        show(told(100))
    parts = ("epoch 100/150", "━", "loss 0.500", "defer 0.500", "λ 0.500", "val cost 0.500")
    assert any(all(part in line for part in parts) for line in screen.file.getvalue().splitlines())


def test_a_bar_that_goes_on_starts_where_the_training_was() -> None:
    screen = Console(file=StringIO(), force_terminal=True, width=80, color_system=None)
    with progress_bar(150, done=35, console=screen):
        pass
    assert "epoch 35/150" in screen.file.getvalue()


def test_a_bar_is_full_when_all_routers_stop_early() -> None:
    screen = Console(file=StringIO(), force_terminal=True, width=80, color_system=None)
    with progress_bar(150, console=screen) as show:
        show(told(60, active=False))
    assert "epoch 60/60" in screen.file.getvalue()


def test_a_log_file_gets_a_line_now_and_then_and_one_at_the_end() -> None:
    file = StringIO()
    with progress_bar(40, console=Console(file=file, width=30)) as show:
        for epoch in range(1, 24):
            show(told(epoch, active=epoch < 23))
    lines = file.getvalue().splitlines()
    assert [line.split(":")[0] for line in lines] == ["epoch 10/40", "epoch 20/40", "epoch 23/40"]
    assert lines[0] == "epoch 10/40: loss 0.500, defer 0.500, λ 0.500, val cost 0.500"
