"""A workspace removed with everything that was made from it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import NotAllowed, authorise, may
from mpd2.core.errors import UserError
from mpd2.core.files import remove_drafts
from mpd2.core.workspace import Workspace
from mpd2.imaging.attached import remove_thumbnails
from mpd2.lab.jobs import own_runs, queue
from mpd2.lab.jobs.folder import ENDED, Job, Workshop, all_jobs
from mpd2.lab.owners import owner_of_run, owner_of_workspace
from mpd2.lab.workspaces.earlier import fingerprints
from mpd2.lab.workspaces.shelf import changing, find_own, workspaces


@dataclass(frozen=True)
class Leavings:
    """What was made from a workspace and lies outside its folder."""

    jobs: tuple[str, ...]
    runs: tuple[str, ...]
    studies: tuple[str, ...]  # of tuning
    shared: tuple[str, ...] = ()  # other workspaces with the same table, whose runs these are too

    def in_words(self) -> str:
        """What goes with the workspace, or stays."""
        counts = [(len(self.runs), "own run"), (len(self.jobs), "job"), (len(self.studies), "tuning study")]
        many = {"tuning study": "tuning studies"}
        gone = [f"{n} {word if n == 1 else many.get(word, word + 's')}" for n, word in counts if n]
        also = f" and {', '.join(gone)} made from it" if gone else ""
        if self.shared:
            also += f"; own runs and studies of the same table stay, for {', '.join(self.shared)} has it too"
        return f"its table, manifest, runs, tables and map{also}"


def leavings(workspace: Workspace, place: Workshop) -> Leavings:
    """What `remove` would remove besides the folder."""
    own = fingerprints(workspace)
    others = {each.name: fingerprints(each) for each in workspaces(place) if each.name != workspace.name}
    shared = tuple(name for name, theirs in others.items() if own & theirs)
    alone = own.difference(*others.values())
    return Leavings(
        jobs=tuple(job.name for job in all_jobs(place) if _is_its(job, workspace, alone)),
        runs=tuple(run.name for run in own_runs.own_runs(place) if run.fingerprint in alone),
        studies=tuple(_studies(alone, place)),
        shared=shared,
    )


def remove(name: str, place: Workshop, *, by: Actor) -> Leavings:
    """Remove a workspace of somebody's own: its jobs are stopped, and nothing made from it is left.

    Interrupted, the workspace is still there and can be removed again. What others made from it only admins remove, so
    before they have removed it themselves nobody else removes the workspace.
    """
    workspace = find_own(name, place)
    authorise(by, Action.REMOVE_WORKSPACE, owner_of_workspace(workspace.folder), workspace=name)
    with changing(workspace):
        gone = leavings(workspace, place)
        _check_ownership(name, gone, place, by)
        for job in all_jobs(place):
            if job.name in gone.jobs:
                if job.status.state not in ENDED:
                    queue.cancel(job, place, by=by)
                queue.forget(job, place, by=by)
        late = leavings(workspace, place).runs  # a job that was stopped took its run along, one that ended left one
        for run in late:
            own_runs.delete(run, place, by=by)
        gone = replace(gone, runs=(*gone.runs, *(run for run in late if run not in gone.runs)))
        if gone.studies:
            _delete_studies(gone.studies, place, by)
        remove_thumbnails(place.thumbnails / name)
        _delete_folder(workspace.folder)
    remove_drafts(workspace.folder)
    return gone


def _is_its(job: Job, workspace: Workspace, prints: set[str]) -> bool:
    """Whether a job works on this workspace's table."""
    return job.order.fingerprint in prints or workspace.folder.resolve() in job.order.table.resolve().parents


def _studies(prints: set[str], place: Workshop) -> list[str]:
    """The studies of tuning that search on a table of these fingerprints."""
    if not prints or not Path(place.studies).is_file():
        return []
    import optuna  # only who has tuned waits for it

    from mpd2.lab.tuning.storage import connected
    from mpd2.lab.tuning.study import PLAN

    with connected(place.studies) as storage:
        found = optuna.get_all_study_summaries(storage)
    return [each.study_name for each in found if each.user_attrs.get(PLAN, {}).get("fingerprint") in prints]


def _check_ownership(name: str, gone: Leavings, place: Workshop, by: Actor) -> None:
    """Refuse before anything is removed if some of it is somebody else's."""
    owners = {job.name: (Action.REMOVE_JOB, job.owner) for job in all_jobs(place) if job.name in gone.jobs}
    owners |= {run: (Action.REMOVE_RUN, owner_of_run(place.runs / run)) for run in gone.runs}
    owners |= {study: (Action.REMOVE_STUDY, owner) for study, owner in _owners_of(gone.studies, place).items()}
    others = [what for what, (action, owner) in owners.items() if not may(by, action, owner)]
    if others:
        raise NotAllowed(
            f"{name}: others have made {len(others)} jobs, runs or studies from it, such as {others[0]}; "
            "they or an admin must remove them first"
        )


def _owners_of(studies: tuple[str, ...], place: Workshop) -> dict[str, str]:
    if not studies:
        return {}
    from mpd2.lab.tuning.storage import connected
    from mpd2.lab.tuning.study import owner_of_study

    with connected(place.studies) as storage:
        return {name: owner_of_study(storage, name) for name in studies}


def _delete_studies(names: tuple[str, ...], place: Workshop, by: Actor) -> None:
    from mpd2.lab.tuning.storage import connected
    from mpd2.lab.tuning.study import delete_study

    with connected(place.studies) as storage:
        for name in names:
            delete_study(storage, name, by=by)


def _delete_folder(folder: Path) -> None:
    """Nobody sees half of it meanwhile."""
    away = folder.with_name(f".{folder.name}.removed")
    shutil.rmtree(away, ignore_errors=True)
    try:
        folder.rename(away)
        shutil.rmtree(away)
    except OSError as error:
        raise UserError(f"{folder}: could not be removed: {error.strerror}; try again") from error
