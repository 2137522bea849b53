"""`bench`: how fast is it here?"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from mpd2.bench.train import bench_training
from mpd2.bench.ui import bench_ui
from mpd2.cli.inputs import cohort_of, config_of
from mpd2.cli.output import aligned, print_json

TIMES = ("seconds", "cpu_seconds")


def run(args: Namespace) -> int:
    """Time a training or the dashboard, and print what was found."""
    if args.subject == "ui":
        found, describe = bench_ui(args.visits), describe_ui
    else:
        found, describe = bench_training(cohort_of(args.table), config_of(args), args.epochs), describe_training
    if args.json:
        print_json(found)
    else:
        print(describe(found))
    return 0


def describe_ui(found: dict[str, Any]) -> str:
    """The dashboard's times as text."""
    times = [
        ("server start", f"{found['start_seconds']:.2f}", ""),
        ("first view", f"{found['first_view_seconds']:.2f}", ""),
        *(
            (words, *(f"{found[name][part]:.2f}" for part in ("p50", "p95")))
            for name, words in (("open_seconds", "open a page"), ("switch_seconds", "go to another page"))
        ),
    ]
    memory = [
        (words.replace("_", " "), "–" if held is None else f"{held:.0f}") for words, held in found["megabytes"].items()
    ]
    speed, size = aligned([("seconds", "median", "95 %"), *times]), aligned([("server's memory", "MB"), *memory])
    return f"{speed}\n\n{size}"


def describe_training(found: dict[str, Any]) -> str:
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
