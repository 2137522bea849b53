"""The Robustness page."""

import json

import pytest

from mpd2.core.text import NOTHING
from mpd2.evaluation.guarantee import AMONG
from mpd2.studio.shell import store


@pytest.fixture
def robustness(open_page):
    return open_page("robustness")


def test_it_opens_with_every_method_a_new_cohort_and_the_promises(robustness):
    assert not robustness.exception
    assert len(robustness.get("vega_lite_chart")) == 4
    assert len(robustness.dataframe[0].value) == len(store.cohort().manifest.cohorts)
    assert any("resplits" in part.value for part in robustness.markdown)


def test_another_figure_of_the_resplits_can_be_chosen(robustness):
    robustness.selectbox(key="resplit_metric").set_value("MCC").run()
    assert not robustness.exception
    assert "MCC" in robustness.get("vega_lite_chart")[0].proto.spec


def test_each_cohort_can_be_the_new_one(robustness):
    for entry in store.cohort().manifest.cohorts:
        robustness.segmented_control(key="new_cohort").set_value(entry.key).run()
        assert not robustness.exception
        assert entry.name in json.loads(robustness.get("vega_lite_chart")[2].proto.spec)["title"]


def test_a_laxer_promise_can_be_given_in_at_least_as_many_cohorts(robustness):
    given = []
    for percent in (1, 5, 20):
        robustness.slider(key="level").set_value(percent).run()
        assert not robustness.exception
        given.append(int((robustness.dataframe[0].value["state"] == "holds").sum()))
    assert given == sorted(given)
    assert given[-1] > 0


def test_a_promise_of_those_called_healthy_is_never_easier(robustness):
    given = {}
    for among in AMONG:
        robustness.segmented_control(key="among").set_value(among).run()
        given[among] = (robustness.dataframe[0].value["state"] == "holds").sum()
    assert given["sent home"] <= given["kept"]


def test_the_promises_are_those_of_the_active_run(open_page, robustness):
    other = open_page("robustness", run="ai")
    assert not other.exception
    assert not other.dataframe[0].value.equals(robustness.dataframe[0].value)


def test_what_is_missing_in_a_table_is_a_dash(robustness):
    robustness.slider(key="level").set_value(1).run()
    promised = robustness.dataframe[0]
    assert promised.value["limit"].isna().any()
    assert promised.proto.placeholder == NOTHING
