"""Writing so that a reader sees the old or the new, never a half."""

from __future__ import annotations

import glob
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mpd2.core.errors import UserError

_BUNDLE = Path(__file__).parents[1] / "bundle"
INSTALLED = _BUNDLE.is_dir()
"""Whether this is an installed wheel, which brings its files along, and not a checkout."""
ROOT = _BUNDLE if INSTALLED else Path(__file__).parents[2]
FIRST_WORKSPACE = "glaucoma"  # the shipped one that opens first: its folder in data/, and its table
"""The folder that holds app.py, data, pages and assets."""


def digest(path: Path) -> str:
    """SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A path to write a file to; it takes the target's place when the block ends well and vanishes when it does not."""
    with _draft(target) as draft:
        try:
            yield draft
            os.replace(draft, target)
        finally:
            draft.unlink(missing_ok=True)


@contextmanager
def replacing_folder(target: Path) -> Iterator[Path]:
    """The same for a whole folder; a folder that is already there is replaced."""
    with _draft(target) as draft:
        try:
            draft.mkdir()
            yield draft
            _put_in_place(draft, target)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def remove_drafts(target: Path) -> None:
    """Remove what somebody who was killed had begun to write in the target's place."""
    for draft in target.parent.glob(f".{glob.escape(target.name)}.{'[0-9a-f]' * 32}*"):
        if draft.is_dir():
            shutil.rmtree(draft)
        else:
            draft.unlink()


@contextmanager
def _draft(target: Path) -> Iterator[Path]:
    """A free name beside the target; what goes wrong with the disk is told in words."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    except OSError as error:
        raise UserError(f"{target}: could not be written: {error.strerror or error}; nothing was changed") from error


def _put_in_place(draft: Path, target: Path) -> None:
    """Rename a folder to where another may be; that one comes back if it does not work."""
    if not target.exists():
        os.replace(draft, target)
        return
    old = draft.with_name(draft.name + ".old")
    os.replace(target, old)
    try:
        os.replace(draft, target)
    except OSError:
        os.replace(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def short_hash(values: Any) -> str:
    """A hash of plain values, the same for equal ones."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]
