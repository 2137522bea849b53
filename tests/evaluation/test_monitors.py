"""Monitors: they ring after a change, and seldom without one."""

from __future__ import annotations

import numpy as np
import pytest

from mpd2.core.arrays import Floats
from mpd2.core.errors import UserError
from mpd2.core.rng import Stream, stream
from mpd2.evaluation.over_time.monitors import (
    SIDES,
    calibrated,
    calibrated_prevalence,
    calibrated_rate,
    cusum,
    ewma,
    ewma_limit,
    prevalence_steps,
    rate_steps,
    reflected,
    run_length,
    thresholds,
    value_steps,
)

ARL = 2_000.0


def draws(seed: int = 0) -> np.random.Generator:
    return stream(seed, Stream.SIMULATION)


def between_alarms(monitor, *observed: Floats) -> float:
    return len(observed[0]) / len(monitor.alarms(*observed))


def test_the_path_is_that_of_the_recursion_case_by_case() -> None:
    values, slack = draws().normal(size=500), 0.4
    up = down = 0.0
    expected = []
    for value in values:
        up, down = max(0.0, up + value - slack), max(0.0, down - value - slack)
        expected.append(max(up, down))
    np.testing.assert_allclose(cusum(values, slack), expected, atol=1e-10)


def test_the_moving_average_is_that_of_the_recursion_in_its_own_spread() -> None:
    values, weight = draws().normal(size=300), 0.1
    level, expected = 0.0, []
    for number, value in enumerate(values, 1):
        level = (1 - weight) * level + weight * value
        expected.append(level / np.sqrt(weight / (2 - weight) * (1 - (1 - weight) ** (2 * number))))
    np.testing.assert_allclose(ewma(values, weight), expected, atol=1e-10)
    np.testing.assert_allclose(ewma(np.column_stack([values, -values]), weight)[:, 1], -np.array(expected), atol=1e-10)


def test_a_moving_average_strays_beyond_its_limit_as_seldom_as_was_asked_for() -> None:
    reference = draws().gamma(2.0, size=1_500)
    limit = ewma_limit(reference, 10_000)
    runs = (draws(1).choice(reference, (1_000, 3_000)) - reference.mean()) / reference.std()
    beyond = (np.abs(ewma(runs.T)) >= limit).any(0).mean()
    assert beyond == pytest.approx(1 - np.exp(-3_000 / 10_000), rel=0.2)
    assert ewma_limit(reference, 100_000) > limit


def test_a_path_goes_on_from_where_it_stood() -> None:
    steps = draws().normal(-0.1, 1, size=(400, 2))
    whole = reflected(steps)
    np.testing.assert_allclose(reflected(steps[150:], whole[149]), whole[150:], atol=1e-10)


def test_values_ring_as_seldom_as_was_asked_for() -> None:
    reference = draws().gamma(2.0, size=1_500)
    monitor = calibrated(reference, ARL)
    assert between_alarms(monitor, draws(1).choice(reference, 1_000_000)) == pytest.approx(ARL, rel=0.15)


def test_rates_ring_as_seldom_as_was_asked_for() -> None:
    expected = draws().beta(1, 6, size=3_000)
    happened = (draws(1).random(3_000) < expected).astype(float)
    monitor = calibrated_rate(happened, expected, ARL)
    rows = draws(2).integers(3_000, size=1_000_000)
    assert between_alarms(monitor, happened[rows], expected[rows]) == pytest.approx(ARL, rel=0.15)


def test_a_long_run_is_told_from_a_tail_as_a_long_simulation_would() -> None:
    reference = draws().normal(size=2_000)
    monitor = calibrated(reference, 50_000)
    assert between_alarms(monitor, draws(3).choice(reference, 6_000_000)) == pytest.approx(50_000, rel=0.3)


def test_what_never_happened_does_not_ring_for_becoming_rarer() -> None:
    monitor = calibrated_rate(np.zeros(900), np.full(900, 0.01), arl=4_500, name="false alarms")
    assert monitor.alarms(np.zeros(200_000), np.full(200_000, 0.01)) == []
    assert monitor.alarms(np.ones(50), np.full(50, 0.01))[0].side == "higher"


def test_what_seldom_happens_rings_as_seldom_as_was_asked_for() -> None:
    happened, random = np.zeros(900), stream(3, Stream.SIMULATION)
    happened[[200, 500, 700]] = 1
    monitor = calibrated_rate(happened, np.full(900, 0.01), arl=4_500, name="false alarms")
    drawn = random.random(2_000_000) < 4 / 902  # with the case of either outcome that is added
    rung = monitor.alarms(drawn.astype(float), np.full(len(drawn), 0.01))
    assert len(drawn) / len(rung) == pytest.approx(4_500, rel=0.2)


