"""The Map page."""

import base64
import json

import numpy as np
import pytest


@pytest.fixture
def chart(open_page):
    return open_page("map", split="val")


def figure(page):
    return json.loads(page.get("plotly_chart")[0].proto.spec)


def choose(page, ids):
    page.session_state["region"] = ids
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


def test_a_region_stays_until_it_is_forgotten(chart):
    choose(chart, ids_of(chart)[:60])
    chart.toggle(key="averaged").set_value(False).run()
    assert chart.subheader[-1].value == "The region: 60 of 885 cases"
    next(button for button in chart.button if button.label == "Forget the region").click().run()
    assert chart.info


def test_a_small_region_comes_with_a_warning(chart):
    choose(chart, ids_of(chart)[:3])
    assert any("Fewer than 20 cases" in text.value for text in chart.caption)


def test_a_region_of_every_case_has_no_rest(chart):
    choose(chart, ids_of(chart))
    assert not chart.exception
    assert chart.dataframe[0].value["rest"].str.startswith("–").all()


def test_a_region_of_another_slice_is_forgotten(chart):
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


def test_single_cases_are_right_or_wrong(chart):
    chart.toggle(key="averaged").set_value(False).run()
    packed = figure(chart)["data"][0]["marker"]["color"]
    assert set(np.frombuffer(base64.b64decode(packed["bdata"]), packed["dtype"])) == {0.0, 1.0}


def test_the_map_can_be_taken_away_as_data_and_as_a_drawing(chart):
    files = {button.proto.id.split("-")[-1] for button in chart.get("download_button")}
    assert {"map_cases:csv", "map_cases:png", "map_cases:svg"} <= files
