"""The Case page finds a case, explains it, and lets it be changed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scenarios import STUDIO_AS_FITTED
from scipy.special import logit
from streamlit.testing.v1 import AppTest

from mpd2.core.text import verbatim
from mpd2.core.workspace import DEFAULT
from mpd2.evaluation import explain
from mpd2.planning.day import DaySetting
from mpd2.planning.floors import Floor
from mpd2.studio.budget import store as budget_store
from mpd2.studio.case import store as case_store
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario

OpenPage = Callable[..., AppTest]

SENT, OTHER = "r455", "o151"  # test cases of different cohorts


def texts(app: AppTest) -> str:
    """Everything written on the page."""
    kinds = (app.title, app.subheader, app.markdown, app.caption, app.info, app.warning, app.error)
    return "\n".join(element.value for kind in kinds for element in kind)


def open_tab(app: AppTest, label: str) -> AppTest:
    app.session_state["case_tab"] = label
    return app.run()


def metrics(app: AppTest) -> list[str]:
    return [metric.value for metric in app.metric]


def press(app: AppTest, label: str) -> AppTest:
    return next(button for button in app.button if button.label == label).click().run()


@pytest.fixture
def page(open_page: OpenPage) -> AppTest:
    return open_page("case", case=SENT, run="studio", point="cheapest")


def test_the_link_opens_its_case_with_what_one_looks_at_first(page: AppTest) -> None:
    assert not page.exception
    shown = texts(page)
    assert f"Case {SENT}, REFUGE, test" in shown
    assert "the table has no picture" in shown
    assert "The AI says" in shown
    assert "models agree" in shown
    assert [tab.label for tab in page.tabs] == [
        "Why", "What would change it", "Inputs", "Similar cases", "What if", "Worklist",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("tab", "words"),
    [
        ("Why", "Exact Shapley values"),
        ("What would change it", "**Budget.** It is sent once"),
        ("Inputs", "The 8 inputs a run sees"),
        ("Similar cases", "training cases nearest"),
        ("What if", "follow from its score"),
        ("Worklist", "Choose a row to show its case."),
    ],
)
def test_every_tab_draws_its_panel_and_no_other_does(page: AppTest, tab: str, words: str) -> None:
    shown = {label: texts(open_tab(page, label)) for label in (tab, "Inputs" if tab != "Inputs" else "Why")}
    assert words in shown.pop(tab)
    assert words not in next(iter(shown.values()))
    assert not page.exception


def test_the_page_says_the_budget_at_which_the_budget_page_sends_the_case(open_page: OpenPage) -> None:
    """The case at which the two pages were farthest apart: 38.7 % on Case, 99.7 % on Budget."""
    page = open_tab(open_page("case", case="o614"), "What would change it")
    place = re.search(r"sent once (\d+) of the 899 cases are sent, a budget of ([\d.]+)\s%", texts(page))
    assert place is not None
    assert float(place[2]) == pytest.approx(100 * int(place[1]) / 899, abs=0.05)
    about, usual = STUDIO_AS_FITTED, DaySetting(store.manifest(DEFAULT).default_costs())
    row = int(np.flatnonzero(about.slice(store.cohort(DEFAULT)).ids == "o614")[0])
    sent = [budget_store.day(about, usual.with_budget((int(place[1]) + step) / 899)).decisions for step in (-1, 0)]
    assert [bool(made.deferred[row]) for made in sent] == [False, True]


def test_without_a_link_the_worklist_starts_at_its_most_costly_case_and_goes_on(open_page: OpenPage) -> None:
    page = open_page("case")
    assert "1 of 899" in texts(page)
    first = page.selectbox(key="case").value
    page = page.button(key="case_Next").click().run()
    assert "2 of 899" in texts(page)
    assert page.selectbox(key="case").value != first
    page = page.button(key="case_Previous").click().run()
    assert page.selectbox(key="case").value == first
    assert not page.exception


def test_another_order_puts_other_cases_first(open_page: OpenPage) -> None:
    page = open_page("case")
    first = page.selectbox(key="case").options[:5]
    page = page.selectbox(key="order").select("close").run()
    assert page.selectbox(key="case").options[:5] != first


def filter_button(app: AppTest) -> Any:
    return next(block.proto.popover for block in app.get("popover") if "Filter" in block.proto.popover.label)


def test_the_filter_narrows_the_worklist_says_so_and_leaves_no_case_it_leaves_out(page: AppTest) -> None:
    assert filter_button(page).label == "Filter"
    page = page.multiselect(key="decided_by").select("ai").run()
    ids = page.selectbox(key="case").options
    assert 0 < len(ids) < 899
    assert SENT not in ids
    assert page.selectbox(key="case").value == ids[0]
    assert f"Case {SENT}, REFUGE, test" not in texts(page)
    assert f"Case {verbatim(ids[0])}," in texts(page)
    assert (filter_button(page).label, filter_button(page).type) == ("Filter (1)", "primary")
    page = press(page, "Clear the filter")
    assert len(page.selectbox(key="case").options) == 899
    assert not page.exception


def test_a_case_that_fits_the_filter_stays(page: AppTest) -> None:
    final = "right" if "(right)" in texts(page) else "wrong"
    page = page.button_group(key="final_answer").set_value(final).run()
    assert page.selectbox(key="case").value == SENT
    other = {"right": "wrong", "wrong": "right"}[final]
    page = page.button_group(key="final_answer").set_value(other).run()
    assert page.selectbox(key="case").value != SENT


def test_the_filter_is_in_the_link(open_page: OpenPage) -> None:
    page = open_page("case", decided_by=["ai"], final_answer="wrong")
    assert page.multiselect(key="decided_by").value == ["ai"]
    assert filter_button(page).label == "Filter (2)"
    shown = texts(page)
    assert "(wrong)" in shown
    assert "Keep it" in shown
    page = page.button_group(key="final_answer").set_value("right").run()
    assert page.query_params["final_answer"] == "right"
    assert page.query_params["decided_by"] == "ai"


def test_a_preset_search_narrows_the_worklist_to_its_count_and_is_in_the_link(open_page: OpenPage) -> None:
    about = Scenario("mpd2-plus", floor=None)
    counts = {key: int(rows.sum()) for key, rows in case_store.found(about).items()}
    assert all(counts[key] for key in ("confident", "overruled", "missed", "dearest"))
    page = open_page("case", run="mpd2-plus")
    assert [label.rpartition(" (")[2] for label in page.selectbox(key="search").options] == [
        f"{count})" for count in counts.values()
    ]
    page = page.selectbox(key="search").select("overruled").run()
    assert f"1 of {counts['overruled']}" in texts(page)
    assert page.query_params["search"] == "overruled"
    shown = texts(open_page("case", run="mpd2-plus", search="overruled"))
    assert f"1 of {counts['overruled']}" in shown
    assert "against the AI's answer" in shown
    assert "The recalibrated rule decides against the AI, with nobody asked" in shown


@pytest.mark.parametrize(
    ("who", "told"), [("ai", "The AI's own word decides"), ("rule", "rule decides against the AI")]
)
def test_the_rule_against_the_ai_is_a_decider_of_its_own(open_page: OpenPage, who: str, told: str) -> None:
    page = open_page("case", run="mpd2-plus", decided_by=[who])
    assert told in texts(page)
    rows = case_store.listing(Scenario("mpd2-plus", floor=None))
    kept = rows[rows["action"] == "ai"]
    against = kept["ai_answer"] != kept["answer"]
    assert len(page.selectbox(key="case").options) == (against if who == "rule" else ~against).sum()
    open_tab(page, "Worklist")
    assert set(page.dataframe[-1].value["reader"]) == {{"ai": "AI", "rule": "rule"}[who]}


@pytest.mark.parametrize("run", ["mpd2-plus", "studio", "recalibrated"])
def test_the_page_follows_the_operating_point(open_page: OpenPage, run: str) -> None:
    """What is said of a case is decided, weighed and explained by the costs of the point."""
    cheap, safe = Scenario(run=run), Scenario(run=run, floor=Floor(level=0.97))
    weights = [store.point(run, about).costs.false_negative for about in (cheap, safe)]
    assert weights[1] > weights[0]
    before, after = (case_store.listing(about).set_index("case_id") for about in (cheap, safe))
    moved = after.index[(before["action"] != after["action"]) | (before["answer"] != after["answer"])]
    assert len(moved) > 10
    case_id = str(moved[0])
    facts, again = case_store.facts(safe, case_id), case_store.of_case(safe, case_store.facts(safe, case_id).case)
    assert facts.chosen["action"] == again.chosen["action"] == after.loc[case_id, "action"]
    assert facts.expected.cost == pytest.approx(again.expected.cost)
    assert facts.costs.false_negative == weights[1]
    page = open_page("case", run=run, case=case_id, point="own", floor="97")
    for tab in [tab.label for tab in page.tabs]:
        assert not open_tab(page, tab).exception
    first = facts.chosen["who"] if facts.sent else "Keep it"
    assert any(first in header.value for header in page.subheader)


def test_at_another_point_the_reasons_still_add_up_and_a_flip_flips(open_page: OpenPage) -> None:
    safe = Scenario(run="mpd2-plus", floor=Floor(level=0.97))
    facts = case_store.facts(safe, OTHER)
    asking = case_store.reasons(safe, OTHER)["asking"]
    assert asking.total == pytest.approx(facts.expected.cost[0, 0] - facts.expected.cost[0, 1:].min(), abs=1e-9)
    for flip in case_store.flips(safe, OTHER).itertuples():
        state = explain.changed(facts.case, {flip.variable: flip.flips_at})
        then = case_store.of_case(safe, explain.copies_with(facts.case, state[None]))
        assert then.sent == (facts.sent != flip.crosses)
        assert flip.then.startswith("sent" if then.sent else "kept")


def test_a_filter_that_nothing_fits_leaves_no_case_on_screen(page: AppTest) -> None:
    page = page.selectbox(key="run").select("always-defer").run()
    page = page.multiselect(key="decided_by").select("ai").run()
    assert "No case fits the search and the filter" in texts(page)
    assert f"Case {SENT}, REFUGE, test" not in texts(page)


def test_an_unknown_id_is_refused_in_words(open_page: OpenPage) -> None:
    page = open_page("case", case="nobody")
    assert not page.exception
    assert "There is no case 'nobody' in the table" in page.error[0].value
    page = press(page, "Go to the worklist")
    assert not page.error


def test_a_training_case_is_not_judged(open_page: OpenPage) -> None:
    page = open_page("case", case="r826")
    assert "r826 is a train case" in page.warning[0].value


def test_a_case_of_another_slice_is_one_press_away(open_page: OpenPage) -> None:
    page = open_page("case", case=SENT, split="val")
    assert "another slice" in texts(page)
    page = press(page, "Go to its slice")
    assert f"Case {SENT}, REFUGE, test" in texts(page)


@pytest.mark.parametrize("run", ["studio", "mao", "mpd2-plus", "oracle"])
def test_every_run_has_the_same_tabs_and_one_that_asks_on_its_steps(page: AppTest, run: str) -> None:
    page = page.selectbox(key="run").select(run).run()
    shown = [tab.label for tab in page.tabs if tab.label != "Step by step"]
    assert shown == ["Why", "What would change it", "Inputs", "Similar cases", "What if", "Worklist"]
    assert ("Step by step" in [tab.label for tab in page.tabs]) == (run == "mpd2-plus")
    for label in ("What would change it", "Similar cases"):
        assert not open_tab(page, label).exception


@pytest.mark.parametrize(
    ("run", "told"),
    [
        ("studio", ["log-odds of sending", "all 256 sets of the 8 inputs", "read them together"]),
        ("mao", ["log-odds of sending", "least and most of any of 10 models"]),
        ("uncertainty", ["log-odds of sending", "all 2 sets of the 1 inputs"]),
        ("mpd2-plus", ["log-odds of glaucoma", "expected to save after all fees", "all 128 sets of the 7 inputs"]),
        ("always-defer", ["does the same with every case"]),
        ("oracle", ["looks up the truth"]),
    ],
)
def test_every_method_says_why_or_why_it_cannot(page: AppTest, run: str, told: list[str]) -> None:
    page = open_tab(page.selectbox(key="run").select(run).run(), "Why")
    assert not page.exception
    shown = texts(page)
    assert all(words in shown for words in told)


def test_what_adds_up_is_the_probability_the_page_shows(open_page: OpenPage) -> None:
    about = Scenario("mpd2-plus", floor=None)
    reasons, facts = case_store.reasons(about, OTHER), case_store.facts(about, OTHER)
    positive, asking = reasons["positive"], reasons["asking"]
    for reason in (positive, asking):
        assert reason.base + reason.parts["adds"].sum() == pytest.approx(reason.total, abs=1e-9)
    assert positive.total == pytest.approx(logit(facts.positive), abs=1e-9)
    assert asking.total == pytest.approx(facts.expected.cost[0, 0] - facts.expected.cost[0, 1:].min(), abs=1e-9)


@pytest.mark.parametrize("run", ["mao", "mpd2-plus"])
def test_every_method_that_can_be_deployed_is_asked_again(page: AppTest, run: str) -> None:
    page = open_tab(page.selectbox(key="run").select(run).run(), "What if")
    before = metrics(page)
    page = page.slider(key=f"whatif:glaucoma:{SENT}:vCDR").set_value(0.95).run()
    assert not page.exception
    assert metrics(page) != before


def test_where_the_cohort_matters_it_can_be_changed_and_is_in_the_link(page: AppTest, open_page: OpenPage) -> None:
    page = open_tab(page, "What if")
    assert f"whatif:glaucoma:{SENT}:cohort" not in [box.key for box in page.selectbox]  # MPD² does not look at it
    page = open_tab(page.selectbox(key="run").select("mpd2-plus").run(), "What if")
    before = metrics(page)
    page = page.selectbox(key=f"whatif:glaucoma:{SENT}:cohort").select("origa").run()
    assert metrics(page) != before
    assert page.query_params["whatif"] == f"{SENT};cohort:origa"
    again = open_page("case", case=SENT, run="mpd2-plus", point="cheapest", whatif=f"{SENT};cohort:origa")
    assert metrics(again) == metrics(page)
    assert not open_page("case", case=SENT, run="mpd2-plus", whatif=f"{SENT};cohort:nowhere").exception


def test_a_case_that_needs_the_answers_to_be_decided_cannot_be_changed(page: AppTest) -> None:
    page = open_tab(page.selectbox(key="run").select("oracle").run(), "What if")
    assert not page.exception
    assert not page.slider
    assert "A changed or a new case has neither" in texts(page)


def test_an_edited_case_is_decided_anew_and_reset_brings_it_back(page: AppTest) -> None:
    page = open_tab(page, "What if")
    before = metrics(page)
    page = page.slider(key=f"whatif:glaucoma:{SENT}:vCDR").set_value(0.8).run()
    after = metrics(page)
    assert after != before
    assert after[:3] == before[:3]  # the original stays as it was
    page = press(page, "Reset")
    assert metrics(page) == before
    assert "whatif" not in page.query_params
    assert not page.exception


def test_what_is_changed_of_a_case_is_in_the_link(page: AppTest, open_page: OpenPage) -> None:
    page = open_tab(page, "What if")
    page = page.slider(key=f"whatif:glaucoma:{SENT}:vCDR").set_value(0.8).run()
    there = page.button_group(key=f"whatif:glaucoma:{SENT}:roster").value
    page = page.button_group(key=f"whatif:glaucoma:{SENT}:roster").set_value(there[1:]).run()
    word = page.query_params["whatif"]
    again = open_page("case", case=SENT, run="studio", point="cheapest", whatif=word)
    assert again.slider(key=f"whatif:glaucoma:{SENT}:vCDR").value == pytest.approx(0.8)  # so the tab is open too
    assert again.button_group(key=f"whatif:glaucoma:{SENT}:roster").value == there[1:]
    assert metrics(again) == metrics(page)
    other = open_page("case", case=OTHER, whatif=word)
    assert not other.slider
    assert "whatif" not in other.query_params


@pytest.mark.parametrize("word", [f"{SENT};vCDR:much;nothing:1;there:nobody", ";;;", f"{SENT};vCDR:1e99"])
def test_a_link_that_changes_what_cannot_be_is_followed_as_far_as_it_can(open_page: OpenPage, word: str) -> None:
    assert not open_page("case", case=SENT, whatif=word).exception


def test_with_every_reader_sent_home_the_ai_decides(page: AppTest) -> None:
    page = open_tab(page, "What if").button_group(key=f"whatif:glaucoma:{SENT}:roster").set_value([]).run()
    assert not page.exception
    first, edited = [text.value for text in page.subheader if text.value.startswith(("Ask", "Keep"))]
    assert first.startswith("Ask")
    assert edited.startswith("Keep it")


def test_a_new_case_can_be_entered_by_hand(page: AppTest) -> None:
    page = open_tab(page, "What if").button_group(key="whatif_start").set_value("new").run()
    assert not page.exception
    assert page.slider(key="whatif:glaucoma:new case:vCDR").value > 0


def test_a_pinned_case_is_shown_beside_this_one(open_page: OpenPage) -> None:
    page = open_page("case", case=SENT, pin=OTHER)
    page = open_tab(page, f"Beside {OTHER}")
    assert f"Case {OTHER}" in texts(page)
    page = press(page, "Unpin")
    assert f"Beside {OTHER}" not in [tab.label for tab in page.tabs]
    page = open_page("case", case=SENT, pin="nobody")
    assert "The pinned case nobody is not in this slice." in texts(page)


def test_a_note_stays_with_its_case_and_is_shown_only_where_it_is_written(page: AppTest) -> None:
    written = "<b>look</b> again ![x](http://x.test/x.png)"
    page.text_area(key=f"note:{DEFAULT}:{SENT}").set_value(written)
    page = press(page, "Keep the note")
    assert not page.exception
    assert "x.test" not in texts(page)
    page = page.selectbox(key="case").select(OTHER).run()
    assert page.text_area(key=f"note:{DEFAULT}:{OTHER}").value == ""
    page = page.selectbox(key="case").select(SENT).run()
    assert page.text_area(key=f"note:{DEFAULT}:{SENT}").value == written


def test_the_drawing_can_be_taken_away_like_every_chart(page: AppTest) -> None:
    files = {button.proto.id.split("-")[-1] for button in page.get("download_button")}
    assert {"drawing:csv", "drawing:png", "drawing:svg"} <= files
