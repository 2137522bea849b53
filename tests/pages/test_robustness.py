"""The Robustness page."""

import json

import pandas as pd
import pytest

from mpd2.core.files import ROOT
from mpd2.core.text import NOTHING
from mpd2.core.workspace import DEFAULT
from mpd2.evaluation.guarantee import AMONG, HOLDS
from mpd2.studio.shell import store


@pytest.fixture
def robustness(open_page):
    return open_page("robustness")


@pytest.fixture
def unseen(open_page):
    return open_page("robustness", robustness_topic="unseen")


@pytest.fixture
def promise(open_page):
    return open_page("robustness", robustness_topic="promise")


def titles(page):
    return [json.loads(chart.proto.spec)["title"]["text"] for chart in page.get("vega_lite_chart")]


def test_it_opens_with_every_method_over_resplits_and_nothing_else(robustness):
    assert not robustness.exception
    assert titles(robustness) == ["Mean total cost over resplits", "Difference from MPD²+"]
    assert any("resplits" in part.value for part in robustness.markdown)
    assert not robustness.dataframe


def test_every_part_is_drawn_when_it_is_looked_at(robustness):
    robustness.segmented_control(key="robustness_topic").set_value("unseen").run()
    assert len(titles(robustness)) == 2
    robustness.segmented_control(key="robustness_topic").set_value("promise").run()
    assert not titles(robustness)
    assert len(robustness.dataframe[0].value) == len(store.manifest(DEFAULT).cohorts)


@pytest.mark.parametrize(
    ("query", "topic"),
    [({"new_cohort": "origa"}, "unseen"), ({"level": "7"}, "promise"), ({"among": "sent home"}, "promise"),
     ({"resplit_metric": "MCC"}, "resplits")],
)  # fmt: skip
def test_a_link_made_before_there_were_parts_opens_the_right_one(open_page, query, topic):
    page = open_page("robustness", **query)
    assert not page.exception
    assert page.session_state["robustness_topic"] == topic
    assert all(str(page.session_state[key]) == value for key, value in query.items())


def test_costs_below_zero_are_cut_and_the_chart_says_so(unseen):
    assert "cannot be lower" in json.loads(unseen.get("vega_lite_chart")[0].proto.spec)["title"]["subtitle"]


def test_another_figure_of_the_resplits_can_be_chosen(robustness):
    robustness.selectbox(key="resplit_metric").set_value("MCC").run()
    assert not robustness.exception
    assert "MCC" in robustness.get("vega_lite_chart")[0].proto.spec


def test_each_cohort_can_be_the_unseen_one(unseen):
    for entry in store.manifest(DEFAULT).cohorts:
        unseen.segmented_control(key="new_cohort").set_value(entry.key).run()
        assert not unseen.exception
        assert all(entry.name in title for title in titles(unseen))
        assert f"With {entry.name} new" in " ".join(part.value for part in unseen.markdown)


def test_a_laxer_promise_can_be_given_in_at_least_as_many_cohorts(promise):
    given = []
    for percent in (1, 5, 20):
        promise.slider(key="level").set_value(percent).run()
        assert not promise.exception
        given.append(int((promise.dataframe[0].value["state"] == "holds").sum()))
    assert given == sorted(given)
    assert given[-1] > 0


def test_a_promise_of_those_called_healthy_is_never_easier(promise):
    given = {}
    for among in AMONG:
        promise.segmented_control(key="among").set_value(among).run()
        given[among] = (promise.dataframe[0].value["state"] == "holds").sum()
    assert given["sent home"] <= given["kept"]


def test_the_promises_are_those_of_the_active_run(open_page, promise):
    other = open_page("robustness", run="ai", robustness_topic="promise")
    assert not other.exception
    assert not other.dataframe[0].value.equals(promise.dataframe[0].value)


def test_what_is_missing_in_a_table_is_a_dash(promise):
    promise.slider(key="level").set_value(1).run()
    promised = promise.dataframe[0]
    assert promised.value["limit"].isna().any()
    assert promised.proto.placeholder == NOTHING


