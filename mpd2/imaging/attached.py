"""Photographs that belong to the cases of a workspace: where each file is, and small copies without metadata.

The manifest says in which column the files' names stand, never in which folder they are, for a manifest may come from
anybody. The folder is `photographs` inside the workspace, or one that a person at the machine has attached. A name
leads nowhere but into that folder, and an original is read, never changed.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath

from PIL import Image

from mpd2.core.errors import UserError
from mpd2.core.files import replacing
from mpd2.core.manifest import Manifest
from mpd2.imaging.field import crop, find_field
from mpd2.imaging.photograph import ENDINGS, Photograph, read_photograph

FOLDER = "photographs"  # inside a workspace
RECORD = "photographs.json"  # names the folder of a person's own; it stays at this machine
SIDE = 192  # pixels of a thumbnail's longer side
QUALITY = 85  # of its JPEG
LONGEST = 200  # characters of a file's name


@dataclass(frozen=True, eq=False)
class Attached:
    """The folder of a workspace's photographs, and the name of each case's file in it."""

    folder: Path
    names: Mapping[str, str]  # by the case's id; a case without a photograph is not in it

    def path(self, case_id: str) -> Path | None:
        """A case's file; none where it has none, it is gone, or its name leads out of the folder."""
        try:
            found = inside(self.folder, self.names[case_id])
        except (KeyError, UserError):
            return None
        return found if found.is_file() else None

    def read(self, case_id: str) -> Photograph:
        """A case's photograph; why it cannot be read is said without the folder's place."""
        path = self.path(case_id)
        if path is None:
            raise UserError("the photograph of this case is not in the attached folder")
        return read_photograph(path)

    def missing(self) -> list[str]:
        """The cases whose table names a file that is not there."""
        return [case_id for case_id in self.names if self.path(case_id) is None]


def folder_of(workspace: Path) -> Path | None:
    """The folder of a workspace's photographs: the one attached, else its own; none where there is neither."""
    record = workspace / RECORD
    if record.is_file():
        try:
            named = Path(json.loads(record.read_text(encoding="utf-8"))["folder"])
        except (OSError, ValueError, KeyError, TypeError):
            raise UserError(f"{record}: cannot be read; attach the folder again") from None
        return named if named.is_dir() else None
    own = workspace / FOLDER
    return own if own.is_dir() and not own.is_symlink() else None


def attach(workspace: Path, folder: Path) -> Path:
    """Let a workspace's photographs be those of a folder; nothing in it is copied or changed."""
    if not folder.is_dir():
        raise UserError(f"{folder}: found no such folder, expected the one with the photographs")
    place = folder.resolve()
    with replacing(workspace / RECORD) as draft:
        draft.write_text(json.dumps({"folder": str(place)}, indent=1), encoding="utf-8")
    return place


def column_of(manifest: Manifest) -> str:
    """The column with the files' names; empty where the table has no photographs."""
    return manifest.photographs.column if manifest.photographs else ""


def attached(workspace: Path, ids: Iterable[str], names: Iterable[str]) -> Attached | None:
    """The photographs of a workspace by its cases' ids and their files' names; none without a folder or a name."""
    folder = folder_of(workspace)
    named = {str(case_id): str(name).strip() for case_id, name in zip(ids, names, strict=True) if str(name).strip()}
    return Attached(folder, named) if folder is not None and named else None


def inside(folder: Path, name: str) -> Path:
    """The file of this name in a folder; a name that leads out of it, also by a link, is refused.

    >>> inside(Path("/data"), "../secret.jpg")
    Traceback (most recent call last):
    mpd2.core.errors.UserError: photograph: found the name '../secret.jpg', expected one inside the attached folder
    """
    refused = UserError(f"photograph: found the name {name[:LONGEST]!r}, expected one inside the attached folder")
    parts = PurePosixPath(name), PureWindowsPath(name)
    if not name or len(name) > LONGEST or "\0" in name or any(each.anchor or ".." in each.parts for each in parts):
        raise refused
    if Path(name).suffix.lower() not in ENDINGS:
        raise UserError(f"photograph: found the name {name!r}, expected one ending in {', '.join(ENDINGS)}")
    found = folder / name
    if not found.resolve().is_relative_to(folder.resolve()):
        raise refused
    return found


def thumbnail(path: Path, place: Path, side: int = SIDE) -> bytes:
    """A small JPEG of a photograph, without metadata; made once and kept in the folder `place`."""
    status = path.stat()
    key = hashlib.sha256(f"{path.resolve()}|{status.st_mtime_ns}|{status.st_size}|{side}".encode()).hexdigest()[:32]
    kept = place / f"{key}.jpg"
    try:
        return kept.read_bytes()
    except OSError:
        made = small_jpeg(read_photograph(path), side)
    with replacing(kept) as draft:
        draft.write_bytes(made)
    return made


def small_jpeg(photograph: Photograph, side: int = SIDE) -> bytes:
    """The field of view of a photograph as a small JPEG: its pixels alone, black where names may be burnt in."""
    image = Image.fromarray(crop(photograph.pixels, find_field(photograph.pixels)))
    image.thumbnail((side, side), Image.Resampling.LANCZOS)
    file = io.BytesIO()
    image.save(file, "JPEG", quality=QUALITY)
    return file.getvalue()


def remove_thumbnails(place: Path) -> None:
    """Let go of every small copy in a folder."""
    shutil.rmtree(place, ignore_errors=True)
