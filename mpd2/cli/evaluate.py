"""`evaluate`: what do a run's decisions cost?"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from mpd2.cli.arguments import add_json, add_table, describe
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
    )
    command.add_argument("run", type=Path, metavar="RUN", help="folder of a run")
    add_table(command)
    command.add_argument("--split", default="test", help="train, val or test (default: test)")
    add_json(command)


def run(args: Namespace) -> int:
    """Print every metric of a run on one split of a table."""
    from mpd2.cli.inputs import cohort_of
    from mpd2.cli.report import as_text
    from mpd2.core.runs import load_run
    from mpd2.evaluation.reports import report

    trained = load_run(args.run)
    cohort = cohort_of(args.table).subset(split=args.split)
    stored = cohort.fingerprint == trained.fingerprint
    decisions = _stored(args.run, trained, cohort) if stored else _applied(trained, cohort)
    metrics = report(trained, decisions, cohort)
    if args.json:
        about = {"run": str(args.run), "method": trained.method, "table": str(args.table), "split": args.split}
        print_json(about | {"fingerprint": cohort.fingerprint, "stored_predictions": stored} | metrics)
    else:
        print(f"{args.run}, {args.split} cases of {args.table}\n\n{as_text(metrics)}")
    return 0


def _stored(folder: Path, trained: Run, cohort: Cohort) -> Decisions:
    from mpd2.core.policy import route
    from mpd2.core.runs import load_continuations, load_predictions

    policy = load_predictions(folder, trained, cohort)
    return route(policy, cohort, trained.rule, load_continuations(folder, trained, cohort))


def _applied(trained: Run, cohort: Cohort) -> Decisions:
    from mpd2.methods.registry import decisions_of

    return decisions_of(trained, cohort)
