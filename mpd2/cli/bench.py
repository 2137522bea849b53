"""`bench`: how fast is it here?"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from mpd2.bench.train import bench_training
from mpd2.cli.inputs import cohort_of, config_of
from mpd2.cli.output import aligned, print_json


def run(args: Namespace) -> int:
    """Time a training and print what was found."""
    found = bench_training(cohort_of(args.table), config_of(args), args.epochs)
    if args.json:
        print_json(found)
    else:
        print(describe(found))
    return 0


TIMES = ("seconds", "cpu_seconds")


def describe(found: dict[str, Any]) -> str:
    """The measurements as text."""
    timings = [
        (_words(way), t["threads"], *(f"{t[name]:.4f}" for name in TIMES), f"{t['peak_megabytes']:.0f}")
        for way, t in found["per_router_epoch"].items()
    ]
    ratios = [
        (_words(comparison), *(f"{ratio[name]:.1f}" for name in TIMES))
        for comparison, ratio in found["times_as_fast"].items()
    ]
    estimate = found["estimate"]
    return "\n\n".join([
        aligned([("per router and epoch", "threads", "seconds", "CPU seconds", "peak MB so far"), *timings]),
        aligned([("times as fast", "by the clock", "by CPU time"), *ratios]),
        f"{estimate['routers']} routers for {estimate['epochs']} epochs: about {estimate['seconds']:.0f} s",
    ])


def _words(key: str) -> str:
    return key.replace("_as_", " against ").replace("population_", "population of ")
