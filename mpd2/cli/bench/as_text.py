"""Timings as text, for those who measure nothing but time."""

from __future__ import annotations

from typing import Any

from mpd2.cli.output import aligned

TIMES = ("seconds", "cpu_seconds")
DEEDS = {"open": "open a page", "switch": "go to another page", "change": "change something"}

Timings = dict[str, Any]
"""What a benchmark measures: plain values, ready for JSON."""


def describe_ui(timings: Timings) -> str:
    """The dashboard's times and sizes as text."""
    first = timings["first_view"]
    start = [
        ("server start", f"{timings['start_seconds']:.2f}", "", "", ""),
        ("first view", *_measures(first)),
    ]
    spreads = [
        (words if part == "p50" else "  95 %", *_measures({name: each[part] for name, each in timings[deed].items()}))
        for deed, words in DEEDS.items()
        if deed in timings
        for part in ("p50", "p95")
    ]
    pages = [
        (f"  {page}", *(_measures(deeds["switch"]) if "switch" in deeds else ("–",) * 4))
        for page, deeds in timings["pages"].items()
    ]
    memory = [
        (words.replace("_", " "), "–" if held is None else f"{held:.0f}")
        for words, held in timings["megabytes"].items()
    ]
    heads = ("", "at rest, s", "drawn, s", "kB", "server's CPU, s")
    by_page = aligned([("go to page, median", *heads[1:]), *pages])
    return "\n\n".join([aligned([heads, *start, *spreads]), by_page, aligned([("server's memory", "MB"), *memory])])


def _measures(moment: dict[str, float]) -> tuple[str, str, str, str]:
    computed = moment.get("cpu_seconds")
    return (
        f"{moment['rest_seconds']:.2f}",
        f"{moment['drawn_seconds']:.2f}",
        f"{moment['kilobytes']:.0f}",
        "–" if computed is None else f"{computed:.2f}",
    )


def describe_training(timings: Timings) -> str:
    """The measurements as text."""
    ways = [
        (_words(way), t["threads"], *(f"{t[name]:.4f}" for name in TIMES), f"{t['peak_megabytes']:.0f}")
        for way, t in timings["per_router_epoch"].items()
    ]
    ratios = [
        (_words(comparison), *(f"{ratio[name]:.1f}" for name in TIMES))
        for comparison, ratio in timings["times_as_fast"].items()
    ]
    estimate = timings["estimate"]
    return "\n\n".join(
        [
            aligned([("per router and epoch", "threads", "seconds", "CPU seconds", "peak MB so far"), *ways]),
            aligned([("times as fast", "by the clock", "by CPU time"), *ratios]),
            f"{estimate['routers']} routers for {estimate['epochs']} epochs: about {estimate['seconds']:.0f} s",
        ]
    )


def describe_route(timings: Timings) -> str:
    """The times of rerouting as text."""
    deeds = {"prepare": "prepare a worklist", "reroute": "follow a budget", "assign": "fill few places"}
    rows = [
        (f"{words}, n = {int(n):,}", *(f"{1000 * times[part]:.1f}" for part in ("p50", "p95", "cpu_p50")))
        for deed, words in deeds.items()
        for n, times in timings[deed].items()
    ]
    for words, key in (("one hand on the slider", "alone_seconds"), ("ten hands", "crowd_seconds")):
        if "slider" in timings:
            rows.append((words, *(f"{1000 * timings['slider'][key][part]:.0f}" for part in ("p50", "p95")), ""))
    growth = ", ".join(f"{words} n^{timings['growth'][deed]:.2f}" for deed, words in deeds.items())
    return f"{aligned([('milliseconds', 'median', '95 %', 'CPU'), *rows])}\n\ntime grows as: {growth}"


def describe_lab(timings: Timings) -> str:
    """The times of the lab as text."""
    ten, study, ablations = timings["ten_seeds"], timings["study"], timings["three_ablations"]
    rows = [
        ("press to first epoch on screen", f"{timings['press_to_first_epoch_on_screen_seconds']:.1f}"),
        (f"{ten['routers']} routers for {ten['epochs']} epochs", f"{ten['seconds']:.0f}"),
        (f"a study of {study['trials']} trials", f"{study['seconds']:.0f}"),
        (
            f"all ablations, {ablations['routers']} routers, extrapolated from {ablations['extrapolated_from_epochs']} "
            "epochs",
            f"{ablations['seconds_extrapolated']:.0f}",
        ),
    ]
    others = timings["rerun_seconds_of_another_visitor"]
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
