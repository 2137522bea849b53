"""The report of the sidebar: about the run, slice, operating point and plan that are on screen."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from mpd2.evaluation.clinical.per_thousand import AS_COUNTED, cells
from mpd2.planning.day import DaySetting
from mpd2.planning.floors import Floor
from mpd2.planning.roster_and_limits import Limits
from mpd2.present.charts.icon_array import in_words
from mpd2.present.documents.html import to_html
from mpd2.studio.budget import state
from mpd2.studio.shell import report_button, store
from mpd2.studio.shell.scenario import Scenario

ABOUT = Scenario("studio", floor=None)


def test_no_two_reports_have_the_same_name():
    others = [
        replace(ABOUT, run="mpd2-plus"), replace(ABOUT, split="val"), replace(ABOUT, cohorts=("origa",)),
        replace(ABOUT, cohorts=("origa", "refuge")), replace(ABOUT, floor=Floor()), replace(ABOUT, floor=Floor(0.95)),
        replace(ABOUT, floor=Floor(0.95, "Spec")), replace(ABOUT, floor=Floor(0.95, sure=True)),
        replace(ABOUT, confident=0.9),
    ]  # fmt: skip
    names = [report_button.file_name(each) for each in (ABOUT, *others)]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[\w.-]+", name) for name in names)
    assert names[0] == "mpd2-studio-test-all-cheapest"


def test_the_stamp_names_run_slice_and_point():
    about = replace(ABOUT, cohorts=("origa",), floor=Floor(0.95))
    told = str(report_button.stamp(about))
    for part in (
        "MPD² (studio)",
        "test cases of ORIGA",
        "a sensitivity of at least 95",
        f"n = {len(store.cases(about))}",
    ):
        assert part in told


def test_before_budget_is_visited_there_are_no_limits():
    assert state.current() == DaySetting(store.cohort().manifest.default_costs())


@pytest.fixture(scope="module")
def page() -> str:
    setting = DaySetting(store.cohort().manifest.default_costs(), Limits(budget=0.1))
    return report_button._report(ABOUT, setting, to_html).decode()


def test_the_report_shows_the_plan_that_is_set(page):
    assert "10\xa0% of cases sent." in page
    assert "90 of 899 cases are sent, 30 of 300 a day" in page


def test_the_report_shows_the_people_of_the_run_and_of_the_ai(page):
    for name in ("ai", "studio"):
        people = cells(store.cases(ABOUT), store.outcome(name, ABOUT).decisions, AS_COUNTED)
        assert in_words(people) in page
