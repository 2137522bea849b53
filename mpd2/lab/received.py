"""A table that somebody sent to the server."""

from __future__ import annotations

from hashlib import sha256

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import authorise
from mpd2.lab.confined.reading import read_table
from mpd2.lab.imports.files import RawTable


def receive(data: bytes, name: str, sheet: str = "", *, by: Actor) -> RawTable:
    """Its cells, read in a process of its own.

    The record has the digest of the file and not its name, which may be a person's.
    """
    authorise(by, Action.UPLOAD, bytes=len(data), sha256=sha256(data).hexdigest())
    return read_table(data, name, sheet)
