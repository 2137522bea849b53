"""The whole workshop as one file: own runs, workspaces, jobs with their studies, the clinic, and the settings.

Each file goes in with the digest of what was read of it, and comes out only if all digests are right. Not in it: the
record, which has a backup of its own, secrets, and what can be made again (thumbnails, drafts).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import IO, Annotated, Literal

from pydantic import Field, ValidationError

import mpd2
from mpd2.clinic.settings import SETTINGS
from mpd2.core.errors import UserError, invalid_entries
from mpd2.core.files import replacing
from mpd2.core.manifest import Record
from mpd2.lab.jobs.folder import LOCK, Workshop, all_jobs

CONTENTS = "contents.json"
SETTINGS_FILE = "settings.toml"
RESTORED_SETTINGS = "settings-of-backup.toml"
PARTS = ("runs", "workspaces", "jobs", "clinic")
LIVE = (".db-wal", ".db-shm", ".db-journal")  # of a database, which is copied as it stands
DATABASE = b"SQLite format 3\0"  # begins one
CHUNK = 2**20
MOST_CONTENTS = 2**28  # bytes of the list of files
DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OverflowError, RuntimeError, ValueError)


class Contents(Record):
    """What a backup says of itself."""

    format: Literal[1] = 1
    version: str  # of the program that made it
    made: datetime
    files: dict[str, Annotated[str, Field(pattern="^[0-9a-f]{64}$")]]  # SHA-256 by path


def folders(place: Workshop) -> dict[str, Path]:
    """What is kept, by its name in a backup."""
    return dict(zip(PARTS, (place.runs, place.workspaces, place.jobs, place.clinic), strict=True))


def back_up(place: Workshop, target: Path) -> Contents:
    """Write everything into a new file, whole or not at all; nobody but its owner may read it."""
    if target.exists():
        raise UserError(f"{target}: is there already; choose another name, nothing was overwritten")
    with replacing(target) as draft:
        os.close(os.open(draft, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600))
        with zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as archive:
            files = {name: digest for name, path in _sources(place) if (digest := _pack(archive, name, path))}
            contents = Contents(version=mpd2.__version__, made=datetime.now(UTC), files=files)
            archive.writestr(CONTENTS, contents.model_dump_json(indent=1))
    return contents


def read_backup(file: Path) -> Contents:
    """What is in a backup, after every file in it was read and found as it was packed."""
    with _opened(file) as archive:
        return _checked(archive)


def restore(file: Path, place: Workshop, replace: bool = False) -> list[Path]:
    """Put everything back, all of it or nothing; returns where what was there before is kept.

    A workshop that is not empty is left alone unless told to `replace` it; then its folders are put aside, not removed.
    """
    targets = folders(place)
    _refuse_while_at_work(place)
    there = [target for target in targets.values() if target.is_dir() and any(target.iterdir())]
    if there and not replace:
        named = ", ".join(str(target) for target in there)
        raise UserError(f"{named}: not empty, nothing was changed; --replace puts what is there aside first")
    with _opened(file) as archive, _drafts(targets) as drafts:
        contents = _checked(archive)
        for name in contents.files:
            part, _, rest = name.partition("/")
            if rest:
                _unpack(archive, name, drafts[part] / rest)
        aside = _put_in_place(drafts, targets)
        if SETTINGS_FILE in contents.files:
            with replacing(place.jobs.parent / RESTORED_SETTINGS) as draft:
                _unpack(archive, SETTINGS_FILE, draft)
        return aside


def _sources(place: Workshop) -> Iterator[tuple[str, Path]]:
    """Every file to pack, by its name inside."""
    for part, folder in folders(place).items():
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder)
            hidden = any(step.startswith(".") for step in inside.parts)
            if path.is_file() and not path.is_symlink() and not hidden and path.name != LOCK and not _is_live(path):
                yield f"{part}/{inside.as_posix()}", path
    named = os.environ.get(SETTINGS)
    if named and Path(named).is_file():
        yield SETTINGS_FILE, Path(named)


def _is_live(path: Path) -> bool:
    return path.name.endswith(LIVE)


def _pack(archive: zipfile.ZipFile, name: str, path: Path) -> str:
    """Add a file; the digest of what was read of it, empty if it has gone meanwhile."""
    try:
        with _steady(path) as source:
            found = hashlib.sha256()
            with archive.open(name, "w", force_zip64=True) as target:
                while chunk := source.read(CHUNK):
                    found.update(chunk)
                    target.write(chunk)
            return found.hexdigest()
    except FileNotFoundError:
        return ""


@contextmanager
def _steady(path: Path) -> Iterator[IO[bytes]]:
    """An open file; of a database a copy, as others may write to it."""
    with path.open("rb") as file:
        if file.read(len(DATABASE)) != DATABASE:
            file.seek(0)
            yield file
            return
    with TemporaryDirectory() as folder:
        copy = Path(folder) / path.name
        with closing(sqlite3.connect(path)) as there, closing(sqlite3.connect(copy)) as here:
            there.backup(here)
        with copy.open("rb") as file:
            yield file


@contextmanager
def _opened(file: Path) -> Iterator[zipfile.ZipFile]:
    """A backup to read; what is wrong with it is told in words."""
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except OSError as error:
        raise UserError(f"{error.filename or file}: {error.strerror or error}; nothing was changed") from None
    except DAMAGED as error:
        raise UserError(f"{file}: not a backup, or a damaged one: {error}; nothing was changed") from None


def _checked(archive: zipfile.ZipFile) -> Contents:
    """The list of files, if it is of this version and every file in it is whole."""
    names = archive.namelist()
    if CONTENTS not in names or archive.getinfo(CONTENTS).file_size > MOST_CONTENTS:
        raise ValueError(f"found no {CONTENTS} in it")
    try:
        contents = Contents.model_validate_json(archive.read(CONTENTS))
    except ValidationError as error:
        raise ValueError(f"{CONTENTS}: {invalid_entries(error)}") from None
    if sorted(names) != sorted([*contents.files, CONTENTS]):
        raise ValueError(f"its files are not those that {CONTENTS} names")
    for name, expected in contents.files.items():
        _refuse_strange(name)
        with archive.open(name) as source:
            found = hashlib.sha256()
            while chunk := source.read(CHUNK):
                found.update(chunk)
            if found.hexdigest() != expected:
                raise ValueError(f"{name} has changed since it was packed")
    return contents


def _refuse_strange(name: str) -> None:
    """Refuse a path that no backup has."""
    steps = PurePosixPath(name).parts
    usual = name == SETTINGS_FILE or (len(steps) > 1 and steps[0] in PARTS)
    if (
        not usual
        or name != "/".join(steps)
        or any(step.startswith(".") or "\\" in step or "\0" in step for step in steps)
    ):
        raise ValueError(f"found a file {name[:100]!r} that no backup has")


def _refuse_while_at_work(place: Workshop) -> None:
    working = [job.name for job in all_jobs(place) if job.is_held()]
    if working:
        raise UserError(
            f"{working[0]}: a job is being worked on; stop the servers and wait for it, nothing was changed"
        )


@contextmanager
def _drafts(targets: dict[str, Path]) -> Iterator[dict[str, Path]]:
    """An empty folder beside each target, gone at the end."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    drafts = {part: target.with_name(f".{target.name}.restoring-{stamp}") for part, target in targets.items()}
    try:
        for draft in drafts.values():
            draft.mkdir(parents=True, mode=0o700)
        yield drafts
    finally:
        for draft in drafts.values():
            shutil.rmtree(draft, ignore_errors=True)


def _unpack(archive: zipfile.ZipFile, name: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(name) as source, target.open("wb") as written:
        shutil.copyfileobj(source, written, CHUNK)


def _put_in_place(drafts: dict[str, Path], targets: dict[str, Path]) -> list[Path]:
    """Rename every draft to its target, what is there aside; if one cannot be, all are as before."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    moved: list[tuple[Path, Path]] = []
    try:
        for part, target in targets.items():
            if target.is_dir():
                aside = target.with_name(f"{target.name}.before-{stamp}")
                target.rename(aside)
                moved.append((target, aside))
            drafts[part].rename(target)
            moved.append((drafts[part], target))
    except OSError:
        for was, now in reversed(moved):
            now.rename(was)
        raise
    return [now for _, now in moved if ".before-" in now.name]