def test_clusters_are_drawn_whole() -> None:
    patients = np.repeat(draws().normal(size=500), 4)
    cluster = np.repeat(np.arange(500), 4)
    together = calibrated(patients, ARL, cluster=cluster)
    assert (together.thresholds > 1.5 * calibrated(patients, ARL).thresholds).all()
    stream_of_patients = np.repeat(draws(1).choice(patients[::4], 200_000), 4)
    assert between_alarms(together, stream_of_patients) == pytest.approx(ARL, rel=0.2)


@pytest.mark.parametrize(("by", "side"), [(1.0, "higher"), (-1.0, "lower")])
def test_a_shift_of_one_standard_deviation_is_found_within_fifty_values(by: float, side: str) -> None:
    reference = draws().normal(size=2_000)
    first = calibrated(reference, 100_000).alarms(draws(1).normal(by, 1, size=200))[0]
    assert first.side == side
    assert first.number < 50
    assert first.value >= first.threshold


def test_more_misses_than_expected_ring_and_as_many_do_not() -> None:
    expected = draws().uniform(0.05, 0.3, size=2_000)
    happened = (draws(1).random(2_000) < expected).astype(float)
    monitor = calibrated_rate(happened, expected, 20_000, name="misses")
    more = (draws(2).random(2_000) < expected * 2).astype(float)
    assert monitor.alarms(happened, expected) == []
    rung = monitor.alarms(more, expected)
    assert rung[0].side == "higher"
    assert rung[0].name == "misses"


def test_more_positives_are_noticed_without_their_truth() -> None:
    def posterior(share: float, seed: int) -> Floats:
        truth = draws(seed).random(4_000) < share
        odds = np.exp(draws(seed + 10).normal(np.where(truth, 1.5, -1.5), np.sqrt(3))) * 0.15 / 0.85
        return odds / (1 + odds)

    monitor = calibrated_prevalence(posterior(0.15, 1), 50_000)
    assert monitor.alarms(posterior(0.25, 2))[0].side == "higher"
    assert monitor.alarms(posterior(0.08, 3))[0].side == "lower"


def test_evidence_is_a_likelihood_ratio() -> None:
    expected = np.array([0.1, 0.5, 0.8])
    for happened in (0.0, 1.0):
        odds = expected / (1 - expected) * 2
        other = odds / (1 + odds)
        ratio = np.where(happened, other / expected, (1 - other) / (1 - expected))
        np.testing.assert_allclose(rate_steps(np.full(3, happened), expected)[:, 0], np.log(ratio))
    known = prevalence_steps(np.array([0.0, 1.0]), 0.2)
    np.testing.assert_allclose(known, rate_steps(np.array([0.0, 1.0]), np.full(2, 0.2)))


def test_after_an_alarm_evidence_is_gathered_anew() -> None:
    monitor = calibrated(draws().normal(size=500), 1_000)
    rung = monitor.alarms(np.full(10_000, 3.0))
    gaps = np.diff([alarm.number for alarm in rung])
    assert len(set(gaps.tolist())) == 1
    assert gaps[0] == rung[0].number + 1


def test_the_path_reaches_one_where_it_first_rings() -> None:
    monitor = calibrated(draws().normal(size=500), 1_000)
    values = draws(4).normal(0.7, 1, size=300)
    assert int((monitor.path(values) >= 1).argmax()) == monitor.alarms(values)[0].number


def test_the_same_seed_gives_the_same_thresholds() -> None:
    steps = value_steps(draws().normal(size=300))
    assert thresholds(steps, 500, seed=3).tolist() == thresholds(steps, 500, seed=3).tolist()
    assert thresholds(steps, 500, seed=3).shape == (len(SIDES),)


def test_a_monitor_that_sees_few_cases_has_a_shorter_run_in_its_own_values() -> None:
    assert run_length(10, seen=0.1) == pytest.approx(run_length(10) / 10)
    assert run_length(20) == pytest.approx(2 * run_length(10))
    assert run_length(1, false_alarms=1, a_day=1) == 365.25


def test_what_cannot_be_watched_is_refused_in_words() -> None:
    with pytest.raises(UserError, match="all the same"):
        calibrated(np.ones(10), 100)
    with pytest.raises(UserError, match="already look like the change"):
        thresholds(np.full((10, 2), 0.1), 100)
    with pytest.raises(UserError, match="run length of 0"):
        calibrated(np.arange(10.0), 0)
