"""Worklists: whose answer is awaited about which case, and how a day stands."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import numpy as np
import pandas as pd

from mpd2.clinic.access.actions import Action, Role
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import authorise
from mpd2.clinic.shadow.answering import reader_of
from mpd2.clinic.shadow.snapshot import Snapshot
from mpd2.core.arrays import Bools
from mpd2.core.cohort import UNKNOWN
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY

PATIENCE = timedelta(days=1)  # after which a reading that is awaited is overdue


def worklist_of(snapshot: Snapshot, reader: str, day: date | None = None) -> pd.DataFrame:
    """The cases a reader is awaited for, the one that came in first at the top.

    Columns: case, time, cohort, ai_answer, ai_probability, asked (0: the first of those asked), chosen (whether a
    clinician sends it there and not the run), stop and reason. Neither the truth nor what others said is in it.
    """
    columns = snapshot.cohort.manifest.columns
    if reader not in columns:
        raise UserError(f"reader: found {reader!r}, expected one of {', '.join(columns)}")
    rows = np.flatnonzero((awaited(snapshot) == reader) & _of_day(snapshot, day))
    cohort, task = snapshot.cohort.rows(rows), snapshot.cohort.manifest.task
    consulted = snapshot.decisions.consulted[rows]
    place = np.maximum((consulted != NOBODY).sum(-1) - 1, 0)
    return pd.DataFrame(
        {
            "case": cohort.ids,
            "time": pd.to_datetime(snapshot.times[rows]).tz_localize(UTC),
            "cohort": np.array([entry.name for entry in cohort.manifest.cohorts])[cohort.source],
            "ai_answer": [task.answers[label] for label in cohort.ai_label.tolist()],
            "ai_probability": cohort.ai_probability,
            "asked": place,
            "chosen": snapshot.chosen[rows] == reader,
            "stop": snapshot.stops[rows],
            "reason": snapshot.reasons[rows],
        }
    )


def seen_worklist(snapshot: Snapshot, reader: str, day: date | None = None, *, by: Actor) -> pd.DataFrame:
    """The same for somebody who looks: a reader sees their own alone."""
    authorise(by, Action.SEE_WORKLIST, against=_not_theirs(reader, by), reader=reader)
    return worklist_of(snapshot, reader, day)


def awaited(snapshot: Snapshot) -> np.ndarray:
    """Whose answer is awaited about each case, [N] str, column or "": a clinician's choice goes before the run's."""
    chosen = pd.Index(snapshot.cohort.manifest.columns).get_indexer(pd.Index(snapshot.chosen))  # NOBODY for the AI
    answered = (snapshot.cohort.decisions != UNKNOWN) | snapshot.declined
    still = (chosen != NOBODY) & ~answered[np.arange(len(chosen)), chosen]
    return np.where(snapshot.chosen == "", snapshot.waiting, np.where(still, snapshot.chosen, ""))


def overview_of(snapshot: Snapshot, day: date | None = None, now: datetime | None = None) -> dict[str, int]:
    """How a day stands, or all days: in, kept, sent, unread, answered, stopped, overridden, overdue and judged."""
    rows = _of_day(snapshot, day)
    waits = awaited(snapshot) != ""
    sent = snapshot.action > 0
    late = snapshot.times < np.datetime64(((now or datetime.now(UTC)) - PATIENCE).replace(tzinfo=None), "us")
    counted: dict[str, Bools] = {
        "in": rows,
        "kept": rows & ~sent,
        "sent": rows & sent,
        "unread": rows & waits,
        "answered": rows & sent & ~waits,
        "stopped": rows & (snapshot.stops != ""),
        "overridden": rows & (snapshot.chosen != ""),
        "overdue": rows & waits & late,
        "judged": rows & snapshot.countable,
    }
    return {name: int(which.sum()) for name, which in counted.items()}


def _of_day(snapshot: Snapshot, day: date | None) -> Bools:
    return np.ones(len(snapshot), bool) if day is None else snapshot.days == np.datetime64(day, "D")


def _not_theirs(reader: str, by: Actor) -> str:
    """What speaks against it that somebody looks at a reader's worklist; empty if nothing does."""
    if by.role is not Role.READER or reader_of(by) == reader:
        return ""
    return f"this is the worklist of {reader}, and you are not named as that reader in the settings"
