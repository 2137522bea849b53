"""`bench`: how fast is it here?"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mpd2.cli.arguments import TABLE, add_json, add_setting, add_table, count, describe, names
from mpd2.cli.output import aligned, print_json
from mpd2.core.errors import UserError
from mpd2.core.files import FIRST_WORKSPACE

SUMMARY = "measure how fast it is"
TIMES = ("seconds", "cpu_seconds")
DEEDS = {"open": "open a page", "switch": "go to another page", "change": "change something"}

Timings = dict[str, Any]
"""What a benchmark measures: plain values, ready for JSON."""


def add(command: ArgumentParser) -> None:
    """The arguments of `bench`: a subject, and those of the subject."""
    subjects = (
        "train", "route", "ui", "lab", "imaging", "learning-curve", "record", "visitors", "clinic-statistics",
        "local-cases",
    )  # fmt: skip
    describe(command, "Measure speed and memory.", *(f"bench {subject} --json" for subject in subjects))
    parsers = command.add_subparsers(dest="subject", metavar="SUBJECT", required=True)
    for subject, summary, add_arguments in (
        ("train", "time the training of a population", _add_train),
        ("route", "time rerouting as cases become many and places few", _add_route),
        ("ui", "time the dashboard in a browser", _add_ui),
        ("lab", "time the lab: training, tuning and those who look at other pages meanwhile", _add_lab),
        ("imaging", "time the networks that measure pictures, and a folder of pictures", _add_imaging),
        ("learning-curve", "methods beside the least possible cost, the more cases they learn from", _add_curve),
        ("record", "time the record: appends and searches, empty and with a million entries", _add_record),
        ("clinic-statistics", "how often intervals are right and alarms false, how soon changes show", _add_statistics),
        ("local-cases", "what local outcomes buy where a cohort is new, old run against new", _add_local),
        ("visitors", "let many visitors come at once: waiting, errors, memory", _add_visitors),
    ):
        add_arguments(parsers.add_parser(subject, help=summary, formatter_class=RawDescriptionHelpFormatter))


def _add_train(command: ArgumentParser) -> None:
    describe(
        command,
        "Seconds per router and epoch, validation included: for a population of 10 routers and one of 40, for single\n"
        "routers one after another (two are timed and stand for ten), and for one router written in the usual way,\n"
        "with a loader of single cases and loops over groups and numbers of readers.",
        "bench train",
        "bench train --json --epochs 5",
    )
    add_setting(command)
    command.add_argument("--epochs", type=count, default=3, help="epochs to time, after one to warm up (default: 3)")
    add_json(command)


def _add_route(command: ArgumentParser) -> None:
    describe(
        command,
        "Milliseconds to prepare a worklist, to follow every move of a budget, and to do so where each reader has few\n"
        "places, for worklists of up to a million cases; and, with --slider, what a server of the Budget page takes\n"
        "to answer one hand on its slider, and ten at once.",
        "bench route --json --slider",
    )
    command.add_argument("--slider", action="store_true", help="start a server and move its slider too")
    folder = TABLE.parent / "runs" / "studio"
    command.add_argument("--run", type=Path, default=folder, help="folder of a run (default: studio)")
    add_table(command)
    add_json(command)


def _add_ui(command: ArgumentParser) -> None:
    describe(
        command,
        "Seconds until the server answers, until the first visitor sees the first page, and for every further visitor\n"
        "to open a page and to go on to the next one; memory of the server before and after. Needs Chromium and\n"
        "playwright (requirements-dev.txt).",
        "bench ui",
        "bench ui --json --visits 20",
        "bench ui --workspace ecg",
    )
    command.add_argument("--workspace", metavar="NAME", help=f"whose pages (default: {FIRST_WORKSPACE})")
    command.add_argument(
        "--visits", type=count, default=50, help="visits to time, after one to each page (default: 50)"
    )
    add_json(command)


def _add_lab(command: ArgumentParser) -> None:
    describe(
        command,
        "Seconds from the press of Train to the first epoch on screen, of 10 routers for 150 epochs, of a study, and\n"
        "of all ablations (extrapolated from a few epochs); and how long a change on another page takes another\n"
        "visitor, with and without a training. Needs Chromium and playwright (requirements-dev.txt).",
        "bench lab --json",
        "bench lab --trials 20 --reruns 10",
    )
    add_table(command)
    command.add_argument("--trials", type=count, default=80, help="trials of the study (default: 80)")
    command.add_argument("--reruns", type=count, default=30, help="changes of the other visitor (default: 30)")
    add_json(command)


def _add_imaging(command: ArgumentParser) -> None:
    describe(
        command,
        "Milliseconds a picture and core of networks as large as the default ones, by torch and by OpenVINO in turns,\n"
        "and seconds for a folder of rendered pictures. Needs requirements-imaging.txt.",
        "bench imaging --json",
        "bench imaging --pictures 0 --rounds 5",
    )
    command.add_argument("--rounds", type=count, default=3, help="the least of so many rounds counts (default: 3)")
    command.add_argument("--pictures", type=int, default=100, help="of the folder; 0 for none (default: 100)")
    command.add_argument("--processes", type=count, default=2, help="that measure the folder (default: 2)")
    command.add_argument("--small", action="store_true", help="with networks of tiny widths, to try the benchmark")
    add_json(command)


def _add_curve(command: ArgumentParser) -> None:
    describe(
        command,
        "Cost on 50,000 simulated cases of methods that learned from more and more of them, beside the least that a\n"
        "rule of their kind can cost, which is known; and seconds to draw and route a million cases.",
        "bench learning-curve --json",
        "bench learning-curve --sizes 1000,10000 --seeds 1 --methods mpd2-studio,mpd2-plus",
    )
    command.add_argument("--sizes", type=names, default=(), help="cases to learn from (default: 1000,10000,100000)")
    command.add_argument("--seeds", type=count, default=3, help="members of a run, 1 from 100,000 on (default: 3)")
    command.add_argument("--methods", type=names, default=(), help="their keys (default: all that are compared)")
    add_json(command)


def _add_record(command: ArgumentParser) -> None:
    describe(
        command,
        "Appends a second and their 95th percentile, each on disk before the next, with an empty record and with very\n"
        "many entries; milliseconds of searches, and seconds to verify everything.",
        "bench record --json",
        "bench record --entries 10000 --appends 200",
    )
    command.add_argument("--entries", type=count, default=1_000_000, help="of the long record (default: 1000000)")
    command.add_argument("--appends", type=count, default=1000, help="to time, each time (default: 1000)")
    command.add_argument("--storage", default="", metavar="ADDRESS", help="an empty PostgreSQL (default: a file)")
    command.add_argument("--folder", type=Path, help="where the file is made (default: where temporary files are)")
    add_json(command)


def _add_statistics(command: ArgumentParser) -> None:
    describe(
        command,
        "By simulation on a table's cases: how often the intervals of the clinic are right at every weekly look, how\n"
        "many cases pass between two alarms for nothing, and how soon planted changes are found.",
        "bench clinic-statistics --json",
        "bench clinic-statistics --replays 50 --quick",
    )
    command.add_argument("--replays", type=count, default=1000, help="of everything (default: 1000)")
    command.add_argument("--quick", action="store_true", help="at the shipped number of alarms for nothing alone")
    folder = TABLE.parent / "runs" / "mpd2-plus"
    command.add_argument("--run", type=Path, default=folder, help="folder of a run (default: mpd2-plus)")
    add_table(command)
    add_json(command)


def _add_visitors(command: ArgumentParser) -> None:
    describe(
        command,
        "Visitors without browsers open all pages in an order of their own, change something now and then, and pause\n"
        "in between: seconds until an answer is whole, by page, what was wrong, the CPU of a view, and memory.",
        "bench visitors --visitors 50 --minutes 20 --processes 2 --training --json",
        "bench visitors --visitors 10 --minutes 120 --curve curve.jsonl",
    )
    command.add_argument("--visitors", type=count, default=50, help="who come at once (default: 50)")
    command.add_argument("--minutes", type=float, default=20.0, help="that they stay (default: 20)")
    command.add_argument("--processes", type=count, default=1, help="that share them and a workshop (default: 1)")
    command.add_argument("--training", action="store_true", help="let a training go on meanwhile")
    command.add_argument("--pause", type=float, default=10.0, help="seconds between two clicks, the mean (default: 10)")
    command.add_argument("--seed", type=int, default=0, help="of what they do and when (default: 0)")
    command.add_argument("--curve", type=Path, metavar="FILE", help="a line of JSON a minute goes here")
    add_table(command)
    add_json(command)


def _add_local(command: ArgumentParser) -> None:
    describe(
        command,
        "Cost on held-out cases of a cohort that is new: a run that learned from the other cohorts alone, the same\n"
        "recalibrated on more and more local outcomes, and the AI recalibrated on as many; over several draws.",
        "bench local-cases --json",
        "bench local-cases --methods mpd2-plus,mpd2-studio --draws 3",
    )
    add_table(command)
    command.add_argument("--cohort", default="", help="that is new (default: the one with most cases to learn from)")
    command.add_argument("--sizes", type=names, default=(), help="local outcomes (default: 0,50,100,200,400)")
    command.add_argument("--draws", type=count, default=10, help="each deals all cases anew (default: 10)")
    command.add_argument("--methods", type=names, default=(), help="their keys (default: mpd2-plus)")
    add_json(command)


def run(args: Namespace) -> int:
    """Time what was asked for, and print the timings."""
    measure, as_text = SUBJECTS[args.subject]
    timings = measure(args)
    if args.json:
        print_json(timings)
    else:
        print(as_text(timings))
    return 0


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


def _measure_training(args: Namespace) -> Timings:
    from mpd2.cli.bench.train import bench_training
    from mpd2.cli.inputs import cohort_of, config_of

    return bench_training(cohort_of(args.table), config_of(args), args.epochs)


def _measure_routing(args: Namespace) -> Timings:
    from mpd2.cli.bench.route import bench_route
    from mpd2.cli.bench.slider import bench_slider
    from mpd2.cli.inputs import cohort_of

    timings = bench_route(args.run, cohort_of(args.table))
    return timings | {"slider": bench_slider()} if args.slider else timings


def _measure_ui(args: Namespace) -> Timings:
    from mpd2.cli.bench.ui import bench_ui

    return bench_ui(args.visits, args.workspace or FIRST_WORKSPACE)


def _measure_lab(args: Namespace) -> Timings:
    from mpd2.cli.bench.lab import bench_lab
    from mpd2.cli.inputs import cohort_of

    return bench_lab(cohort_of(args.table), args.table, args.trials, args.reruns)


def _measure_imaging(args: Namespace) -> Timings:
    from mpd2.cli.bench.imaging import bench_imaging

    return bench_imaging(args.rounds, args.pictures, args.processes, args.small)


def _describe_imaging(timings: Timings) -> str:
    from mpd2.cli.bench.imaging import describe_imaging

    return describe_imaging(timings)


def _measure_curve(args: Namespace) -> Timings:
    from mpd2.cli.bench.learning_curve import KEYS, SIZES, bench_learning_curve

    return bench_learning_curve([count(size) for size in args.sizes] or SIZES, args.seeds, args.methods or KEYS)


def _describe_curve(timings: Timings) -> str:
    from mpd2.cli.bench.learning_curve import describe_curve

    return describe_curve(timings)


def _measure_record(args: Namespace) -> Timings:
    from mpd2.cli.bench.record import bench_record

    return bench_record(args.entries, args.appends, args.storage, args.folder)


def _describe_record(timings: Timings) -> str:
    from mpd2.cli.bench.record import describe_record

    return describe_record(timings)


def _measure_statistics(args: Namespace) -> Timings:
    from mpd2.cli.bench.clinic.statistics import bench_clinic_statistics
    from mpd2.cli.inputs import cohort_of
    from mpd2.core.runs import load_run

    return bench_clinic_statistics(cohort_of(args.table), load_run(args.run), args.replays, not args.quick)


def _describe_statistics(timings: Timings) -> str:
    from mpd2.cli.bench.clinic.statistics import describe_clinic_statistics

    return describe_clinic_statistics(timings)


def _measure_local(args: Namespace) -> Timings:
    from mpd2.cli.bench.clinic.local_cases import LOCAL, METHOD, bench_local_cases
    from mpd2.cli.inputs import cohort_of

    wrong = [size for size in args.sizes if not size.isdecimal()]
    if wrong:
        raise UserError(f"sizes: found {', '.join(wrong)}, expected whole numbers of at least 0")
    sizes = [int(size) for size in args.sizes] or LOCAL
    return bench_local_cases(cohort_of(args.table), args.cohort, sizes, args.draws, args.methods or (METHOD,))


def _describe_local(timings: Timings) -> str:
    from mpd2.cli.bench.clinic.local_cases import describe_local_cases

    return describe_local_cases(timings)


def _measure_visitors(args: Namespace) -> Timings:
    from mpd2.cli.bench.crowd.crowd import Crowd
    from mpd2.cli.bench.crowd.visitors import bench_visitors

    crowd = Crowd(args.visitors, args.minutes, args.processes, args.training, args.pause, args.seed)
    return bench_visitors(crowd, args.table, args.curve)


def _describe_visitors(timings: Timings) -> str:
    from mpd2.cli.bench.crowd.visitors import describe_visitors

    return describe_visitors(timings)


SUBJECTS: dict[str, tuple[Callable[[Namespace], Timings], Callable[[Timings], str]]] = {
    "train": (_measure_training, describe_training),
    "route": (_measure_routing, describe_route),
    "ui": (_measure_ui, describe_ui),
    "lab": (_measure_lab, describe_lab),
    "imaging": (_measure_imaging, _describe_imaging),
    "learning-curve": (_measure_curve, _describe_curve),
    "record": (_measure_record, _describe_record),
    "clinic-statistics": (_measure_statistics, _describe_statistics),
    "local-cases": (_measure_local, _describe_local),
    "visitors": (_measure_visitors, _describe_visitors),
}
"""How each subject is measured, and its timings as text."""
