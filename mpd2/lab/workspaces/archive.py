"""A workspace as one file: a zip with the digest of everything in it, made here and opened elsewhere.

What somebody else made is looked at before any of it is written: nothing in it is executed, and whatever a workspace
does not have is refused.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Literal

from pydantic import Field, ValidationError

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import authorise
from mpd2.core.errors import UserError, invalid_entries
from mpd2.core.files import digest
from mpd2.core.manifest import Record, parse_manifest
from mpd2.core.table_file import MANIFEST
from mpd2.core.workspace import DATASHEET, Workspace
from mpd2.lab.confined.reading import check_workspace
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces.earlier import EARLIER, read_earlier
from mpd2.lab.workspaces.shelf import LARGE, SMALL, check_table_name, checked, find, new_folder

DIGESTS = "digests.json"
FILE = r"\w[\w.-]{0,99}"
KEPT = tuple(
    re.compile(pattern)
    for pattern in (
        rf"runs/{FILE}/{FILE}\.(json|safetensors|parquet)", rf"tables/{FILE}\.(csv|json)",
        r"map/(coordinates\.parquet|map\.json)", rf"published/{FILE}\.csv",
        rf"imaging/({FILE}/)?{FILE}\.(json|safetensors)",
    )
)  # fmt: skip
"""What a workspace has beside its manifest, its table and its datasheet; `build` is only needed on the way."""
SINGLE = (MANIFEST, DATASHEET, "RESULTS.md", EARLIER)
MOST_FILES = 2_000
MOST_BYTES = 2**31  # when unpacked
MOST_CONFINED = 500 * 2**20  # of tables, when unpacked, that a visitor may open on a server
PARQUET = ".parquet"
DEFLATED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENTRY = re.compile(rb"PK\x01\x02")  # begins an entry of a zip file's own list
BEGINNING = (1980, 1, 1, 0, 0, 0)  # of time, for zip files: the same workspace makes the same bytes
CHUNK = 2**20
DAMAGED = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, OverflowError, RuntimeError, ValueError,
)  # fmt: skip
"""What reading a damaged zip file may end in."""


class Contents(Record):
    """What `digests.json` says of an exported workspace."""

    format: Literal[1] = 1
    name: str = Field(min_length=1, max_length=40)
    files: dict[str, Annotated[str, Field(pattern="^[0-9a-f]{64}$")]]  # SHA-256 by path


def suggested_file(workspace: Workspace) -> str:
    """What the file is called."""
    return f"{workspace.name}.workspace.zip"


def exported(workspace: Workspace, *, by: Actor) -> bytes:
    """The workspace as one file: manifest, table, datasheet, runs, tables and map."""
    packed = io.BytesIO()
    write_archive(workspace, packed, by=by)
    return packed.getvalue()


def write_archive(workspace: Workspace, file: IO[bytes], *, by: Actor) -> None:
    """Write the same to an open file; the same workspace makes the same bytes."""
    authorise(by, Action.EXPORT_WORKSPACE, workspace=workspace.name)
    paths = kept_files(workspace)
    contents = Contents(name=workspace.name, files={name: digest(path) for name, path in paths.items()})
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_entry(DIGESTS), json.dumps(contents.model_dump(), indent=1))
        for name, path in paths.items():
            with path.open("rb") as source, archive.open(_entry(name), "w", force_zip64=True) as target:
                while chunk := source.read(CHUNK):
                    target.write(chunk)


def kept_files(workspace: Workspace) -> dict[str, Path]:
    """Every file that belongs to a workspace, by its path inside, in order; drafts and links do not."""
    table = workspace.manifest().table
    found = {path.relative_to(workspace.folder).as_posix(): path for path in workspace.folder.rglob("*")}
    return {
        name: path
        for name, path in sorted(found.items())
        if _belongs(name, table) and path.is_file() and not path.is_symlink()
    }


def open_archive(
    file: IO[bytes], place: Workshop, name: str | None = None, *, by: Actor, confined: bool = False
) -> Workspace:
    """Make a workspace of an exported file, under its own name or another; all of it or nothing.

    What a visitor sent is `confined`: its tables are first read in a process of its own, within a server's limits.
    """
    authorise(by, Action.MAKE_WORKSPACE, workspace=name or "as in the file")
    with _readable(), zipfile.ZipFile(_counted(file)) as archive:
        entries = _entries(archive)
        contents = _contents(archive, entries)
        manifest = _read(archive, entries, MANIFEST).decode("utf-8")
        table = parse_manifest(manifest, MANIFEST).table
        check_table_name(table)
        _check_members(set(entries), contents, table)
        for path, expected in contents.files.items():
            _check_digest(archive, entries[path], expected)
        if confined:
            _check_apart(archive, entries, table, manifest)
        else:
            checked(_read(archive, entries, table, LARGE), manifest)
        with new_folder(name or contents.name, place, by=by) as draft:
            for path in contents.files:
                target = draft / path
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("wb") as written:
                    for chunk in _chunks(archive, entries[path]):
                        written.write(chunk)
            read_earlier(draft)
    return find(name or contents.name, place)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, BEGINNING)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (stat.S_IFREG | 0o644) << 16
    return entry


def _belongs(name: str, table: str) -> bool:
    """Whether a workspace has a file at this path."""
    return name in (*SINGLE, table) or any(pattern.fullmatch(name) for pattern in KEPT)


def _counted(file: IO[bytes]) -> IO[bytes]:
    """The file, refused before its list of entries is read if that is longer than any workspace's."""
    found, tail = 0, b""
    file.seek(0)
    while chunk := file.read(CHUNK):
        found += len(ENTRY.findall(tail + chunk))
        tail = chunk[-3:]
        _refuse_many(found)
    file.seek(0)
    return file


