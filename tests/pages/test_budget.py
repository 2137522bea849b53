"""The Budget page."""

import json
from dataclasses import replace

import pytest
from scenarios import STUDIO_AS_FITTED

from mpd2.core.costs import Costs
from mpd2.core.text import percent, verbatim
from mpd2.core.workspace import DEFAULT
from mpd2.evaluation.clinical.per_thousand import Programme
from mpd2.planning.day import DaySetting
from mpd2.present.words.budget import RECOUNTED, texts_of
from mpd2.studio.budget import controls as budget_controls
from mpd2.studio.budget import state
from mpd2.studio.budget import store as budget_store
from mpd2.studio.budget.texts import TOPICS, WAITS
from mpd2.studio.parts import programme
from mpd2.studio.parts.live_slider import STATIC
from mpd2.studio.parts.programme import Told
from mpd2.studio.shell import session, store
from mpd2.studio.shell.scenario import Scenario

VAL, TEST = replace(STUDIO_AS_FITTED, split="val"), STUDIO_AS_FITTED
TEXTS = 3  # of a number's value, and of its change
IN_COSTS = ["Total cost", "Clinical cost", "Sensitivity", "Share sent"]
THE_REST = ["Expert cost", "F1", "MCC", "Soft deferral"]
IN_PEOPLE = ["Missed of 1,000", "False alarms of 1,000", "Read of 1,000", "Readings for 1,000"]
ALL = IN_COSTS + THE_REST + IN_PEOPLE


@pytest.fixture
def budget(open_page):
    return open_page("budget", split="val", live="false")


def under(page, topic):
    """Look at another topic below the charts."""
    page.segmented_control(key="budget_topic").set_value(topic).run()
    assert not page.exception
    return page


def components(page, name):
    """What the components of a kind were given."""
    found = (each.proto for each in page.get("bidi_component"))
    return [json.loads(proto.json) for proto in found if proto.component_name.endswith(name)]


def slider(page):
    return components(page, "live_slider")[0]


def cards(page):
    return components(page, "number_cards")[0]


def numbers(page):
    """All numbers, also those of the second row, as they are sent to the first."""
    return dict(zip(ALL, cards(page)["values"][::TEXTS], strict=True))


def changes(page):
    return cards(page)["changes"][::TEXTS]


def verdicts(page):
    return dict(zip(ALL, cards(page)["changes"][TEXTS - 1 :: TEXTS], strict=True))


def here(page):
    return page.session_state[state.SLIDER].now


def texts(page):
    return "\n".join(part.value for part in [*page.markdown, *page.caption])


def table(page, column):
    return next(frame.value for frame in page.dataframe if column in frame.value)


def test_it_opens_at_the_runs_own_rate(budget):
    assert not budget.exception
    own = store.evidence(VAL).outcomes["studio"]
    shown = numbers(budget)
    assert cards(budget)["names"] == IN_PEOPLE
    assert components(under(budget, "moved"), "number_cards")[1]["names"] == IN_COSTS + THE_REST
    assert shown["Soft deferral"] == f"{100 * own.policy.defer.mean():.1f}\xa0%"
    assert changes(budget) == ["no change"] * len(ALL)


def test_people_are_those_of_the_same_decisions_and_a_switch_shows_costs(open_page, budget):
    day = budget_store.day(VAL, here(budget))
    truth, label = store.cases(VAL).truth, day.decisions.label
    shown, n = numbers(budget), len(truth)
    counts = [((truth == 1) & (label == 0)).sum(), ((truth == 0) & (label == 1)).sum(), day.sent, day.readings]
    assert [shown[name] for name in IN_PEOPLE] == [f"{1000 * count / n:.1f}" for count in counts]
    hours = cards(budget)["values"][TEXTS * ALL.index("Readings for 1,000") + 2]
    assert hours == f"{1000 * day.readings / n * 5 / 60:.1f} hours"
    budget.toggle(key="per_1000").set_value(False).run()
    assert cards(budget)["names"] == IN_COSTS
    linked = open_page("budget", split="val", live="false", per_1000="false", budget_topic="moved")
    assert [given["names"] for given in components(linked, "number_cards")] == [IN_COSTS, THE_REST + IN_PEOPLE]


