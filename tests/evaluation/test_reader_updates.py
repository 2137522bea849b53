"""Readers' rates after new outcomes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betainc, betaln

from mpd2.core.errors import UserError
from mpd2.core.rng import Stream, stream
from mpd2.evaluation.over_time.reader_updates import MEANS, STRENGTHS, updated_rates


def directly(hits: list[int], n: list[int], reader: int, rates: np.ndarray) -> tuple[float, float, float]:
    """Rate and interval of one reader by summing over every population and every rate of a fine grid."""
    density = np.zeros(len(rates))
    weights = {}
    for mean in MEANS:
        for strength in STRENGTHS:
            a, b = mean * strength, (1 - mean) * strength
            weights[a, b] = sum(betaln(a + h, b + m - h) - betaln(a, b) for h, m in zip(hits, n, strict=True))
    most = max(weights.values())
    for (a, b), weight in weights.items():
        a, b = a + hits[reader], b + n[reader] - hits[reader]
        density += np.exp(weight - most) * np.gradient(betainc(a, b, rates))
    share = np.cumsum(density) / density.sum()
    low, high = np.interp([0.025, 0.975], share, rates)
    return float((rates * density).sum() / density.sum()), float(low), float(high)


def test_rates_and_ends_are_those_of_a_direct_sum() -> None:
    learned, n, new, m = [40, 30, 9, 0], [50, 50, 10, 0], [4, 1, 2, 0], [5, 5, 2, 0]
    found = updated_rates(learned, n, new, m)
    hits, all_n = [a + b for a, b in zip(learned, new, strict=True)], [a + b for a, b in zip(n, m, strict=True)]
    for reader in range(4):
        expected = directly(hits, all_n, reader, np.linspace(0, 1, 1_001))
        ours = (found.rate[reader], found.low[reader], found.high[reader])
        np.testing.assert_allclose(ours, expected, atol=4e-3)


def test_a_newcomer_is_the_population() -> None:
    found = updated_rates([80, 85, 90, 0], [100, 100, 100, 0], [0] * 4, [0] * 4)
    assert (found.rate[3], found.low[3], found.high[3]) == found.population
    assert found.population[0] == pytest.approx(0.85, abs=0.03)


def test_few_readings_are_drawn_to_the_population_and_many_are_not() -> None:
    found = updated_rates([170, 172, 168, 1, 100], [200, 200, 200, 2, 200], [0] * 5, [0] * 5)
    assert abs(found.rate[3] - found.population[0]) < 0.1
    assert found.rate[4] == pytest.approx(0.5, abs=0.03)


def test_new_outcomes_move_a_rate_and_narrow_its_interval() -> None:
    before = updated_rates([80, 80], [100, 100], [0, 0], [0, 0])
    after = updated_rates([80, 80], [100, 100], [40, 0], [100, 0])
    assert after.rate[0] < before.rate[0] - 0.1
    assert after.high[0] - after.low[0] < before.high[0] - before.low[0] + 0.02


def test_learned_and_new_count_alike_and_order_does_not_matter() -> None:
    once = updated_rates([50, 45, 20], [60, 60, 30], [5, 6, 7], [8, 8, 8])
    other = updated_rates([55, 51, 27], [68, 68, 38], [0, 0, 0], [0, 0, 0])
    np.testing.assert_allclose(once.rate, other.rate)
    turned = updated_rates([20, 45, 50], [30, 60, 60], [7, 6, 5], [8, 8, 8])
    np.testing.assert_allclose(turned.low[::-1], once.low)


def test_intervals_hold_in_nineteen_of_twenty_populations() -> None:
    random = stream(5, Stream.SIMULATION)
    right, newcomers = [], []
    for _ in range(60):
        rates = random.beta(16, 4, size=12)
        n = random.integers(5, 120, size=12)
        found = updated_rates(random.binomial(n, rates), n, 0, 0)
        right.append(((found.low <= rates) & (rates <= found.high)).mean())
        newcomers.append(found.population[1] <= random.beta(16, 4) <= found.population[2])
    assert np.mean(right) == pytest.approx(0.95, abs=0.03)
    assert np.mean(newcomers) > 0.88


def test_more_hits_than_readings_are_refused() -> None:
    with pytest.raises(UserError, match="more hits than readings"):
        updated_rates([5], [4], [0], [0])
