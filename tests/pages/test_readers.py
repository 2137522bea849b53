"""The Readers page."""

import pytest


@pytest.fixture
def readers(open_page):
    return open_page("readers", split="val")


def test_it_opens_and_counts_the_readers_it_beats(readers):
    assert not readers.exception
    assert readers.markdown[0].value.startswith("MPD² (studio) has a higher F1 than ")
    assert " of 12 readers" in readers.markdown[0].value


def test_every_reader_has_a_row_with_tier_and_fee(readers):
    sheet = readers.dataframe[0].value
    assert len(sheet) == 12
    assert set(sheet["tier"]) == {"A", "B", "C"}
    assert sheet.loc[sheet["title"] == "Chákṣu 1", "fee"].item() == 0.31


def test_a_capacity_says_who_would_be_overloaded(readers):
    readers.number_input(key="capacity").set_value(40).run()
    assert not readers.exception
    assert "Above 40 cases: " in readers.markdown[1].value
    readers.number_input(key="capacity").set_value(800).run()
    assert "Nobody is asked about more than 800 cases." in readers.markdown[1].value


def test_a_cohort_alone_leaves_out_readers_who_have_read_none_of_it(open_page):
    page = open_page("readers", split="val", cohorts=["chaksu"])
    assert not page.exception
    assert " of 5 readers" in page.markdown[0].value
    assert len(page.dataframe[0].value) == 5


def test_the_ai_alone_can_be_the_active_run(open_page):
    page = open_page("readers", split="val", run="ai")
    assert not page.exception
    assert page.markdown[1].value == "No reader is asked: the AI decides every case."


def test_every_chart_has_words_for_those_who_cannot_see_it(readers):
    charts = readers.get("arrow_vega_lite_chart") or readers.get("vega_lite_chart")
    assert len(charts) == 6
    assert all(chart.proto.alt for chart in charts)
