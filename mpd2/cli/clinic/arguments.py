"""The arguments of the commands by which a day in the clinic goes."""

from __future__ import annotations

from argparse import ArgumentParser, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from mpd2.cli.arguments import add_json, describe

WATCHED = Path("[clinic] watched")  # in place of a folder: the one the settings name


def add_days(verbs: Any) -> None:
    """The commands of shadow mode."""
    for verb, (summary, add) in VERBS.items():
        add(verbs.add_parser(verb, help=summary, formatter_class=RawDescriptionHelpFormatter))


def _add_intake(command: ArgumentParser) -> None:
    describe(
        command,
        "Take in new cases: each is decided by the active run and kept, before anybody knows the truth. The columns\n"
        "are those of the run's table without truth and readers' answers, and `time`, when the case came in. A row\n"
        "that is not as it should be is refused with its reason, the others are taken in; a row that comes again does\n"
        "no harm. Exit code 0: all rows are in; 1: some were refused.",
        "clinic intake monday.csv",
        "clinic intake --watch /srv/new-cases",
    )
    source = command.add_mutually_exclusive_group(required=True)
    source.add_argument("file", nargs="?", type=Path, help="a CSV or Parquet table")
    source.add_argument(
        "--watch", type=Path, nargs="?", const=WATCHED, metavar="FOLDER",
        help="take in every table that appears in a folder; without one, that of the settings",
    )  # fmt: skip
    command.add_argument("--once", action="store_true", help="with --watch: what is there now, then end")
    add_json(command)


def _add_readings(command: ArgumentParser) -> None:
    describe(
        command,
        "Add what readers say. Columns: case, time (of the arrival; may be empty if the case came in once), reader,\n"
        "says (0 or 1), confidence (0 to 1, may be empty), declined (1) and at (when; else now).",
        "clinic readings monday-readings.csv",
    )
    command.add_argument("file", type=Path, help="a CSV or Parquet table")
    add_json(command)


def _add_outcomes(command: ArgumentParser) -> None:
    describe(
        command,
        "Add what turned out to be true. Columns: case, time, truth (0 or 1), done (0 or 1: the answer the clinic\n"
        "acted on; may be empty) and at (when it became known; else now).",
        "clinic outcomes october.csv",
    )
    command.add_argument("file", type=Path, help="a CSV or Parquet table")
    add_json(command)


def _add_worklist(command: ArgumentParser) -> None:
    describe(command, "Print the cases whose reading by somebody is awaited.", "clinic worklist north-1 > north-1.csv")
    command.add_argument("reader", help="the reader's column")
    command.add_argument("--day", metavar="DATE", help="only cases of this day, such as 2026-11-16")
    add_json(command)


def _add_report(command: ArgumentParser) -> None:
    describe(
        command,
        "What the run would have done against what was done, week by week, and what has changed since it learned.",
        "clinic report",
        "clinic report --by cohort --json",
    )
    command.add_argument("--by", default="all", metavar="WHAT", help="all, cohort, or an input cut into thirds")
    add_json(command)


def _add_setting(command: ArgumentParser) -> None:
    describe(
        command,
        "Say what holds from a day on: limits become prices by the val cases of the run's table, so that each case is\n"
        "decided when it comes in. Without an option, print the settings. What is not named has no limit.",
        "clinic setting",
        "clinic setting --from 2026-11-16 --budget 0.3 --day 300",
        "clinic setting --from 2026-11-16 --at-most north-1=40 --away north-2",
    )
    command.add_argument("--from", dest="start", metavar="DATE", help="the first day, UTC")
    command.add_argument("--budget", type=float, metavar="SHARE", help="share of cases that are sent")
    command.add_argument("--total", type=int, metavar="N", help="cases a day that are sent at most")
    command.add_argument("--day", type=int, metavar="N", help="cases a day that are expected (default: 300)")
    command.add_argument("--at-most", action="append", default=[], metavar="READER=N", help="a reader's places a day")
    command.add_argument("--away", action="append", default=[], metavar="READER", help="a reader who is not there")
    command.add_argument(
        "--weight", type=float, metavar="W", help="of a miss in decisions (default: the AI's sensitivity is kept)"
    )
    command.add_argument(
        "--compare-with", type=int, metavar="N", help="watch for changes since the clinic's first N cases (default: "
        "since the cases the run learned from)"
    )  # fmt: skip
    command.add_argument("--confident", type=float, metavar="P", help="from where the AI is not overruled unread")
    add_json(command)


def _add_erase(command: ArgumentParser) -> None:
    describe(
        command,
        "Erase whose cases these were: ids of cases and groups give way to random names in all that is kept here,\n"
        "and every figure stays as it is. Without --case and --before: all whose last arrival is more than\n"
        "retention_days of [clinic] in the settings ago. What comes later about them is refused as unknown.",
        "clinic erase --case r455 --reason 'asked for by the patient' --yes",
        "clinic erase --before 2026-01-01",
    )
    what = command.add_mutually_exclusive_group()
    what.add_argument("--case", metavar="CASE", help="the id of a case: all its arrivals")
    what.add_argument("--before", metavar="DATE", help="all whose last arrival was before this day, UTC")
    what.add_argument("--tidy", action="store_true", help="only take erased ids out of the database's own log")
    command.add_argument("--reason", default="", help="why, for the record")
    command.add_argument("--yes", action="store_true", help="do not ask")
    add_json(command)


VERBS = {
    "intake": ("take in new cases", _add_intake),
    "readings": ("add what readers say", _add_readings),
    "outcomes": ("add what turned out to be true", _add_outcomes),
    "worklist": ("print whose reading is awaited", _add_worklist),
    "report": ("say what the run would have done, and what has changed", _add_report),
    "setting": ("say what holds from a day on", _add_setting),
    "erase": ("erase whose cases these were", _add_erase),
}
