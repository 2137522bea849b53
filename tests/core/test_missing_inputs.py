"""What was not measured is filled in from train alone, also after a resplit, and by a run as in its own train."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from any_table import Shape, made_up
from hypothesis import given, settings
from hypothesis import strategies as st

from mpd2.core.clusters.splits import leave_cohort_out, resplit
from mpd2.core.runs import FILLS, load_run
from mpd2.evaluation.reports import publish_run
from mpd2.methods.base import Method
from mpd2.methods.plus.method import Plus
from mpd2.methods.registry import METHODS, policy_of

SHAPE = Shape(rows=200, roles=("risk", "structure", "other"), missing=(True, False, True), readers=2, cohorts=2)
TABLE = made_up(SHAPE)


@settings(max_examples=20)
@given(st.integers(0, 50), st.booleans())
def test_what_is_missing_is_the_median_of_the_train_cases_that_have_it(number: int, out: bool) -> None:
    parted = leave_cohort_out(TABLE, "c0", 5, number) if out else resplit(TABLE, number)
    assert parted.absent.any()
    for name in ("x0", "x2"):
        gone = parted.absent[:, parted.layout.position(name)]
        measured = parted.column(name)[(parted.split == "train") & ~gone]
        assert (parted.column(name)[gone] == np.median(measured)).all()
        assert np.array_equal(gone, parted.column(f"{name} is missing") == 1)


def test_cases_of_val_and_test_have_no_part_in_what_is_filled_in() -> None:
    others = (TABLE.split != "train")[:, None]
    spoilt = replace(TABLE, state=np.where(others & ~TABLE.absent, 1e6, TABLE.state)).refilled()
    assert spoilt.train_fills() == TABLE.train_fills()
    assert np.array_equal(spoilt.state[TABLE.split == "train"], TABLE.state[TABLE.split == "train"])


def test_an_input_never_measured_is_0_and_new_cases_have_their_own_median() -> None:
    never = replace(TABLE, absent=np.ones_like(TABLE.absent))
    assert set(never.train_fills().values()) == {0.0}
    new = replace(TABLE, split=np.full(len(TABLE), ""))
    gone = new.absent[:, new.layout.position("x0")]
    assert new.train_fills()["x0"] == np.median(new.column("x0")[~gone])


@pytest.mark.parametrize("method", [Plus(draws=2), METHODS["mao"]], ids=lambda method: method.key)
def test_a_kept_run_fills_new_cases_as_its_own_train(method: Method, tmp_path: Path) -> None:
    made = method.fit(TABLE, TABLE.manifest.default_costs(), (42,))
    publish_run(made, TABLE, tmp_path / "run")
    run = load_run(tmp_path / "run")
    assert run.notes[FILLS] == TABLE.train_fills()
    new = TABLE.rows(np.flatnonzero(TABLE.split == "test"))
    elsewhere = new.filled_with({"x0": 50.0, "x2": -50.0})  # as another clinic's table would
    assert np.array_equal(policy_of(run, elsewhere).actions, policy_of(run, new).actions)
    unfilled = replace(run, notes={**run.notes, FILLS: None})
    assert not np.array_equal(policy_of(unfilled, elsewhere).actions, policy_of(unfilled, new).actions)
