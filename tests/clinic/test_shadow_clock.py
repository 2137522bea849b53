"""What is dated in the future is refused, row by row; a day that is played again brings its own clock."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from shadows import START, arrivals, deciders_of, opened, outcomes, readings

from mpd2.clinic.access.actor import LOCAL
from mpd2.clinic.shadow.answering import add_outcomes, add_readings
from mpd2.clinic.shadow.columns import SKEW
from mpd2.clinic.shadow.intake import take_in
from mpd2.core.cohort import Cohort

SECOND = timedelta(seconds=1)


@pytest.fixture
def few(held_out: Cohort) -> Cohort:
    return held_out.rows(np.arange(3))


def test_a_case_that_comes_in_tomorrow_is_refused_alone(tmp_path: Path, few: Cohort) -> None:
    now = START + timedelta(hours=1)
    frame = arrivals(few, [now + SKEW, now + SKEW + SECOND, now + timedelta(days=365_000)])
    with opened(tmp_path) as store:
        taken = take_in(frame, store, deciders_of("studio", store), now, by=LOCAL)
        assert [key.case for key in taken.accepted] == [few.ids[0]]
        assert [problem.row for problem in taken.refused] == [3, 4]
        assert taken.refused[0].sentence("monday.csv") == (
            f"monday.csv, row 3, column time: found {(now + SKEW + SECOND).isoformat()}, expected a time that has "
            "come: here it is 2024-10-01 09:00 UTC."
        )


def test_without_a_clock_of_its_own_the_time_is_that_of_this_machine(tmp_path: Path, few: Cohort) -> None:
    frame = arrivals(few).assign(time=["2024-10-01", "2124-10-01", "2924-10-01"])
    with opened(tmp_path) as store:
        taken = take_in(frame, store, deciders_of("studio", store), by=LOCAL)
        assert [problem.row for problem in taken.refused] == [3, 4]


def test_readings_and_outcomes_of_tomorrow_are_refused_alone(tmp_path: Path, few: Cohort) -> None:
    now = START + timedelta(hours=1)
    with opened(tmp_path) as store:
        deciders = deciders_of("studio", store)
        take_in(arrivals(few), store, deciders, now, by=LOCAL)
        said, true = readings(few), outcomes(few)
        said["at"], true["at"] = (now + SKEW).isoformat(), (now + SKEW).isoformat()
        said.loc[1, "at"] = true.loc[1, "at"] = (now + SKEW + SECOND).isoformat()
        for taken, rows in (
            (add_readings(said, store, deciders, now, by=LOCAL), len(said)),
            (add_outcomes(true, store, now, by=LOCAL), len(true)),
        ):
            assert len(taken.accepted) == rows - 1
            (problem,) = taken.refused
            assert (problem.row, problem.column) == (3, "at")
            assert "a time that has come" in problem.expected
