"""People's own runs: what there is, where each came from; to name, take away and remove."""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.error_rates import error_rates
from mpd2.core.errors import UserError
from mpd2.core.memo import cached, depends_on
from mpd2.core.policy import Policy
from mpd2.core.runs import CONFIG, Run, annotate, read_config, save_run
from mpd2.evaluation.reports import split_reports
from mpd2.lab.jobs.folder import LONGEST, Workshop
from mpd2.lab.jobs.grid import one_cell

MOST_RUNS = 100


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


def own_runs(place: Workshop) -> list[OwnRun]:
    """Every readable run there is, the newest first."""
    if not place.runs.is_dir():
        return []
    runs = [described(folder.name, place) for folder in place.runs.iterdir() if not folder.name.startswith(".")]
    return sorted((run for run in runs if run is not None), key=lambda run: (run.created, run.name), reverse=True)


def described(name: str, place: Workshop) -> OwnRun | None:
    """A run by its name; none if there is none, or none that can be read."""
    return _described(place.runs / name)


def check_room(place: Workshop) -> None:
    """Refuse to make more runs than anybody can look through."""
    count = len(own_runs(place))
    if count >= MOST_RUNS:
        raise UserError(f"found {count} own runs, expected fewer than {MOST_RUNS}; delete some first")


def rename(name: str, title: str, place: Workshop, taken: set[str]) -> None:
    """Give a run another name, as shown; one that is `taken` would make two runs look alike."""
    title = title.strip()
    if not 1 <= len(title) <= LONGEST:
        raise UserError(f"name: found {len(title)} characters, expected from 1 to {LONGEST}")
    if title in taken:
        raise UserError(f"name: {title!r} is taken; choose another one")
    annotate(place.runs / name, title=title)


def delete(name: str, place: Workshop) -> None:
    """Remove a run; nobody sees half of it meanwhile."""
    folder = place.runs / name
    if not (folder / CONFIG).is_file():
        raise UserError(f"{name}: there is no such run")
    away = folder.with_name(f".{name}.deleted")
    shutil.rmtree(away, ignore_errors=True)
    try:
        folder.rename(away)
    except OSError as error:
        raise UserError(f"{name}: could not be deleted: {error.strerror}") from error
    shutil.rmtree(away, ignore_errors=True)


def zipped(name: str, place: Workshop) -> bytes:
    """The run's folder as a zip file, as `python -m mpd2 evaluate` and `route` take it once unpacked."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((place.runs / name).iterdir()):
            archive.write(path, f"{name}/{path.name}")
    return packed.getvalue()


def keep_cell(name: str, run: Run, policy: Policy, cell: str, title: str, cohort: Cohort, place: Workshop) -> None:
    """Keep the routers of one cell of a grid, the run `name`, as a run of their own."""
    check_room(place)
    alone, decided = one_cell(run, policy, cell)
    position = list(dict.fromkeys(run.notes["conditions"])).index(cell)
    kept = replace(alone, notes={**alone.notes, "title": title})
    reports = split_reports(kept, decided, cohort)
    save_run(kept, place.runs / f"{name}-{position + 1}", decided, cohort, reports, errors=error_rates(cohort))


def unique(title: str, taken: set[str]) -> str:
    """The title, with a number behind it if it is taken.

    >>> unique("mine", {"mine", "mine (2)"})
    'mine (3)'
    """
    titles = (title if number == 1 else f"{title[: LONGEST - 5]} ({number})" for number in range(1, len(taken) + 2))
    return next(candidate for candidate in titles if candidate not in taken)


@cached
def _described(folder: Path) -> OwnRun | None:
    """A run by its configuration; none where it cannot be read."""
    depends_on(folder / CONFIG)
    try:
        config = read_config(folder)
    except UserError:
        return None
    notes, costs = config["notes"], config["costs"]
    return OwnRun(
        name=folder.name,
        title=str(notes.get("title") or folder.name),
        kind=str(notes.get("kind", "train")),
        created=str(config["created"]),
        routers=len(config["settings"]),
        changed_from=notes.get("changed_from"),
        changes=dict(notes.get("changes", {})),
        settings=config["settings"][0],
        costs=Costs(**{**costs, "fees": tuple(costs["fees"])}),
        fingerprint=str(config["fingerprint"]),
        method=str(config["method"]),
    )
