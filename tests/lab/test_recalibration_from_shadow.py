"""What came in and turned out in shadow mode becomes the local cases of a recalibration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from finished_jobs import ended
from small_workspace import MANIFEST, nights, table_of

from mpd2.clinic.access.actor import LOCAL
from mpd2.clinic.shadow.answering import add_outcomes, add_readings
from mpd2.clinic.shadow.intake import take_in
from mpd2.clinic.shadow.local import local_rows
from mpd2.core.errors import UserError
from mpd2.core.runs import load_run
from mpd2.evaluation.reports import publish_run
from mpd2.lab import activation
from mpd2.lab.jobs import queue, worker_pool
from mpd2.lab.jobs.folder import ENDED, PLACE, Workshop, all_jobs
from mpd2.lab.recalibration import ask_from_shadow
from mpd2.lab.shadowing import Shadow
from mpd2.lab.workspaces.shelf import create
from mpd2.methods.plus.method import Plus
from mpd2.study.local.cases import local_cases
from mpd2.study.local.change import change_of

START = datetime(2024, 1, 5, 8, tzinfo=UTC)


@pytest.fixture
def shadow(tmp_path, monkeypatch) -> Iterator[Shadow]:
    """Shadow mode with an active run; nothing is left running."""
    monkeypatch.setenv(PLACE, str(tmp_path))
    place = Workshop.here()
    cohort = create("nights", table_of(nights()), MANIFEST, place, by=LOCAL).cohort()
    run = Plus(draws=2).fit(cohort, cohort.manifest.default_costs(), (1, 2))
    publish_run(replace(run, notes={**run.notes, "title": "Old"}), cohort, place.runs / "old")
    activation.propose("old", "to begin with", place, by=LOCAL)
    activation.activate("old", place, by=LOCAL)
    yield Shadow.here(place)
    for job in reversed([job for job in all_jobs(place) if job.status.state not in ENDED]):
        queue.cancel(job, place, by=LOCAL)
    worker_pool.let_go()


def seen(shadow: Shadow, rows: pd.DataFrame, told: int) -> None:
    """All rows come in, are read by everybody who has read them, and of the first so many it turns out."""
    times = [(START + timedelta(minutes=row)).isoformat() for row in range(len(rows))]
    arrived = rows.drop(columns=["part", "truth", "ann", "bob", "recorded", "note"]).assign(time=times)
    assert not take_in(arrived, shadow.store, shadow.deciders, by=LOCAL).refused
    keys = pd.DataFrame({"case": rows["epoch"], "time": times})
    readings = [keys.assign(reader=name, says=rows[name])[rows[name] != ""] for name in ("ann", "bob")]
    assert not add_readings(pd.concat(readings), shadow.store, shadow.deciders, by=LOCAL).refused
    assert not add_outcomes(keys.assign(truth=rows["truth"]).head(told), shadow.store, by=LOCAL).refused


def test_arrivals_with_an_outcome_become_the_local_cases_they_were(shadow):
    rows = nights(60, seed=1, first=60)
    seen(shadow, rows, 150)
    found = local_rows(shadow.snapshot(), shadow.store, shadow.learned)
    assert sorted(found["epoch"]) == sorted(rows["epoch"].head(150))
    by_file = local_cases(rows.drop(columns="part").head(150), shadow.learned, "file").cohort
    by_shadow = local_cases(found, shadow.learned, "shadow").cohort
    order = np.argsort(by_shadow.ids)
    expected = np.argsort(by_file.ids)
    for name in ("split", "truth", "decisions", "absent"):
        assert (getattr(by_shadow, name)[order] == getattr(by_file, name)[expected]).all(), name
    np.testing.assert_allclose(
        np.where(by_shadow.absent, 0, by_shadow.state)[order], np.where(by_file.absent, 0, by_file.state)[expected]
    )


def test_later_outcomes_leave_earlier_cases_where_they_are(shadow):
    rows = nights(60, seed=1, first=60)
    seen(shadow, rows, 120)
    before = local_cases(local_rows(shadow.snapshot(), shadow.store, shadow.learned), shadow.learned, "x").cohort
    keys = pd.DataFrame({"case": rows["epoch"], "truth": rows["truth"]}).tail(60)
    add_outcomes(keys, shadow.store, by=LOCAL)
    after = local_cases(local_rows(shadow.snapshot(), shadow.store, shadow.learned), shadow.learned, "x").cohort
    now = dict(zip(after.ids.tolist(), after.split.tolist(), strict=True))
    assert len(after) == 180
    assert all(now[case] == split for case, split in zip(before.ids.tolist(), before.split.tolist(), strict=True))


def test_the_active_run_is_recalibrated_on_them(shadow):
    seen(shadow, nights(60, seed=1, first=60), 150)
    job = ask_from_shadow(shadow, "Ours", by=LOCAL)
    assert ended(job, shadow.place).state == "done"
    change = change_of(load_run(shadow.place.runs / job.name).notes)
    assert change is not None
    assert (change.run, sum(counts.cases for counts in change.local.values())) == ("old", 150)


def test_the_tables_own_cases_played_through_are_no_local_cases(shadow):
    seen(shadow, nights().head(40), 40)
    with pytest.raises(UserError, match="no case with an outcome has come in that the table does not have"):
        ask_from_shadow(shadow, "Ours", by=LOCAL)


def test_of_a_case_that_came_twice_the_last_with_an_outcome_counts(shadow):
    rows = nights(20, seed=1, first=60)
    seen(shadow, rows, 60)
    again = rows.head(1).drop(columns=["part", "truth", "ann", "bob", "recorded", "note"])
    for day, snoring in ((1, "7.5"), (2, "9.5")):
        time = (START + timedelta(days=day)).isoformat()
        take_in(again.assign(snoring=snoring, time=time), shadow.store, shadow.deciders, by=LOCAL)
    case = rows["epoch"].iloc[0]
    told = pd.DataFrame({"case": [case], "time": [(START + timedelta(days=1)).isoformat()], "truth": ["1"]})
    add_outcomes(told, shadow.store, by=LOCAL)
    found = local_rows(shadow.snapshot(), shadow.store, shadow.learned).set_index("epoch")
    assert (found.loc[case, "snoring"], found.loc[case, "truth"]) == (7.5, 1)
