"""The truncated geometric profile."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpd2.training.geometry import geometric_profile

DECAYS = st.lists(st.floats(0.01, 0.99), min_size=1, max_size=6).map(tuple)


@settings(max_examples=30)
@given(DECAYS, st.integers(1, 30))
def test_every_entry_is_the_papers_formula(decay, readers):
    profile = geometric_profile(decay, readers)
    assert profile.shape == (readers + 1, readers)
    for k in range(2, readers + 1):
        rate = decay[min(k - 2, len(decay) - 1)]
        expected = [(1 - rate) * rate ** (t - 1) / (1 - rate**k) for t in range(1, k + 1)]
        np.testing.assert_allclose(profile[k, :k], expected, rtol=1e-9)
        assert (profile[k, k:] == 0).all()


@settings(max_examples=30)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=6).map(tuple), st.integers(1, 30))
def test_each_row_is_a_falling_distribution_over_its_ranks(decay, readers):
    profile = geometric_profile(decay, readers)
    np.testing.assert_allclose(profile.sum(-1), [0.0] + [1.0] * readers)
    assert (np.diff(profile, axis=-1) <= 0).all()


def test_nobody_gets_nothing_and_a_lone_reader_everything():
    profile = geometric_profile((0.7,), 3)
    assert profile[0].tolist() == [0, 0, 0]
    assert profile[1].tolist() == [1, 0, 0]


@pytest.mark.parametrize(("decay", "expected"), [(0.0, [1, 0, 0, 0]), (1.0, [0.25] * 4)])
def test_the_ends_of_the_range_are_one_reader_and_uniform(decay, expected):
    assert geometric_profile((decay,), 4)[4].tolist() == expected


def test_the_last_decay_serves_all_larger_numbers():
    short, long = geometric_profile((0.6, 0.8), 9), geometric_profile((0.6,) + (0.8,) * 7, 9)
    assert (short == long).all()
