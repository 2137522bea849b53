"""A run fitted anew on local cases, and its change plan."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from dataclasses import asdict
from time import sleep

from mpd2.cli.arguments import PROGRAM
from mpd2.cli.output import if_interrupted, now_and_then, print_json, say
from mpd2.clinic.access.actor import LOCAL
from mpd2.clinic.access.exports import export_figures
from mpd2.core.errors import UserError
from mpd2.core.files import replacing
from mpd2.core.table_file import word_columns
from mpd2.core.table_file.cells import read_cells
from mpd2.lab.jobs import queue
from mpd2.lab.jobs.folder import ENDED, Job, Workshop
from mpd2.lab.recalibration import Changed, active_name, ask, ask_from_shadow, changed, workspace_of
from mpd2.lab.shadowing import Shadow
from mpd2.present.documents.change_plan import to_html, to_markdown
from mpd2.present.words.change_plan import (
    ChangePlan,
    accepted_in_words,
    against_ai,
    change_plan,
    in_words,
    needed_in_words,
)
from mpd2.study.local.recalibration import AI

EVERY = 0.1  # seconds between two looks at the job
WRITERS: dict[str, Callable[[ChangePlan], bytes]] = {".html": to_html, ".md": to_markdown}


def recalibrate(args: Namespace, place: Workshop) -> int:
    """Ask for the job, wait until it is over, and say what came of it."""
    job = _asked(args, place)
    _wait(job, place)
    made = changed(job.name, place)
    verdict = made.change.verdict()
    if args.json:
        says = asdict(verdict) | {"wins": verdict.wins, "cheaper": verdict.cheaper, "misses_more": verdict.misses_more}
        change = made.change.model_dump(mode="json")
        print_json({"run": job.name, "digest": made.digest, "verdict": says, "change": change})
        return 0
    lines = [
        f"{job.name}: made in {place.runs / job.name}; digest {made.digest}",
        accepted_in_words(verdict),
        in_words(verdict, made.manifest),
        against_ai(made.change.verdict(AI)),
        needed_in_words(verdict),
        f"next: {PROGRAM} clinic change-plan {job.name} --out plan.html",
    ]
    print("\n".join(filter(None, lines)))
    return 0


def _asked(args: Namespace, place: Workshop) -> Job:
    """The job for a file of cases, or for what has come in in shadow mode."""
    if args.cases is None:
        if args.run is not None:
            raise UserError("--run: needs --cases; shadow mode's cases are of the active run")
        return ask_from_shadow(Shadow.here(place), args.name, by=LOCAL)
    if not args.cases.is_file():
        raise UserError(f"{args.cases}: there is no such file")
    run = args.run or active_name(place)
    words = word_columns(workspace_of(run, place).manifest())
    cells = read_cells(args.cases.read_bytes(), args.cases.name, words)
    return ask(run, cells, args.cases.name, args.name, place, by=LOCAL)


def write_plan(args: Namespace, place: Workshop) -> int:
    """Write the change plan of a recalibrated run."""
    writer = WRITERS.get(args.out.suffix.lower())
    if writer is None:
        raise UserError(f"--out: found {args.out.name}, expected a name ending in {' or '.join(WRITERS)}")
    made = changed(args.run, place)
    data = export_figures(lambda: writer(_plan(made)), f"change plan of {args.run}", by=LOCAL)
    with replacing(args.out) as draft:
        draft.write_bytes(data)
    print(f"{args.out}: written")
    return 0


VERBS: dict[str, Callable[[Namespace, Workshop], int]] = {"recalibrate": recalibrate, "change-plan": write_plan}


def _plan(made: Changed) -> ChangePlan:
    return change_plan(made.run, made.digest, made.change, made.manifest, made.before)


def _wait(job: Job, place: Workshop) -> None:
    """Until the job is over; what went wrong is an error."""
    tell = now_and_then()
    say(f"{job.name}: waits its turn, and goes on if you leave")
    with if_interrupted(lambda: f"{job.name} goes on; Retrain shows it, under Jobs, where it can be cancelled"):
        while (status := job.status).state not in ENDED or job.is_held():
            tell(f"epoch {status.epoch} of {job.order.steps}" if status.epoch else status.state)
            sleep(EVERY)
            queue.maintain(place)
    if status.state != "done":
        raise UserError(f"{job.name}: {status.state}{f': {status.reason}' if status.reason else ''}")
