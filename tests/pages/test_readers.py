"""The Readers page."""

import pytest

from mpd2.core.policy import decided_cases
from mpd2.core.workspace import DEFAULT
from mpd2.studio.readers.texts import TOPICS
from mpd2.studio.shell import store
from mpd2.studio.shell.scenario import Scenario


@pytest.fixture
def readers(open_page):
    return open_page("readers", split="val")


def test_it_opens_and_counts_the_readers_it_beats(readers):
    assert not readers.exception
    assert readers.markdown[0].value.startswith("**MPD² (studio) has a higher F1 than ")
    assert " of 12 readers" in readers.markdown[0].value


def test_the_number_of_readers_it_beats_is_that_of_the_table(readers):
    sheet = readers.dataframe[0].value
    assert f"than {(sheet['difference'] > 0).sum()} of {len(sheet)} readers" in readers.markdown[0].value


def test_every_reader_has_a_row_with_tier_and_fee(readers):
    sheet = readers.dataframe[0].value
    assert len(sheet) == 12
    assert set(sheet["tier"]) == {"A", "B", "C"}
    assert sheet.loc[sheet["title"] == "Chákṣu 1", "fee"].item() == 0.31


def test_a_reader_is_scored_on_the_cases_they_have_read(readers):
    cases = Scenario(split="val").slice(store.cohort(DEFAULT))
    place = [reader.name for reader in cases.manifest.readers].index("Chákṣu 5")
    read = cases.available[:, place]
    answers, truth = cases.decisions[read, place], cases.truth[read]
    row = readers.dataframe[0].value.set_index("title").loc["Chákṣu 5"]
    assert row["n"] == read.sum()
    assert row["FN"] == ((answers == 0) & (truth == 1)).sum()
    assert row["FP"] == ((answers == 1) & (truth == 0)).sum()
    assert row["Sens"] == pytest.approx(100 * answers[truth == 1].mean())
    assert row["Spec"] == pytest.approx(100 * (1 - answers[truth == 0].mean()))
    assert row["difference"] == pytest.approx(row["method_f1"] - row["F1"])
    assert row["low"] < row["difference"] < row["high"]


def test_a_capacity_says_who_would_be_overloaded(open_page):
    page = open_page("readers", split="val", readers_topic="workload")
    page.number_input(key="capacity").set_value(40).run()
    assert not page.exception
    assert "Above 40 cases: " in page.markdown[1].value
    page.number_input(key="capacity").set_value(800).run()
    assert "Nobody is asked about more than 800 cases." in page.markdown[1].value


def test_a_link_with_a_capacity_opens_the_workload(open_page):
    page = open_page("readers", split="val", capacity="40")
    assert page.session_state["readers_topic"] == "workload"
    assert "Above 40 cases: " in page.markdown[1].value


def test_a_cohort_alone_leaves_out_readers_who_have_read_none_of_it(open_page):
    page = open_page("readers", split="val", cohorts=["chaksu"])
    assert not page.exception
    assert " of 5 readers" in page.markdown[0].value
    assert len(page.dataframe[0].value) == 5


def test_the_ai_alone_can_be_the_active_run(open_page):
    page = open_page("readers", split="val", run="ai", readers_topic="workload")
    assert not page.exception
    assert page.markdown[1].value == "No reader is asked: every case is kept."


def test_a_rule_that_overrules_the_ai_is_counted_apart_from_it(open_page):
    page = open_page("readers", split="val", run="mpd2-plus", readers_topic="workload")
    cases = decided_cases(
        store.outcome("mpd2-plus", Scenario("mpd2-plus", "val", floor=None)).decisions,
        store.cases(Scenario(split="val")),
    )
    [told] = [text.value for text in page.caption if text.value.startswith("The AI's own word decides ")]
    assert f"decides {cases[0]:.0f} cases, the rule against the AI {cases[1]:.0f}, a reader " in told


@pytest.mark.parametrize("topic", TOPICS)
def test_a_tab_draws_its_charts_with_words_for_those_who_cannot_see_them(open_page, topic):
    page = open_page("readers", split="val", readers_topic=topic)
    assert not page.exception
    charts = page.get("arrow_vega_lite_chart") or page.get("vega_lite_chart")
    assert len(charts) == (3 if topic == "workload" else 2)
    assert all(chart.proto.alt for chart in charts)
