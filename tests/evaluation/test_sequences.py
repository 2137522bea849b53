"""Intervals that may be looked at every week."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize_scalar
from scipy.special import gammaln

from mpd2.core.errors import UserError
from mpd2.core.rng import Stream, stream
from mpd2.evaluation.over_time.sequences import (
    FEWEST,
    cluster_sums,
    concentration,
    difference_sequence,
    mean_sequence,
    rate_sequence,
    ratio_sequence,
)

GOAL = np.log(20)
WEEKS = np.arange(1, 53) * 150


def log_stake(counts: tuple[int, ...], shares: tuple[float, ...], strength: float) -> float:
    """What the bet has made of 1, straight from the density of the mixture."""
    grown = gammaln(strength) - gammaln(strength + sum(counts))
    for count, share in zip(counts, shares, strict=True):
        if count:
            with np.errstate(divide="ignore"):
                grown += gammaln(strength * share + count) - gammaln(strength * share) - count * np.log(share)
    return float(grown)


def least_log_stake(counts: tuple[int, int, int], mean: float, strength: float) -> float:
    """The same against the shares of +1, −1 and 0 with this mean that it has gained least against."""
    low, high = max(0.0, -mean), (1 - mean) / 2

    def at(minus: float) -> float:
        return log_stake(
            counts, (max(minus + mean, 1e-300), max(minus, 1e-300), max(1 - 2 * minus - mean, 1e-300)), strength
        )

    inner = minimize_scalar(at, bounds=(low, high), method="bounded", options={"xatol": 1e-11})
    return float(min(at(low), at(high), inner.fun))


@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_the_ends_for_a_rate_are_where_the_mixture_itself_reaches_its_limit(n: int) -> None:
    strength = concentration(50)
    for successes in range(n + 1):
        ends = rate_sequence(successes, n, tight_at=50)
        for found, edge in zip(ends, (1e-12, 1 - 1e-12), strict=True):

            def over(rate: float, successes: int = successes) -> float:
                return log_stake((successes, n - successes), (rate, 1 - rate), strength) - GOAL

            share = np.clip(successes / n, 1e-9, 1 - 1e-9)
            expected = brentq(over, share, edge) if over(edge) > 0 else round(edge)
            assert found == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("n", [1, 4, 30])
def test_the_ends_for_a_difference_are_those_of_the_mixture_profiled_directly(n: int) -> None:
    strength = concentration(50, dimensions=2)
    some = sorted({0, 1, n // 3, n // 2, n})
    for plus, minus in ((a, b) for a, b in product(some, some) if a + b <= n):
        ends = difference_sequence(plus, minus, n, tight_at=50)
        counts = (plus, minus, n - plus - minus)
        for found, edge in zip(ends, (-1 + 1e-12, 1 - 1e-12), strict=True):

            def over(mean: float, counts: tuple[int, int, int] = counts) -> float:
                return least_log_stake(counts, mean, strength) - GOAL

            expected = brentq(over, (plus - minus) / n, edge, xtol=1e-9) if over(edge) > 0 else round(edge)
            assert found == pytest.approx(expected, abs=1e-4), (counts, edge)


def test_nothing_seen_leaves_the_whole_range() -> None:
    assert [float(end) for end in rate_sequence(0, 0)] == [0, 1]
    assert [float(end) for end in difference_sequence(0, 0, 0)] == [-1, 1]
    assert [float(end) for end in mean_sequence(0, 0, 0)] == [-np.inf, np.inf]


def test_a_mean_has_no_ends_from_few_values_or_where_all_are_the_same() -> None:
    low, high = mean_sequence([10, 0, 300], [30, 0, 300], [FEWEST - 1, 500, 300])
    assert np.isneginf(low).all()
    assert np.isposinf(high).all()


@given(st.integers(0, 400), st.integers(0, 400), st.integers(0, 400))
@settings(max_examples=40, deadline=None)
def test_what_was_seen_is_inside_and_nothing_leaves_the_range(plus: int, minus: int, none: int) -> None:
    n = plus + minus + none
    low, high = difference_sequence(plus, minus, n)
    assert -1 <= low <= (plus - minus) / max(n, 1) <= high <= 1
    assert low < high
    low, high = rate_sequence(plus, n)
    assert 0 <= low <= (plus / n if n else 0.5) <= high <= 1


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
@settings(max_examples=30, deadline=None)
def test_the_same_shares_of_more_cases_are_a_narrower_interval(plus: int, minus: int, none: int) -> None:
    times = np.array([1, 2, 8, 64, 512])
    for low, high in (
        rate_sequence(plus * times, (plus + minus + none) * times),
        difference_sequence(plus * times, minus * times, (plus + minus + none) * times),
    ):
        assert (np.diff(high - low) <= 1e-6).all()
        assert (np.diff(low) >= -1e-6).all()
        assert (np.diff(high) <= 1e-6).all()


def test_swapping_the_sides_mirrors_a_difference() -> None:
    low, high = difference_sequence([30, 0, 7], [10, 5, 7], [200, 90, 14])
    mirrored = difference_sequence([10, 5, 7], [30, 0, 7], [200, 90, 14])
    np.testing.assert_allclose((low, high), (-mirrored[1], -mirrored[0]), atol=1e-6)


def test_the_order_of_cases_does_not_matter() -> None:
    random = stream(0, Stream.SIMULATION)
    values, cluster = random.choice([-1.0, 0.0, 1.0], 600), random.integers(200, size=600)
    first = ratio_sequence(cluster_sums(values, cluster))
    order = random.permutation(600)
    np.testing.assert_allclose(ratio_sequence(cluster_sums(values[order], cluster[order])), first, rtol=1e-12)


def test_rows_that_repeat_one_another_count_once() -> None:
    values = stream(1, Stream.SIMULATION).normal(size=300)
    alone = mean_sequence(values.sum(), (values**2).sum(), 300)
    twice = ratio_sequence(cluster_sums(np.repeat(values, 2), np.repeat(np.arange(300), 2)))
    np.testing.assert_allclose(twice, alone)


def test_each_sequence_is_right_at_every_week_in_nearly_all_replays() -> None:
    random = stream(2, Stream.SIMULATION)
    replays, shares = 400, (0.03, 0.05, 0.92)
    drawn = np.cumsum(random.multinomial(WEEKS[0], shares, size=(replays, len(WEEKS))), axis=1)  # [R, weeks, 3]
    plus, minus = drawn[..., 0], drawn[..., 1]
    cost, squares = 2.0 * plus + 1.5 * minus, 4 * plus + 2.25 * minus
    n = np.broadcast_to(WEEKS, plus.shape)
    truths = {"rate": 0.03, "difference": -0.02, "mean": 0.135}
    ends = {
        "rate": rate_sequence(plus, n),
        "difference": difference_sequence(plus, minus, n),
        "mean": mean_sequence(cost, squares, n),
    }
    for name, (low, high) in ends.items():
        right = ((low <= truths[name]) & (truths[name] <= high)).all(1).mean()
        assert right >= 0.95, name


def test_two_hundred_weeks_of_ten_parts_have_the_shape_of_their_counts() -> None:
    n = np.cumsum(np.full((200, 10), 210), axis=0)
    low, high = difference_sequence(n // 30, n // 50, n)
    assert low.shape == high.shape == n.shape
    assert (np.diff(high - low, axis=0) < 0).all()


def test_counts_that_cannot_be_are_refused() -> None:
    with pytest.raises(UserError, match="more together"):
        difference_sequence(6, 5, 10)
    with pytest.raises(UserError, match="below 0"):
        rate_sequence(-1, 10)
    with pytest.raises(UserError, match="alpha 2"):
        rate_sequence(1, 10, alpha=2)
