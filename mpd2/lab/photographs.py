"""A photograph that somebody sent, read and measured for them."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import authorise
from mpd2.imaging.measurement import Measurement
from mpd2.imaging.photograph import Photograph, read_photograph

if TYPE_CHECKING:  # what it is made of takes long to import
    from mpd2.imaging.pipeline import Pipeline


def measure(data: bytes, name: str, pipeline: Pipeline, *, by: Actor) -> tuple[Photograph, Measurement]:
    """The photograph and what was measured of it; of the file's name, often a patient's, only the ending is used."""
    authorise(by, Action.MEASURE, bytes=len(data), sha256=sha256(data).hexdigest())
    photograph = read_photograph(data, f"the file{Path(name).suffix}")
    return photograph, pipeline.measure([photograph])[0]
