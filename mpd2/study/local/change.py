"""What a recalibrated run says of itself: from which run and cases it was made, by which rule, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import product
from typing import Any, Self

import pandas as pd
from pydantic import Field, ValidationError, model_validator

from mpd2.core.clusters import clusters_of
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError, invalid_entries
from mpd2.core.manifest import Record
from mpd2.evaluation.metrics import readings
from mpd2.evaluation.tables import ALL
from mpd2.study.local.recalibration import AI, COLUMNS, METRICS, OLD, Verdict, verdict_of

NOTE = "recalibration"  # the note of a run that holds it
RULE = (
    "The new run is taken if, on the held-out local cases, it costs less than the old one beyond chance and does not "
    "miss more beyond chance: the interval of the difference in cost lies below 0, and that of the difference in "
    "misses does not lie above 0."
)
"""The rule of acceptance, written into the order before anything is fitted; `Verdict.wins` is what it says."""


class Counts(Record):
    """How many cases there are of a kind."""

    cases: int = Field(ge=0)
    positives: int = Field(ge=0)
    groups: int = Field(ge=0)
    readings: int = Field(ge=0)

    @classmethod
    def of(cls, cohort: Cohort) -> Counts:
        """The counts of some cases, at least one."""
        return cls(
            cases=len(cohort),
            positives=int((cohort.truth == 1).sum()),
            groups=len(clusters_of(cohort)),
            readings=int(readings(cohort).sum()),
        )


class Compared(Record):
    """A row of `compare`."""

    kind: str
    part: str
    metric: str
    against: str
    new: float
    other: float
    difference: float
    low: float
    high: float
    error: float
    n: int = Field(ge=1)
    groups: int = Field(ge=1)


class Change(Record):
    """All that a change plan is drawn up from."""

    run: str = Field(min_length=1)  # the old one, as it is kept: NAME, or WORKSPACE/NAME
    title: str  # as shown
    digest: str = Field(min_length=1)  # of its files
    table: str = Field(min_length=1)  # fingerprint of the table that both learned from
    table_before: str = Field(min_length=1)  # the same when the old run was made
    cases: str = Field(min_length=1)  # SHA-256 of the local cases' file
    learned: Counts  # cases of the table to learn from and to choose by
    local: dict[str, Counts]  # local cases by their split; those of test were held out
    waiting: int = Field(ge=0)  # rows of the file without an outcome, left out
    rule: str = Field(min_length=1)
    asked: datetime  # when it was asked for, before anything was fitted
    resamples: int = Field(ge=1)
    rows: tuple[Compared, ...]

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if not {"train", "test"} <= set(self.local):
            raise ValueError("local: expected cases to learn from and cases held out")
        found = {(row.metric, row.against) for row in self.rows if row.kind == ALL}
        if not found >= set(product(METRICS, (OLD, AI))):
            raise ValueError("rows: expected every metric of all cases, against the old run and the recalibrated AI")
        return self

    @property
    def frame(self) -> pd.DataFrame:
        """The comparison as `compare` made it."""
        return pd.DataFrame([row.model_dump() for row in self.rows], columns=list(COLUMNS))

    def verdict(self, rival: str = OLD) -> Verdict:
        """What the comparison says of the new run against a rival."""
        return verdict_of(self.frame, rival)


def compared_rows(rows: pd.DataFrame) -> tuple[Compared, ...]:
    """The rows of `compare`, one by one."""
    return tuple(Compared.model_validate(row) for row in rows.to_dict("records"))


def change_of(notes: Mapping[str, Any]) -> Change | None:
    """The change a run's notes tell of; none where it was not recalibrated."""
    if NOTE not in notes:
        return None
    try:
        return Change.model_validate(notes[NOTE])
    except ValidationError as error:
        raise UserError(f"{NOTE}: not a change this version can read: {invalid_entries(error)}") from None
