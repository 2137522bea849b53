"""What can be typed after `python -m mpd2`. Nothing heavy is imported here: values are judged by the commands."""

from __future__ import annotations

import os
from argparse import ArgumentParser, ArgumentTypeError, RawDescriptionHelpFormatter
from collections.abc import Callable
from pathlib import Path

import mpd2

TABLE = Path("data/glaucoma.csv")
DATA = Path("data")
EXIT_CODES = "exit codes: 0 done, 1 something to put right (the message says what), 2 wrong usage, 130 interrupted"

AddParser = Callable[..., ArgumentParser]


def parser() -> ArgumentParser:
    """The whole command line."""
    root = ArgumentParser(
        prog="python -m mpd2",
        description="Learning to defer: when to trust the AI, and which reader to ask when not.\n"
        "Research software, not a medical device.",
        epilog=EXIT_CODES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    root.add_argument("--version", action="version", version=f"mpd2 {mpd2.__version__}")
    commands = root.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for add in (
        _add_check, _add_train, _add_evaluate, _add_route, _add_reproduce, _add_resplit, _add_tune, _add_sweep,
        _add_bench,
    ):  # fmt: skip
        add(commands.add_parser)
    return root


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


def _command(new: AddParser, name: str, summary: str, description: str, examples: str) -> ArgumentParser:
    return new(
        name,
        help=summary,
        description=description,
        epilog=f"examples:\n{examples}",
        formatter_class=RawDescriptionHelpFormatter,
    )


def _add_check(new: AddParser) -> None:
    command = _command(
        new,
        "check",
        "say whether a table is fit for use",
        "Check every cell of a table. Prints what is in it, or everything that is wrong and where; exits with 1 if\n"
        "anything is.",
        "  python -m mpd2 check data/glaucoma.csv\n"
        "  python -m mpd2 check new.csv --manifest data/glaucoma.toml --for routing",
    )
    _add_table(command)
    command.add_argument(
        "--for",
        dest="purpose",
        choices=("training", "routing"),
        default="training",
        help="training needs truth, split and readers' decisions; routing only who can be asked (default: training)",
    )
    _add_json(command)


def _add_train(new: AddParser) -> None:
    command = _command(
        new,
        "train",
        "train a population of routers",
        "Train several routers at once, one a seed, on the table's train cases; checkpoints are chosen on val.\n"
        "Prints what the val cases cost. An interrupted training goes on where it was when the same command is given\n"
        "again: its state is kept beside OUT, in OUT.checkpoint.safetensors, until it is done.",
        "  python -m mpd2 train --preset studio --seeds 10 --out runs/mine\n"
        "  python -m mpd2 train --preset paper --seeds 42,43 --no-gsdp --no-rank-js --out runs/plain\n"
        "  python -m mpd2 train --config mine.json --budget 0.5 --out runs/half",
    )
    _add_setting(command)
    command.add_argument(
        "--seeds",
        type=seeds,
        default=10,
        help="how many routers, with the configuration's own seed (42 in the presets) and those that follow it, or a "
        "list of seeds such as 42,43; one seed alone is 42, with a comma (default: 10)",
    )
    budget = command.add_mutually_exclusive_group()
    budget.add_argument(
        "--budget", type=float, metavar="SHARE", help="largest share of cases for readers (default: as configured)"
    )
    budget.add_argument("--no-budget", action="store_true", help="send as many as pays")
    command.add_argument("--no-gsdp", action="store_true", help="without the pull to the group prior")
    command.add_argument("--no-rank-js", action="store_true", help="without the penalty on peaked allocations")
    command.add_argument("--gamma", type=float, help="weight of readers' fees in training (default: as configured)")
    command.add_argument("--epochs", type=count, help="most passes over the train cases (default: as configured)")
    command.add_argument("--device", default="auto", help="auto, cuda, mps or cpu (default: auto)")
    command.add_argument("--out", type=Path, help="folder for the run (default: runs/PRESET)")
    command.add_argument("--force", action="store_true", help="replace a run that is already there")


def _add_evaluate(new: AddParser) -> None:
    command = _command(
        new,
        "evaluate",
        "say what a run's decisions cost",
        "Every metric over all cases of a split and for each cohort: mean ± standard deviation over the run's routers\n"
        "and a 95 % bootstrap interval of that mean over cases. Costs are those of the table's manifest. On the table\n"
        "the run was trained on its stored predictions are used; on another one the routers are applied anew.",
        "  python -m mpd2 evaluate runs/mine\n  python -m mpd2 evaluate runs/mine --split val --json",
    )
    command.add_argument("run", type=Path, metavar="RUN", help="folder of a run")
    command.add_argument("--table", type=Path, default=TABLE, help=f"CSV or Parquet file (default: {TABLE})")
    command.add_argument("--split", default="test", help="train, val or test (default: test)")
    _add_json(command)


def _add_route(new: AddParser) -> None:
    command = _command(
        new,
        "route",
        "decide who reads each case of a table",
        "Decide for every case whether the AI's word stands or which reader to ask. The table needs neither truth nor\n"
        "readers' decisions, only who can be asked: a reader's column with a decision, or one ending in _available\n"
        "with 0 or 1.\n\n"
        "A run of several routers makes one decision a case: their policies π = (1 - d, d·q) are averaged, and the\n"
        "run's rule acts on the average. `votes` says how many of them choose the same action alone.\n\n"
        "The table is read, routed and written in parts, so it may be larger than memory; the decisions are the same\n"
        "with any number of workers.",
        "  python -m mpd2 route runs/mine new.csv --manifest data/glaucoma.toml --out decisions.csv\n"
        "  python -m mpd2 route runs/mine data/glaucoma.csv --member 42 --out decisions.parquet\n"
        "  python -m mpd2 route runs/mine large.parquet --scheduler tcp://host:8786 --out decisions.parquet",
    )
    command.add_argument("run", type=Path, metavar="RUN", help="folder of a run")
    _add_table(command)
    command.add_argument(
        "--out", type=Path, required=True, help="file for the decisions, ending in .csv or .parquet; replaced if there"
    )
    command.add_argument("--member", type=int, metavar="SEED", help="the router of this seed alone decides")
    _add_workers(command, 1)


def _add_reproduce(new: AddParser) -> None:
    command = _command(
        new,
        "reproduce",
        "make every run, table and result of the study",
        "Make what is missing, out of date or damaged of the tables asked for and of the runs they are drawn up from:\n"
        "runs in DATA/runs, tables in DATA/tables, the map in DATA/map, and RESULTS.md beside DATA once they are all\n"
        "there. What is only needed on the way lies in build/study beside DATA. Interrupted or killed, the same\n"
        "command goes on where it was.",
        "  python -m mpd2 reproduce\n"
        "  python -m mpd2 reproduce overall budget\n"
        "  python -m mpd2 reproduce --list\n"
        "  python -m mpd2 reproduce --seeds 2 --epochs 5 --data small/data",
    )
    command.add_argument(
        "tables", nargs="*", metavar="NAME", help="tables to make, or all (default: all); --list names them"
    )
    command.add_argument("--table", type=Path, default=TABLE, help=f"CSV or Parquet file (default: {TABLE})")
    command.add_argument("--data", type=Path, default=DATA, help=f"folder for what is made (default: {DATA})")
    command.add_argument("--seeds", type=seeds, help="how many seeds from 42 on, or a list of them (default: 10)")
    command.add_argument("--epochs", type=count, help="most passes of a router (default: as configured)")
    command.add_argument("--list", action="store_true", help="say what there is and what is missing, and make nothing")
    command.add_argument(
        "--force",
        action="store_true",
        help="draw up the tables again from the runs there are; to train a run again, remove its folder",
    )


def _add_resplit(new: AddParser) -> None:
    command = _command(
        new,
        "resplit",
        "judge every method on other splits of the cases",
        "Deal the cases anew to train, val and test, as many of each cohort and truth as before; fit every method and\n"
        "judge it once on that test part. Prints mean and standard deviation over resplits, and differences from one\n"
        "method with an interval that allows for the cases resplits share. With --leave-out each cohort is new in\n"
        "turn: learned from are the others, judged are its test cases. What a method found in a resplit is kept in\n"
        "build/study beside DATA: an interrupted command goes on where it was.",
        "  python -m mpd2 resplit --json\n"
        "  python -m mpd2 resplit --methods verma,mao,ai --resplits 5 --seeds 1\n"
        "  python -m mpd2 resplit --leave-out",
    )
    command.add_argument("--table", type=Path, default=TABLE, help=f"CSV or Parquet file (default: {TABLE})")
    command.add_argument("--data", type=Path, default=DATA, help=f"folder of the study (default: {DATA})")
    command.add_argument(
        "--resplits", type=seeds, help="how many, or a list of their numbers such as 3,7 (default: 20, 5 to leave out)"
    )
    command.add_argument(
        "--seeds", type=seeds, default=2, help="of each method in each resplit, from 42 on, or a list (default: 2)"
    )
    command.add_argument("--methods", type=names, metavar="NAMES", help="such as verma,ai (default: all deployable)")
    command.add_argument("--against", metavar="NAME", help="the method that differences are from (default: MPD²+)")
    command.add_argument("--leave-out", action="store_true", help="let each cohort be new in turn")
    _add_json(command)


def _add_tune(new: AddParser) -> None:
    command = _command(
        new,
        "tune",
        "look for a better configuration",
        "The paper's search over sixteen settings (multivariate TPE, Hyperband, hand-tuned first trial), every trial\n"
        "scored on val alone and several trained together. All that is not searched is as in the preset.\n"
        "Interrupted or killed, the same command goes on; given the same STORAGE, several machines share one study\n"
        "(docs/cluster.md).",
        "  python -m mpd2 tune --preset studio --keep runs/tuned\n"
        "  python -m mpd2 train --config runs/tuned.json --seeds 20 --out runs/more\n"
        "  python -m mpd2 tune --storage postgresql+psycopg://user:password@host/name",
    )
    _add_setting(command)
    command.add_argument("--trials", type=count, default=80, help="trials the study is to have (default: 80)")
    command.add_argument("--epochs", type=count, default=60, help="most passes of a trial (default: 60)")
    command.add_argument("--batch", type=count, default=10, help="trials trained together (default: 10)")
    command.add_argument(
        "--seeds", type=seeds, default=1, help="routers of a trial, whose mean is its score, or a list (default: 1)"
    )
    command.add_argument("--seed", type=int, default=0, help="of the proposals (default: 0)")
    command.add_argument(
        "--study", metavar="NAME", help="name of the study to begin or go on with (default: the preset's)"
    )
    command.add_argument(
        "--storage", default="runs/tuning.db", help="SQLite file or URL of a database (default: runs/tuning.db)"
    )
    command.add_argument("--device", default="auto", help="auto, cuda, mps or cpu (default: auto)")
    command.add_argument(
        "--keep",
        type=Path,
        metavar="RUN",
        help="train the best configuration with 10 seeds and as many epochs as the "
        "preset has; keep the run in this folder, and the configuration beside it in RUN.json",
    )
    command.add_argument("--force", action="store_true", help="replace a run that is already there")
    _add_json(command)


def _add_sweep(new: AddParser) -> None:
    command = _command(
        new,
        "sweep",
        "train every condition of the ablations with every seed, on several workers",
        "Train the conditions of the ablations with every seed, in crews of up to ten routers of one condition. Each\n"
        "crew is kept in OUT as a run as it ends; the same command goes on with what is missing. The results are the\n"
        "same with any number of workers, and a worker that is lost costs only the crew it was at (docs/cluster.md).",
        "  python -m mpd2 sweep --out runs/sweep\n"
        "  python -m mpd2 sweep --conditions full,no-gsdp --seeds 30 --scheduler tcp://host:8786 --out runs/sweep",
    )
    _add_setting(command)
    command.add_argument("--conditions", type=names, metavar="NAMES", help="such as full,no-gsdp (default: all)")
    command.add_argument("--seeds", type=seeds, default=10, help="of each condition, or a list (default: 10)")
    command.add_argument("--epochs", type=count, help="most passes of a router (default: as configured)")
    command.add_argument("--out", type=Path, required=True, help="folder for runs and table")
    _add_workers(command, os.cpu_count() or 1)


def _add_bench(new: AddParser) -> None:
    command = _command(
        new,
        "bench",
        "measure how fast it is",
        "Measure speed and memory.",
        "  python -m mpd2 bench train --json\n"
        "  python -m mpd2 bench route --json\n"
        "  python -m mpd2 bench ui --json\n"
        "  python -m mpd2 bench lab --json",
    )
    subjects = command.add_subparsers(dest="subject", metavar="SUBJECT", required=True).add_parser
    train = _command(
        subjects,
        "train",
        "time the training of a population",
        "Seconds per router and epoch, validation included: for a population of 10 routers and one of 40, for single\n"
        "routers one after another (two are timed and stand for ten), and for one router written in the usual way,\n"
        "with a loader of single cases and loops over groups and numbers of readers.",
        "  python -m mpd2 bench train\n  python -m mpd2 bench train --json --epochs 5",
    )
    _add_setting(train)
    train.add_argument("--epochs", type=count, default=3, help="epochs to time, after one to warm up (default: 3)")
    _add_json(train)
    route = _command(
        subjects,
        "route",
        "time rerouting as cases become many and places few",
        "Milliseconds to prepare a worklist, to follow every move of a budget, and to do so where each reader has few\n"
        "places, for worklists of up to a million cases; and, with --slider, what a server of the Budget page takes\n"
        "to answer one hand on its slider, and ten at once.",
        "  python -m mpd2 bench route --json --slider",
    )
    route.add_argument("--slider", action="store_true", help="start a server and move its slider too")
    route.add_argument("--run", type=Path, default=DATA / "runs" / "studio", help="folder of a run (default: studio)")
    route.add_argument("--table", type=Path, default=TABLE, help=f"CSV or Parquet file (default: {TABLE})")
    _add_json(route)
    ui = _command(
        subjects,
        "ui",
        "time the dashboard in a browser",
        "Seconds until the server answers, until the first visitor sees the first page, and for every further visitor\n"
        "to open a page and to go on to the next one; memory of the server before and after. Needs Chromium and\n"
        "playwright (requirements-dev.txt).",
        "  python -m mpd2 bench ui\n  python -m mpd2 bench ui --json --visits 20",
    )
    ui.add_argument("--visits", type=count, default=50, help="visits to time, after one to each page (default: 50)")
    _add_json(ui)
    lab = _command(
        subjects,
        "lab",
        "time the lab: training, tuning and those who look at other pages meanwhile",
        "Seconds from the press of Train to the first epoch on screen, of 10 routers for 150 epochs, of a study, and\n"
        "of all ablations (extrapolated from a few epochs); and how long a change on another page takes another\n"
        "visitor, with and without a training. Needs Chromium and playwright (requirements-dev.txt).",
        "  python -m mpd2 bench lab --json\n  python -m mpd2 bench lab --trials 20 --reruns 10",
    )
    lab.add_argument("--table", type=Path, default=TABLE, help=f"CSV or Parquet file (default: {TABLE})")
    lab.add_argument("--trials", type=count, default=80, help="trials of the study (default: 80)")
    lab.add_argument("--reruns", type=count, default=30, help="changes of the other visitor (default: 30)")
    _add_json(lab)


def _add_table(command: ArgumentParser) -> None:
    command.add_argument("table", type=Path, metavar="TABLE", help="CSV or Parquet file")
    command.add_argument(
        "--manifest", type=Path, metavar="FILE", help="its readers and cohorts (default: TABLE with the ending .toml)"
    )


def _add_setting(command: ArgumentParser) -> None:
    command.add_argument("--table", type=Path, default=TABLE, help=f"CSV or Parquet file (default: {TABLE})")
    command.add_argument("--preset", default="paper", help="paper, as published, or studio, ours (default: paper)")
    command.add_argument(
        "--config", type=Path, metavar="FILE", help="JSON of a configuration or a part of one, in place of the preset's"
    )


def _add_workers(command: ArgumentParser, default: int) -> None:
    command.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster, such as tcp://host:8786")
    command.add_argument(
        "--workers",
        type=count,
        default=default,
        help=f"without a scheduler: processes on this machine; 1 is this process alone (default: {default})",
    )


def _add_json(command: ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print JSON")
