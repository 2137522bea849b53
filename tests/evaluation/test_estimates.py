"""Means, spreads and intervals against NumPy and SciPy, whatever is missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from mpd2.evaluation.estimates import estimates, mean_of, sd_of, student

NUMBERS = st.integers(-1000, 1000).map(lambda thousandths: thousandths / 1000)
MEMBERS = hnp.arrays(float, st.tuples(st.integers(1, 5), st.integers(1, 4)), elements=NUMBERS | st.just(np.nan))


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
