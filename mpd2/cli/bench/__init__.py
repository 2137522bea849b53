"""`bench`: how fast is it here?"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import Any

from mpd2.cli.bench.route import bench_route
from mpd2.cli.bench.train import bench_training
from mpd2.cli.bench.ui import bench_ui
from mpd2.cli.inputs import cohort_of, config_of
from mpd2.cli.output import aligned, print_json

TIMES = ("seconds", "cpu_seconds")
DEEDS = {"open": "open a page", "switch": "go to another page", "change": "change something"}


def run(args: Namespace) -> int:
    """Time what was asked for, and print what was found."""
    measure, describe = SUBJECTS[args.subject]
    found = measure(args)
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
    return "\n\n".join(
        [
            aligned([("per router and epoch", "threads", "seconds", "CPU seconds", "peak MB so far"), *timings]),
            aligned([("times as fast", "by the clock", "by CPU time"), *ratios]),
            f"{estimate['routers']} routers for {estimate['epochs']} epochs: about {estimate['seconds']:.0f} s",
        ]
    )


def describe_route(found: dict[str, Any]) -> str:
    """The times of rerouting as text."""
    deeds = {"prepare": "prepare a worklist", "reroute": "follow a budget", "assign": "fill few places"}
    rows = [
        (f"{words}, n = {int(n):,}", *(f"{1000 * times[part]:.1f}" for part in ("p50", "p95", "cpu_p50")))
        for deed, words in deeds.items()
        for n, times in found[deed].items()
    ]
    for words, key in (("one hand on the slider", "alone_seconds"), ("ten hands", "crowd_seconds")):
        if "slider" in found:
            rows.append((words, *(f"{1000 * found['slider'][key][part]:.0f}" for part in ("p50", "p95")), ""))
    growth = ", ".join(f"{words} n^{found['growth'][deed]:.2f}" for deed, words in deeds.items())
    return f"{aligned([('milliseconds', 'median', '95 %', 'CPU'), *rows])}\n\ntime grows as: {growth}"


def describe_lab(found: dict[str, Any]) -> str:
    """The times of the lab as text."""
    ten, study, ablations = found["ten_seeds"], found["study"], found["three_ablations"]
    rows = [
        ("press to first epoch on screen", f"{found['press_to_first_epoch_on_screen_seconds']:.1f}"),
        (f"{ten['routers']} routers for {ten['epochs']} epochs", f"{ten['seconds']:.0f}"),
        (f"a study of {study['trials']} trials", f"{study['seconds']:.0f}"),
        (
            f"all ablations, {ablations['routers']} routers, extrapolated from {ablations['extrapolated_from_epochs']} "
            "epochs",
            f"{ablations['seconds_extrapolated']:.0f}",
        ),
    ]
    others = found["rerun_seconds_of_another_visitor"]
    visits = [(words, *(f"{others[words][part]:.2f}" for part in ("p50", "p95"))) for words in ("idle", "training")]
    return "\n\n".join(
        [
            aligned([("seconds", ""), *rows]),
            aligned([("another visitor's change, seconds", "median", "95 %"), *visits]),
            f"while training the 95 % are {others['ratio_p95']:.1f} times as long",
        ]
    )


def _words(key: str) -> str:
    return key.replace("_as_", " against ").replace("population_", "population of ")


def _measure_training(args: Namespace) -> dict[str, Any]:
    return bench_training(cohort_of(args.table), config_of(args), args.epochs)


def _measure_routing(args: Namespace) -> dict[str, Any]:
    found = bench_route(args.run, cohort_of(args.table))
    if not args.slider:
        return found
    from mpd2.cli.bench.slider import bench_slider  # loads the dashboard's libraries

    return found | {"slider": bench_slider()}


def _measure_ui(args: Namespace) -> dict[str, Any]:
    return bench_ui(args.visits)


def _measure_lab(args: Namespace) -> dict[str, Any]:
    from mpd2.cli.bench.lab import bench_lab  # brings Optuna, which nothing else here needs

    return bench_lab(cohort_of(args.table), args.table, args.trials, args.reruns)


SUBJECTS: dict[str, tuple[Callable[[Namespace], dict[str, Any]], Callable[[dict[str, Any]], str]]] = {
    "train": (_measure_training, describe_training),
    "route": (_measure_routing, describe_route),
    "ui": (_measure_ui, describe_ui),
    "lab": (_measure_lab, describe_lab),
}
"""How each subject is measured and told."""
