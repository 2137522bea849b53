"""Which workspaces can be looked at, and the cases of each: read again once its table or manifest is another."""

from __future__ import annotations

from dataclasses import replace

from mpd2.core.cache import CACHE, cached, depends_on, once_a_look
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.manifest import Manifest
from mpd2.core.text import count, listed
from mpd2.core.workspace import Workspace
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces import shelf

_SEEN: set[str] = set()  # the workspaces there were at the last look
PUBLISHED = "published"  # folder of a workspace: the numbers a paper prints about its table


@once_a_look
def names() -> list[str]:
    """Every workspace whose manifest can be read: the shipped ones, the default first, then people's own."""
    there = [each.name for each in shelf.workspaces(Workshop.here())]
    if _SEEN - set(there):  # what was made of one that is removed is let go of
        CACHE.drop_outdated()
        _SEEN.clear()
    _SEEN.update(there)
    return [name for name in there if not _fault(name)]


@once_a_look
def find(name: str) -> Workspace:
    """A workspace by its name."""
    return shelf.find(name, Workshop.here())


@cached
def manifest(name: str) -> Manifest:
    """What a workspace's table is about."""
    space = find(name)
    depends_on(space.manifest_path)
    return told_apart(space.manifest())


@cached
def cohort(name: str) -> Cohort:
    """Every case of a workspace."""
    space = find(name)
    depends_on(space.manifest_path)
    depends_on(space.table)
    return replace(space.cohort(), manifest=manifest(name))


def told_apart(about: Manifest) -> Manifest:
    """The same manifest; readers and cohorts that share a name, by which they are chosen, have their key behind it."""
    readers, cohorts = [reader.name for reader in about.readers], [entry.name for entry in about.cohorts]
    if len(set(readers)) == len(readers) and len(set(cohorts)) == len(cohorts):
        return about
    parts = about.model_dump(include={"readers", "cohorts"})
    for names, part, key in ((readers, "readers", "column"), (cohorts, "cohorts", "key")):
        for entry in parts[part]:
            if names.count(entry["name"]) > 1:
                entry["name"] = f"{entry['name']} ({entry[key]})"
    return about.but(**parts)


def title(name: str) -> str:
    """A workspace as shown."""
    return manifest(name).title


@once_a_look
def titles() -> dict[str, str]:
    """Every workspace as shown, by its name; those of the same title are told apart by it."""
    called = {name: title(name) for name in names()}
    twice = {each for each in called.values() if list(called.values()).count(each) > 1}
    return {name: f"{each} ({name})" if each in twice else each for name, each in called.items()}


def described(name: str) -> str:
    """How many cases and readers a workspace has, and how its readings came about."""
    cases, about = cohort(name), manifest(name)
    origins = list(dict.fromkeys(entry.readings for entry in about.cohorts))
    alike = {"unknown": "readings of unknown origin", "simulated": "simulated, no patients"}
    how = alike.get(origins[0]) if len(origins) == 1 else None
    how = how or f"readings {listed(origins)}"
    readers = "1 reader" if len(about.readers) == 1 else f"{len(about.readers)} readers"
    return f"{count(len(cases))} {about.task.cases}, {readers}; {how}"


@once_a_look
def has_published(name: str) -> bool:
    """Whether a paper prints numbers about a workspace's table."""
    return (find(name).folder / PUBLISHED).is_dir()


def how_to_build(name: str, until: str = "") -> str:
    """What makes all that a workspace lacks, in a sentence; `until` names a stage that is only made when asked for."""
    if find(name).shipped:
        return f"Make it with `python -m mpd2 reproduce --workspace {name}`."
    if until:
        return f"Make it with `python -m mpd2 workspace build {name} --until {until}`; it takes long."
    return f"Build it on Your data, or with `python -m mpd2 workspace build {name}`."


def _fault(name: str) -> str:
    """Why a workspace cannot be named, empty if it can."""
    try:
        manifest(name)
    except UserError as error:
        return str(error)
    return ""
