"""Arguments that several commands share. Nothing heavy is imported here: values are judged by the commands."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path

from mpd2.core.files import FIRST_WORKSPACE, ROOT

DATA = Path("data", FIRST_WORKSPACE)  # where a study is kept
NAME = f"{FIRST_WORKSPACE}.csv"
TABLE = DATA / NAME if (DATA / NAME).is_file() else ROOT / DATA / NAME
WORKSPACE = "the workspace of this name, in place of a table; `workspace list` names them"
PROGRAM = "mpd2" if Path(sys.argv[0]).name == "mpd2" else "python -m mpd2"


def seeds(text: str) -> int | tuple[int, ...]:
    """How many seeds, or which.

    >>> seeds("3"), seeds("42,43"), seeds("42,")
    (3, (42, 43), (42,))
    """
    try:
        numbers = tuple(int(part) for part in text.removesuffix(",").split(","))
    except ValueError:
        raise ArgumentTypeError(f"found {text!r}, expected a number such as 10 or a list such as 42,43") from None
    if "," not in text and numbers[0] < 1:
        raise ArgumentTypeError(f"found {text!r}, expected at least one seed")
    if min(numbers) < 0 or len(set(numbers)) < len(numbers):
        raise ArgumentTypeError(f"found {text!r}, expected different seeds of at least 0")
    return numbers if "," in text else numbers[0]


def seed_list(chosen: int | tuple[int, ...], first: int) -> tuple[int, ...]:
    """The seeds that `seeds` asked for: a number of them begins with `first`.

    >>> seed_list(3, 42), seed_list((7, 3), 42)
    ((42, 43, 44), (7, 3))
    """
    return tuple(range(first, first + chosen)) if isinstance(chosen, int) else chosen


def count(text: str) -> int:
    """A whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"found {text!r}, expected a whole number of at least 1")
    return int(text)


def names(text: str) -> tuple[str, ...]:
    """A list of names.

    >>> names("verma, ai")
    ('verma', 'ai')
    """
    return tuple(part.strip() for part in text.split(",") if part.strip())


def describe(command: ArgumentParser, description: str, *examples: str) -> None:
    """What a command's help says above and below its arguments."""
    command.description = description
    command.epilog = "\n".join(["examples:", *(f"  {PROGRAM} {example}" for example in examples)])


def add_new_table(command: ArgumentParser, manifest: str) -> None:
    """A table of somebody's own; `manifest` says what is done without one."""
    command.add_argument("table", type=Path, metavar="TABLE", help="CSV or Parquet file")
    add_manifest(command, manifest)


def add_manifest(command: ArgumentParser, manifest: str) -> None:
    """What a table is about."""
    command.add_argument("--manifest", type=Path, metavar="FILE", help=f"its readers and cohorts (default: {manifest})")


def add_table(command: ArgumentParser) -> None:
    """The table to learn from or to judge on: a file, or that of a workspace."""
    either = command.add_mutually_exclusive_group()
    either.add_argument("--table", type=Path, default=TABLE, help=f"CSV or Parquet file (default: {TABLE})")
    either.add_argument("--workspace", metavar="NAME", help=WORKSPACE)


def add_setting(command: ArgumentParser) -> None:
    """A table and the configuration of the routers."""
    add_table(command)
    command.add_argument("--preset", default="paper", help="paper, as published, or studio, ours (default: paper)")
    command.add_argument(
        "--config", type=Path, metavar="FILE", help="JSON of a configuration or a part of one, in place of the preset's"
    )


def add_device(command: ArgumentParser) -> None:
    """Where routers are trained."""
    command.add_argument("--device", default="auto", help="auto, cuda, mps or cpu (default: auto)")


def add_workers(command: ArgumentParser, default: int) -> None:
    """Who does the work."""
    command.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster, such as tcp://host:8786")
    command.add_argument(
        "--workers",
        type=count,
        default=default,
        help="without a scheduler: processes on this machine, more than one with requirements-cluster.txt; 1 is this "
        f"process alone (default: {default})",
    )


def add_json(command: ArgumentParser) -> None:
    """JSON in place of text."""
    command.add_argument("--json", action="store_true", help="print JSON")


def add_floor(command: ArgumentParser) -> None:
    """The operating point: the least sensitivity or specificity, and whom no rule may overrule."""
    command.add_argument(
        "--floor",
        metavar="FLOOR",
        help="decide so that this is kept, chosen on val: ai (the AI's own sensitivity), 0.95, spec:0.9, or missed:5 "
        "per 1,000 screened; with :sure at the end with 90 %% confidence (default: as cheap as can be)",
    )
    command.add_argument(
        "--confident",
        type=float,
        metavar="P",
        help="an AI at least this sure of its answer is overruled by readers alone (default: by a rule too)",
    )
