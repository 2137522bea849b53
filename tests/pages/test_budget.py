"""The Budget page."""

import json

import pytest

from mpd2.core.costs import Costs
from mpd2.planning.day import DaySetting
from mpd2.present.words.budget import told as told_in_words
from mpd2.studio.budget import state
from mpd2.studio.budget import store as budget_store
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario

VAL = Scenario(split="val")
TEXTS = 3  # of a number's figure, and of its change


@pytest.fixture
def budget(open_page):
    return open_page("budget", split="val", live="false")


def component(page, name):
    """What a component was given."""
    found = (each.proto for each in page.get("bidi_component"))
    return json.loads(next(proto.json for proto in found if proto.component_name.endswith(name)))


def cards(page):
    return component(page, "number_cards")


def numbers(page):
    return dict(zip(cards(page)["names"], cards(page)["figures"][::TEXTS], strict=True))


def test_the_numbers_are_explained_at_the_costs_in_force(open_page):
    page = open_page("budget", split="val", live="false", missed="7", alarm="0.25")
    helps = dict(zip(cards(page)["names"], cards(page)["helps"], strict=True))
    assert "a missed glaucoma costs 7, a false alarm 0.25" in helps["Clinical cost"]


def changes(page):
    return cards(page)["changes"][::TEXTS]


def table(page, column):
    return next(frame.value for frame in page.dataframe if column in frame.value)


def test_it_opens_at_the_runs_own_rate(budget):
    assert not budget.exception
    own = store.evidence(VAL).outcomes["studio"]
    shown = numbers(budget)
    assert list(shown) == [
        "Total cost", "Clinical cost", "Expert cost", "Share sent", "F1", "MCC", "Sensitivity", "Soft deferral",
    ]  # fmt: skip
    assert shown["Soft deferral"] == f"{100 * own.policy.defer.mean():.1f}\xa0%"
    assert changes(budget) == ["no change"] * 8


def test_the_slider_moves_every_number_and_the_link(budget):
    before = numbers(budget)
    budget.slider(key="budget_plain").set_value(10.0).run()
    assert not budget.exception
    assert numbers(budget)["Share sent"] == f"{100 * 89 / 885:.1f}\xa0%"
    assert numbers(budget)["Total cost"] != before["Total cost"]
    assert budget.query_params["budget"] == "0.1"
    assert all(text.startswith("Δ ") for text in changes(budget))
    assert any("Now: 10\xa0% of cases sent.  \n" in text.value for text in budget.caption)
    assert any("no longer sent" in text.value for text in budget.markdown)
    moved = table(budget, "from")
    assert len(moved) > 50
    assert set(moved["to"]) == {"AI"}


def test_a_number_does_what_the_slider_does(budget):
    budget.number_input(key="budget_exact").set_value(10.0).run()
    assert budget.slider(key="budget_plain").value == 10.0


def test_own_rate_leads_back_to_the_runs_own_decisions(budget):
    before = numbers(budget)
    budget.slider(key="budget_plain").set_value(80.0).run()
    press(budget, "Own rate")
    assert numbers(budget) == before
    assert "budget" not in budget.query_params


def test_the_optimum_is_chosen_on_val_whatever_is_shown(open_page):
    page = open_page("budget", live="false")
    best = budget_store.optimum(Scenario(), state.usual())
    assert (best.split, best.n) == ("val", 885)
    press(page, "Optimum")
    assert page.slider(key="budget_plain").value == pytest.approx(100 * best.budget)
    assert any("In hindsight" in text.value for text in page.caption)


def test_a_link_with_a_scenario_shows_it(open_page):
    away, few = store.cohort().manifest.columns[:2]
    page = open_page(
        "budget", split="val", live="false", budget="0.3", away=away, at_most=f"{few}:2", missed="6", alarm="1.5"
    )
    assert not page.exception
    assert page.slider(key="budget_plain").value == 30.0
    assert page.number_input(key="budget_missed").value == 6.0
    assert any("One missed glaucoma counts as 4 false alarms." in text.value for text in page.markdown)
    plan = budget_store.measure(VAL, page.session_state["budget_course"].now).day
    assert plan.load[0] == 0
    assert plan.load[1] <= 2
    assert page.query_params["away"] == away


def test_a_link_that_makes_no_sense_is_refused_and_the_page_still_works(open_page):
    page = open_page("budget", split="val", live="false", away="nobody")
    assert not page.exception
    assert "reader: found nobody, expected some of" in page.warning[0].value
    page.slider(key="budget_plain").set_value(20.0).run()
    assert not page.warning


def test_an_impossible_wish_is_refused_with_the_reason(budget):
    budget.number_input(key="budget_reserve").set_value(5).run()
    budget.segmented_control(key="budget_scope").set_value("each").run()
    assert not budget.exception
    assert "found together with budgets by cohort" in budget.warning[0].value
    assert budget.segmented_control(key="budget_scope").value == "together"


def test_a_wish_that_cannot_be_met_is_explained(open_page):
    page = open_page("budget", split="val", live="false", budget="0.5", total="100")
    assert any("only 100 can be sent in all" in text.value for text in page.caption)


