"""The New case page in a browser: a photograph is dropped, its outlines are dragged, and numbers and route follow."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from imaging_studio import NAME, eyes, jpeg, photograph_workspace, tiny_pipeline
from playwright.sync_api import Locator, Page, expect
from visits import FITS, settled

from mpd2.cli.bench.ui import PATIENCE
from mpd2.evaluation.map import MapParameters, fit_map, save_map
from mpd2.lab.jobs.folder import Workshop

SOON = 2000 * PATIENCE  # milliseconds; the networks are loaded for the first photograph
LINK = f"workspace={NAME}&run=mpd2-plus&point=cheapest"


@pytest.fixture(scope="module")
def workspace(server: str) -> Iterator[None]:
    """Rendered eyes with networks of their own and a map, in the server's workshop until these tests are over."""
    made = photograph_workspace(Workshop.here(), cases=64)
    tiny_pipeline(made.folder / "imaging")
    save_map(fit_map(made.cohort(), MapParameters()), made.map)
    yield
    shutil.rmtree(made.folder)


@pytest.fixture
def dropped(visit, workspace: None, tmp_path: Path) -> Iterator[Page]:
    """The page with a photograph whose outlines are both there."""
    file = tmp_path / "eye.jpg"
    file.write_bytes(jpeg(eyes(2)[1]))
    page = visit(f"new_case?{LINK}")
    page.locator("input[type=file]").set_input_files(file)
    begin = page.get_by_role("button", name="Draw the outlines")  # these networks may find no cup
    expect(begin.or_(outline(page, "Cup")).first).to_be_visible(timeout=SOON)
    if begin.count():
        begin.click()
    expect(outline(page, "Cup")).to_be_visible(timeout=SOON)
    yield settled(page)
    page.close()


def outline(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=re.compile(f"^{name}: "))


def ratio(page: Page) -> str:
    return number(page).inner_text()


def number(page: Page) -> Locator:
    metric = page.get_by_test_id("stMetric").filter(has_text="Vertical CDR")
    return metric.get_by_test_id("stMetricValue")


def test_numbers_follow_an_outline_that_is_dragged_and_come_back(dropped: Page) -> None:
    before = ratio(dropped)
    outline(dropped, "Cup").focus()
    handle = outline(dropped, "Cup").locator(".handle.bottom")
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    dropped.mouse.move(x, y)
    dropped.mouse.down()
    for step in range(1, 6):
        dropped.mouse.move(x, y - 4 * step)
    expect(number(dropped)).not_to_have_text(before, timeout=SOON)  # while it is held
    dropped.mouse.up()
    settled(dropped)
    assert float(ratio(dropped)) < float(before)
    dropped.get_by_role("button", name="Outlines as found").click()
    expect(dropped.get_by_text("corrected by hand")).to_have_count(0, timeout=SOON)
    settled(dropped)


def test_keys_move_size_and_turn_an_outline(dropped: Page) -> None:
    cup = outline(dropped, "Cup")
    before = cup.get_attribute("aria-label")
    cup.focus()
    for keys in ("ArrowLeft", "Shift+ArrowUp", "r"):
        dropped.keyboard.press(keys)
    expect(cup).not_to_have_attribute("aria-label", before or "")
    expect(dropped.get_by_text("corrected by hand")).to_be_visible(timeout=SOON)
    settled(dropped)


def test_the_photograph_and_the_decision_are_on_the_first_screen_of_a_beamer(dropped: Page) -> None:
    dropped.set_viewport_size({"width": 1280, "height": 720})
    dropped.evaluate("document.querySelector('[data-testid=stMain]').scrollTo(0, 0)")
    dropped.wait_for_timeout(500)
    for element in (dropped.locator("#picture"), dropped.get_by_text("Expected cost").first):
        assert element.bounding_box()["y"] < 500
    for width in (1600, 390):
        dropped.set_viewport_size({"width": width, "height": 900})
        dropped.wait_for_timeout(500)
        dropped.wait_for_function(FITS, arg=width)


def test_the_numbers_open_on_case(dropped: Page) -> None:
    shown = ratio(dropped)
    dropped.get_by_role("link", name="Open these numbers on Case").click()
    expect(dropped.get_by_role("heading", level=1, name="Case", exact=True)).to_be_visible(timeout=SOON)
    settled(dropped)
    slider = dropped.get_by_test_id("stSlider").filter(has_text="Vertical CDR")
    expect(slider).to_contain_text(shown, timeout=SOON)


def test_a_point_of_the_map_shows_its_photograph(visit, workspace: None) -> None:
    page = visit(f"map?{LINK}&layout=one")
    chart = page.locator(".st-key-map .js-plotly-plot")
    expect(chart).to_be_visible(timeout=SOON)
    box = chart.bounding_box()
    card = page.locator("#card")
    for place in range(40 * 20):
        page.mouse.move(box["x"] + box["width"] * (place % 40) / 40, box["y"] + box["height"] * (place // 40) / 20)
        if page.locator(".hovertext").count():
            break
    expect(card).to_be_visible(timeout=SOON)
    assert (card.locator("img").get_attribute("src") or "").startswith("data:image/jpeg")
    settled(page).close()
