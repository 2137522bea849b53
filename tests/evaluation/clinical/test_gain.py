"""The gain over the AI alone, split into what recalibration and what readers do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY, Decisions
from mpd2.evaluation.clinical.gain import BOTH, MEASURES, READERS, RECALIBRATION, gain
from mpd2.evaluation.clinical.per_thousand import Programme
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import percentiles, resample_weights

# Of 10 cases the first 4 are sick. The AI misses 1 and raises 3 false alarms; recalibrated it misses 2 and raises 1;
# with a reader asked about 5 cases, none is missed and 1 alarm is left.
TRUTH = np.array([1, 1, 1, 1, 0, 0, 0, 0, 0, 0])
LABELS = {
    "ai": np.array([0, 1, 1, 1, 1, 1, 1, 0, 0, 0]),
    "recalibrated": np.array([0, 0, 1, 1, 1, 0, 0, 0, 0, 0]),
    "plus": np.array([1, 1, 1, 1, 1, 0, 0, 0, 0, 0]),
}
COSTS = Costs(2.0, 1.5, (0.1, 0.1, 0.1))


@pytest.fixture
def evidence(small_cohort: Cohort) -> Evidence:
    cases = replace(small_cohort.rows(np.arange(10)), truth=TRUTH)
    fees = Costs(COSTS.false_negative, COSTS.false_positive, (0.1,) * cases.readers)
    asked = {name: np.full((10, 1), NOBODY) for name in LABELS}
    asked["plus"][:5] = 0
    outcomes = {name: Outcome(name.upper(), None, Decisions(asked[name], label)) for name, label in LABELS.items()}
    return Evidence(cases, fees, outcomes)


def change(evidence: Evidence, **named: object) -> dict[tuple[str, str], float]:
    rows = gain(evidence, "plus", resample_weights(evidence.cohort, 50), **named)
    return dict(zip(zip(rows["step"], rows["quantity"], strict=True), rows["change"], strict=True))


def test_each_step_counts_what_it_changes(evidence: Evidence) -> None:
    made = change(evidence)
    assert made[RECALIBRATION, "missed"] == pytest.approx(100)  # one more of ten
    assert made[RECALIBRATION, "alarm"] == pytest.approx(-200)
    assert made[RECALIBRATION, "TotalCost"] == pytest.approx((2 * 2 + 1.5 - 2 - 3 * 1.5) / 10)
    assert made[READERS, "missed"] == pytest.approx(-200)
    assert made[READERS, "alarm"] == pytest.approx(0)
    assert made[READERS, "read"] == pytest.approx(500)
    assert made[READERS, "Sens"] == pytest.approx(0.5)
    assert made[READERS, "TotalCost"] == pytest.approx((1.5 + 5 * 0.1 - 2 * 2 - 1.5) / 10)
    assert made[RECALIBRATION, "read"] == 0


def test_the_steps_add_up_to_the_whole(evidence: Evidence) -> None:
    made = change(evidence)
    for quantity in MEASURES:
        assert made[RECALIBRATION, quantity] + made[READERS, quantity] == pytest.approx(made[BOTH, quantity])


def test_at_another_prevalence_there_are_other_people_and_the_same_rates(evidence: Evidence) -> None:
    here, rare = change(evidence), change(evidence, programme=Programme(prevalence=0.02))
    assert rare[READERS, "missed"] == pytest.approx(-0.5 * 20)
    assert rare[RECALIBRATION, "alarm"] == pytest.approx(-2 / 6 * 980)
    assert rare[RECALIBRATION, "Spec"] == pytest.approx(here[RECALIBRATION, "Spec"])


def test_intervals_are_of_the_paired_difference(evidence: Evidence) -> None:
    weights = resample_weights(evidence.cohort, 300)
    rows = gain(evidence, "plus", weights).set_index(["step", "quantity"])
    alarmed = {name: (label == 1) & (TRUTH == 0) for name, label in LABELS.items()}
    apart = 1000 * (weights @ (alarmed["recalibrated"].astype(float) - alarmed["ai"])) / weights.sum(1)
    low, high = percentiles(apart)
    assert rows.loc[(RECALIBRATION, "alarm"), "low"] == pytest.approx(low)
    assert rows.loc[(RECALIBRATION, "alarm"), "high"] == pytest.approx(high)
    assert rows.loc[(READERS, "alarm"), ["low", "high"]].tolist() == [0, 0]  # the same alarms in every resample
    assert rows.loc[(BOTH, "missed"), ["before", "after", "n"]].tolist() == ["AI", "PLUS", 10]


@pytest.mark.parametrize("run", ["ai", "recalibrated"])
def test_a_run_that_asks_nobody_has_nothing_to_split(evidence: Evidence, run: str) -> None:
    with pytest.raises(UserError, match="asks nobody"):
        gain(evidence, run, resample_weights(evidence.cohort, 10))
