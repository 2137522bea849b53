"""What only a browser can show: links, downloads, uploads and selections on a chart."""

import re
from io import BytesIO, StringIO
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
from playwright.sync_api import expect
from pptx import Presentation
from visits import settled, slice_of

from mpd2.cli.bench.ui import PATIENCE, ROOT
from mpd2.core.manifest import load_manifest
from mpd2.lab.uploads import example_table

TABLE = ROOT / "data" / "glaucoma" / "glaucoma.csv"
COHORT = load_manifest(ROOT / "data" / "glaucoma" / "manifest.toml").cohorts[0].name
VAL = "readers?split=val"


@pytest.fixture
def about(visit):
    """A page about the val cases."""
    page = visit(VAL)
    yield page
    page.close()


def upload(page, table: str) -> None:
    file = {"name": "clinic.csv", "mimeType": "text/csv", "buffer": table.encode()}
    page.locator("input[type=file]").set_input_files([file])


def report(page, label: str) -> tuple[str, bytes]:
    """Name and content of a report that is downloaded from the sidebar."""
    page.get_by_role("button", name="Report").click()
    with page.expect_download() as download:
        page.get_by_role("button", name=label).click()
    return download.value.suggested_filename, Path(download.value.path()).read_bytes()


def test_a_shared_link_shows_the_same_slice(about, visit):
    about.get_by_role("button", name=COHORT, exact=True).click()
    expect(about.get_by_text(f"val cases of {COHORT}, n = ")).to_be_visible()
    other = visit(about.url.split("/", 3)[3])
    assert slice_of(other) == slice_of(about)
    other.close()


def test_the_menu_keeps_the_run_and_the_slice_and_names_them_by_their_keys(visit):
    page = visit(f"{VAL}&run=paper&cohorts=chaksu")
    here = slice_of(page)
    assert here.startswith("MPD² (paper), at the AI's own sensitivity, on the val cases of Chákṣu")
    page.get_by_role("link", name="Risk").click()
    expect(page.get_by_role("heading", level=1, name="Risk", exact=True)).to_be_visible()
    assert slice_of(settled(page)) == here
    page.get_by_role("radio", name="Structural risk").click()
    page.wait_for_url("**/risk?*signal=structural*")
    said = parse_qs(urlsplit(page.url).query)
    assert said == {"split": ["val"], "run": ["paper"], "cohorts": ["chaksu"], "signal": ["structural"]}
    page.go_back()
    page.wait_for_url(lambda address: "signal" not in address)
    settled(page).go_back()
    expect(page.get_by_role("heading", level=1, name="Readers", exact=True)).to_be_visible(timeout=PATIENCE * 1000)
    page.close()


def test_a_chart_can_be_taken_away_as_a_picture(about):
    about.get_by_test_id("stMain").get_by_test_id("stPopover").first.get_by_role("button").click()
    with about.expect_download() as download:
        about.get_by_role("button", name="PNG", exact=True).click()
    assert download.value.suggested_filename.endswith(".png")
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")


def test_the_numbers_of_a_table_can_be_downloaded_whole(visit):
    page = visit("?view=paper&units=rates")
    with page.expect_download() as download:
        page.get_by_test_id("stDownloadButton").get_by_role("button", name="CSV").click()
    rows = pd.read_csv(download.value.path())
    page.close()
    pd.testing.assert_frame_equal(rows, pd.read_csv(ROOT / "data" / "glaucoma" / "tables" / "overall.csv"))


def test_the_page_to_read_is_about_the_slice(about):
    name, content = report(about, "Page to read")
    assert re.fullmatch(r"mpd2-[\w-]+-val-all-\w+\.html", name)
    assert "val cases of all cohorts" in content.decode()


def test_the_slides_are_about_the_slice(about):
    name, content = report(about, "Slides to edit")
    assert re.fullmatch(r"mpd2-[\w-]+-val-all-\w+\.pptx", name)
    deck = Presentation(BytesIO(content))
    assert "val cases of all cohorts" in deck.core_properties.title


def test_a_sound_table_is_tried_out(visit):
    page = visit("your_data?own=trial")
    upload(page, example_table(TABLE))
    expect(page.get_by_text("Are they like the training cases?")).to_be_visible(timeout=60_000)
    settled(page).close()


def test_a_broken_table_is_refused_with_the_place_of_every_fault(visit):
    page = visit("your_data?own=trial")
    broken = pd.read_csv(StringIO(example_table(TABLE)), dtype=str)
    broken.loc[2, "vCDR"] = "http://x.test ![x](http://x.test)"
    upload(page, broken.to_csv(index=False))
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("row 4, column vCDR: found http://x.test ![x](http://x.test)", timeout=60_000)
    expect(alert.locator("a, img")).to_have_count(0)
    expect(page.get_by_text("Are they like the training cases?")).to_have_count(0)
    settled(page).close()


def test_a_box_on_the_map_describes_its_cases(visit):
    page = visit("map?split=val&layout=one")
    chart = page.locator(".js-plotly-plot .nsewdrag").first
    chart.wait_for()
    chart.scroll_into_view_if_needed()
    page.locator('[data-title="Box Select"]').first.click(force=True)
    place = chart.bounding_box()
    page.mouse.move(place["x"] + place["width"] * 0.1, place["y"] + place["height"] * 0.1)
    page.mouse.down()
    page.mouse.move(place["x"] + place["width"] * 0.8, place["y"] + place["height"] * 0.8, steps=5)
    page.mouse.up()
    expect(page.get_by_text("The region: ")).to_be_visible(timeout=60_000)
    assert "region=box" in settled(page).url
    page.close()


def test_a_note_is_taken_away_with_its_case(visit):
    page = visit("case?case=r455")
    page.get_by_role("button", name="Note").click()
    page.get_by_label("Note on case r455").fill("<b>Look</b> again")
    page.get_by_role("button", name="Keep the note").click()
    expect(page.get_by_text("Kept: 17 characters.")).to_be_visible()
    settled(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Case with the kept note").click()
    assert "<b>Look</b> again" in Path(download.value.path()).read_text(encoding="utf-8")
    page.close()


def test_the_font_comes_from_here(about):
    loaded = "[...document.fonts].filter(face => face.status === 'loaded').map(face => face.family)"
    assert any("Inter" in family for family in about.evaluate(f"document.fonts.ready.then(() => {loaded})"))
