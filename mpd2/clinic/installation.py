"""What this installation is: its settings and its record. Without them, a single local user and nothing written."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.settings import SETTINGS, ClinicOptions, RecordOptions, load_settings
from mpd2.core.errors import UserError
from mpd2.core.files import ROOT

if TYPE_CHECKING:
    from mpd2.clinic.record.log import RecordLog

WORKSHOP = "MPD2_WORKSHOP"  # the variable that names the folder of what is made here, in place of `build`


@dataclass(frozen=True)
class Said:
    """What an entry of the record says that somebody did, or wanted to do."""

    by: Actor
    action: Action
    granted: bool = True
    case: str | None = None
    reason: str = ""
    about: dict[str, Any] = field(default_factory=dict)


class Record(Protocol):
    """Where what is done is written down."""

    def append_all(self, said: Sequence[Said]) -> None:
        """Write entries; when it returns, all are on disk. Raises `UserError` where they cannot be: then none is."""


@dataclass(frozen=True)
class Installation:
    """One server, or several that share a workshop."""

    record: Record | None = None

    @classmethod
    def here(cls) -> Installation:
        """The installation this process belongs to; its settings are read again when their file has changed."""
        return cls(kept_record())


def kept_record() -> RecordLog | None:
    """The record of this installation, open; none if the settings have no `[record]`.

    One that cannot be opened is a `UserError`: then nothing is done that ought to be written down.
    """
    name = os.environ.get(SETTINGS)
    if not name:
        return None
    made_of = (name, _stamp(Path(name)), os.environ.get(WORKSHOP), os.getpid())
    with _LOCK:
        if _open.get("made_of") != made_of:
            old, process = _open.get("record"), _open.get("made_of", (0,))[-1]
            _open.clear()
            if old is not None and process == os.getpid():  # connections of a parent are not ours to close
                old.close()
            _open.update(record=_opened(), made_of=made_of)
        found: RecordLog | None = _open["record"]
        return found


def record_place() -> tuple[RecordOptions, Path]:
    """The settings of the record, and its folder; `UserError` if there is none."""
    options = load_settings().record
    if options is None:
        raise UserError(
            f"record: none is kept here; [record] in the settings, the file that {SETTINGS} names, turns it on"
        )
    second = options.second_place and _from_settings(options.second_place)
    return options.model_copy(update={"second_place": second}), _folder(options)


def _opened() -> RecordLog | None:
    if load_settings().record is None:
        return None
    from mpd2.clinic.record.log import RecordLog  # not before there is one: it brings a database along

    return RecordLog(*record_place())


def _from_settings(path: Path) -> Path:
    """A path that is not absolute is meant from the folder of the settings."""
    return Path(os.environ[SETTINGS]).absolute().parent / path


def _folder(options: RecordOptions) -> Path:
    """Where the record is kept."""
    if options.folder is not None:
        return _from_settings(options.folder)
    workshop = os.environ.get(WORKSHOP)
    return (Path(workshop) if workshop else ROOT / "build") / "record"


def clinic_options() -> ClinicOptions:
    """The settings of shadow mode, their paths meant from the folder of the settings."""
    options = load_settings().clinic
    paths = {name: getattr(options, name) for name in ("folder", "watched")}
    return options.model_copy(update={name: path and _from_settings(path) for name, path in paths.items()})


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


_LOCK = Lock()
_open: dict[str, Any] = {}
