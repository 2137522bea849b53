"""The Risk page."""

import pandas as pd
import pytest
from places import DATA
from scenarios import STUDIO_AS_FITTED

from mpd2.evaluation.curves import risk_curves
from mpd2.studio.shell import results, store


@pytest.fixture
def risk(open_page):
    return open_page("risk", split="val")


def test_it_opens_and_says_what_the_hardest_cases_cost(risk):
    assert not risk.exception
    assert risk.markdown[0].value.startswith(
        "Clinical cost of a case in the hardest of 5 strata, with its 95 % interval: MPD² (studio) "
    )


def test_a_link_brings_its_signal_and_its_strata(open_page):
    page = open_page("risk", split="val", signal="structural", strata="7")
    assert page.session_state["signal"] == "structural"
    assert page.session_state["strata"] == 7
    assert "of 7 strata" in page.markdown[0].value


def test_more_strata_make_smaller_ones(risk):
    risk.slider(key="strata").set_value(10).run()
    assert risk.dataframe[0].value["n"].max() == 89  # 885 cases in ten parts


def test_the_active_run_is_shown_whatever_stands_beside_it(risk):
    risk.multiselect(key="methods").set_value([]).run()
    assert not risk.exception
    assert set(risk.dataframe[0].value["title"]) == {"MPD² (studio)"}


def test_a_point_leads_to_its_cases(risk):
    risk.session_state["risk"] = {"selection": {"point": [{"method": "ai", "stratum": 5}]}}
    risk.run()
    assert risk.subheader[-1].value == "Stratum 5 of 5, AI only"
    cases = risk.dataframe[-1].value
    assert len(cases) == 177
    assert cases["clinical"].is_monotonic_decreasing


def test_the_mean_readers_cases_show_no_routing(risk):
    risk.session_state["risk"] = {"selection": {"point": [{"method": "mean-reader", "stratum": 1}]}}
    risk.run()
    assert "deferred" not in risk.dataframe[-1].value


def test_the_figures_lead_to_their_cases_too(risk):
    risk.session_state["risk_figures"] = {"selection": {"rows": [2], "columns": [], "cells": []}}
    risk.run()
    assert risk.subheader[-1].value == "Stratum 3 of 5, MPD² (studio)"


def test_the_studys_own_slice_shows_the_stored_figures(open_page):
    page = open_page("risk", signal="structural")
    stored = pd.read_csv(DATA / "tables" / "risk.csv").query("signal == 'structural'")
    shown = page.dataframe[0].value.merge(stored, on=["title", "stratum"], suffixes=("", "_stored"))
    assert len(shown) == len(page.dataframe[0].value) == 5 * 9
    assert shown["high"].tolist() == shown["high_stored"].tolist()


def test_stored_figures_are_those_that_would_be_computed():
    about = STUDIO_AS_FITTED
    computed = risk_curves(store.evidence(about), "reliability", store.weights(about), results.STUDY_STRATA)
    stored = results.risk(about, "reliability", results.STUDY_STRATA)
    pd.testing.assert_frame_equal(stored, computed, check_dtype=False, atol=1e-6, rtol=0)


def test_one_cohort_alone_has_its_own_strata(open_page):
    page = open_page("risk", split="val", cohorts=["origa"])
    assert not page.exception
    assert page.dataframe[0].value["n"].sum() % 162 == 0


def test_a_link_with_a_signal_nobody_knows_opens_the_usual_one(open_page):
    page = open_page("risk", split="val", signal="Luck")
    assert not page.exception
    assert page.session_state["signal"] == "reliability"
