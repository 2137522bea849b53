"""The simulations of the clinic's statistics, on few replays."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from mpd2.cli import main
from mpd2.cli.bench.clinic.drifts import Arrivals, first_alarms, less_specific, moved_input, moved_threshold
from mpd2.core.cohort import Cohort


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    import io
    from contextlib import redirect_stdout

    with redirect_stdout(io.StringIO()) as out:
        assert main(["bench", "clinic-statistics", "--replays", "40", "--quick", "--json"]) == 0
    return json.loads(out.getvalue())


def test_intervals_are_right_at_every_look(found: dict[str, Any]) -> None:
    for row in found["coverage"]:
        assert row["always_right"] >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 40), row


def test_ordinary_intervals_looked_at_every_week_are_not(found: dict[str, Any]) -> None:
    ordinary = [row["ordinary_always_right"] for row in found["coverage"] if "ordinary_always_right" in row]
    assert min(ordinary) < 0.85


def test_monitors_ring_as_seldom_as_promised(found: dict[str, Any]) -> None:
    ratios = [row["found"] / row["promised"] for row in found["run_lengths"]]
    assert 0.8 < np.median(ratios) < 1.25
    compared = found["alarms_a_year"]["later cases, compared with themselves"]
    assert sum(compared.values()) == pytest.approx(12, rel=0.35)


def test_planted_changes_are_found_and_a_large_one_soonest(found: dict[str, Any]) -> None:
    made_for = [row for row in found["delays"] if not row.get("beside")]
    assert len({row["change"] for row in made_for}) == 5
    assert made_for[0]["median_cases"] < 50
    assert made_for[0]["within"] == 1
    assert all(row["median_cases"] for row in made_for)


def test_readers_intervals_hold(found: dict[str, Any]) -> None:
    for row in found["readers"]:
        assert row["right"] > 0.9
        assert row["rms_shrunk"] < row["rms_alone"]


def test_a_change_between_certain_steps_is_found_after_as_many_as_it_takes() -> None:
    still, up = np.array([[-1.0, -1.0]]), np.array([[0.5, -1.0]])
    found = first_alarms(np.array([4.0, 4.0]), Arrivals(still, None, 1.0), Arrivals(up, None, 1.0), 5, 1_000, seed=0)
    assert found.tolist() == [8.0] * 5
    never = first_alarms(np.array([4.0, 4.0]), Arrivals(still, None, 1.0), Arrivals(still, None, 1.0), 5, 1_000, seed=0)
    assert np.isinf(never).all()


def test_changes_are_as_large_as_they_are_said_to_be(benchmark: Cohort) -> None:
    moved = moved_threshold(benchmark, 0.1)
    assert moved.ai_label.mean() - benchmark.ai_label.mean() == pytest.approx(0.1, abs=0.002)
    reader, well = 3, (benchmark.truth == 0) & (benchmark.decisions[:, 3] >= 0)
    worse = less_specific(benchmark, reader, 0.1)
    assert worse.decisions[well, reader].mean() - benchmark.decisions[well, reader].mean() == pytest.approx(
        0.1, abs=0.002
    )
    column = benchmark.layout.distances[0]
    further = moved_input(benchmark, column, 1.0).column(column) - benchmark.column(column)
    np.testing.assert_allclose(further, benchmark.column(column).std())


def test_without_json_it_says_so_in_words(found: dict[str, Any]) -> None:
    from mpd2.cli.bench.clinic.statistics import describe_clinic_statistics

    text = describe_clinic_statistics(found)
    assert "alarms a year, all monitors" in text
    assert "Called positive by the AI" in text
