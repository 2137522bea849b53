"""What shadow mode has seen, as local cases: arrivals with an outcome, to recalibrate a run on."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mpd2.clinic.shadow.snapshot import Snapshot
from mpd2.clinic.shadow.store import ShadowStore
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.errors import UserError
from mpd2.study.local.cases import as_frame


def local_rows(found: Snapshot, store: ShadowStore, learned: Cohort) -> pd.DataFrame:
    """The arrivals whose truth is known, as a table that `local_cases` reads.

    Of a case that came in more than once the last arrival with an outcome counts. What the table learned from has
    already is left out, as where its own cases are played through.
    """
    told = (found.cohort.truth != UNKNOWN) & ~np.isin(found.cohort.ids, learned.ids)
    rows = np.flatnonzero(told)
    _, last = np.unique(found.cohort.ids[rows][::-1], return_index=True)  # sorted by time: the first from the end
    kept = np.sort(rows[len(rows) - 1 - last])
    if not len(kept):
        raise UserError("shadow mode: no case with an outcome has come in that the table does not have already")
    came = store.everything().arrivals
    keys_of = zip(came["case"].tolist(), came["time"].tolist(), strict=True)
    named = dict(zip(keys_of, came["group"].tolist(), strict=True))
    keys = zip(found.cohort.ids[kept].tolist(), found.times[kept].astype(np.int64).tolist(), strict=True)
    return as_frame(found.cohort.rows(kept), [named[key] or key[0] for key in keys])
