"""Charts of the Budget page."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from strategies import made_up_manifest

from mpd2.evaluation.curves import COSTS
from mpd2.evaluation.intervals import Estimate
from mpd2.present.charts import budget as figures
from mpd2.present.charts.kit.export import render

CURVE = pd.DataFrame(
    [
        {"budget": share, "sent": int(100 * share), "metric": metric, "value": 0.2, "low": 0.1, "high": 0.3, "n": 100}
        for share in (0.0, 0.5, 1.0)
        for metric in COSTS
    ]
)
TRAINED = pd.DataFrame({
    "method": ["al25"], "title": ["AL25"], "deferral": [0.22], "metric": ["TotalCost"], "value": [0.21], "low": [0.2],
    "high": [0.22],
})  # fmt: skip


def told(value: float) -> dict[str, Estimate]:
    return {metric: Estimate(value, value - 0.1, value + 0.1) for metric in COSTS}


@pytest.fixture
def chart():
    return figures.cost_curve(CURVE, (0.3, "optimum of the val cases"), TRAINED)


def test_moving_the_marker_leaves_the_chart_as_it_is(chart):
    here, there = (figures.at(chart, {figures.NOW: (share, told(0.2))}) for share in (0.2, 0.4))
    assert here.text == there.text
    assert here.data[figures.MARKER]["share"].to_pylist() == [0.2] * 3
    assert there.data[figures.MARKER]["share"].to_pylist() == [0.4] * 3


def test_what_a_move_sends_is_small(chart):
    moved = figures.at(chart, {figures.NOW: (0.2, told(0.2)), figures.BEFORE: (0.3, told(0.25))})
    assert len(moved.text) + sum(rows.nbytes for rows in moved.data.values()) < 50_000


@pytest.mark.parametrize("optimum", [None, (0.3, "optimum")])
@pytest.mark.parametrize("trained", [None, TRAINED])
def test_it_can_be_taken_away_as_a_picture(optimum, trained):
    drawing = figures.at(figures.cost_curve(CURVE, optimum, trained), {figures.NOW: (0.2, told(0.2))})
    assert b"Cost against the share of cases sent" in render(drawing, "svg")


def test_routers_trained_for_a_budget_are_named_in_words(chart):
    rows = [row for name, table in chart.to_dict()["datasets"].items() for row in table if "name" in row]
    assert {"budget 25\N{NO-BREAK SPACE}%", "★ optimum of the val cases"} <= {row["name"] for row in rows}


def test_the_load_has_every_reader_and_who_is_away():
    names = [reader.name for reader in made_up_manifest(3).readers]
    rows = pa.table(
        {"name": names, "now": [3, 0, 5], "before": [1, 2, 3], "at_most": [4, np.nan, 5], "here": [True, False, True]}
    )
    picture = render(figures.load(rows, 10), "svg").decode()
    assert all(name in picture for name in names)
    assert picture.count(">away<") == 1
