"""`evaluate`: what do a run's decisions cost?"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from mpd2.cli.arguments import add_floor, add_json, add_table, describe
from mpd2.cli.output import print_json

if TYPE_CHECKING:
    from mpd2.core.cohort import Cohort
    from mpd2.core.policy import Decisions
    from mpd2.core.runs import Run

SUMMARY = "say what a run's decisions cost"


def add(command: ArgumentParser) -> None:
    """The arguments of `evaluate`."""
    describe(
        command,
        "Every metric over all cases of a split and for each cohort: mean ± standard deviation over the run's routers\n"
        "and a 95 % bootstrap interval of that mean over cases. Costs are those of the table's manifest. On the table\n"
        "the run was trained on its stored predictions are used; on another one the routers are applied anew.",
        "evaluate runs/mine",
        "evaluate runs/mine --split val --json",
        "evaluate runs/mine --floor ai",
        "evaluate mpd2-plus --workspace ecg",
    )
    command.add_argument("run", type=Path, metavar="RUN", help="folder of a run, or its name in the workspace")
    add_table(command)
    command.add_argument("--split", default="test", help="train, val or test (default: test)")
    add_floor(command)
    add_json(command)


def run(args: Namespace) -> int:
    """Print every metric of a run on one split of a table."""
    from dataclasses import asdict

    from mpd2.cli.inputs import cohort_of, point_of
    from mpd2.cli.report import as_text
    from mpd2.core.runs import ERRORS, load_errors, load_run
    from mpd2.evaluation.reports import report
    from mpd2.methods.registry import decisions_of
    from mpd2.study.operating import as_fitted, decisions_at

    trained = load_run(args.run)
    table = cohort_of(args.table)
    cohort = table.subset(split=args.split)
    stored = cohort.fingerprint == trained.fingerprint
    point, choice = point_of(trained, args.run, table, args.floor, args.confident)
    if point == as_fitted(trained):
        decisions = _stored(args.run, trained, cohort) if stored else decisions_of(trained, cohort)
    else:
        errors = load_errors(args.run) if (args.run / ERRORS).is_file() else None
        decisions = decisions_at(trained, cohort, point, errors)
    metrics = report(trained, decisions, cohort)
    if args.json:
        about = {"run": str(args.run), "method": trained.method, "table": str(args.table), "split": args.split}
        chosen = {} if choice is None else {"operating_point": asdict(choice)}
        print_json(about | {"fingerprint": cohort.fingerprint, "stored_predictions": stored} | chosen | metrics)
    else:
        words = "" if choice is None else f"{choice.in_words()}\n"
        words += "" if stored or args.workspace is None else f"{_made_before(args.workspace, table, trained)}\n"
        print(f"{args.run}, {args.split} cases of {args.table}\n{words}\n{as_text(metrics)}")
    return 0


def _made_before(workspace: str, table: Cohort, trained: Run) -> str:
    from mpd2.lab.jobs.folder import Workshop
    from mpd2.lab.workspaces.earlier import made_before
    from mpd2.lab.workspaces.shelf import find

    return (
        f"{made_before(find(workspace, Workshop.here()), table, trained.fingerprint)}, applied anew to those of today"
    )


def _stored(folder: Path, trained: Run, cohort: Cohort) -> Decisions:
    from mpd2.core.policy import route
    from mpd2.core.runs import load_continuations, load_predictions

    policy = load_predictions(folder, trained, cohort)
    return route(policy, cohort, trained.rule, load_continuations(folder, trained, cohort))
