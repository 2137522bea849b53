"""Promises, floors and planned sizes count rows that belong together as what they are worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from any_table import Shape, made_up

from mpd2.core.arrays import Ints
from mpd2.core.cohort import Cohort
from mpd2.core.policy import NOBODY, Decisions
from mpd2.evaluation import readers, regions
from mpd2.evaluation.clinical.calibration import Forecast, reliability
from mpd2.evaluation.clinical.sample_size import cases_for, spread_of, widths
from mpd2.evaluation.guarantee import HOLDS, LIMITS, TOO_FEW, Kept, cases_needed, checked_promise, promise, redraws
from mpd2.evaluation.intervals import wilson
from mpd2.planning import floors
from mpd2.planning.floors import Floor

COPIES = 4


def copied(cohort: Cohort) -> Cohort:
    """Every case COPIES times, as rows of one patient."""
    several = cohort.rows(np.repeat(np.arange(len(cohort)), COPIES))
    return replace(several, cluster=np.repeat(np.arange(len(cohort)), COPIES))


ALONE = made_up(Shape(rows=240, readers=3, roles=("risk",)))
SEVERAL = copied(ALONE)


def kept(cases: int, missed: int, copies: int = 1) -> Kept:
    """Cases that every limit keeps, the first of them missed, each so many times."""
    of = np.repeat(np.arange(cases), copies)
    return Kept(np.ones((len(LIMITS), len(of)), bool), of < missed, of)


@pytest.mark.parametrize("missed", [0, 1, 3])
def test_copies_of_the_same_cases_promise_no_more_than_the_cases(missed: int) -> None:
    single, several = (promise(kept(150, missed, n), kept(150, missed, n), 0.05) for n in (1, COPIES))
    assert single["state"] == several["state"]
    assert (single["state"] == HOLDS) == (missed < 3)
    if single["state"] == HOLDS:
        assert (single["low"], single["high"]) == pytest.approx((several["low"], several["high"]), abs=0.002)


def test_too_few_patients_are_too_few_however_many_rows_they_have() -> None:
    few = cases_needed(0.05) - 1
    assert promise(kept(few, 0, 10), kept(few, 0, 10), 0.05)["state"] == TOO_FEW
    assert promise(kept(few + 1, 0, 10), kept(few, 0, 10), 0.05)["state"] == HOLDS


def test_a_promise_is_checked_on_whole_patients() -> None:
    own, other = kept(100, 3, COPIES), kept(80, 3, COPIES)
    other = replace(other, cluster=other.clusters + 1000)
    drawn = redraws(own, other, 50)
    pool = own.beside(other).clusters
    _, first, of = np.unique(pool, return_index=True, return_inverse=True)
    assert np.array_equal(drawn, drawn[:, first][:, of])
    assert (np.abs(drawn.sum(1) - len(own)) < COPIES).all()
    checked = checked_promise(own, other, 0.1, drawn)
    assert 0 <= checked["broken"] <= checked["found"] <= 1


def test_a_floor_with_confidence_needs_patients_and_not_rows() -> None:
    right = np.ones(30, bool)
    for copies in (1, COPIES):
        many = np.repeat(right, copies)
        share = 1 / copies
        assert floors.keeps(Floor(0.9, sure=True), 0.9, many, many, share)
        assert not floors.keeps(Floor(0.95, sure=True), 0.95, many, many, share)
    assert floors.keeps(Floor(0.95, sure=True), 0.95, many, many, 1.0)  # as if all stood alone


def test_the_weight_chosen_for_a_floor_is_that_of_the_patients() -> None:
    val = ALONE.subset(split="val")

    def deciding(cases: Cohort) -> Callable[[float], Ints]:
        return lambda weight: (cases.ai_log_odds > -np.log(weight)).astype(int)

    costs, floor = val.manifest.default_costs(), Floor(0.8, sure=True)
    alone, several = (floors.choose_weight(floor, part, deciding, costs) for part in (val, copied(val)))
    assert (alone.weight, alone.state) == (several.weight, several.state)
    assert (alone.independent, several.independent) == (1.0, 1 / COPIES)


def test_as_many_copies_tell_no_more_when_sizes_are_planned() -> None:
    label = np.where(np.arange(len(ALONE)) % 7 == 0, 1 - ALONE.truth, ALONE.truth)[None]
    planned = []
    for cohort, labels in ((ALONE, label), (SEVERAL, np.repeat(label, COPIES, axis=1))):
        nobody = np.full((*labels.shape, 1), NOBODY)
        spreads = spread_of(cohort, Decisions(nobody, labels))
        planned.append(cases_for(widths(spreads, 0.3)["Sens"], 0.05))
    assert planned[0] is not None
    assert planned[1] is not None
    assert planned[1] / planned[0] == pytest.approx(COPIES, rel=0.05)


def test_bins_and_readers_have_the_intervals_of_their_patients() -> None:
    random = np.random.default_rng(0)
    probability = random.random(200)
    came = random.random(200) < probability
    single = reliability([Forecast("a", "A", probability, came, np.arange(200))], 5)
    of = np.repeat(np.arange(200), COPIES)
    several = reliability([Forecast("a", "A", probability[of], came[of], np.arange(800), of)], 5)
    width = [frame["high"] - frame["low"] for frame in (single, several)]
    assert width[1].to_numpy() == pytest.approx(width[0].to_numpy(), rel=0.05)
    alone, together = readers.against_ai(ALONE), readers.against_ai(SEVERAL)
    for low, high in (("low", "high"), ("reader_right_low", "reader_right_high")):
        assert (together[high] - together[low]).to_numpy() == pytest.approx(
            (alone[high] - alone[low]).to_numpy(), rel=0.05
        )


def test_wilson_by_a_design_effect_is_that_of_fewer_trials() -> None:
    assert np.allclose(wilson(40, 100, 4.0), wilson(10, 25))


def test_a_region_has_the_rates_of_its_patients() -> None:
    random = np.random.default_rng(0)
    single = pd.DataFrame({measure: (random.random(200) < 0.3).astype(float) for measure in regions.MEASURES})
    several = single.loc[np.repeat(np.arange(200), COPIES)].reset_index(drop=True)
    of, inside = np.repeat(np.arange(200), COPIES), np.arange(200) < 80
    alone = regions.compare(single, inside, np.ones((2, 200)))
    together = regions.compare(several, np.repeat(inside, COPIES), np.ones((2, 800)), of)
    rates = alone["measure"].isin(list(regions.RATES)).to_numpy()
    for end in ("region_low", "region_high"):
        assert together.loc[rates, end].to_numpy() == pytest.approx(alone.loc[rates, end].to_numpy(), abs=0.01)


def test_a_promise_that_fails_for_want_of_patients_says_what_rows_count_for() -> None:
    choice = floors.Choice(Floor(0.95, sure=True), 2.0, 0.95, 0.9, 60, floors.TOO_FEW, 0.5)
    assert "there are 60, which count as 30 because some belong together." in choice.in_words()
    assert "count as" not in replace(choice, cases=30, independent=1.0).in_words()
