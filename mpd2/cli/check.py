"""`check`: is this table fit for use?"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpd2.cli.arguments import WORKSPACE, add_json, add_manifest, describe
from mpd2.cli.output import aligned, print_json
from mpd2.core.errors import TableError

if TYPE_CHECKING:
    from mpd2.core.cohort import Cohort

SUMMARY = "say whether a table is fit for use"


def add(command: ArgumentParser) -> None:
    """The arguments of `check`."""
    describe(
        command,
        "Check every cell of a table. Prints what is in it, or everything that is wrong and where; exits with 1 if\n"
        "anything is.",
        "check cases.csv",
        "check --workspace ecg",
        "check new.csv --manifest manifest.toml --for routing",
    )
    either = command.add_mutually_exclusive_group(required=True)
    either.add_argument("table", nargs="?", type=Path, metavar="TABLE", help="CSV or Parquet file")
    either.add_argument("--workspace", metavar="NAME", help=WORKSPACE)
    add_manifest(command, "TABLE with the ending .toml")
    command.add_argument(
        "--for",
        dest="purpose",
        choices=("training", "routing"),
        default="training",
        help="training needs truth, split and readers' decisions; routing only who can be asked (default: training)",
    )
    add_json(command)


def run(args: Namespace) -> int:
    """Print what is in the table, or all that is wrong with it."""
    from mpd2.cli.inputs import cohort_of

    about = {"table": str(args.table), "purpose": args.purpose}
    try:
        cohort = cohort_of(args.table, args.manifest, args.purpose)
    except TableError as error:
        if args.json:
            print_json(about | {"ok": False, "problems": [asdict(problem) for problem in error.problems]})
        else:
            print(error)
        return 1
    if args.json:
        print_json(about | {"ok": True, "problems": []} | contents(cohort))
    else:
        print(f"{args.table}: {len(cohort)} cases, fit for {args.purpose}\n")
        print(as_text(cohort))
    return 0


def contents(cohort: Cohort) -> dict[str, Any]:
    """How many cases each cohort has in each split ("" where the table says none), and each reader in all."""
    from mpd2.core.cohort import SPLITS

    splits = [split for split in (*SPLITS, "") if (cohort.split == split).any()]
    return {
        "cases": len(cohort),
        "cohorts": {
            entry.key: {split: int(((cohort.source == position) & (cohort.split == split)).sum()) for split in splits}
            for position, entry in enumerate(cohort.manifest.cohorts)
        },
        "readers": dict(zip(cohort.manifest.columns, cohort.available.sum(0).tolist(), strict=True)),
    }


def as_text(cohort: Cohort) -> str:
    """The same in words and columns."""
    counts = contents(cohort)
    splits = list(next(iter(counts["cohorts"].values())))
    cohorts = [
        (entry.name, *counts["cohorts"][entry.key].values(), sum(counts["cohorts"][entry.key].values()), entry.readings)
        for entry in cohort.manifest.cohorts
    ]
    readers = [(reader.name, reader.column, counts["readers"][reader.column]) for reader in cohort.manifest.readers]
    heads = ("cases", *(split or "no split" for split in splits), "all", "readings")
    return aligned([heads, *cohorts]) + "\n\n" + aligned([("reader", "column", "cases"), *readers])
