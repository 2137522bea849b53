"""The hard stop: limits that training cases keep, and what is beyond them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from strategies import STATE

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.planning.hard_stop import AGAIN, NO_STOP, SPECIALIST, fit_limits


def test_of_the_training_cases_each_limit_stops_about_one_in_a_hundred(benchmark: Cohort) -> None:
    train = benchmark.subset(split="train")
    stops = fit_limits(train).stops(train)
    assert (stops["stop"] == AGAIN).mean() <= 0.01
    assert (stops["stop"] != NO_STOP).mean() == pytest.approx(0.02, abs=0.005)


def test_a_poor_photograph_is_taken_again_and_a_strange_eye_seen_by_a_specialist(benchmark: Cohort) -> None:
    train = benchmark.subset(split="train")
    case = train.rows(np.zeros(3, int))
    state = np.tile(train.state.mean(0), (3, 1))
    state[:, STATE.index("quality_risk")] = [
        train.column("quality_risk").mean(),
        1.0,
        train.column("quality_risk").min(),
    ]
    state[2] = train.state.max(0)
    state[2, STATE.index("quality_risk")] = 0.5
    new = replace(case, state=state, ids=np.array(["plain", "poor", "strange"]))
    assert fit_limits(train, 0.999).stops(new)["stop"].tolist() == [NO_STOP, AGAIN, SPECIALIST]


def test_a_stricter_level_stops_no_more(benchmark: Cohort) -> None:
    train, val = benchmark.subset(split="train"), benchmark.subset(split="val")
    loose, strict = (fit_limits(train, level).stops(val)["stop"] != NO_STOP for level in (0.95, 0.99))
    assert (loose | ~strict).all()


@pytest.mark.parametrize("level", [0.0, 1.0, 1.5])
def test_a_level_that_is_no_share_is_refused(level: float, small_cohort: Cohort) -> None:
    with pytest.raises(UserError, match="level of the hard stop"):
        fit_limits(small_cohort, level)
