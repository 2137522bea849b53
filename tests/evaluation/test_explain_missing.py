"""What if an input that is missing were measured, and what a missing input adds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from any_table import Shape, made_up

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.policy import Continuations, Policy
from mpd2.core.runs import FILLS, Run
from mpd2.core.state import IS_MISSING
from mpd2.evaluation import explain
from mpd2.methods.base import Ground
from mpd2.methods.plus.method import Plus
from mpd2.methods.registry import continuations_of, policy_of

TABLE = made_up(Shape(rows=240, roles=("risk", "other", "structure"), missing=(True, True), readers=2))
TRAIN = TABLE.subset(split="train")
METHOD = Plus(draws=2)


@cache
def run() -> Run:
    fitted = METHOD.fit(TABLE, TABLE.manifest.default_costs(), (42,))
    return replace(fitted, notes={**fitted.notes, FILLS: TABLE.train_fills()})


def a_case(missing: str) -> Cohort:
    """A test case in which one input is missing, and the other is not."""
    test, other = TABLE.subset(split="test"), {"x0": "x1", "x1": "x0"}[missing]
    gone, there = (test.absent[:, test.layout.position(name)] for name in (missing, other))
    return test.rows(np.flatnonzero(gone & ~there)[:1])


def grounds(cases: Cohort) -> dict[Ground, Floats]:
    return METHOD.grounds(run(), cases.filled_with(run().notes[FILLS]))


def applied(cases: Cohort) -> tuple[Policy, Continuations | None]:
    return policy_of(run(), cases), continuations_of(run(), cases)


def test_an_input_that_is_set_is_no_longer_missing_and_not_filled_in_again() -> None:
    case = a_case("x0")
    state = explain.changed(case, {"x0": 2.5})
    copies = explain.copies_with(case, state[None])
    assert state[case.layout.position(f"x0{IS_MISSING}")] == 0
    assert not copies.absent.any()
    kept = copies.filled_with({"x0": -9.0})
    assert kept.column("x0")[0] == 2.5
    untouched = explain.copies_with(case, case.state)
    assert np.array_equal(untouched.absent, case.absent)


def test_whether_an_input_is_missing_is_part_of_what_it_adds() -> None:
    case, inputs = a_case("x0"), METHOD.inputs(TABLE.layout)
    found = explain.attribute(grounds, inputs, case, TRAIN, size=6)
    for number, attribution in found.items():
        assert attribution.total == pytest.approx(float(grounds(case)[number][0]))
        others = explain.background(TRAIN, 6)
        moved = replace(
            others,
            available=np.tile(case.available, (6, 1)),
            decisions=np.tile(case.decisions, (6, 1)),
        )
        assert attribution.base == pytest.approx(float(grounds(moved)[number].mean()))
        assert attribution.orders == 0
    frame = explain.attribution_frame(found["positive"], case).set_index("variable")
    assert frame.loc["x0", "value"] == "missing"
    assert frame.loc["x1", "value"] != "missing"


def test_a_flip_of_a_missing_input_is_one_of_its_being_measured() -> None:
    flips = explain.flips(applied, "joint", a_case("x0"), TRAIN)
    for row in flips.to_dict("records"):
        case = a_case("x0")
        state = explain.changed(case, {str(row["variable"]): float(row["flips_at"])})
        done = explain.done(applied, "joint", explain.copies_with(case, state[None]))
        assert explain._in_words(int(done[0]), case) == row["then"]


def test_a_new_case_to_start_from_has_everything_measured() -> None:
    mostly = replace(TRAIN, state=TRAIN.state.copy())
    mostly.state.setflags(write=True)
    mostly.state[:, TRAIN.layout.position(f"x0{IS_MISSING}")] = 1.0
    case = explain.typical_case(mostly)
    assert case.column(f"x0{IS_MISSING}")[0] == 0
    assert not case.absent.any()
