"""What the New case page reads and measures: networks are everybody's, a photograph is one visit's alone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import streamlit as st

from mpd2.core.arrays import Floats
from mpd2.imaging.field import crop
from mpd2.imaging.measurement import Measurement
from mpd2.imaging.models.finding import models_folder
from mpd2.imaging.photograph import Photograph
from mpd2.imaging.quality import quality_map
from mpd2.lab.photographs import measure
from mpd2.studio.shell import identity, session, workspaces

if TYPE_CHECKING:  # what it is made of takes long to import, and is only needed once there is a photograph
    from mpd2.imaging.pipeline import Pipeline

TAKEN = "new_case_taken"  # key of the session
MOST_PIPELINES = 2  # kept in memory


class Upload(Protocol):
    """A file that was dropped."""

    name: str
    file_id: str

    def getvalue(self) -> bytes:
        """Its content."""


@dataclass(frozen=True, eq=False)
class Taken:
    """A photograph and what was measured of it; it is kept in the memory of one visit and nowhere else."""

    photograph: Photograph
    measurement: Measurement
    cells: Floats  # [K, K] the map of quality

    @property
    def shown(self) -> Photograph:
        """What may be shown: the field of view, black outside of it."""
        return Photograph(crop(self.photograph.pixels, self.measurement.field))


def pipeline_folder(workspace: str) -> Path:
    """Where the networks are that measure a photograph of this workspace; a `UserError` says how to get them."""
    from mpd2.imaging.pipeline import find_pipeline

    return find_pipeline(workspaces.find(workspace).folder, models_folder())


def pipeline_of(folder: Path) -> Pipeline:
    """The networks in a folder, loaded once for everybody."""
    from mpd2.imaging.pipeline import SETTINGS

    return _pipeline(folder, os.stat(folder / SETTINGS).st_mtime_ns)


def taken(upload: Upload, folder: Path) -> Taken:
    """The photograph in a file that was dropped, measured once; the one before is forgotten."""
    return session.kept(TAKEN, (upload.file_id, folder), lambda: _measured(upload, folder))


def forget() -> None:
    """Let go of the photograph."""
    session.forget(TAKEN)


def _measured(upload: Upload, folder: Path) -> Taken:
    forget()
    with st.spinner("Reading and measuring it … the first one takes longest, since the networks are loaded for it."):
        photograph, measurement = measure(upload.getvalue(), upload.name, pipeline_of(folder), by=identity.actor())
        return Taken(photograph, measurement, quality_map(photograph.pixels, measurement.field))


@st.cache_resource(max_entries=MOST_PIPELINES, show_spinner=False)
def _pipeline(folder: Path, changed: int) -> Pipeline:
    from mpd2.imaging.pipeline import Pipeline

    return Pipeline.load(folder, models=models_folder())
