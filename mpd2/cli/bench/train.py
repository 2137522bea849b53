"""How long a training takes: together, one by one, and written in the usual way."""

from __future__ import annotations

import resource
import statistics
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from time import perf_counter, process_time
from typing import Any

import torch

from mpd2.cli.bench.reference_router import UsualTraining
from mpd2.cli.output import say
from mpd2.core.cohort import Cohort
from mpd2.training.config import Config
from mpd2.training.devices import threads_for
from mpd2.training.inputs import prepare
from mpd2.training.loop import Progress, train

POPULATIONS = (10, 40)
SINGLES = 2  # routers timed one after another, to stand for any number of them
ROUTERS, EPOCHS = 10, 150  # a whole training, whose length is estimated


@dataclass(frozen=True)
class Timing:
    """How long one way to train takes; medians over the epochs timed."""

    threads: int
    seconds: float  # per router and epoch, by the clock
    cpu_seconds: float  # the same of all threads, whatever else the machine does
    start_seconds: float  # until the first epoch: groups, prior, tensors
    peak_megabytes: float  # most memory this process has held so far


class Stopwatch:
    """Clock and CPU time at the end of every epoch."""

    def __init__(self) -> None:
        self.clock, self.cpu = [perf_counter()], [process_time()]

    def lap(self, _: Progress | None = None) -> None:
        """An epoch has ended."""
        self.clock.append(perf_counter())
        self.cpu.append(process_time())

    def timing(self, routers: int, threads: int) -> Timing:
        """The first lap holds preparation and warming up, so it is left out of the medians."""
        seconds, cpu = (
            statistics.median(end - begin for begin, end in pairwise(laps[1:])) for laps in (self.clock, self.cpu)
        )
        start = max(0.0, self.clock[1] - self.clock[0] - seconds)
        return Timing(threads, seconds / routers, cpu / routers, start, peak_megabytes())


def bench_training(cohort: Cohort, config: Config, epochs: int = 3) -> dict[str, Any]:
    """Time `epochs` epochs of every way to train, on the CPU; plain values, ready for JSON."""
    config = config.but(training__epochs=epochs + 1, training__patience=epochs + 1)
    timings = {}
    for routers in POPULATIONS:
        say(f"a population of {routers} routers")
        timings[f"population_{routers}"] = _population(cohort, config, routers)
    say("routers one after another")
    timings["single"] = _mean([_population(cohort, config.but(seed=config.seed + i), 1) for i in range(SINGLES)])
    say("a router written in the usual way")
    timings["usual"] = _usual(cohort, config)
    ten = timings["population_10"]
    return {
        "setting": {
            "train_cases": int((cohort.split == "train").sum()),
            "val_cases": int((cohort.split == "val").sum()),
            "width": config.network.width,
            "batch_size": config.training.batch_size,
            "epochs": epochs,
            "singles": SINGLES,
        },
        "per_router_epoch": {way: asdict(timing) for way, timing in timings.items()},
        "times_as_fast": {
            "population_10_as_single": _ratio(timings, "single", "population_10"),
            "population_40_as_single": _ratio(timings, "single", "population_40"),
            "population_10_as_usual": _ratio(timings, "usual", "population_10"),
        },
        "estimate": {
            "routers": ROUTERS,
            "epochs": EPOCHS,
            "seconds": ten.start_seconds + ROUTERS * EPOCHS * ten.seconds,
        },
        "peak_megabytes": peak_megabytes(),
    }


def peak_megabytes() -> float:
    """The most memory this process has held at once."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10  # bytes there, kilobytes elsewhere


def _population(cohort: Cohort, config: Config, routers: int) -> Timing:
    watch = Stopwatch()
    configs = [config.but(seed=config.seed + position) for position in range(routers)]
    train(cohort, configs, device="cpu", callbacks=[watch.lap])
    with threads_for(routers) as threads:
        return watch.timing(routers, threads)


def _usual(cohort: Cohort, config: Config) -> Timing:
    watch = Stopwatch()
    with threads_for(1) as threads:  # as for a single router of ours
        inputs = prepare(cohort, [config], cohort.manifest.default_costs(), torch.device("cpu"), torch.float32)
        training = UsualTraining(config, inputs)
        for _ in range(config.training.epochs):
            training.epoch()
            watch.lap()
    return watch.timing(1, threads)


def _mean(timings: list[Timing]) -> Timing:
    return replace(
        timings[-1],
        seconds=statistics.fmean(timing.seconds for timing in timings),
        cpu_seconds=statistics.fmean(timing.cpu_seconds for timing in timings),
    )


def _ratio(timings: Mapping[str, Timing], slow: str, fast: str) -> dict[str, float]:
    return {
        "seconds": timings[slow].seconds / timings[fast].seconds,
        "cpu_seconds": timings[slow].cpu_seconds / timings[fast].cpu_seconds,
    }
