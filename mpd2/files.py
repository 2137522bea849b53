"""Writing so that a reader sees the old or the new, never a half."""

from __future__ import annotations

import hashlib
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mpd2.errors import UserError


def digest(path: Path) -> str:
    """SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A path to write a file to; it takes the target's place when the block ends well and vanishes when it does not."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        yield draft
        os.replace(draft, target)
    except OSError as error:
        raise UserError(f"{target}: could not be written: {error.strerror or error}; nothing was changed") from error
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def replacing_folder(target: Path) -> Iterator[Path]:
    """The same for a whole folder; a folder that is already there is replaced."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    old = draft.with_name(draft.name + ".old")
    try:
        draft.mkdir()
        yield draft
        if target.exists():
            os.replace(target, old)
        os.replace(draft, target)
    except OSError as error:
        raise UserError(f"{target}: could not be written: {error.strerror or error}; nothing was changed") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
