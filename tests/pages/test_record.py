"""The Record page, and a case's history on Case."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from records import READER, act

from mpd2.clinic.access.actions import Action
from mpd2.clinic.installation import kept_record
from mpd2.clinic.record.search import PAGE, Search
from mpd2.clinic.settings import SETTINGS


@pytest.fixture
def record(tmp_path, monkeypatch):
    """A record with more entries than a page holds."""
    (tmp_path / "settings.toml").write_text('[record]\nfolder = "record"\nsecond_place = "second"\n')
    monkeypatch.setenv(SETTINGS, str(tmp_path / "settings.toml"))
    kept = kept_record()
    act(kept, PAGE + 5, READER, Action.SEE_CASE)
    yield kept
    kept.close()


def press(page, label):
    return next(button for button in page.button if button.label == label).click().run()


def shown(page) -> list[int]:
    return list(page.dataframe[0].value["number"])


def test_without_a_record_the_page_says_how_there_would_be_one(open_page):
    page = open_page("record")
    assert not page.exception
    assert "No record is kept here" in page.info[0].value
    assert "[record]" in page.code[0].value


def test_it_shows_the_newest_entries_and_turns_to_older_ones(open_page, record):
    page = open_page("record")
    assert not page.exception
    first = shown(page)
    assert len(first) == PAGE
    page = press(page, "Older")
    second = shown(page)
    assert first[-1] > second[0]
    assert min(second) == 1
    newest = shown(press(page, "Newer"))
    assert newest[-2:] == first[-4:-2], "two looks were recorded meanwhile, and stand first"


def test_a_search_narrows_by_person_case_action_and_day(open_page, record):
    page = open_page("record")
    page.text_input(key="record_person").set_value("rhea").run()
    assert set(page.dataframe[0].value["who"]) == {"rhea"}
    page.text_input(key="record_case").set_value("case-3").run()
    assert shown(page) == [entry.number for entry in record.search(Search(case="case-3", person="rhea"))]
    page.selectbox(key="record_action").set_value("train").run()
    assert page.info[0].value == "No entry fits this search."
    page.selectbox(key="record_action").set_value("any").run()
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date()
    page.date_input(key="record_since").set_value(tomorrow).run()
    assert page.info[0].value == "No entry fits this search."
    assert not page.exception


def test_looking_is_recorded_once_for_the_same_search_and_the_case_by_its_pseudonym(open_page, record):
    page = open_page("record")
    page.text_input(key="record_case").set_value("case-1").run()
    page.run()
    looks = record.search(Search(action=Action.SEE_RECORD))
    assert len(looks) == 2
    assert looks[0].case == record.search(Search(case="case-1", person="rhea"))[0].case
    assert "case-1" not in looks[0].text()


def test_verifying_says_in_words_that_all_is_whole_and_that_the_end_is_not_held(open_page, record):
    page = press(open_page("record"), "Verify the record")
    assert "The record is whole" in page.success[0].value
    assert "a missing end shows only against a checkpoint" in page.success[0].value


def test_the_entries_shown_can_be_downloaded(open_page, record):
    page = open_page("record")
    assert [button.proto.label for button in page.get("download_button") if button.proto.label == "CSV"]


def test_a_case_has_its_history_where_a_record_is_kept(open_page, record):
    page = open_page("case", case="r455")
    assert "History" in [tab.label for tab in page.tabs]
    page.session_state["case_tab"] = "History"
    page.run()
    assert not page.exception
    assert set(page.dataframe[0].value["action"]) == {"see a case"}


def test_where_the_record_has_a_gap_nobody_gets_in_and_the_reason_is_said(open_page, record):
    record.close()
    record.storage.file.unlink()
    page = open_page("record")
    assert not page.exception
    assert "audit verify" in page.warning[0].value.replace("\\", "")
