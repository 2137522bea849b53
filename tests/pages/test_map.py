"""The Map page."""

import base64
import json

import numpy as np
import pytest

from mpd2.core.policy import DECIDERS
from mpd2.present.charts.kit.style import DECIDER_MARKS


@pytest.fixture
def chart(open_page):
    return open_page("map", split="val")


def figure(page):
    return json.loads(page.get("plotly_chart")[0].proto.spec)


def choose(page, ids):
    page.session_state["region"] = [f"case:{name}" for name in ids]
    return page.run()


def ids_of(page):
    return figure(page)["data"][0]["customdata"]


def test_it_opens_with_every_case_on_four_panels(chart):
    assert not chart.exception
    assert [len(trace["customdata"]) for trace in figure(chart)["data"]] == [885] * 4
    assert "All 885 cases of the slice are shown, none is sampled" in " ".join(text.value for text in chart.caption)


def test_it_says_whether_the_right_cases_are_sent(chart):
    assert "of the 223 cases the AI alone gets wrong" in chart.markdown[0].value


def test_without_a_region_it_asks_for_one(chart):
    assert chart.info[0].value.startswith("Drag a box or a lasso")
    assert not chart.dataframe


def test_a_region_is_compared_with_the_rest_and_lists_its_cases(chart):
    choose(chart, ids_of(chart)[:60])
    assert not chart.exception
    assert chart.subheader[-1].value == "The region: 60 of 885 cases"
    assert len(chart.dataframe[-1].value) == 60
    assert [len(trace["selectedpoints"]) for trace in figure(chart)["data"]] == [60] * 4


def test_a_region_stays_until_it_is_cleared(chart):
    choose(chart, ids_of(chart)[:60])
    chart.toggle(key="averaged").set_value(False).run()
    assert chart.subheader[-1].value == "The region: 60 of 885 cases"
    next(button for button in chart.button if button.label == "Clear the region").click().run()
    assert chart.info


def test_a_small_region_comes_with_a_warning(chart):
    choose(chart, ids_of(chart)[:3])
    assert any("Fewer than 20 cases" in text.value for text in chart.caption)


def test_a_region_of_every_case_has_no_rest(chart):
    choose(chart, ids_of(chart))
    assert not chart.exception
    assert chart.dataframe[0].value["rest"].str.startswith("–").all()


def test_a_region_without_a_case_of_the_slice_is_none(chart):
    choose(chart, ["nobody"])
    assert chart.info
    assert not chart.exception


def test_the_large_map_takes_any_colour(open_page):
    page = open_page("map", split="val", layout="one", colour="action")
    assert not page.exception
    shown = [trace["name"] for trace in figure(page)["data"] if trace["showlegend"]]
    assert shown[0].startswith("AI (")
    page.selectbox(key="colour").set_value("vCDR").run()
    assert len(figure(page)["data"]) == 1


def test_the_large_map_tells_the_ais_own_word_from_the_rule_against_it(open_page):
    page = open_page("map", split="val", layout="one", run="mpd2-plus")
    shown = {trace["name"].rsplit(" (", 1)[0]: trace["marker"]["color"] for trace in figure(page)["data"]}
    assert shown == {who: mark.colour for who, mark in zip(DECIDERS, DECIDER_MARKS, strict=True)}
    assert "Its rule overrules the AI unread in " in page.markdown[0].value


def test_single_cases_are_right_or_wrong(chart):
    chart.toggle(key="averaged").set_value(False).run()
    packed = figure(chart)["data"][0]["marker"]["color"]
    assert set(np.frombuffer(base64.b64decode(packed["bdata"]), packed["dtype"])) == {0.0, 1.0}


def test_the_map_can_be_taken_away_as_data_and_as_a_drawing(chart):
    files = {button.proto.id.split("-")[-1] for button in chart.get("download_button")}
    assert {"map_cases:csv", "map_cases:png", "map_cases:svg"} <= files


def test_a_region_is_in_the_link_and_holds_what_lies_there_in_every_slice(open_page, chart):
    chart.session_state["region"] = ["box:4.00,3.00,12.00,9.00"]
    chart.run()
    assert chart.query_params["region"] == "box:4.00,3.00,12.00,9.00"
    [of_val] = [text.value for text in chart.subheader if "The region" in text.value]
    again = open_page("map", split="val", region="box:4.00,3.00,12.00,9.00")
    assert of_val in [text.value for text in again.subheader]
    other = open_page("map", split="test", region="box:4.00,3.00,12.00,9.00")
    assert any("of 899 cases" in text.value for text in other.subheader)


def test_a_cleared_region_leaves_the_link(open_page):
    page = open_page("map", split="val", region="box:4.00,3.00,12.00,9.00")
    next(button for button in page.button if button.label == "Clear the region").click().run()
    assert "region" not in page.query_params


@pytest.mark.parametrize("nonsense", ["box", "box:1,2,3", "lasso:a,b", "lasso:nan,1,2,2,inf,3", "circle:1,2", "case:"])
def test_a_link_with_a_region_nobody_can_read_opens_without_one(open_page, nonsense):
    page = open_page("map", split="val", region=nonsense)
    assert not page.exception
    assert page.info
