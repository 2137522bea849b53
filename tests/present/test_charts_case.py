"""The charts of a case draw what their tables say, and can be drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from strategies import STATE, TASK

from mpd2.core.cohort import Cohort
from mpd2.evaluation.explain import Attribution, attribution_frame, range_frame
from mpd2.present.charts import case as figures
from mpd2.present.charts.clinical import optic_disc
from mpd2.present.charts.kit.export import render


@pytest.fixture(scope="module")
def actions() -> pd.DataFrame:
    return pd.DataFrame({
        "action": ["ai", "first", "second", "third"], "who": ["AI", "First", "Second", "Third"],
        "share": [0.1, 0.0, 0.3, 0.6], "least": 0.0, "most": 0.7, "votes": [0, 0, 3, 7], "wrong": 0.1,
        "says": 0.4, "fee": [0.0, 0.1, 0.1, 0.1],
        "expected_cost": 0.2, "available": [True, False, True, True], "chosen": [False, False, False, True],
        "runner_up": [False, False, True, False],
    })  # fmt: skip


def test_the_cup_has_the_ratios_of_the_case() -> None:
    sizes = optic_disc.outlines(0.8, 0.5).groupby("part")[["x", "y"]].agg(np.ptp)
    np.testing.assert_allclose(sizes.loc["cup"], [0.5, 0.8], atol=1e-3)
    np.testing.assert_allclose(sizes.loc["disc"], [1, 1], atol=1e-3)


def test_the_disc_is_drawn_round() -> None:
    spec = optic_disc.optic_disc(optic_disc.outlines(0.5, 0.5)).to_dict()
    assert spec["width"] == spec["height"]


def test_the_ai_comes_first_then_readers_by_share_and_nobody_who_is_absent(actions: pd.DataFrame) -> None:
    spec = figures.policy_bars(actions, TASK).to_dict()
    assert spec["layer"][0]["encoding"]["y"]["sort"] == ["AI", "Third", "Second"]


def test_chosen_and_next_in_line_have_a_diamond_each(actions: pd.DataFrame) -> None:
    spec = figures.policy_bars(actions, TASK).to_dict()
    diamonds = [layer for layer in spec["layer"] if layer["mark"].get("shape") == "diamond"]
    marked = [(layer["transform"][0]["filter"], layer["mark"]["filled"]) for layer in diamonds]
    assert marked == [("datum.chosen", True), ("datum.runner_up", False)]


def test_a_rule_that_keeps_a_case_against_the_ai_has_a_colour_of_its_own(actions: pd.DataFrame) -> None:
    kept = actions.assign(who=["rule", *actions["who"][1:]])
    scales = [
        figures.policy_bars(rows, TASK).to_dict()["layer"][0]["encoding"]["color"]["scale"] for rows in (actions, kept)
    ]
    assert [scale["domain"] for scale in scales] == [["AI", "reader"], ["rule", "reader"]]
    assert scales[0]["range"][0] != scales[1]["range"][0]


def test_whoever_was_there_before_the_change_is_named_last(actions: pd.DataFrame) -> None:
    before = actions.assign(available=[True, True, True, False])
    spec = figures.policy_bars(actions, TASK, before).to_dict()
    assert spec["layer"][0]["encoding"]["y"]["sort"] == ["AI", "Third", "Second", "First"]
    rows = next(rows for rows in spec["datasets"].values() if "text" in rows[0])
    assert {row["who"]: row["text"] for row in rows}["First"] == "not available"


def test_only_the_flags_that_occur_are_explained(small_cohort: Cohort) -> None:
    train = small_cohort.subset(split="train")
    spec = figures.input_ranges(range_frame(train.rows(np.array([0])), train)).to_dict()
    colours = [layer["encoding"]["color"]["scale"]["domain"] for layer in spec["layer"] if "color" in layer["encoding"]]
    assert colours == [["inside the range"]]


def test_every_chart_can_be_exported(actions: pd.DataFrame, small_cohort: Cohort) -> None:
    case, train = small_cohort.rows(np.array([40])), small_cohort.subset(split="train")
    values = np.random.default_rng(0).normal(size=(2, len(STATE)))
    charts = (
        optic_disc.optic_disc(optic_disc.outlines(0.6, float("nan"))),
        figures.policy_bars(actions, TASK, actions),
        figures.input_ranges(range_frame(case, train)),
        *(
            figures.attribution_bars(attribution_frame(Attribution(STATE, values, np.zeros(2)), case), ground, TASK)
            for ground in ("sending", "positive", "asking")
        ),
    )
    assert all(b"<svg" in render(chart, "svg")[:200] for chart in charts)
