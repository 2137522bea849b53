"""Shapley values of many inputs, from orders that are drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mpd2.core.arrays import Floats
from mpd2.evaluation import shapley as values_of
from mpd2.evaluation.shapley import EXACT, ORDERS, orders_drawn, shapley


def curved(rows: Floats) -> Floats:
    """A number with products of neighbours, of any number of inputs, [K, F] to [2, K]."""
    paired = (rows[:, :-1] * rows[:, 1:]).sum(-1)
    return np.stack([rows.sum(-1) + paired, np.tanh(rows).sum(-1) - paired])


@settings(max_examples=30)
@given(st.integers(EXACT + 1, 60), st.integers(1, 6), st.integers(0, 99))
def test_drawn_values_add_up_to_the_number_of_the_case(inputs: int, background: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    case, others = random.normal(size=inputs), random.normal(size=(background, inputs))
    values, base = shapley(curved, case, others)
    assert values.shape == (2, inputs)
    assert base == pytest.approx(curved(others).mean(-1))
    assert base + values.sum(-1) == pytest.approx(curved(case[None])[:, 0])


def test_drawn_values_are_near_the_exact_ones_and_exact_where_inputs_only_add(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    case, others = random.normal(size=9), random.normal(size=(24, 9))
    exact, _ = shapley(curved, case, others)
    slopes = np.arange(9.0)
    monkeypatch.setattr(values_of, "EXACT", 5)
    drawn, _ = shapley(curved, case, others)
    assert drawn == pytest.approx(exact, abs=0.35)
    assert np.abs(drawn - exact).mean() < 0.1
    straight, _ = shapley(lambda rows: rows @ slopes, case, others)
    assert straight == pytest.approx(slopes * (case - others.mean(0)))


def test_the_same_orders_are_drawn_every_time_and_counted() -> None:
    case, others = np.ones(14), np.zeros((3, 14))
    asked: list[int] = []

    def value(rows: Floats) -> Floats:
        asked.append(len(rows))
        return curved(rows)

    first, again = shapley(value, case, others)[0], shapley(value, case, others)[0]
    assert np.array_equal(first, again)
    assert asked == [3 * ORDERS * 15] * 2
    assert (orders_drawn(14, 3), orders_drawn(EXACT, 3)) == (3 * ORDERS, 0)
