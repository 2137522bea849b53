"""The operating point in the sidebar: in the link, in force on every page, and honest where a floor cannot be kept."""

from __future__ import annotations

import numpy as np
import pytest

from mpd2.core.policy import RULE, deciders
from mpd2.planning.floors import Floor
from mpd2.studio.budget import store as budget_store
from mpd2.studio.budget.state import usual
from mpd2.studio.shell import operating_point, store
from mpd2.studio.shell.registry import PAGES
from mpd2.studio.shell.scenario import Scenario


def captions(page):
    return " ".join(caption.value for caption in page.caption)


@pytest.mark.parametrize("key", [page.key for page in PAGES if page.about == "slice"])
def test_every_page_about_a_slice_names_the_point_it_is_at(open_page, key):
    page = open_page(key, run="mpd2-plus", point="own", floor="97.5", sure="true")
    assert not page.exception
    assert (
        "MPD²+, at a sensitivity of at least 97.5\N{NO-BREAK SPACE}% with 90\N{NO-BREAK SPACE}% confidence"
        in captions(page)
    )


def test_the_point_chosen_in_the_sidebar_is_in_the_link(open_page):
    page = open_page("risk", point="cheapest")
    page.sidebar.selectbox(key="point").set_value("own").run()
    assert not page.exception
    page.sidebar.number_input(key="floor").set_value(90.0).run()
    page.sidebar.selectbox(key="floor_of").set_value("Spec").run()
    assert "at a specificity of at least 90" in captions(page)
    linked = {name: page.query_params[name] for name in ("point", "floor_of")}
    again = open_page("risk", floor="90", **linked)  # which the browser writes
    assert "at a specificity of at least 90" in captions(again)


def test_an_unknown_point_in_a_link_is_said_aloud(open_page):
    page = open_page("risk", point="strange")
    assert any("an operating point that there is none of" in warning.value for warning in page.warning)


def test_a_floor_that_cannot_be_kept_is_said_with_by_how_much(open_page):
    page = open_page("risk", run="always-defer", point="own", floor="99")
    assert "cannot be kept. At the safest point a miss weighs 609; on 126 positive val cases 99.0" in captions(page)


def test_a_promise_that_takes_more_cases_says_how_many(open_page):
    page = open_page("risk", run="mpd2-plus", point="own", floor="99.5", sure="true")
    assert "that takes at least 460 positive val cases and there are 126" in captions(page)


@pytest.mark.parametrize("run", ["mpd2-plus", "studio", "recalibrated", "mao"])
def test_at_the_ais_sensitivity_no_more_glaucoma_is_missed_on_val(run):
    about = Scenario(run, split="val", floor=Floor())
    cases = store.cases(about)
    sick = cases.truth == 1
    made = budget_store.day(about, usual(about)).decisions
    assert (made.label[sick] == 1).mean() >= (cases.ai_label[sick] == 1).mean() - 0.01
    as_fitted = budget_store.day(about.as_fitted(), usual(about)).decisions
    assert (made.label[sick] == 1).sum() > (as_fitted.label[sick] == 1).sum()


def test_a_confident_ai_is_overruled_by_readers_alone_on_every_page():
    about = Scenario("mpd2-plus", floor=None, confident=0.9)
    cases = store.cases(about)
    made = budget_store.day(about, usual(about)).decisions
    sure = np.maximum(cases.ai_probability, 1 - cases.ai_probability) >= 0.9
    assert not (deciders(made, cases) == RULE)[sure].any()
    assert (deciders(budget_store.day(about.as_fitted(), usual(about)).decisions, cases) == RULE)[sure].any()


def test_the_default_is_what_a_scenario_has_by_default():
    assert (operating_point.DEFAULT_POINT == operating_point.CHEAPEST) == (Scenario().floor is None)
