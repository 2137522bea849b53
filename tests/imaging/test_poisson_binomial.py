"""The readers that are right are drawn from the conditional Bernoulli law, exactly."""

from __future__ import annotations

from itertools import product
from time import perf_counter

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from mpd2.core.errors import UserError
from mpd2.core.rng import Stream, stream
from mpd2.imaging.labelling.poisson_binomial import conditional_count_law, count_law, draw, pattern_probability

CHANCES = st.one_of(st.just(0.0), st.just(1.0), st.floats(1e-12, 1 - 1e-12), st.floats(0.05, 0.95))


def patterns(readers: int) -> np.ndarray:
    return np.array(list(product([False, True], repeat=readers)), bool).reshape(2**readers, readers)


def by_brute_force(right: np.ndarray, at_least: int) -> np.ndarray:
    every = patterns(len(right))
    weights = np.where(every, right, 1 - right).prod(1) * (every.sum(1) >= at_least)
    return weights / weights.sum()


@given(st.lists(CHANCES, min_size=1, max_size=10), st.integers(0, 10))
@example([0.3] * 10, 4)
@example([1.0, 0.0, 0.5], 2)
@settings(max_examples=60)
def test_every_pattern_has_the_probability_that_counting_all_of_them_gives(chances, at_least):
    right = np.array(chances)
    least = min(at_least, int((right > 0).sum()))
    every = patterns(len(right))
    found = pattern_probability(every, np.tile(right, (len(every), 1)), least)
    np.testing.assert_allclose(found, by_brute_force(right, least), atol=1e-12)


@given(st.lists(CHANCES, min_size=1, max_size=10))
def test_the_number_of_right_readers_is_poisson_binomial(chances):
    right = np.array(chances)
    counts = patterns(len(right)).sum(1)
    expected = np.bincount(counts, by_brute_force(right, 0), len(right) + 1)
    np.testing.assert_allclose(count_law(right[None])[0], expected, atol=1e-12)


def test_a_million_draws_follow_the_conditional_law():
    right = np.array([0.9, 0.35, 0.6, 0.75, 0.2, 0.55])
    drawn = draw(np.broadcast_to(right, (1_000_000, 6)), 3, stream(7, Stream.LABELLING))
    numbers = drawn @ (2 ** np.arange(6)[::-1])
    expected = 1_000_000 * by_brute_force(right, 3)
    possible = expected > 0
    observed = np.bincount(numbers, minlength=64)
    assert observed[~possible].sum() == 0
    assert stats.chisquare(observed[possible], expected[possible]).pvalue > 0.01


@given(st.integers(1, 9), st.integers(0, 9), st.integers(0, 2**31))
def test_never_are_fewer_right_than_have_to_be(readers, at_least, seed):
    random = np.random.default_rng(seed)
    right = random.random((50, readers)) ** 8  # mostly near 0, so that the condition bites
    assert (draw(right, min(at_least, readers), random).sum(1) >= min(at_least, readers)).all()


def test_who_cannot_be_wrong_is_right_and_who_cannot_be_right_is_wrong():
    drawn = draw(np.tile([1.0, 0.0, 0.5, 0.5], (1000, 1)), 2, stream(0, Stream.LABELLING))
    assert drawn[:, 0].all()
    assert not drawn[:, 1].any()
    assert 0.5 < drawn[:, 2].mean() < 0.8


def test_a_panel_that_is_hardly_ever_right_is_still_drawn_exactly():
    right = np.full((1, 7), 1e-100)
    assert conditional_count_law(right, 4)[0, 4] == pytest.approx(1.0)
    assert draw(np.repeat(right, 200, 0), 4, stream(0, Stream.LABELLING)).sum(1).tolist() == [4] * 200


def test_a_condition_that_cannot_be_kept_is_named_with_its_case():
    with pytest.raises(UserError, match="case 2: at least 2 have to be right and cannot be"):
        draw(np.array([[0.5, 0.5], [0.5, 0.0]]), 2, stream(0, Stream.LABELLING))
    with pytest.raises(UserError, match="found 3, expected 0 to 2"):
        draw(np.array([[0.5, 0.5]]), 3, stream(0, Stream.LABELLING))
    with pytest.raises(UserError, match="from 0 to 1"):
        draw(np.array([[0.5, np.nan]]), 1, stream(0, Stream.LABELLING))


def test_no_case_is_no_draw():
    assert draw(np.zeros((0, 3)), 1, stream(0, Stream.LABELLING)).shape == (0, 3)


def test_a_hundred_thousand_cases_take_little_longer_a_case_than_ten_thousand():
    random = np.random.default_rng(1)
    right = random.uniform(0.4, 0.99, (100_000, 7))
    start = perf_counter()
    assert (draw(right[:10_000], 4, random).sum(1) >= 4).all()
    few = perf_counter() - start
    start = perf_counter()
    assert (draw(right, 4, random).sum(1) >= 4).all()
    many = perf_counter() - start
    print(f"10,000 cases in {few:.3f} s, 100,000 in {many:.2f} s")
    assert many < 50 * few + 1