def test_a_prevalence_of_ones_own_is_told_and_moves_people_alone(open_page):
    page = open_page("budget", split="val", live="false")
    before = numbers(page)
    page.session_state[session.ALONG] = {programme.TOLD: Told(Programme(prevalence=0.02, minutes=6), "€", None)}
    page.run()
    assert not page.exception
    after = numbers(page)
    assert "Prevalence was changed from 14.2\xa0% among these cases to 2\xa0%." in texts(page)
    assert [after[name] for name in IN_COSTS + THE_REST] == [before[name] for name in IN_COSTS + THE_REST]
    missed = 1 - float(before["Sensitivity"].removesuffix("\xa0%")) / 100
    assert float(after["Missed of 1,000"]) == pytest.approx(20 * missed, abs=0.06)


def test_the_price_of_trusting_a_confident_ai_is_told_in_people(open_page):
    page = open_page("budget", split="val", run="mpd2-plus", live="false")
    assert "Never overruling" not in texts(page)
    page = open_page("budget", split="val", run="mpd2-plus", live="false", bound="true")
    assert not page.exception
    bound, setting = Scenario("mpd2-plus", "val", floor=None, confident=0.9), here(page)
    first, second = (budget_store.measure(about, setting).metrics for about in (replace(bound, confident=None), bound))
    more = second["Readings"].value - first["Readings"].value
    assert more > 0
    [told] = [text.value for text in page.caption if "Never overruling" in text.value]
    assert "Never overruling an AI that is at least 90\xa0% sure, unread, comes for 1,000 screened to " in told
    assert f" and +{more:.1f} readings (" in told


def test_the_slider_moves_every_number_and_the_link(budget):
    before = numbers(budget)
    budget.slider(key="budget_plain").set_value(10.0).run()
    assert not budget.exception
    assert numbers(budget)["Share sent"] == f"{100 * 89 / 885:.1f}\xa0%"
    assert numbers(budget)["Total cost"] != before["Total cost"]
    assert budget.query_params["budget"] == "0.1"
    assert all(text.startswith("Δ ") for text in changes(budget))
    assert any("  \n10\xa0% of cases sent.  \n" in text.value for text in budget.caption)
    assert any("no longer sent" in text.value for text in under(budget, "moved").markdown)
    moved = table(budget, "from")
    assert len(moved) > 50
    assert set(moved["to"]) == {"AI"}


def test_a_number_does_what_the_slider_does(budget):
    budget.number_input(key="budget_exact").set_value(10.0).run()
    assert budget.slider(key="budget_plain").value == 10.0


def test_the_default_leads_back_to_the_runs_own_decisions(budget):
    before = numbers(budget)
    budget.slider(key="budget_plain").set_value(80.0).run()
    press(budget, "Default")
    assert numbers(budget) == before
    assert "budget" not in budget.query_params


def test_the_optimum_is_chosen_on_val_whatever_is_shown(open_page):
    page = open_page("budget", live="false")
    best = budget_store.optimum(STUDIO_AS_FITTED, state.usual(Scenario()))
    assert (best.split, best.n) == ("val", 885)
    press(page, "Optimum")
    assert page.slider(key="budget_plain").value == pytest.approx(100 * best.budget)
    assert "would have been the cheapest" in texts(under(page, "notes"))


def test_under_limits_the_weight_of_a_miss_is_chosen_anew_and_told(open_page):
    page = open_page("budget", split="val", run="mpd2-plus", point="ai", live="false")
    assert "under these limits" not in texts(page)
    weights = []
    for share in (10.0, 40.0):
        page.slider(key="budget_plain").set_value(share).run()
        assert not page.exception
        assert "To keep the AI's own sensitivity under these limits, decisions weigh a miss as " in texts(page)
        weights.append(here(page).weight)
    assert weights[0] != weights[1]
    press(page, "Reset")
    assert here(page).weight is None
    assert "under these limits" not in texts(page)


