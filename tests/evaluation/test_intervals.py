"""Resamples, percentile intervals, paired differences and Wilson's interval."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats
from strategies import cohorts

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY, Decisions, Policy, route
from mpd2.evaluation.intervals import (
    bootstrap,
    estimates,
    mean_of,
    observed,
    paired_difference,
    percentiles,
    resample_weights,
    sd_of,
    student,
    summary,
    wilson,
)
from mpd2.evaluation.metrics import COUNTED, COUNTS, METRICS, Tally, metrics_of, tally

NUMBERS = st.integers(-1000, 1000).map(lambda thousandths: thousandths / 1000)
MEMBERS = hnp.arrays(float, st.tuples(st.integers(1, 5), st.integers(1, 4)), elements=NUMBERS | st.just(np.nan))


def random_tally(cohort: Cohort, members: int, seed: int = 0) -> Tally:
    scores = np.random.default_rng(seed).normal(size=(members, len(cohort), 1 + cohort.readers))
    decisions = route(Policy.from_scores(scores, cohort.available), cohort)
    return tally(cohort, decisions, cohort.manifest.default_costs())


def labelled(cohort: Cohort, label: np.ndarray) -> Tally:
    """The AI alone, saying `label`."""
    return tally(cohort, Decisions(np.full((len(cohort), 1), NOBODY), label), cohort.manifest.default_costs())


# ---------------------------------------------------------------------------------- resamples


@settings(max_examples=30)
@given(cohorts())
def test_a_resample_keeps_the_number_of_cases_of_every_cohort(cohort: Cohort) -> None:
    weights = resample_weights(cohort, 20, seed=1)
    assert weights.shape == (20, len(cohort))
    for source in np.unique(cohort.source):
        of_source = cohort.source == source
        assert (weights[:, of_source].sum(1) == of_source.sum()).all()


def test_every_case_is_drawn_once_on_average_and_as_a_multinomial_spreads(held_out: Cohort) -> None:
    weights = resample_weights(held_out, 2000, seed=3)
    sizes = np.bincount(held_out.source)[held_out.source]
    assert weights.mean(0) == pytest.approx(1, abs=6 * np.sqrt(1 / 2000))
    assert weights.var(0).mean() == pytest.approx((1 - 1 / sizes).mean(), rel=0.02)


def test_the_same_seed_draws_the_same_resamples_and_another_draws_others(small_cohort: Cohort) -> None:
    first, again, other = (resample_weights(small_cohort, 10, seed) for seed in (5, 5, 6))
    assert (first == again).all()
    assert (first != other).any()


def test_no_resample_is_an_error(small_cohort: Cohort) -> None:
    with pytest.raises(UserError, match="resamples: found 0, expected at least 1"):
        resample_weights(small_cohort, 0)


def test_a_resample_is_the_metrics_of_its_drawn_cases(small_cohort: Cohort) -> None:
    counted = random_tally(small_cohort, 3)
    weights = resample_weights(small_cohort, 4, seed=0)
    samples = bootstrap(counted, weights)
    assert samples.shape == (4, 3, len(COUNTED))
    rows = np.repeat(np.arange(len(small_cohort)), weights[2].astype(int))
    assert samples[2] == pytest.approx(metrics_of(counted.cases[:, rows].sum(-2)), nan_ok=True)


# ---------------------------------------------------------------------------------- intervals


@settings(max_examples=40)
@given(hnp.arrays(float, (30, 3), elements=st.floats(-5, 5)))
def test_percentiles_are_those_of_numpy(samples: np.ndarray) -> None:
    assert percentiles(samples) == pytest.approx(np.quantile(samples, [0.025, 0.975], axis=0))


def test_a_resample_without_the_metric_is_left_out() -> None:
    samples = np.column_stack([np.r_[np.arange(20.0), np.nan, np.nan], np.full(22, np.nan)])
    low, high = percentiles(samples)
    assert (low[0], high[0]) == pytest.approx(tuple(np.quantile(np.arange(20), [0.025, 0.975])))
    assert np.isnan([low[1], high[1]]).all()


def test_a_summary_gives_the_mean_over_members_inside_its_interval(held_out: Cohort) -> None:
    tallies = {"one": labelled(held_out, held_out.ai_label), "many": random_tally(held_out, 4)}
    rows = summary(tallies, resample_weights(held_out, 300, seed=0)).set_index(["method", "metric"])
    assert rows.loc["one", "value"].to_numpy() == pytest.approx(metrics_of(tallies["one"].counts))
    assert rows.loc["many", "value"].to_numpy() == pytest.approx(metrics_of(tallies["many"].counts).mean(0))
    assert ((rows["low"] <= rows["value"]) & (rows["value"] <= rows["high"])).all()


def test_an_interval_of_accuracy_is_as_wide_as_the_binomial_says(held_out: Cohort) -> None:
    rows = summary({"AI": labelled(held_out, held_out.ai_label)}, resample_weights(held_out, 2000, seed=0))
    row = rows.set_index("metric").loc["Acc"]
    right = held_out.ai_label == held_out.truth
    within = np.array([right[held_out.source == s].var() * (held_out.source == s).sum() for s in range(3)])
    expected = 2 * 1.96 * np.sqrt(within.sum()) / len(held_out)
    assert row["high"] - row["low"] == pytest.approx(expected, rel=0.08)


def test_a_population_of_equal_members_is_as_sure_as_one_of_them(small_cohort: Cohort) -> None:
    one = labelled(small_cohort, small_cohort.ai_label)
    ten = Tally(np.stack([one.cases] * 10))
    weights = resample_weights(small_cohort, 50, seed=0)
    rows = summary({"one": one, "ten": ten}, weights).set_index(["method", "metric"])
    assert rows.loc["one"].to_numpy() == pytest.approx(rows.loc["ten"].to_numpy(), nan_ok=True)


# ---------------------------------------------------------------------------------- differences


def test_nothing_differs_from_itself(small_cohort: Cohort) -> None:
    counted = random_tally(small_cohort, 2)
    rows = paired_difference(counted, counted, resample_weights(small_cohort, 50, seed=0))
    assert (rows[["difference", "low", "high"]] == 0).all(axis=None)
    assert (rows["in_favour"] == 0.5).all()


def test_the_truth_is_better_than_the_ai_in_every_metric_it_changes(held_out: Cohort) -> None:
    perfect, ai = labelled(held_out, held_out.truth), labelled(held_out, held_out.ai_label)
    weights = resample_weights(held_out, 200, seed=0)
    rows = paired_difference(perfect, ai, weights).set_index("metric")
    back = paired_difference(ai, perfect, weights).set_index("metric")
    changed = [name for name in COUNTED if name not in ("Defer", "Consults", "ExpertCost")]
    assert (rows.loc[changed, "in_favour"] == 1).all()
    assert (back.loc[changed, "in_favour"] == 0).all()
    assert (np.sign(rows.loc[changed, "difference"]) == [METRICS[name].direction for name in changed]).all()
    assert rows["difference"].to_numpy() == pytest.approx(observed(perfect) - observed(ai))


def test_pairing_makes_a_small_difference_clear(held_out: Cohort) -> None:
    label = held_out.ai_label.copy()
    wrong = np.flatnonzero(label != held_out.truth)[:12]
    label[wrong] = held_out.truth[wrong]
    better, ai = labelled(held_out, label), labelled(held_out, held_out.ai_label)
    weights = resample_weights(held_out, 500, seed=0)
    paired = paired_difference(better, ai, weights).set_index("metric").loc["ClinicalCost"]
    apart = summary({"better": better, "AI": ai}, weights).set_index(["method", "metric"])
    assert paired["high"] < 0
    assert apart.loc[("better", "ClinicalCost"), "high"] > apart.loc[("AI", "ClinicalCost"), "low"]


# ---------------------------------------------------------------------------------- Wilson


@settings(max_examples=40)
@given(st.integers(1, 1000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_is_that_of_scipy(drawn: tuple[int, int]) -> None:
    theirs = stats.binomtest(*drawn).proportion_ci(0.95, method="wilson")
    assert tuple(map(float, wilson(*drawn))) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_wilson_takes_arrays_and_knows_nothing_without_a_trial() -> None:
    low, high = wilson(np.array([0, 5]), np.array([0, 10]))
    assert (low[0], high[0]) == pytest.approx((0, 1))
    assert low[1] < 0.5 < high[1]


@pytest.mark.parametrize(("successes", "n"), [(3, 2), (-1, 2)])
def test_wilson_refuses_a_rate_outside_of_0_to_1(successes: int, n: int) -> None:
    with pytest.raises(UserError, match="successes: found a number below 0 or above the number of trials"):
        wilson(successes, n)


# ---------------------------------------------------------------------------------- speed


def test_twenty_populations_of_ten_are_resampled_within_seconds(held_out: Cohort) -> None:
    cases = random_tally(held_out, 10).cases
    assert cases.shape == (10, len(held_out), len(COUNTS))
    tallies = {f"method {k}": Tally(cases) for k in range(20)}
    start = time.perf_counter()
    rows = summary(tallies, resample_weights(held_out, 2000, seed=0))
    assert len(rows) == 20 * len(COUNTED)
    assert time.perf_counter() - start < 5


# ---------------------------------------------------------------------------------- means and spreads over members


@given(MEMBERS)
def test_mean_and_spread_are_those_of_the_numbers_there_are(values: np.ndarray) -> None:
    for mean, sd, column in zip(mean_of(values, axis=0), sd_of(values), values.T, strict=True):
        there = column[~np.isnan(column)]
        assert mean == pytest.approx(there.mean() if len(there) else np.nan, abs=1e-12, nan_ok=True)
        assert sd == pytest.approx(there.std(ddof=1) if len(there) > 1 else np.nan, abs=1e-12, nan_ok=True)


@given(hnp.arrays(float, st.integers(2, 8), elements=NUMBERS, unique=True))
def test_the_interval_over_seeds_is_students(seeds: np.ndarray) -> None:
    theirs = stats.ttest_1samp(seeds, 0)
    ours = student(seeds[:, None])
    interval = theirs.confidence_interval()
    assert (ours["low"].item(), ours["high"].item()) == pytest.approx((interval.low, interval.high))
    assert (ours["se"].item(), ours["n"].item()) == pytest.approx((stats.sem(seeds), len(seeds)))


@pytest.mark.parametrize("recentred", [False, True])
def test_an_interval_spans_the_resamples_and_is_moved_only_where_that_is_asked_for(recentred: bool) -> None:
    weights = np.random.default_rng(0).multinomial(6, np.full(6, 1 / 6), size=400).astype(float)
    found = estimates(lambda given: given.max(-1)[:, None], weights, recentred)  # resampling makes it larger
    assert (found["value"], found["sd"]) == pytest.approx((1.0, np.nan), nan_ok=True)
    low, high = np.quantile(weights.max(-1), [0.025, 0.975])
    shift = weights.max(-1).mean() - 1 if recentred else 0.0
    assert (found["low"], found["high"]) == pytest.approx((low - shift, high - shift))
