"""Experiments several at a time: each in a process of its own, on one thread.

They share nothing, and each writes its own file, so the results are those of running them one after another. A process
ends with the one that started it, however that ends; what it had not finished is run again by the next call.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, ExitStack, contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Thread

from mpd2.core.errors import Interrupted
from mpd2.study.experiments import Experiment, ExperimentCache

THREADS = "OMP_NUM_THREADS"  # what NumPy and torch look at when they are loaded


Step = Callable[[str], AbstractContextManager[object]]
"""Around an experiment, by its title, from when it begins until it has ended."""


def processes() -> int:
    """How many experiments run at a time: one a core, or fewer if the environment allows fewer threads."""
    wish, cores = os.environ.get(THREADS, ""), os.cpu_count() or 1
    return min(cores, int(wish)) if wish.isdecimal() and int(wish) > 0 else cores


def run_experiments(cache: ExperimentCache, experiments: Sequence[Experiment], step: Step) -> None:
    """Run experiments and cache their results."""
    many = min(processes(), len(experiments))
    if many < 2:
        for one in experiments:
            with step(one.title):
                cache.run(one)
        return
    with _pool(many) as pool:
        running: dict[Future[None], tuple[str, ExitStack]] = {}
        for one in experiments:
            if len(running) == many:
                _await_one(running)
            until_ended = ExitStack()
            until_ended.enter_context(step(one.title))
            running[pool.submit(cache.run, one)] = one.title, until_ended
        while running:
            _await_one(running)


def _await_one(running: dict[Future[None], tuple[str, ExitStack]]) -> None:
    """Wait until at least one experiment has ended; its error is raised here."""
    for future in wait(running, return_when=FIRST_COMPLETED).done:
        title, until_ended = running.pop(future)
        try:
            future.result()
        except BrokenProcessPool:
            raise Interrupted(
                f"{title}: a process that ran experiments was ended from outside, perhaps for want of memory; what was "
                "finished is kept, and the same command goes on"
            ) from None
        except Exception as error:
            error.add_note(f"in the experiment {title}")
            raise
        until_ended.close()


@contextmanager
def _pool(many: int) -> Iterator[ProcessPoolExecutor]:
    """Processes of one thread each, ended at once if the block or this process ends before its time."""
    spawning = get_context("spawn")
    ours, theirs = spawning.Pipe(duplex=False)  # nothing is ever said here: it closes with the one who holds our end
    with _environment(THREADS, "1"), theirs, ours, ProcessPoolExecutor(many, spawning, _begin, (ours,)) as pool:
        try:
            yield pool
        except BaseException:
            theirs.close()
            raise


def _begin(line: Connection) -> None:
    """What a process does first: leave interruptions to whoever started it, and end when that one does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with, args=(line,), daemon=True).start()


def _end_with(line: Connection) -> None:
    line.poll(None)
    os._exit(1)


@contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """A variable of the environment for the length of the block; processes started there inherit it."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name)
        if before is not None:
            os.environ[name] = before
