"""Asking that a run be recalibrated on local cases; the run itself stays as it is."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256

import pandas as pd

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import authorise
from mpd2.clinic.shadow.local import local_rows
from mpd2.core.errors import UserError
from mpd2.core.manifest import Manifest
from mpd2.core.runs import Run, load_run
from mpd2.core.text import plain_words
from mpd2.core.workspace import Workspace
from mpd2.lab.activation import digest_of, folder_of, standing
from mpd2.lab.jobs import queue
from mpd2.lab.jobs.folder import CASES, LONGEST, Job, Order, Recalibrating, Workshop
from mpd2.lab.jobs.own_runs import OWN, check_room, own_runs, unique
from mpd2.lab.jobs.recalibrating import cases_file, usable_cases
from mpd2.lab.shadowing import Shadow
from mpd2.lab.workspaces.earlier import fingerprints
from mpd2.lab.workspaces.shelf import find, workspaces
from mpd2.methods.mpd2_router import Mpd2
from mpd2.study.local.change import RULE, Change, change_of
from mpd2.training.config import parse_config

SHADOW = "shadow mode's cases"  # what they are called where something is wrong with them


def ask(run: str, cases: pd.DataFrame, name: str, title: str, place: Workshop, *, by: Actor) -> Job:
    """Put a recalibration into the queue; `cases` are rows as of the run's table, from a file called `name`.

    `run` is named as in `activation`. What is wrong with the cases is said now, and not by the job.
    """
    authorise(by, Action.TRAIN, run=run, local_rows=len(cases))
    workspace = workspace_of(run, place)
    cohort, digest, data = workspace.cohort(), digest_of(run, place), cases_file(cases)
    old = load_run(folder_of(run, place))
    old.check_readers(cohort)
    if old.notes.get("kind") == "grid":
        raise UserError(f"{run}: its models differ, so that they are not one run; keep one of its cells first")
    check_room(place)
    usable_cases(cases, name, cohort, workspace.table)
    words = plain_words(title)
    if not 1 <= len(words) <= LONGEST:
        raise UserError(f"name: found {len(words)} characters that are words, expected from 1 to {LONGEST}")
    networks = old.method == Mpd2.key
    order = Order(
        kind="recalibrate",
        title=unique(words, {each.title for each in own_runs(place)}),
        configs=tuple(parse_config(dict(member)) for member in old.settings) if networks else (),
        recalibrating=Recalibrating(run=run, digest=digest, cases=sha256(data).hexdigest(), rule=RULE),
        cost_false_negative=old.costs.false_negative,
        cost_false_positive=old.costs.false_positive,
        table=workspace.table.absolute(),
        fingerprint=cohort.fingerprint,
        changed_from=run.rpartition("/")[2] if "/" in run else f"{OWN}{run}",
    )
    return queue.submit(order, place, {CASES: data}, by=by)


def workspace_of(run: str, place: Workshop) -> Workspace:
    """The workspace whose table a run was made from, whatever rows it had then."""
    name = run.rpartition("/")[0]
    if name:
        return find(name, place)
    its = load_run(folder_of(run, place)).fingerprint
    for workspace in workspaces(place):
        if its in fingerprints(workspace):
            return workspace
    raise UserError(f"{run}: the table it was made from is in no workspace here")


def ask_from_shadow(shadow: Shadow, title: str, *, by: Actor) -> Job:
    """The same for the active run, with all that has come in and turned out in shadow mode."""
    authorise(by, Action.TRAIN, local_cases=SHADOW)
    cases = local_rows(shadow.snapshot(), shadow.store, shadow.learned)
    return ask(active_name(shadow.place), cases, SHADOW, title, shadow.place, by=by)


def active_name(place: Workshop) -> str:
    """The run the clinic uses, as it was proposed."""
    active = standing(place).active
    if active is None:
        raise UserError("no run is active; name the one to recalibrate")
    return active.proposal.run


@dataclass(frozen=True, eq=False)
class Changed:
    """A recalibrated run with all that its change plan is drawn up from."""

    run: Run
    digest: str  # of its files
    change: Change
    manifest: Manifest
    before: Run | None  # the run it began with; none if that was deleted or changed since


def changed(run: str, place: Workshop) -> Changed:
    """A recalibrated run, named as in `activation`; any other is refused."""
    made = load_run(folder_of(run, place))
    change = change_of(made.notes)
    if change is None:
        raise UserError(f"{run}: was not recalibrated, so that there is no change to plan")
    before = None
    with suppress(UserError):
        if digest_of(change.run, place) == change.digest:
            before = load_run(folder_of(change.run, place))
    return Changed(made, digest_of(run, place), change, workspace_of(run, place).manifest(), before)
