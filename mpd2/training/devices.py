"""Where the arithmetic happens, and with how many threads."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from mpd2.core.errors import UserError

if TYPE_CHECKING:
    import torch

DEVICES = ("auto", "cuda", "mps", "cpu")
ENOUGH_WORK = 4  # routers a thread; with fewer, a second one costs more in waiting than it saves in arithmetic


def pick_device(wish: str = "auto") -> torch.device:
    """The device asked for; `auto` takes CUDA, then Apple's MPS, then the CPU."""
    import torch  # here, as listing the devices one may ask for does not need it

    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if wish == "auto":
        return torch.device(next(name for name in DEVICES[1:] if there[name]))
    if wish not in there:
        raise UserError(f"device: found {wish!r}, expected one of {', '.join(DEVICES)}")
    if not there[wish]:
        raise UserError(f"device: {wish} is not there on this machine; use auto or cpu")
    return torch.device(wish)


def describe_devices(threads: int) -> str:
    """The devices of this machine, in words; `threads` is how many a training on the CPU may use."""
    import torch

    if torch.cuda.is_available():
        gpu = torch.cuda.get_device_properties(0)
        return f"{gpu.name}, {gpu.total_memory / 2**30:.0f} GB"
    cores = f"CPU, {threads} of {os.cpu_count() or 1} cores for training"
    return f"Apple GPU (MPS) or {cores}" if torch.backends.mps.is_available() else f"{cores} (no CUDA found)"


@contextmanager
def threads_for(members: int) -> Iterator[int]:
    """How many threads pay off for this many routers; for the length of the block each computes alone, on one core."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield max(1, min(before, os.cpu_count() or 1, members // ENOUGH_WORK))
    finally:
        torch.set_num_threads(before)


@contextmanager
def every_core(variable: str) -> Iterator[None]:
    """All cores for the length of the block, for work that takes many minutes; `variable` tells processes the same."""
    import torch

    cores, threads, told = os.cpu_count() or 1, torch.get_num_threads(), os.environ.get(variable)
    os.environ[variable] = str(cores)
    torch.set_num_threads(cores)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        os.environ.pop(variable)
        if told is not None:
            os.environ[variable] = told
