"""People's own runs: listed with where each came from, renamed, exported and deleted."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import authorise
from mpd2.core.cache import cached, depends_on
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.policy import Policy
from mpd2.core.runs import CONFIG, Run, RunDescription, annotate, read_description
from mpd2.core.text import plain_words
from mpd2.evaluation.reports import publish_run
from mpd2.lab.activation import refuse_if_active
from mpd2.lab.jobs.folder import LONGEST, Workshop
from mpd2.lab.jobs.grid import one_cell
from mpd2.lab.owners import owner_of_run
from mpd2.methods.mpd2_router import Mpd2
from mpd2.methods.registry import METHODS
from mpd2.training.config import parse_config

OWN = "own-"  # begins the name of a run that people made wherever those of a study are named too
MOST_RUNS = 100
NAMELESS = "a run"  # whose name holds nothing that could be shown


@dataclass(frozen=True)
class OwnRun:
    """A run that somebody made, by what it says of itself."""

    name: str  # of its folder
    title: str
    kind: str  # `train`, or `grid` whose routers differ and which can only be looked at as a whole
    created: str
    routers: int
    changed_from: str | None
    changes: Mapping[str, Any]
    settings: Mapping[str, Any]  # of its first router
    costs: Costs  # it was trained for
    fingerprint: str  # of the table it was made from
    method: str
    owner: str = ""  # empty: it is from before there were owners


@dataclass(frozen=True)
class DamagedRun:
    """The folder of a run that cannot be read, and why."""

    name: str
    reason: str


def own_runs(place: Workshop) -> list[OwnRun]:
    """Every readable run there is, the newest first."""
    runs = [run for run in _all_runs(place) if isinstance(run, OwnRun)]
    return sorted(runs, key=lambda run: (run.created, run.name), reverse=True)


def damaged_runs(place: Workshop) -> list[DamagedRun]:
    """Every folder with a description of a run that cannot be read, by name."""
    return sorted((run for run in _all_runs(place) if isinstance(run, DamagedRun)), key=lambda run: run.name)


def described(name: str, place: Workshop) -> OwnRun | None:
    """A run by its name; none if there is none, or none that can be read."""
    run = _described(place.runs / name)
    return run if isinstance(run, OwnRun) else None


def check_room(place: Workshop) -> None:
    """Refuse to make more runs than anybody can look through."""
    count = len(own_runs(place))
    if count >= MOST_RUNS:
        raise UserError(f"found {count} own runs, expected fewer than {MOST_RUNS}; delete some first")


def rename(name: str, title: str, place: Workshop, taken: set[str], *, by: Actor) -> None:
    """Give a run another name, as shown; one that is `taken` would make two runs look alike."""
    authorise(by, Action.NAME_RUN, owner_of_run(place.runs / name), run=name)
    title = plain_words(title)
    if not 1 <= len(title) <= LONGEST:
        raise UserError(f"name: found {len(title)} characters, expected from 1 to {LONGEST}")
    if title in taken:
        raise UserError(f"name: {title!r} is taken; choose another one")
    annotate(place.runs / name, title=title)


def delete(name: str, place: Workshop, *, by: Actor) -> None:
    """Remove a run; nobody sees half of it meanwhile."""
    authorise(by, Action.REMOVE_RUN, owner_of_run(place.runs / name), run=name)
    folder = place.runs / name
    if not (folder / CONFIG).exists():
        raise UserError(f"{name}: there is no such run")
    refuse_if_active(name, place)
    away = folder.with_name(f".{name}.deleted")
    shutil.rmtree(away, ignore_errors=True)
    try:
        folder.rename(away)
    except OSError as error:
        raise UserError(f"{name}: could not be deleted: {error.strerror}") from error
    shutil.rmtree(away, ignore_errors=True)


def zipped(name: str, place: Workshop, *, by: Actor) -> bytes:
    """The run's folder as a zip file, as `python -m mpd2 evaluate` and `route` take it once unpacked."""
    authorise(by, Action.EXPORT_RUN, run=name)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(path for path in (place.runs / name).iterdir() if path.is_file() and not path.is_symlink()):
            archive.write(path, f"{name}/{path.name}")
    return packed.getvalue()


def keep_cell(
    name: str, run: Run, policy: Policy, cell: str, title: str, cohort: Cohort, place: Workshop, *, by: Actor
) -> None:
    """Keep the routers of one cell of a grid, the run `name`, as a run of their own."""
    authorise(by, Action.TRAIN, run=name, cell=cell)
    check_room(place)
    alone, decided = one_cell(run, policy, cell)
    position = list(dict.fromkeys(run.notes["conditions"])).index(cell)
    kept = replace(alone, notes={**alone.notes, "title": title, "owner": by.id})
    folder = place.runs / f"{name}-{position + 1}"
    if folder.exists():  # it is kept already, perhaps by somebody else
        authorise(by, Action.NAME_RUN, owner_of_run(folder), run=folder.name)
    publish_run(kept, cohort, folder, policy=decided)


def unique(title: str, taken: set[str]) -> str:
    """The title, with a number behind it if it is taken.

    >>> unique("mine", {"mine", "mine (2)"})
    'mine (3)'
    """
    titles = (title if number == 1 else f"{title[: LONGEST - 5]} ({number})" for number in range(1, len(taken) + 2))
    return next(candidate for candidate in titles if candidate not in taken)


def _all_runs(place: Workshop) -> list[OwnRun | DamagedRun]:
    """One entry for each folder that has the description of a run; drafts and deleted runs begin with a dot."""
    if not place.runs.is_dir():
        return []
    folders = [folder for folder in place.runs.iterdir() if not folder.name.startswith(".")]
    return [_described(folder) for folder in folders if (folder / CONFIG).exists()]


@cached
def _described(folder: Path) -> OwnRun | DamagedRun:
    """A run by its description."""
    depends_on(folder / CONFIG)
    try:
        about = read_description(folder)
        _check_method(about)
    except UserError as error:
        return DamagedRun(folder.name, str(error))
    notes = about.known_notes
    return OwnRun(
        name=folder.name,
        title=plain_words(notes.title or "") or plain_words(folder.name) or NAMELESS,
        kind=notes.kind,
        created=about.created,
        routers=len(about.settings),
        changed_from=notes.changed_from,
        changes=notes.changes,
        settings=about.settings[0],
        costs=about.costs,
        fingerprint=about.fingerprint,
        method=about.method,
        owner=notes.owner or "",
    )


def _check_method(about: RunDescription) -> None:
    """Refuse a run of a method that is not here, or with settings that a training could not start from."""
    if about.method not in METHODS:
        raise UserError(f"method: found {about.method!r}, expected one of {', '.join(METHODS)}")
    if about.method == Mpd2.key:
        for settings in about.settings:
            parse_config(dict(settings))
