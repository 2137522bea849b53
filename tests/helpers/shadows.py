"""Shadow mode to test with: deciders of shipped runs, and a cohort's cases as the tables by which they come in."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from places import DATA

from mpd2.clinic.access.actor import LOCAL
from mpd2.clinic.shadow.deciders import Deciders
from mpd2.clinic.shadow.intake import take_in
from mpd2.clinic.shadow.store import ShadowStore
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.runs import load_errors, load_run
from mpd2.core.table_file import load_cohort

START = datetime(2024, 10, 1, 8, tzinfo=UTC)
RUNS = ("mpd2-plus", "studio")  # one that asks on, and one in which the reader has the last word
TABLE = "glaucoma.csv"


@contextmanager
def opened(folder: Path, address: str = "") -> Iterator[ShadowStore]:
    """A store, open."""
    store = ShadowStore(address, folder)
    store.open()
    try:
        yield store
    finally:
        store.close()


@cache
def learned() -> Cohort:
    """The shipped table."""
    return load_cohort(DATA / TABLE)


@cache
def _warm(run: str) -> Deciders:
    """Deciders whose prices and models are worked out once for all tests."""
    folder = DATA / "runs" / run
    return Deciders(ShadowStore("", Path(os.devnull)), load_run(folder), run, learned(), load_errors(folder))


def deciders_of(run: str, store: ShadowStore) -> Deciders:
    """The deciders of a shipped run for a store."""
    warm = _warm(run)
    return Deciders(store, warm.run, warm.run_digest, warm.learned, warm.errors, warm.usual, warm._made, warm._making)


def times_of(cohort: Cohort, a_day: int = 20) -> list[datetime]:
    """When each case comes in: so many a day, a minute apart."""
    return [START + timedelta(days=i // a_day, minutes=i % a_day) for i in range(len(cohort))]


def arrivals(cohort: Cohort, times: list[datetime] | None = None) -> pd.DataFrame:
    """The cases as a table to take in, without truth and words, and with who can be asked."""
    manifest = cohort.manifest
    cells = pd.read_csv(DATA / TABLE, dtype=str, keep_default_na=False).set_index("case_id", drop=False)
    cells = cells.loc[cohort.ids].drop(columns=[manifest.row.truth, *manifest.columns])
    flags = {f"{name}_available": cohort.available[:, j].astype(int) for j, name in enumerate(manifest.columns)}
    whole = times_of(cohort) if times is None else times
    return cells.assign(time=[each.isoformat() for each in whole], **flags).reset_index(drop=True)


def readings(cohort: Cohort, times: list[datetime] | None = None) -> pd.DataFrame:
    """Everything readers say of the cases, a day after they came in."""
    whole = times_of(cohort) if times is None else times
    case, reader = np.nonzero(cohort.decisions != UNKNOWN)
    return pd.DataFrame(
        {
            "case": cohort.ids[case],
            "time": [whole[i].isoformat() for i in case],
            "reader": np.array(cohort.manifest.columns)[reader],
            "says": cohort.decisions[case, reader],
            "at": [(whole[i] + timedelta(days=1)).isoformat() for i in case],
        }
    )


def outcomes(cohort: Cohort, times: list[datetime] | None = None) -> pd.DataFrame:
    """The truth of the cases, a month after they came in."""
    whole = times_of(cohort) if times is None else times
    return pd.DataFrame(
        {
            "case": cohort.ids,
            "time": [each.isoformat() for each in whole],
            "truth": cohort.truth,
            "at": [(each + timedelta(days=30)).isoformat() for each in whole],
        }
    )


def killed_again_and_again(folder: Path, times: int, longest: float) -> None:
    """Take in cases in a child that is killed at random, so many times; what it acknowledged goes to a file."""
    import random
    import signal
    import time

    cohort = learned().subset(split="test").rows(np.arange(300))
    frame, chance = arrivals(cohort), random.Random(7)
    with opened(folder) as store:
        deciders_of("studio", store).on(START.date())
    acknowledged = os.open(folder / "acknowledged", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for number in range(times):
        before, child = os.fstat(acknowledged).st_size, os.fork()
        if child == 0:
            with opened(folder) as store:
                deciders = deciders_of("studio", store)
                for start in chance.sample(range(0, len(frame), 3), len(frame) // 3):
                    taken = take_in(frame.iloc[start : start + 3], store, deciders, by=LOCAL)
                    for key in (*taken.accepted, *taken.repeated):
                        os.write(acknowledged, f"{key.case}\n".encode())
            os._exit(0)
        while number % 4 and os.fstat(acknowledged).st_size == before and not os.waitpid(child, os.WNOHANG)[0]:
            time.sleep(0.001)  # most of them have begun when they are killed, however slow the machine is
        time.sleep(chance.uniform(0, longest))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


if __name__ == "__main__":
    killed_again_and_again(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
