"""Which workspaces there are: those that are shipped and people's own, found by name, and new ones."""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import authorise
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.files import replacing_folder
from mpd2.core.manifest import parse_manifest
from mpd2.core.table_file import MANIFEST, fingerprint, read_cohort
from mpd2.core.workspace import DATASHEET, NAME, Workspace, checked_name, shipped_workspaces
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.owners import own_workspace

SUFFIXES = (".csv", ".parquet")  # of a table
MOST_WORKSPACES = 50  # of people's own
SMALL, LARGE = 2**20, 2**30  # bytes of a manifest and of a table, at most
LONGEST = 100  # characters of a file's name


def workspaces(place: Workshop) -> list[Workspace]:
    """Every workspace there is: the shipped ones first, then people's own, each by name."""
    return [*shipped_workspaces(), *own_workspaces(place)]


def own_workspaces(place: Workshop) -> list[Workspace]:
    """People's own, by name; drafts and whatever else lies there are passed over."""
    if not place.workspaces.is_dir():
        return []
    shipped = {workspace.name for workspace in shipped_workspaces()}
    folders = [path.parent for path in place.workspaces.glob(f"*/{MANIFEST}")]
    named = [folder for folder in folders if NAME.fullmatch(folder.name) and folder.name not in shipped]
    return [Workspace(folder.name, folder, shipped=False) for folder in sorted(named)]


def find(name: str, place: Workshop) -> Workspace:
    """The workspace of this name; that there is none is said with those there are."""
    there = {workspace.name: workspace for workspace in workspaces(place)}
    if name not in there:
        raise UserError(f"workspace: found {name!r}, expected one of {', '.join(there)}")
    return there[name]


def find_own(name: str, place: Workshop) -> Workspace:
    """The same of people's own: a shipped one is never changed."""
    workspace = find(name, place)
    if workspace.shipped:
        raise UserError(f"{name}: is shipped with MPD² Studio and stays as it is; make a copy to change")
    return workspace


def suggested_name(title: str, place: Workshop) -> str:
    """A free name made from some words."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:36].strip("-") or "workspace"
    taken = {workspace.name for workspace in workspaces(place)}
    numbered = (words if number == 1 else f"{words}-{number}" for number in range(1, len(taken) + 2))
    return next(name for name in numbered if name not in taken)


def check_name(name: str, place: Workshop) -> None:
    """Refuse a name that is none, or that another workspace has."""
    taken = [workspace.name for workspace in workspaces(place)]
    if checked_name(name) in taken or (place.workspaces / name).exists():
        raise UserError(f"name: {name!r} is taken; choose another one, or remove that workspace first")
    if len(own_workspaces(place)) >= MOST_WORKSPACES:
        raise UserError(f"found {MOST_WORKSPACES} workspaces of your own, as many as there may be; remove one first")


def create(
    name: str,
    table: bytes,
    manifest: str,
    place: Workshop,
    readme: str = "",
    cohort: Cohort | None = None,
    *,
    by: Actor,
) -> Workspace:
    """A new workspace with this table, the text of its manifest and perhaps a datasheet; all of it or nothing.

    A table that is not fit for training is refused with everything that is wrong with it. Whoever has its `cohort`
    already, from the same bytes and manifest, saves the time to check them again.
    """
    authorise(by, Action.MAKE_WORKSPACE, workspace=name, sha256=sha256(table).hexdigest())
    check_name(name, place)
    checked(table, manifest, cohort)
    with new_folder(name, place, by=by) as draft:
        (draft / MANIFEST).write_bytes(manifest.encode())
        (draft / parse_manifest(manifest).table).write_bytes(table)
        if readme.strip():
            (draft / DATASHEET).write_bytes(readme.encode())
    return find(name, place)


def checked(table: bytes, manifest: str, known: Cohort | None = None) -> Cohort:
    """The cases of a table that can be a workspace's: those `known`, if their fingerprint says that it is theirs."""
    for what, found, most in (("manifest", len(manifest.encode()), SMALL), ("table", len(table), LARGE)):
        if found > most:
            raise UserError(f"{what}: found {found / 2**20:.1f} MB, expected at most {most // 2**20}")
    parsed = parse_manifest(manifest, MANIFEST)
    check_table_name(parsed.table)
    if known is not None and known.fingerprint == fingerprint(table, parsed):
        return known
    return read_cohort(table, parsed.table, parsed)


def check_table_name(name: str) -> None:
    """Refuse a file that is no table: it could be another one of the workspace's files."""
    if Path(name).suffix.lower() not in SUFFIXES or len(name) > LONGEST:
        raise UserError(
            f"{MANIFEST}, table: found {name[:LONGEST]!r}, expected a name ending in {' or '.join(SUFFIXES)}"
        )


@contextmanager
def new_folder(name: str, place: Workshop, *, by: Actor) -> Iterator[Path]:
    """A folder to write a new workspace of somebody to, whose name is free until it is whole.

    Whoever calls it has asked whether they may.
    """
    check_name(name, place)
    with _alone(place):
        check_name(name, place)
        with replacing_folder(place.workspaces / name) as draft:
            yield draft
            own_workspace(draft, by)


@contextmanager
def changing(workspace: Workspace) -> Iterator[None]:
    """One at a time changes a workspace; the lock ends with the process."""
    with _locked(workspace.folder):
        yield


@contextmanager
def _alone(place: Workshop) -> Iterator[None]:
    """One at a time takes a name."""
    try:
        place.workspaces.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{place.workspaces}: workspaces cannot be kept here: {error.strerror}") from error
    with _locked(place.workspaces):
        yield


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise UserError(f"{folder}: cannot be read: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