@pytest.mark.parametrize("among", AMONG)
@pytest.mark.parametrize("percent", [2, 5, 10])
def test_how_often_a_promise_would_have_been_broken_is_counted_as_in_the_study(promise, percent, among):
    promise.slider(key="level").set_value(percent)
    promise.segmented_control(key="among").set_value(among).run()
    names = {entry.key: entry.name for entry in store.manifest(DEFAULT).cohorts}
    table = pd.read_csv(ROOT / "data/glaucoma/tables/guarantee.csv")
    rows = table[(table["method"] == "studio") & (table["level"] == percent / 100) & (table["among"] == among)]
    counts = {
        names[row.cohort]: f"{row.broken * row.checks:.0f} of {row.checks}" if row.state == HOLDS else NOTHING
        for row in rows.itertuples()
    }
    assert promise.dataframe[0].value.set_index("cohort")["broken"].to_dict() == counts
    assert set(counts.values()) != {NOTHING}


def test_a_promise_is_about_patients_nobody_reads(promise):
    promise.slider(key="level").set_value(5).run()
    sentence = next(part.value for part in promise.markdown if part.value.startswith("At most 5 in 100"))
    assert sentence.startswith("At most 5 in 100 unread cases are positive and missed: this can be promised")
    assert "share of positives" not in promise.slider(key="level").help


@pytest.fixture
def planner(open_page):
    return open_page("robustness", robustness_topic="sample-size")


def test_the_planner_says_what_the_planned_cases_would_tell(planner):
    assert not planner.exception
    assert planner.markdown[0].value.startswith(
        "With 1,000 cases, 14.8\xa0% of them with glaucoma, sensitivity is known"
    )
    rows = planner.dataframe[0].value
    assert rows["Number"].tolist()[:4] == [
        "sensitivity", "specificity", "sensitivity less the AI's", "specificity less the AI's",
    ]  # fmt: skip
    assert len(planner.dataframe[1].value) == len(store.manifest(DEFAULT).cohorts)


def test_more_cases_and_a_wider_wish_change_the_plan(planner):
    before = planner.dataframe[0].value
    planner.number_input(key="plan_cases").set_value(4000).run()
    planner.number_input(key="plan_width").set_value(6.0).run()
    assert not planner.exception
    after = planner.dataframe[0].value
    assert planner.markdown[0].value.startswith("With 4,000 cases")
    assert after.iloc[0, 1] == pytest.approx(before.iloc[0, 1] / 2, rel=0.02)
    assert after.iloc[2, 2] == pytest.approx(before.iloc[2, 2] / 4, rel=0.02)


def test_a_link_opens_the_planner_as_it_was(open_page):
    page = open_page("robustness", plan_cases="2500", plan_width="5")
    assert not page.exception
    assert page.session_state["robustness_topic"] == "sample-size"
    assert page.markdown[0].value.startswith("With 2,500 cases")


@pytest.mark.parametrize("run", ["ai", "always-defer", "oracle"])
def test_every_run_can_be_planned_for(open_page, run):
    assert not open_page("robustness", robustness_topic="sample-size", run=run).exception


def test_resplits_are_judged_at_the_floor_of_the_sidebar(open_page):
    page = open_page("robustness", point="ai")
    assert page.session_state["resplit_metric"] == "Spec"
    table = pd.read_csv(ROOT / "data/glaucoma/tables/floors.csv")
    best = table[(table["floor"] == "ai") & (table["method"] == "mpd2-plus") & (table["metric"] == "Spec")][
        "value"
    ].iloc[0]
    assert any(f"specificity {best:.3f}" in part.value for part in page.markdown)
    own = open_page("robustness", point="own", floor="93")
    assert any("there are no resplits" in caption.value for caption in own.caption)
    assert own.session_state["resplit_metric"] == "TotalCost"
