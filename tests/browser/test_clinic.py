"""A day in the clinic with the page alone: a run activated, cases, worklist, answers, outcomes, comparison."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from clinic_days import arriving, known, turned_out
from playwright.sync_api import Page, expect
from visits import settled, shown_in

from mpd2.cli.bench.ui import PATIENCE

PATIENT = 2000 * PATIENCE  # milliseconds; what is watched is calibrated once, for some seconds
CASES = known(80)


@pytest.fixture
def clinic(visit) -> Page:
    page = visit("clinic")
    page.set_viewport_size({"width": 1280, "height": 720})
    yield page
    page.close()


def press(page: Page, label: str | re.Pattern[str]) -> None:
    page.get_by_role("button", name=label).first.click()
    settled(page)


def look_at(page: Page, part: str) -> None:
    page.get_by_test_id("stButtonGroup").get_by_text(part, exact=True).click()
    settled(page)


def send(page: Page, key: str, path: Path) -> None:
    page.locator(f".st-key-{key}_file input[type=file]").set_input_files(path)
    take = page.locator(f".st-key-{key}_take").get_by_role("button")
    expect(take).to_be_enabled(timeout=PATIENT)
    take.click()


def says(page: Page, words: str | re.Pattern[str]) -> None:
    expect(page.get_by_test_id("stMain").get_by_text(words).first).to_be_visible(timeout=PATIENT)
    settled(page)


def on_screen(page: Page, words: str) -> None:
    """Something that can be seen without scrolling."""
    box = page.get_by_test_id("stMain").get_by_text(words).first.bounding_box()
    assert box is not None
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 720


def test_a_day_from_intake_to_worklist_to_answers_to_outcomes(clinic, tmp_path):
    says(clinic, "No run is activated for the clinic yet")
    clinic.get_by_label("Why it should be used").fill("to be watched")
    clinic.get_by_label("Why it should be used").press("Enter")
    settled(clinic)
    press(clinic, re.compile("^how_to_vote Propose|^Propose"))
    says(clinic, "proposed by local")
    press(clinic, re.compile("Activate it"))
    says(clinic, "nobody in yet")

    cases, outcomes = tmp_path / "cases.csv", tmp_path / "outcomes.csv"
    cases.write_bytes(arriving(CASES))
    outcomes.write_bytes(turned_out(CASES))
    send(clinic, "intake", cases)
    says(clinic, "80 cases taken in.")
    says(clinic, re.compile(r"80 in · \d+ sent to a reader · \d+ unread"))
    for words in ("Today, ", "Since ", "Watch:", "Setting of the day"):
        on_screen(clinic, words)
    with clinic.expect_download(timeout=PATIENT) as download:
        clinic.get_by_role("button", name="Example day").click()
    assert Path(download.value.path()).read_text(encoding="utf-8").startswith("case_id,time,")

    look_at(clinic, "Worklists")
    says(clinic, re.compile(r"The answer of "))
    before = int(re.search(r"(\d+) unread", clinic.get_by_test_id("stMain").inner_text())[1])
    clinic.get_by_test_id("stButtonGroup").get_by_text("Healthy", exact=True).click()
    settled(clinic)
    press(clinic, "Save the answer")
    says(clinic, re.compile("the answer is kept. (Now .* is asked|Nobody else is asked)"))
    now = int(re.search(r"(\d+) unread", clinic.get_by_test_id("stMain").inner_text())[1])
    assert now in (before, before - 1)

    look_at(clinic, "Outcomes")
    send(clinic, "outcomes", outcomes)
    says(clinic, "80 outcomes taken in.")
    says(clinic, re.compile("what it would have done against what was done: missed"))
    for part in ("Compared", "Watch", "Readers", "Setting of the day"):
        look_at(clinic, part)
        expect(clinic.get_by_test_id("stAlertContentError")).to_have_count(0)
    expect(clinic).to_have_url(re.compile("clinic_tab=setting"), timeout=PATIENT)
    for scheme in ("dark", "light"):
        shown_in(clinic, scheme)
        look_at(clinic, "Compared")
        expect(clinic.get_by_test_id("stVegaLiteChart")).to_have_count(2)
