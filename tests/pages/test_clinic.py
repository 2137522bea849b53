"""The Clinic page: a day from intake to worklist to readings to outcomes."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import pandas as pd
import pytest
from clinic_days import RUN, arriving, known, turned_out, use
from streamlit.testing.v1 import AppTest

from mpd2.clinic.access.actor import LOCAL
from mpd2.clinic.shadow.intake import take_in
from mpd2.lab.activation import standing
from mpd2.lab.jobs.folder import PLACE, Workshop
from mpd2.lab.shadowing import Shadow
from mpd2.studio.clinic.texts import TABS

CASES = known(60)


@pytest.fixture
def place(tmp_path, monkeypatch) -> Workshop:
    """A workshop in which nothing was done yet."""
    monkeypatch.setenv(PLACE, str(tmp_path))
    return Workshop.here()


@pytest.fixture
def watching(place) -> Iterator[Workshop]:
    """A workshop with a run in use."""
    use(place)
    yield place
    Shadow.here(place).store.close()


def said(page: AppTest) -> str:
    kinds = (page.markdown, page.caption, page.text, page.info, page.success, page.warning, page.error)
    words = "\n".join(str(each.value) for kind in kinds for each in kind)
    return words.replace("\\", "").replace("\N{NO-BREAK SPACE}", " ")


def send(page: AppTest, key: str, data: bytes) -> AppTest:
    """A file, and the button that takes it in."""
    page.file_uploader(key=f"{key}_file").upload("day.csv", data, "text/csv").run()
    assert not page.exception
    return page.button(key=f"{key}_take").click().run()


def look_at(page: AppTest, tab: str) -> AppTest:
    page.segmented_control(key="clinic_tab").set_value(tab).run()
    assert not page.exception
    return page


def test_without_a_run_in_use_it_says_what_to_do_and_the_local_user_can_do_it(open_page, place):
    page = open_page("clinic")
    assert not page.exception
    assert "No run is activated for the clinic yet" in page.info[0].value
    assert "nothing in care changes" in said(page)
    page.text_input(key="clinic_reason").set_value("to be watched").run()
    page.button(key="clinic_propose").click().run()
    assert "glaucoma/studio: proposed by local" in said(page)
    page.button(key="clinic_activate").click().run()
    assert not page.exception
    assert standing(place).active.proposal.run == "glaucoma/studio"
    assert "nobody in yet" in said(page)
    Shadow.here(place).store.close()


def test_a_proposal_without_a_reason_is_refused_in_words(open_page, place):
    page = open_page("clinic")
    page.button(key="clinic_propose").click().run()
    assert not page.exception
    assert "reason" in page.toast[0].value
    assert standing(place).proposal is None


def test_a_day_from_intake_to_worklist_to_readings_to_outcomes(open_page, watching):
    page = send(open_page("clinic"), "intake", arriving(CASES))
    assert f"{len(CASES)} cases taken in" in said(page)
    assert f"{len(CASES)} in · " in said(page)
    waits = Shadow.here(watching).snapshot().waiting
    asked = {column: int((waits == column).sum()) for column in set(waits.tolist()) - {""}}
    assert f"{sum(asked.values())} unread" in said(page)

    look_at(page, "worklists")
    reader = page.selectbox(key="clinic_reader").value
    assert asked[reader] == max(asked.values())
    first = page.dataframe[0].value["case_id"].iloc[0]
    page.segmented_control(key="answer_says").set_value(0).run()
    page.button(key="answer_save").click().run()
    assert not page.exception
    assert f"{first}: the answer is kept." in said(page)
    now = Shadow.here(watching).snapshot()
    row = now.cohort.ids.tolist().index(first)
    assert now.cohort.decisions[row, now.cohort.manifest.columns.index(reader)] == 0
    assert now.waiting[row] != reader

    send(look_at(page, "outcomes"), "outcomes", turned_out(CASES))
    assert f"{len(CASES)} outcomes taken in" in said(page)
    assert "what it would have done against what was done: missed" in said(page)
    look_at(page, "compared")
    table = page.dataframe[0].value
    assert {"all"} <= set(table["part"])
    assert table["interval"].str.contains(" to ").any()
    charts = page.get("vega_lite_chart")
    assert len(charts) == 2
    assert all(chart.proto.alt for chart in charts)


def test_the_same_file_again_changes_nothing_and_bad_rows_are_refused_alone(open_page, watching):
    page = send(open_page("clinic"), "intake", arriving(CASES))
    before = Shadow.here(watching).store.version()
    page.button(key="intake_take").click().run()
    assert f"{len(CASES)} cases there before, unchanged" in said(page)
    assert Shadow.here(watching).store.version() == before
    spoiled = arriving(known(62)).decode().splitlines()
    spoiled[61] = spoiled[61].replace(spoiled[61].split(",")[0], "![x](http://a.b)", 1).replace("2026", "never", 1)
    page = send(page, "intake", "\n".join(spoiled).encode())
    assert "1 case taken in" in said(page)
    assert "1 row refused" in said(page)
    refused = next(each.value for each in page.dataframe if "found" in each.value)
    assert refused["row"].tolist() == [62]


@pytest.mark.parametrize("tab", TABS)
def test_every_part_opens_by_its_link_with_cases_and_without(open_page, watching, tab):
    page = open_page("clinic", clinic_tab=tab)
    assert not page.exception
    assert not page.error
    send(open_page("clinic"), "intake", arriving(CASES))
    page = open_page("clinic", clinic_tab=tab)
    assert not page.exception
    assert not page.error
    assert page.session_state["clinic_tab"] == tab


def test_it_goes_by_the_run_in_use_and_not_by_the_sidebar(open_page, watching):
    page = open_page("clinic", run="studio")
    assert f"It goes by {RUN}" in said(page)
    assert "not by the active run in the sidebar" in said(page)
    assert any(f"{RUN}: active since" in str(each.help).replace("\\", "") for each in page.caption)


def test_a_setting_holds_from_its_day_on_and_stands_in_the_history(open_page, watching):
    page = open_page("clinic", clinic_tab="setting")
    page.number_input(key="set_budget").set_value(10.0)
    page.button(key="FormSubmitter:clinic_setting-Let it hold").click().run()
    assert not page.exception
    assert "10 % of cases sent" in said(page)
    assert len(next(each.value for each in page.dataframe if "what" in each.value)) == 1
    (made,) = Shadow.here(watching).store.settings()
    assert made.day["budget"] == "0.1"
    page.selectbox(key="set_point").set_value("ai")
    page.button(key="FormSubmitter:clinic_setting-Let it hold").click().run()
    page.selectbox(key="set_point").set_value("keep")
    page.number_input(key="set_cases").set_value(200)
    page.number_input(key="set_first").set_value(300)
    page.button(key="FormSubmitter:clinic_setting-Let it hold").click().run()
    assert not page.exception
    _, second, third = Shadow.here(watching).store.settings()
    assert second.weight is not None
    assert (third.weight, third.day["budget"], third.day["day"]) == (second.weight, "0.1", "200")
    assert (second.compare_with, third.compare_with) == (None, 300)
    assert "compared with the first 300 cases" in said(page)


def test_a_clinicians_other_choice_is_kept_with_its_reason(open_page, watching):
    page = look_at(send(open_page("clinic"), "intake", arriving(CASES)), "worklists")
    page.selectbox(key="override_choice").set_value("ai").run()
    page.text_input(key="override_reason").set_value("seen last week").run()
    page.button(key="override_save").click().run()
    assert not page.exception
    assert "the other choice is in the record" in said(page)
    assert (Shadow.here(watching).snapshot().chosen == "ai").sum() == 1


def test_what_has_drifted_rings_in_words_and_is_acknowledged_with_a_reason_alone(open_page, watching):
    far = known(150).assign(vCDR=lambda rows: (rows["vCDR"].astype(float) + 0.3).clip(upper=0.99).astype(str))
    page = send(open_page("clinic"), "intake", arriving(far))
    assert "Stop suggested" in said(page)
    assert "Nothing is stopped by itself" in said(page)
    look_at(page, "watch")
    rung = next(each.value for each in page.dataframe if "first" in each.value)
    assert ("Vertical CDR", "higher") in list(zip(rung["label"], rung["side"], strict=True))
    page.selectbox(key="clinic_monitor").set_value("input vCDR").run()
    chart = page.get("vega_lite_chart")[0].proto
    assert "Vertical CDR: evidence of a change over 150 values" in chart.alt
    ring = Shadow.here(watching).store.acknowledgements
    page.button(key="clinic_acknowledge").click().run()
    assert any("reason" in each.value for each in page.error)
    assert not ring()
    while page.get("selectbox") and any(each.key == "clinic_alarm" for each in page.selectbox):
        page.text_input(key="clinic_alarm_reason").set_value("a new device; its pictures are looked at").run()
        page.button(key="clinic_acknowledge").click().run()
        assert not page.exception
    assert {each.reason for each in ring()} == {"a new device; its pictures are looked at"}
    assert "since" not in next(each.value for each in page.markdown if each.value.startswith("**Watch:**"))


def test_what_a_file_says_is_never_markup(open_page, watching):
    cases = known(40)
    cases["case_id"] += "![x](http://a.b) <b>"
    page = look_at(send(open_page("clinic"), "intake", arriving(cases)), "worklists")
    drawn = [str(each.value) for kind in (page.markdown, page.caption, page.success) for each in kind]
    assert any("http" in words for words in drawn)
    assert not [words for words in drawn if "](http" in words or "<b>" in words.replace("\\<", "")]


def test_a_viewer_sees_the_figures_and_no_case_and_may_change_nothing(watching, open_as):
    page = open_as("clinic", "mpd2-viewer")
    assert not page.exception
    page.file_uploader(key="intake_file").upload("day.csv", arriving(CASES), "text/csv").run()
    assert "upload a table: you are signed in as viewer" in said(page)
    page = look_at(page, "worklists")
    assert not page.dataframe
    assert look_at(page, "setting").button(key="FormSubmitter:clinic_setting-Let it hold").disabled


def test_a_reader_finds_their_own_worklist_and_nobody_elses(watching, open_as, tmp_path):
    take_in(
        pd.read_csv(io.BytesIO(arriving(CASES)), dtype=str, keep_default_na=False),
        Shadow.here(watching).store, Shadow.here(watching).deciders, by=LOCAL,
    )  # fmt: skip
    page = open_as("clinic", "mpd2-reader")
    look_at(page, "worklists")
    (line,) = re.findall(r'"(\S+)" = "a reader', said(page).replace("\\", ""))
    waits = Shadow.here(watching).snapshot().waiting
    column = next(name for name in waits.tolist() if name)
    with (tmp_path / "settings.toml").open("a") as settings:
        settings.write(f'[clinic.readers]\n"{line}" = "{column}"\n')
    page.run()
    assert not page.exception
    assert [option.rpartition(" (")[0] for option in page.selectbox(key="clinic_reader").options] == [
        Shadow.here(watching).manifest.readers[Shadow.here(watching).manifest.columns.index(column)].name
    ]
    assert len(page.dataframe[0].value) == (waits == column).sum()
    assert page.button(key="override_save").disabled