def test_a_kind_of_day_sets_the_limits_and_reset_lifts_them(budget):
    press(budget, "Clinic day")
    assert not budget.exception
    assert budget.session_state["budget_course"].now.limits.capacity
    press(budget, "Screening camp")
    assert numbers(budget)["Share sent"] == "20.0\xa0%"
    press(budget, "Reset")
    assert budget.session_state["budget_course"].now == state.usual()


def test_a_soft_budget_starts_from_the_runs_own_probability(budget):
    before = numbers(budget)
    budget.segmented_control(key="budget_kind").set_value("soft").run()
    assert numbers(budget) == before
    budget.slider(key="budget_plain").set_value(20.0).run()
    assert numbers(budget)["Soft deferral"] == "20.0\xa0%"
    press(budget, "Own rate")
    assert numbers(budget) == before


def test_other_costs_can_be_counted_by_and_routed_for(budget):
    before = numbers(budget)
    budget.number_input(key="budget_missed").set_value(8.0).run()
    counted = numbers(budget)
    assert counted["Share sent"] == before["Share sent"]
    assert counted["Clinical cost"] != before["Clinical cost"]
    assert any("train a run for these costs" in text.value for text in budget.caption)
    budget.toggle(key="budget_for").set_value(True).run()
    assert not budget.exception
    assert numbers(budget) != counted
    budget.number_input(key="budget_fees").set_value(0.0).run()
    assert numbers(budget)["Expert cost"] == "0.000"
    budget.number_input(key="budget_fees").set_value(1.0).run()
    assert budget.session_state["budget_course"].now.costs.fees == state.usual().costs.fees


@pytest.mark.parametrize("run", ["studio", "mpd2-plus"])
def test_another_currency_sends_the_same_cases_to_the_same_readers(run):
    about, usual = Scenario(run), state.usual()
    own = budget_store.day(about, usual)
    for unit in (1e-6, 0.01, 1000.0, 1e6):
        fees = tuple(unit * fee for fee in usual.costs.fees)
        costs = Costs(unit * usual.costs.false_negative, unit * usual.costs.false_positive, fees)
        day = budget_store.day(about, DaySetting(costs, for_costs=True))
        assert (day.sent, day.load.tolist()) == (own.sent, own.load.tolist())


def test_a_setting_kept_stands_beside_the_next_one(budget):
    press(budget, "Keep this as A")
    budget.slider(key="budget_plain").set_value(5.0).run()
    rows = table(budget, "second").set_index("metric")
    assert rows.loc["share sent", "difference"] < 0
    assert rows.loc["total cost", "low"] <= rows.loc["total cost", "difference"] <= rows.loc["total cost", "high"]
    press(budget, "Go back to A")
    assert budget.session_state["budget_course"].now == state.usual()


def test_the_worklist_can_be_taken_away(budget):
    assert any(button.label == "Worklist (CSV)" for button in budget.get("download_button"))


def without_val(whole, cohort):
    return whole.rows((whole.split != "val") | (whole.sources != cohort))


def test_a_slice_without_cases_says_so(open_page, monkeypatch):
    part = without_val(store.cohort(), "origa")
    monkeypatch.setattr(store, "cohort", lambda: part)
    page = open_page("budget", split="val", cohorts=["origa"])
    assert not page.exception
    assert "no case is left" in page.warning[0].value
    assert not page.get("bidi_component")


def test_without_val_cases_there_is_no_optimum_to_go_to(open_page, monkeypatch):
    part = without_val(store.cohort(), "origa")
    monkeypatch.setattr(store, "cohort", lambda: part)
    page = open_page("budget", live="false", cohorts=["origa"])
    assert not page.exception
    assert next(button for button in page.button if button.label == "Optimum").disabled


def test_the_live_slider_gets_the_place_and_its_meaning(open_page):
    page = open_page("budget", split="val", budget="0.3")
    assert not page.exception
    slider = component(page, "live_slider")
    assert (slider["place"], slider["max"], slider["cases"]) == (60, 200, 885)
    assert slider["said"].startswith("30\xa0% = 266 of 885 cases (90.2 a day at 300)")


def test_the_cards_know_what_every_place_comes_to(open_page):
    page = open_page("budget", split="val", budget="0.3", by_cohort="1")
    given = cards(page)
    start = page.session_state["budget_course"].now
    figures, changes = (given["course"][part].split("\n") for part in ("figures", "changes"))
    for place in (0, 17, 60, 200):
        there = budget_store.measure(VAL, start.with_budget(place / 200))
        told = told_in_words(budget_store.measure(VAL, start), there, many=False)
        assert (figures[place].split("\t"), changes[place].split("\t")) == told
    assert given["figures"] == figures[60].split("\t")
    assert given["follows"] == "budget_live"


def test_where_places_can_run_out_the_cards_follow_the_server(open_page):
    page = open_page("budget", split="val", budget="0.3", total="100")
    assert not page.exception
    assert cards(page)["course"] is None
    assert component(page, "live_slider")["numbers"] is None  # nobody moves it


def test_beside_a_plain_slider_the_cards_need_no_course(budget):
    assert cards(budget)["course"] is None
    assert cards(budget)["follows"] is None


def press(page, label):
    next(button for button in page.button if button.label.startswith(label)).click().run()
