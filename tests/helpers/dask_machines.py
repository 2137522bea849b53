"""A scheduler and workers as on separate machines: processes that know of each other only by an address."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from distributed import Client
from places import HELPERS, ROOT


@dataclass(frozen=True)
class Machines:
    """Where the scheduler is, and the workers' processes."""

    address: str
    workers: list[subprocess.Popen[bytes]]


@contextmanager
def machines(folder: Path, workers: int) -> Iterator[Machines]:
    """A running cluster, ended with the block."""
    file = folder / "scheduler.json"
    with ExitStack() as running:
        common = ("--scheduler-file", file, "--no-dashboard")
        running.enter_context(_started("scheduler", "--port", "0", *common, cwd=folder))
        line = ("worker", *common, "--nthreads", "1", "--no-nanny")
        processes = [running.enter_context(_started(*line, cwd=folder)) for _ in range(workers)]
        with Client(scheduler_file=str(file), timeout=120) as client:
            client.wait_for_workers(workers, timeout=120)
            address = client.scheduler.address
        yield Machines(address, processes)


@contextmanager
def _started(*line: str | Path, cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    paths = os.pathsep.join([str(HELPERS), str(ROOT)])
    with subprocess.Popen(
        [sys.executable, "-m", "dask", *line],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": paths, "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error"},
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield process
        finally:
            process.kill()
