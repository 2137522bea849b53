"""The arguments of every benchmark."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from mpd2.cli.arguments import TABLE, add_json, add_setting, add_table, count, describe, names
from mpd2.core.files import FIRST_WORKSPACE


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
        "bench clinic-statistics --part monitors --json",
    )
    command.add_argument("--replays", type=count, default=1000, help="of everything (default: 1000)")
    command.add_argument("--part", choices=("intervals", "readers", "monitors"), help="this alone (default: all)")
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


def _add_clinic(command: ArgumentParser) -> None:
    describe(
        command,
        "A clinic filled with days of cases, readings and outcomes: rows a second, seconds of a case sent and of each\n"
        "page at rest, and of both while cases come in and visitors look; memory, and whether all is kept once.",
        "bench clinic --json",
        "bench clinic --cases 3000 --minutes 1",
    )
    command.add_argument("--cases", type=count, default=100_000, help="that are there at first (default: 100000)")
    command.add_argument("--rate", type=float, default=10.0, help="cases a second that come in (default: 10)")
    command.add_argument("--minutes", type=float, default=10.0, help="that they come in (default: 10)")
    command.add_argument("--visitors", type=count, default=10, help="who look meanwhile (default: 10)")
    command.add_argument("--pause", type=float, default=10.0, help="seconds between two clicks, the mean (default: 10)")
    command.add_argument("--alone", type=count, default=200, help="cases sent one after another first (default: 200)")
    command.add_argument("--rounds", type=count, default=20, help="through all pages at rest (default: 20)")
    command.add_argument("--seed", type=int, default=0, help="of cases and of what visitors do (default: 0)")
    add_json(command)


SUBJECTS = (
    ("train", "time the training of a population", _add_train),
    ("route", "time rerouting as cases become many and places few", _add_route),
    ("ui", "time the dashboard in a browser", _add_ui),
    ("lab", "time the lab: training, tuning and those who look at other pages meanwhile", _add_lab),
    ("imaging", "time the networks that measure pictures, and a folder of pictures", _add_imaging),
    ("learning-curve", "methods beside the least possible cost, the more cases they learn from", _add_curve),
    ("record", "time the record: appends and searches, empty and with a million entries", _add_record),
    ("clinic-statistics", "how often intervals are right and alarms false, how soon changes show", _add_statistics),
    ("local-cases", "what local outcomes buy where a cohort is new, old run against new", _add_local),
    ("clinic", "the clinic with a great many cases: pages, intake, and both at once", _add_clinic),
    ("visitors", "let many visitors come at once: waiting, errors, memory", _add_visitors),
)
"""Every subject, what it times, and its own arguments."""
