"""`evaluate`: what do a run's decisions cost?"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from mpd2.cli.inputs import cohort_of
from mpd2.cli.output import print_json
from mpd2.cli.report import describe
from mpd2.core.cohort import Cohort
from mpd2.core.policy import Decisions, route
from mpd2.core.runs import Run, load_continuations, load_predictions, load_run
from mpd2.evaluation.reports import report


def run(args: Namespace) -> int:
    """Print every metric of a run on one split of a table."""
    trained = load_run(args.run)
    cohort = cohort_of(args.table).subset(split=args.split)
    stored = cohort.fingerprint == trained.fingerprint
    decisions = _stored(args.run, trained, cohort) if stored else _applied(trained, cohort)
    found = report(trained, decisions, cohort)
    if args.json:
        about = {"run": str(args.run), "method": trained.method, "table": str(args.table), "split": args.split}
        print_json(about | {"fingerprint": cohort.fingerprint, "stored_predictions": stored} | found)
    else:
        print(f"{args.run}, {args.split} cases of {args.table}\n\n{describe(found)}")
    return 0


def _stored(folder: Path, trained: Run, cohort: Cohort) -> Decisions:
    policy = load_predictions(folder, trained, cohort)
    return route(policy, cohort, trained.rule, load_continuations(folder, trained, cohort))


def _applied(trained: Run, cohort: Cohort) -> Decisions:
    # Reading stored predictions does not wait for torch.
    from mpd2.methods import decisions_of

    return decisions_of(trained, cohort)