def _refuse_many(files: int) -> None:
    if files > MOST_FILES:
        raise UserError(f"found more than {MOST_FILES} files, expected a workspace as it was exported")


def _entries(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The entries by path, none of them strange."""
    entries: dict[str, zipfile.ZipInfo] = {}
    alike: set[str] = set()  # some disks do not tell capitals from small letters
    for entry in archive.infolist():
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in (0, stat.S_IFREG) or entry.filename.endswith("/"):
            raise _refused(entry.filename, "a link, a folder or a device", "files alone")
        if entry.flag_bits & 1 or entry.compress_type not in DEFLATED:
            raise _refused(entry.filename, "a file that is encrypted or packed in an unusual way", "a plain zip file")
        if entry.filename.lower() in alike:
            raise _refused(entry.filename, "this path twice", "each file once")
        entries[entry.filename] = entry
        alike.add(entry.filename.lower())
    size = sum(entry.file_size for entry in entries.values())
    if size > MOST_BYTES:
        raise UserError(f"found {size / 2**20:.0f} MB when unpacked, expected at most {MOST_BYTES // 2**20}")
    return entries


def _contents(archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo]) -> Contents:
    try:
        return Contents.model_validate_json(_read(archive, entries, DIGESTS))
    except ValidationError as error:
        raise UserError(f"{DIGESTS}: not a workspace this version can open: {invalid_entries(error)}") from None


def _check_members(paths: set[str], contents: Contents, table: str) -> None:
    """Refuse what a workspace does not have, and files without a digest or a digest without its file."""
    for path in sorted(paths - {DIGESTS}):
        if not _belongs(path, table):
            raise _refused(path, "a file that no workspace has", "a workspace as it was exported")
    unsaid, gone = sorted(paths - {DIGESTS} - set(contents.files)), sorted(set(contents.files) - paths)
    for path in (*unsaid, *gone):
        raise _refused(path, "no digest of it" if path in paths else "its digest alone", "each file and its digest")
    if table not in paths:
        raise _refused(table, "no such file", f"the table that {MANIFEST} names")


def _check_digest(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, expected: str) -> None:
    found = hashlib.sha256()
    for chunk in _chunks(archive, entry):
        found.update(chunk)
    if found.hexdigest() != expected:
        raise UserError(f"{_shown(entry.filename)}: damaged or changed since it was exported; export it again")


def _check_apart(archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], table: str, manifest: str) -> None:
    """Let a process of its own look at the table and at all that is Parquet."""
    files = [path for path in entries if path.endswith(PARQUET) and path != table]
    size = sum(entries[path].file_size for path in (*files, table))
    if size > MOST_CONFINED:
        raise _refused(table, f"{size / 2**20:.0f} MB with other tables", f"at most {MOST_CONFINED // 2**20} here")
    read = {path: _read(archive, entries, path, MOST_CONFINED) for path in (*files, table)}
    check_workspace(read.pop(table), manifest, read, table)


def _chunks(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    """A file's content, never more of it than its entry says."""
    with archive.open(entry) as source:
        while chunk := source.read(CHUNK):
            yield chunk


def _read(archive: zipfile.ZipFile, entries: dict[str, zipfile.ZipInfo], path: str, most: int = SMALL) -> bytes:
    """A whole file of limited size."""
    if path not in entries:
        raise UserError(f"{path}: is not in the file; expected a workspace as it was exported")
    if entries[path].file_size > most:
        raise _refused(path, f"{entries[path].file_size / 2**20:.0f} MB", f"at most {most // 2**20}")
    return b"".join(_chunks(archive, entries[path]))


def _refused(path: str, found: str, expected: str) -> UserError:
    return UserError(f"{_shown(path)}: found {found}, expected {expected}; nothing was written")


def _shown(path: str) -> str:
    """A path as a message quotes it."""
    return repr(path[:100]) if not re.fullmatch(r"[\w./-]{1,100}", path) else path


@contextmanager
def _readable() -> Iterator[None]:
    """A block that reads a file somebody sent; what is wrong with it is a `UserError`."""
    try:
        yield
    except DAMAGED as error:
        raise UserError(f"not a file that a workspace was exported to, or a damaged one: {error}") from None