def test_while_it_is_dragged_the_slider_says_that_the_floor_waits(open_page):
    page = open_page("budget", split="val", run="mpd2-plus", point="ai", budget="0.1")
    start = page.session_state[state.SLIDER]
    assert WAITS not in slider(page)["notes"]
    page.session_state[state.SLIDER] = start.to(start.now.with_budget(0.3), moving=True)
    page.run()
    assert WAITS in slider(page)["notes"]
    assert here(page).weight == start.now.weight
    page.session_state[state.SLIDER] = page.session_state[state.SLIDER].to(here(page), moving=False)
    page.run()
    assert WAITS not in slider(page)["notes"]
    assert here(page).weight != start.now.weight


def test_a_link_with_a_scenario_shows_it(open_page):
    away, few = store.manifest(DEFAULT).columns[:2]
    page = open_page(
        "budget", split="val", live="false", budget="0.3", away=away, at_most=f"{few}:2", missed="6", alarm="1.5"
    )
    assert not page.exception
    assert page.slider(key="budget_plain").value == 30.0
    assert page.number_input(key="budget_missed").value == 6.0
    assert any("One missed glaucoma counts as 4 false alarms." in text.value for text in page.markdown)
    plan = budget_store.measure(VAL, here(page)).day
    assert plan.load[0] == 0
    assert plan.load[1] <= 2
    assert page.query_params["away"] == away


def test_a_link_that_makes_no_sense_is_refused_and_the_page_still_works(open_page):
    page = open_page("budget", split="val", live="false", away="nobody")
    assert not page.exception
    assert verbatim("reader: found nobody, expected some of") in page.warning[0].value
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
    assert here(budget).limits.capacity
    press(budget, "Screening camp")
    assert numbers(budget)["Share sent"] == "20.0\xa0%"
    press(budget, "Reset")
    assert here(budget) == state.usual(Scenario())


def test_a_soft_budget_starts_from_the_runs_own_probability(budget):
    before = numbers(budget)
    budget.segmented_control(key="budget_kind").set_value("soft").run()
    assert numbers(budget) == before
    budget.slider(key="budget_plain").set_value(20.0).run()
    assert numbers(budget)["Soft deferral"] == "20.0\xa0%"
    press(budget, "Default")
    assert numbers(budget) == before


def test_other_costs_can_be_counted_by_and_routed_for(budget):
    before = numbers(budget)
    budget.number_input(key="budget_missed").set_value(8.0).run()
    counted = numbers(budget)
    assert counted["Share sent"] == before["Share sent"]
    assert counted["Clinical cost"] != before["Clinical cost"]
    assert "train a run for these costs" in texts(budget)
    budget.toggle(key="budget_for").set_value(True).run()
    assert not budget.exception
    assert numbers(budget) != counted
    budget.number_input(key="budget_fees").set_value(0.0).run()
    assert numbers(budget)["Expert cost"] == "0.000"
    budget.number_input(key="budget_fees").set_value(1.0).run()
    assert here(budget).costs.fees == state.usual(Scenario()).costs.fees


@pytest.mark.parametrize("run", ["studio", "mpd2-plus"])
def test_another_currency_sends_the_same_cases_to_the_same_readers(run):
    about, usual = Scenario(run, floor=None), state.usual(Scenario())
    own = budget_store.day(about, usual)
    for unit in (1e-6, 0.01, 1000.0, 1e6):
        fees = tuple(unit * fee for fee in usual.costs.fees)
        costs = Costs(unit * usual.costs.false_negative, unit * usual.costs.false_positive, fees)
        day = budget_store.day(about, DaySetting(costs, for_costs=True))
        assert (day.sent, day.load.tolist()) == (own.sent, own.load.tolist())


def test_a_setting_kept_stands_beside_the_next_one(budget):
    press(under(budget, "compare"), "Keep this setting as A")
    budget.slider(key="budget_plain").set_value(5.0).run()
    rows = table(budget, "second").set_index("metric")
    assert rows.loc["share sent", "difference"] < 0
    assert rows.loc["total cost", "low"] <= rows.loc["total cost", "difference"] <= rows.loc["total cost", "high"]
    press(budget, "Go back to A")
    assert here(budget) == state.usual(Scenario())


