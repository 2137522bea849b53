"""`bench`: how fast is it here?"""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from mpd2.bench.train import bench_training
from mpd2.bench.ui import bench_ui
from mpd2.cli.inputs import cohort_of, config_of
from mpd2.cli.output import aligned, print_json

TIMES = ("seconds", "cpu_seconds")
DEEDS = {"open": "open a page", "switch": "go to another page", "change": "change something"}


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
    """The dashboard's times and sizes as text."""
    first = found["first_view"]
    start = [
        ("server start", f"{found['start_seconds']:.2f}", "", ""),
        ("first view", f"{first['rest_seconds']:.2f}", f"{first['drawn_seconds']:.2f}", f"{first['kilobytes']:.0f}"),
    ]
    spreads = [
        (words if part == "p50" else "  95 %", *_measures({name: each[part] for name, each in found[deed].items()}))
        for deed, words in DEEDS.items()
        if deed in found
        for part in ("p50", "p95")
    ]
    pages = [
        (f"  {page}", *(_measures(deeds["switch"]) if "switch" in deeds else ("–",) * 3))
        for page, deeds in found["pages"].items()
    ]
    memory = [
        (words.replace("_", " "), "–" if held is None else f"{held:.0f}") for words, held in found["megabytes"].items()
    ]
    heads = ("", "at rest, s", "drawn, s", "kB")
    by_page = aligned([("go to page, median", *heads[1:]), *pages])
    return "\n\n".join([aligned([heads, *start, *spreads]), by_page, aligned([("server's memory", "MB"), *memory])])


def _measures(moment: dict[str, float]) -> tuple[str, str, str]:
    return (f"{moment['rest_seconds']:.2f}", f"{moment['drawn_seconds']:.2f}", f"{moment['kilobytes']:.0f}")


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
