"""The map of cases and the charts of a region."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from strategies import STATE, made_up_manifest

from mpd2.core.cohort import Cohort
from mpd2.core.policy import Policy, route
from mpd2.evaluation import regions
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.present.charts import map as figures
from mpd2.present.charts.kit import style
from mpd2.present.charts.kit.export import render

PAINTS = figures.paints(made_up_manifest(1))


@pytest.fixture(scope="module")
def evidence(small_cohort: Cohort) -> Evidence:
    scores = np.random.default_rng(0).normal(size=(2, len(small_cohort), 1 + small_cohort.readers))
    policy = Policy.from_scores(scores, small_cohort.available)
    outcome = Outcome("random", None, route(policy, small_cohort), policy)
    return Evidence(small_cohort, small_cohort.manifest.default_costs(), {"random": outcome})


@pytest.fixture(scope="module")
def table(evidence: Evidence) -> pd.DataFrame:
    x, y = np.random.default_rng(1).normal(size=(2, len(evidence.cohort)))
    return regions.cases(evidence, "random").assign(x=x, y=y)


def test_every_panel_shows_every_case_under_its_id(table):
    for panel in figures.four_panels(table).data:
        assert panel.customdata.tolist() == table["case_id"].tolist()


def test_panels_show_who_is_right_and_what_is_deferred(table):
    ai, readers, run, defer = (panel.marker.color for panel in figures.four_panels(table).data)
    assert np.array_equal(ai, 1 - table["ai_wrong"])
    assert np.array_equal(readers, 1 - table["readers_wrong"])
    assert np.array_equal(run, 1 - table["wrong"])
    assert np.array_equal(defer, table["defer"])


def test_a_panel_has_the_shape_of_whom_it_is_about(table):
    shapes = [panel.marker.symbol for panel in figures.four_panels(table).data]
    assert shapes[:3] == [style.AI.shape, style.READER.shape, style.ROUTER.shape]


def test_panels_move_together(table):
    figure = figures.four_panels(table)
    assert {axis.matches for axis in figure.select_xaxes()} == {"x"}
    assert {axis.matches for axis in figure.select_yaxes()} == {"y"}


def test_a_case_nobody_has_read_is_not_on_the_readers_panel(table):
    unread = table.assign(readers_wrong=table["readers_wrong"].where(np.arange(len(table)) != 0))
    _, readers, _, _ = figures.four_panels(unread).data
    assert table["case_id"][0] not in readers.customdata
    assert len(readers.customdata) == len(table) - 1


def test_a_region_is_marked_on_every_panel(table):
    picked = table["case_id"][[3, 5]].tolist()
    assert [panel.selectedpoints for panel in figures.four_panels(table, picked).data] == [(3, 5)] * 4
    assert all(panel.selectedpoints is None for panel in figures.four_panels(table).data)


@pytest.mark.parametrize("name", PAINTS)
def test_the_large_map_shows_every_case_in_any_colour(table, name):
    shown = [case for trace in figures.one_panel(table, name, PAINTS[name]).data for case in trace.customdata]
    assert sorted(shown) == sorted(table["case_id"])


def test_every_input_of_a_router_is_a_colour():
    assert set(STATE) <= set(PAINTS)


def test_readers_have_marks_of_their_own_that_do_not_hang_on_who_is_in_sight(table):
    full = {
        trace.name.split(" (")[0]: trace.marker for trace in figures.one_panel(table, "action", PAINTS["action"]).data
    }
    part = {
        trace.name.split(" (")[0]: trace.marker
        for trace in figures.one_panel(table[:9], "action", PAINTS["action"]).data
    }
    assert full == part
    assert (full["AI"].color, full["AI"].symbol) == style.AI
    assert len({(marker.color, marker.symbol) for marker in full.values()}) == len(full)


def test_who_reads_a_region_is_a_valid_picture(evidence):
    mix = regions.reader_mix(evidence, "random", np.arange(len(evidence.cohort)) < 30)
    assert b"REFUGE 1" in render(figures.region_mix(mix), "svg")
