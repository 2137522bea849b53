"""Charts of the Budget page."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from strategies import made_up_manifest

from mpd2.evaluation.curves import COSTS
from mpd2.evaluation.intervals import Estimate
from mpd2.present.charts import budget as charts
from mpd2.present.charts.kit.export import render
from mpd2.present.charts.kit.style import ALARM, READER, ROUTER

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


def costs(value: float) -> dict[str, Estimate]:
    return {metric: Estimate(value, value - 0.1, value + 0.1) for metric in COSTS}


@pytest.fixture
def chart():
    return charts.cost_curve(CURVE, (0.3, "optimum of the val cases"), TRAINED)


def test_moving_the_marker_leaves_the_chart_as_it_is(chart):
    here, there = (charts.at(chart, {charts.NOW: (share, costs(0.2))}) for share in (0.2, 0.4))
    assert here.text == there.text
    assert here.data[charts.MARKER]["share"].to_pylist() == [0.2] * 3
    assert there.data[charts.MARKER]["share"].to_pylist() == [0.4] * 3


def test_what_a_move_sends_is_small(chart):
    moved = charts.at(chart, {charts.NOW: (0.2, costs(0.2)), charts.BEFORE: (0.3, costs(0.25))})
    assert len(moved.text) + sum(rows.nbytes for rows in moved.data.values()) < 50_000


@pytest.mark.parametrize("optimum", [None, (0.3, "optimum")])
@pytest.mark.parametrize("trained", [None, TRAINED])
def test_it_can_be_taken_away_as_a_picture(optimum, trained):
    drawing = charts.at(charts.cost_curve(CURVE, optimum, trained), {charts.NOW: (0.2, costs(0.2))})
    assert b"Cost against the share of cases sent" in render(drawing, "svg")


def test_routers_trained_for_a_budget_are_named_in_words(chart):
    rows = [row for name, table in chart.to_dict()["datasets"].items() for row in table if "name" in row]
    assert {"budget 25\N{NO-BREAK SPACE}%", "★ optimum of the val cases"} <= {row["name"] for row in rows}


@pytest.fixture
def readers():
    rows = {"now": [3, 0, 5], "before": [1, 2, 3], "capacity": [4, np.nan, 5]}
    a_day = {f"{name}_a_day": [10.0 * number for number in numbers] for name, numbers in rows.items()}
    names = [reader.name for reader in made_up_manifest(3).readers]
    return pa.table({"name": names, "here": [True, False, True], **rows, **a_day})


def test_the_load_has_every_reader_and_who_is_away(readers):
    picture = render(charts.load(readers, 10, 30), "svg").decode()
    assert all(name in picture for name in readers["name"].to_pylist())
    assert picture.count(">away<") == 1
    assert "readings (n = 30 cases)" in picture


def test_a_bar_is_as_long_as_the_readings_and_the_orange_line_at_the_capacity(readers):
    layers = charts.load(readers, 10, 30).to_dict()["layer"]
    bars, before, capacity, away = layers
    assert (bars["encoding"]["x"]["field"], before["encoding"]["x"]["field"]) == ("now", "before")
    assert capacity["encoding"]["x"]["field"] == "capacity"
    assert capacity["mark"]["color"] == ALARM.colour
    assert away["transform"] == [{"filter": "!datum.here"}]
    assert bars["encoding"]["x"]["scale"]["domain"] == [0, 10]
    shown = [each["field"] for each in bars["encoding"]["tooltip"]]
    assert {"now", "now_a_day", "capacity", "capacity_a_day"} <= set(shown)


def test_the_band_is_the_interval_and_each_cost_has_its_own_colour(chart):
    band, line = chart.to_dict()["layer"][:2]
    assert (band["encoding"]["y"]["field"], band["encoding"]["y2"]["field"]) == ("low", "high")
    assert line["encoding"]["y"]["field"] == "value"
    scale = line["encoding"]["color"]["scale"]
    colours = dict(zip(scale["domain"], scale["range"], strict=True))
    assert colours == {"TotalCost": ROUTER.colour, "ClinicalCost": ALARM.colour, "ExpertCost": READER.colour}


def test_filled_points_are_now_with_their_interval_and_hollow_ones_before(chart):
    vertical, interval, filled, hollow = chart.to_dict()["layer"][-4:]
    for layer, when in ((vertical, "now"), (interval, "now"), (filled, "now"), (hollow, "before")):
        assert f"datum.when === '{when}'" in layer["transform"][0]["filter"]
    assert (interval["encoding"]["y"]["field"], interval["encoding"]["y2"]["field"]) == ("low", "high")
    assert (filled["mark"]["filled"], hollow["mark"]["filled"]) == (True, False)