def test_two_settings_side_by_side_are_in_the_link(open_page, budget):
    press(under(budget, "compare"), "Keep this setting as A")
    assert budget.query_params["a"] == ""  # A is the usual setting
    budget.slider(key="budget_plain").set_value(5.0).run()
    press(budget, "Keep this setting as A")
    press(budget, "Default")
    shared = dict(budget.query_params)
    assert shared["a"] == "budget=0.05"
    assert "budget" not in shared
    other = open_page("budget", **shared, total="10", day="300")
    assert other.session_state[state.KEPT] == state.usual(Scenario()).with_budget(0.05)
    rows, same = table(other, "second"), table(budget, "second")
    assert rows["first"].tolist() == same["first"].tolist()
    assert rows["second"].tolist() != same["second"].tolist()
    assert "a" not in press(other, "Forget A").query_params


def test_a_kept_setting_that_makes_no_sense_is_refused_and_the_rest_of_the_link_followed(open_page):
    page = open_page("budget", split="val", live="false", budget="0.2", a="away=nobody")
    assert verbatim("reader: found nobody") in page.warning[0].value
    assert page.slider(key="budget_plain").value == 20.0


def test_the_worklist_can_be_downloaded(budget):
    under(budget, "worklist")
    assert any(button.label == "Worklist (CSV)" for button in budget.get("download_button"))


def without_val(whole, cohort):
    return whole.rows((whole.split != "val") | (whole.sources != cohort))


def test_a_slice_without_cases_says_so(open_page, monkeypatch):
    part = without_val(store.cohort(DEFAULT), "origa")
    monkeypatch.setattr(store, "cohort", lambda workspace: part)
    page = open_page("budget", split="val", cohorts=["origa"])
    assert not page.exception
    assert "no case is left" in page.warning[0].value
    assert not page.get("bidi_component")


def test_without_val_cases_there_is_no_optimum_to_go_to(open_page, monkeypatch):
    part = without_val(store.cohort(DEFAULT), "origa")
    monkeypatch.setattr(store, "cohort", lambda workspace: part)
    page = open_page("budget", live="false", cohorts=["origa"])
    assert not page.exception
    assert next(button for button in page.button if button.label == "Optimum").disabled


def test_the_live_slider_gets_its_step_and_what_that_means(open_page):
    page = open_page("budget", split="val", budget="0.3")
    assert not page.exception
    given = slider(page)
    assert (given["step"], given["max"], given["cases"], given["day"]) == (60, 200, 885, 300)
    assert given["meaning"] == "30\xa0% = 266 of 885 cases (90.2 a day of 300)"


def test_the_cards_know_what_every_step_comes_to(open_page):
    page = open_page("budget", split="val", budget="0.3", by_cohort="1")
    given, start = cards(page), here(page)
    values, apart = (given["sweep"][part].split("\n") for part in ("values", "changes"))
    for step in (0, 17, 60, 200):
        there = budget_store.measure(VAL, start.with_budget(step / 200))
        expected = texts_of(budget_store.measure(VAL, start), there, many=False)
        assert (values[step].split("\t"), apart[step].split("\t")) == expected
    assert given["values"] == values[60].split("\t")
    assert given["follows"] == "budget_live"


def test_under_capacities_the_cards_follow_the_server(open_page):
    page = open_page("budget", split="val", budget="0.3", total="100", day="885")
    assert not page.exception
    assert cards(page)["sweep"] is None
    assert slider(page)["numbers"] is None  # nobody moves it


def test_beside_a_plain_slider_the_cards_need_no_sweep(budget):
    assert cards(budget)["sweep"] is None
    assert cards(budget)["follows"] is None


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_is_drawn_when_it_is_looked_at(open_page, topic):
    page = open_page("budget", split="val", live="false", budget="0.2", budget_topic=topic)
    assert not page.exception
    assert any(each.key == "budget_missed" for each in page.number_input) == (topic == "roster")


# ---------------------------------------------------------------------------------- cases a day


def day_of(page, about=TEST):
    return budget_store.day(about, here(page))


def link_to(limit, **more):
    """Two readers away and everybody else limited."""
    columns = store.manifest(DEFAULT).columns
    return {"away": ",".join(columns[:2]), "at_most": ",".join(f"{name}:{limit}" for name in columns[2:]), **more}


