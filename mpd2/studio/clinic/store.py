"""What the Clinic page reads: the store of this installation as of now, and what follows from it, worked out once."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property

import numpy as np
import pandas as pd

from mpd2.clinic.access.actor import Actor
from mpd2.clinic.shadow.comparison import compare, weekly
from mpd2.clinic.shadow.rows import Key
from mpd2.clinic.shadow.snapshot import Snapshot
from mpd2.clinic.shadow.worklists import overview_of, worklist_of
from mpd2.core.cache import cached
from mpd2.core.cohort import UNKNOWN
from mpd2.core.manifest import Manifest, Task
from mpd2.core.table_file import write_template
from mpd2.core.text import capital
from mpd2.lab.activation import Activation, standing
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.shadowing import Shadow
from mpd2.planning.floors import Floor
from mpd2.present.documents.spreadsheets import to_csv
from mpd2.study.operating import choose_point

AI_ALONE = "the AI alone"
EXAMPLES = 60  # cases of the example


@dataclass(frozen=True, eq=False)
class Clinic:
    """The clinic at one moment."""

    shadow: Shadow
    snapshot: Snapshot
    active: Activation

    @property
    def manifest(self) -> Manifest:
        """What cases are known by."""
        return self.shadow.manifest

    @property
    def task(self) -> Task:
        """What is looked for."""
        return self.manifest.task

    @cached_property
    def names(self) -> dict[str, str]:
        """Every reader as shown, by column."""
        return {column: reader.name for column, reader in zip(self.manifest.columns, self.manifest.readers, strict=True)}

    @cached_property
    def parts(self) -> dict[str, str]:
        """By what the comparison can be taken apart."""
        titles = self.manifest.layout.titles
        return {"cohort": "Cohort", **{name: capital(titles[name]) for name in self.manifest.layout.names}}

    @property
    def first_day(self) -> date | None:
        """When the first case came in."""
        days = self.snapshot.days
        return days[0].astype(date) if len(days) else None

    @property
    def knows_done(self) -> bool:
        """Whether for any case it is known what the clinic acted on."""
        return bool((self.snapshot.done != UNKNOWN).any())

    @property
    def against(self) -> str:
        """What the run is compared with."""
        return "what was done" if self.knows_done else AI_ALONE

    def row_of(self, key: Key) -> int:
        """Where an arrival stands."""
        at = np.datetime64(key.time.replace(tzinfo=None), "us")
        return int(np.flatnonzero((self.snapshot.times == at) & (self.snapshot.cohort.ids == key.case))[0])

    def again(self) -> Clinic:
        """The clinic as it is now."""
        return here(self.shadow.place)


def here(place: Workshop) -> Clinic:
    """The clinic as it is now."""
    shadow = Shadow.here(place)
    active = standing(place).active
    assert active is not None
    return Clinic(shadow, shadow.snapshot(), active)


def compared(clinic: Clinic, by: str) -> pd.DataFrame:
    """The comparison, taken apart."""
    return _compared(clinic.shadow, clinic.snapshot.version, by)


def weeks(clinic: Clinic) -> pd.DataFrame:
    """The comparison as it stood at the end of each week."""
    return _weeks(clinic.shadow, clinic.snapshot.version)


def counts(clinic: Clinic, day: date) -> tuple[Mapping[str, int], list[str]]:
    """How a day stands, and why cases were stopped."""
    mine = clinic.snapshot.days == np.datetime64(day)
    return overview_of(clinic.snapshot, day), sorted(set(clinic.snapshot.stops[mine].tolist()) - {""})


@cached
def _compared(shadow: Shadow, version: int, by: str) -> pd.DataFrame:
    now = shadow.snapshot()
    return compare(now, now.costs(), by)


@cached
def _weeks(shadow: Shadow, version: int) -> pd.DataFrame:
    now = shadow.snapshot()
    return weekly(now, now.costs())
