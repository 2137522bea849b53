"""A visitor brings a table, columns as they are, and has every page for it; then gives it away and removes it."""

from __future__ import annotations

import re
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from playwright.sync_api import Page, TimeoutError, expect
from visits import settled

from mpd2.cli.bench.ui import PATIENCE, ROOT
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces import shelf

PATIENT = 2000 * PATIENCE  # milliseconds; a worker is nice to everybody else
TABLE = ROOT / "data" / "ecg" / "ecg.csv"
TRIES = 30
STEPS = ("Files", "Columns", "Readers and costs", "Checks and splits", "Build")


@pytest.fixture
def guide(visit) -> Page:
    page = visit("your_data")
    yield page
    page.close()


def drop(page: Page, path: Path) -> None:
    place = page.get_by_test_id("stFileUploader").filter(has_text="Your cases")
    place.locator("input[type=file]").set_input_files(path)


def next_step(page: Page, title: str) -> None:
    page.get_by_role("button", name="Next").click()
    step = page.get_by_role("button", name=re.compile(rf"^\d {title}$"))
    expect(step).to_have_attribute("kind", "primary", timeout=PATIENT)
    settled(page)


def go_to(page: Page, title: str) -> None:
    page.get_by_role("link", name=title, exact=True).click()
    expect(page.get_by_role("heading", level=1, name=title, exact=True)).to_be_visible(timeout=PATIENT)
    settled(page)


def fill(page: Page, label: str, value: str) -> None:
    field = page.get_by_label(label, exact=True)
    field.fill(value)
    field.press("Enter")
    settled(page)


def edit_cell(page: Page, row: int, x: int) -> None:
    """Open the editor of a cell; the table is drawn on a canvas, some time after the page says that all is there."""
    editor = page.locator("[id^='gdg-overlay']")
    for _ in range(TRIES):
        box = page.get_by_test_id("stDataFrame").first.bounding_box()
        page.mouse.dblclick(box["x"] + x, box["y"] + 36 + 35 * (row + 0.5))
        try:
            editor.wait_for(timeout=2000)
        except TimeoutError:
            continue
        return
    raise AssertionError(f"the cell of row {row} was not opened in {TRIES} tries")


def test_the_raw_table_is_imported_built_opened_retrained_exported_and_removed(guide):
    # 1 to 5: nothing has to be changed
    drop(guide, TABLE)
    expect(guide.get_by_text("ecg.csv: 4,962 rows, 15 columns")).to_be_visible(timeout=PATIENT)
    settled(guide)
    for title in STEPS[1:]:
        next_step(guide, title)
    expect(guide.get_by_text("4,962 cases, 158 of them positive, of 827 exams")).to_be_visible(timeout=PATIENT)
    assert not shelf.own_workspaces(Workshop.here())
    guide.get_by_text("Small: two models a method").click()
    settled(guide)
    guide.get_by_role("button", name="Save and build").click()
    expect(guide.get_by_text("A first answer is ready.")).to_be_visible(timeout=PATIENT)
    guide.get_by_role("button", name="Cancel").click()  # one job runs at a time, and a training comes below
    expect(guide.get_by_text("what was made is kept")).to_be_visible(timeout=PATIENT)
    (made,) = shelf.own_workspaces(Workshop.here())

    # every page is about it
    guide.locator(".st-key-import_open").get_by_role("button").click()
    guide.wait_for_url(f"**workspace={made.name}*", timeout=PATIENT)
    expect(guide.get_by_role("heading", level=1, name="Overview", exact=True)).to_be_visible(timeout=PATIENT)
    expect(guide.get_by_text("n = 1428").or_(guide.get_by_text("n = 1,428")).first).to_be_visible(timeout=PATIENT)
    for title in ("Case", "Budget", "Readers"):
        go_to(guide, title)
        assert f"workspace={made.name}" in guide.url
    expect(guide.get_by_text("Cardiology residents").first).to_be_attached(timeout=PATIENT)

    # retrained without GSDP
    go_to(guide, "Retrain")
    guide.get_by_text("GSDP", exact=True).first.click()
    settled(guide)
    fill(guide, "Seeds", "2")
    guide.get_by_text("More settings").click()
    fill(guide, "Width", "4")
    fill(guide, "Epochs", "4")
    fill(guide, "Name", "Without the prior")
    guide.get_by_role("button", name="Train", exact=True).click()
    expect(guide.get_by_text("Effect of the change: Without the prior")).to_be_visible(timeout=PATIENT)
    settled(guide)

    # given away and removed
    go_to(guide, "Your data")
    guide.get_by_text("Open or keep a workspace").click()
    settled(guide)
    row = guide.locator(f".st-key-shelf_{made.name}")
    with guide.expect_download(timeout=PATIENT) as download:
        row.get_by_role("button", name="Export").click()
    packed = zipfile.ZipFile(BytesIO(Path(download.value.path()).read_bytes()))
    assert {"manifest.toml", "digests.json", "runs/mpd2-plus/config.json"} <= set(packed.namelist())
    row.get_by_role("button", name="Remove").click()
    expect(guide.get_by_text(re.compile("Removed for good: .*1 own run"))).to_be_visible(timeout=PATIENT)
    guide.get_by_role("button", name="Remove for good").click()
    told = guide.locator(".st-key-shelf_told").get_by_test_id("stAlert")  # also why it was refused
    expect(told).to_be_visible(timeout=PATIENT)
    assert f"Removed {made.name}" in told.inner_text()
    settled(guide)
    assert not shelf.own_workspaces(Workshop.here())
    assert not made.folder.exists()


def test_a_column_is_changed_in_the_table_of_columns(visit):
    page = visit("your_data")
    drop(page, TABLE)
    expect(page.get_by_text("ecg.csv: 4,962 rows, 15 columns")).to_be_visible(timeout=PATIENT)
    settled(page)
    next_step(page, "Columns")
    edit_cell(page, row=4, x=300)  # the truth's row, the column "is"
    page.keyboard.type("left out")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No column is the truth")).to_be_visible(timeout=PATIENT)
    expect(page.get_by_role("button", name="Next")).to_be_disabled()
    settled(page).close()
