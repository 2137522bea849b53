"""The report of the sidebar: about the run, slice, operating point and plan that are on screen."""

from __future__ import annotations

import re
from dataclasses import replace

from strategies import TASK

from mpd2.core.workspace import DEFAULT
from mpd2.evaluation.clinical.per_thousand import AS_COUNTED, Programme, cells
from mpd2.planning.day import DaySetting
from mpd2.planning.floors import Floor
from mpd2.planning.roster_and_limits import Limits
from mpd2.present.charts.icon_array import in_words
from mpd2.present.documents.html import to_html
from mpd2.studio.budget import state
from mpd2.studio.parts import programme
from mpd2.studio.parts.programme import Told
from mpd2.studio.shell import report_button, session, store
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


def report(**along) -> str:
    return report_button._report(ABOUT, along, to_html).decode()


def test_before_budget_and_overview_are_visited_there_are_no_limits_and_no_prices():
    page = report()
    assert "Default share sent" in page
    assert "Readings and work-ups" not in page
    for name in ("ai", "studio"):
        people = cells(store.cases(ABOUT), store.outcome(name, ABOUT).decisions, AS_COUNTED)
        assert in_words(people, TASK) in page


def test_the_report_takes_along_the_plan_and_the_programme_of_the_visit():
    setting = DaySetting(store.manifest(DEFAULT).default_costs(), Limits(budget=0.1))
    told = Told(Programme(prevalence=0.05, price=20.0), "CHF", 12_000)
    page = report(**{state.PLAN: setting, programme.TOLD: told})
    assert "10\xa0% of cases sent." in page
    assert "90 of 899 cases are sent, 30 of 300 a day" in page
    assert "costs CHF\xa020." in page
    assert "In a year with 12,000 people" in page
    assert "Prevalence was changed from" in page


def test_pages_leave_their_last_setting_for_it(open_page):
    page = open_page("budget", budget="0.25")
    assert page.session_state[session.ALONG][state.PLAN].limits.budget == 0.25
    page = open_page("overview", price="20", currency="CHF")
    assert page.session_state[session.ALONG][programme.TOLD].programme.price == 20
