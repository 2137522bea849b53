"""The learning curve: methods beside the least possible cost of their kind."""

from __future__ import annotations

import json
from typing import Any

import pytest

from mpd2.cli.bench.learning_curve import FEWEST_EPOCHS, bench_learning_curve, describe_curve, shortened
from mpd2.methods.learned import Learned
from mpd2.methods.mpd2_router import Mpd2

KEYS = ("ai", "recalibrated", "mpd2-plus")


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    curve = bench_learning_curve((300, 3_000), seeds=2, keys=KEYS, test=2_000, scale=1_000)
    read: dict[str, Any] = json.loads(json.dumps(curve, allow_nan=False))
    return read


def test_every_method_has_a_cost_beside_the_least_of_its_kind(found: dict[str, Any]) -> None:
    assert [(row["n"], row["method"]) for row in found["rows"]] == [(n, key) for n in (300, 3_000) for key in KEYS]
    for row in found["rows"]:
        assert len(row["by_seed"]) == row["seeds"] == 2
        assert row["cost"] - row["above"]["cost"] == pytest.approx(found["least"][row["kind"]]["cost"])
        assert row["above"]["cost"] > -2 * row["above"]["margin"] - 1e-9


def test_who_learns_from_more_cases_comes_nearer(found: dict[str, Any]) -> None:
    by = {(row["method"], row["n"]): row["cost"] for row in found["rows"]}
    assert by["ai", 300] == by["ai", 3_000]
    assert by["recalibrated", 3_000] < by["recalibrated", 300]
    assert by["mpd2-plus", 3_000] < by["mpd2-plus", 300]


def test_it_is_told_as_a_table_with_the_times_of_many_cases(found: dict[str, Any]) -> None:
    told = describe_curve(found)
    assert "| method | 300 cases | 3,000 cases | least of its kind |" in told
    assert "| MPD²+ |" in told
    assert "1,000 cases: draw" in told


def test_networks_pass_over_many_cases_fewer_times() -> None:
    few, many = shortened("mpd2-studio", 1_000), shortened("mpd2-studio", 1_000_000)
    assert isinstance(few, Mpd2)
    assert isinstance(many, Mpd2)
    assert (few.config.training.epochs, many.config.training.epochs) == (150, FEWEST_EPOCHS)
    mao = shortened("mao", 1_000_000)
    assert isinstance(mao, Learned)
    assert mao.net.epochs == FEWEST_EPOCHS