def test_at_most_a_day_is_scaled_to_the_cases_shown(open_page):
    per_day = open_page("budget", live="false", **link_to(20, day="300"))
    whole_slice = open_page("budget", live="false", **link_to(60, day="899"))
    assert day_of(per_day).load.tolist() == day_of(whole_slice).load.tolist()
    assert day_of(per_day).sent == 295  # 200 while 20 a day of 300 were counted as 20 of 899
    assert per_day.number_input(key="budget_day").value == 300
    assert "at most 20 a day" in texts(per_day)
    rows = budget_controls.readers(TEST, here(per_day)).set_index("reader")
    assert set(rows["at_most"].dropna()) == {20}
    assert set(rows["capacity"].dropna()) == {60}
    assert rows["a_day"].sum() == pytest.approx(295 * 300 / 899)


def test_a_link_from_before_capacities_were_per_day_keeps_its_meaning(open_page):
    page = open_page("budget", live="false", **link_to(20, per_day="150"))
    assert day_of(page).sent == 200
    assert day_of(page).load.max() == 20
    assert page.number_input(key="budget_day").value == 899
    assert page.query_params["day"] == "899"  # the link now says so
    assert "per_day" not in page.query_params


def test_an_old_link_with_cases_a_day_and_no_capacity_keeps_both(open_page):
    page = open_page("budget", live="false", per_day="150", budget="0.2")
    assert page.number_input(key="budget_day").value == 150
    assert day_of(page).sent == 180


def test_more_cases_a_day_leave_less_room_for_each(open_page):
    page = open_page("budget", live="false", **link_to(20, day="300"))
    page.number_input(key="budget_day").set_value(900).run()
    assert not page.exception
    assert day_of(page).load.max() == 20
    assert page.query_params["day"] == "900"


def test_numbers_a_day_are_shown_beside_what_they_come_to(open_page):
    page = open_page("budget", live="false", day="300", total="90", reserve="5", urgent="30")
    assert "On the 899 cases shown: at most 270 sent, 15 reserved, 90 urgent." in texts(page)
    assert budget_store.urgent(TEST, here(page)).sum() == 90


# ----------------------------------------------------------------------------- what is the run's own, what is new


def test_under_limits_the_default_share_is_still_the_runs_own(open_page):
    page = open_page("budget", live="false", **link_to(20, day="899"))
    assert day_of(page).share == pytest.approx(200 / 899)
    said, own = texts(page), percent(budget_store.own_share(TEST), 1)
    assert f"22.2\xa0% = 200 of 899 cases (200.0 a day of 899); default {own}" in said
    assert f"Default share sent, {own}" in said
    assert any(button.label == f"Default {own}" for button in page.button)


def test_a_change_of_cost_alone_is_counted_anew_and_judged_neither_better_nor_worse(budget):
    budget.number_input(key="budget_missed").set_value(8.0).run()
    found = verdicts(budget)
    assert (found["Total cost"], found["Clinical cost"]) == (RECOUNTED, RECOUNTED)
    assert RECOUNTED not in cards(budget)["tones"]  # so it has no colour
    assert {found[name] for name in ("Sensitivity", "Share sent", *THE_REST, *IN_PEOPLE)} == {""}
    assert "nothing moved. Costs are counted at the new values." in texts(budget)


def test_better_is_green_and_worse_is_red(budget):
    assert cards(budget)["tones"] == {"better": "good", "worse": "bad"}
    css = "".join((STATIC / "number_cards.css").read_text(encoding="utf-8").split())
    assert ".sense.good{color:var(--st-green-text-color);}" in css
    assert ".sense.bad{color:var(--st-red-text-color);}" in css


def test_helps_name_the_costs_in_force(open_page):
    page = open_page("budget", split="val", live="false", missed="8", alarm="0.5")
    page.toggle(key="per_1000").set_value(False).run()
    clinical = cards(page)["helps"][IN_COSTS.index("Clinical cost")]
    assert "a miss costs 8, a false alarm 0.5." in clinical
    columns = json.loads(under(page, "cohorts").dataframe[0].proto.columns)
    assert "a miss costs 8, a false alarm 0.5." in columns["ClinicalCost"]["help"]


def press(page, label):
    return next(button for button in page.button if button.label.startswith(label)).click().run()
