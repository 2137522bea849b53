"""The Budget page in a browser: dragged, by keyboard, from a link, and downloaded."""

import re
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import expect
from visits import settled

from mpd2.cli.bench.slider import Visitor, connected
from mpd2.cli.bench.ui import PATIENCE

SOON = 1000 * PATIENCE
MOVES = 24
WATCH = """(number) => {
  window.seen = [];
  let last = number.textContent;
  new MutationObserver(() => {
    if (number.textContent !== last) {
      last = number.textContent;
      window.seen.push(performance.now());
    }
  }).observe(number, { subtree: true, childList: true, characterData: true });
}"""


@pytest.fixture
def budget(visit):
    page = visit("budget?split=val&budget_topic=moved")
    yield page
    page.close()


def slider(page):
    return page.get_by_role("slider", name="Share of cases sent")


def sent(page):
    return page.get_by_role("group", name="Read of 1,000").locator(".value")


def cards(page):
    return page.locator("#cards > [role=group]")


def look_at(page, topic: str):
    page.get_by_role("radio", name=topic, exact=True).click()
    return settled(page)


def place(page, share: float) -> tuple[float, float]:
    """Where on the screen the slider is at a share."""
    box = slider(page).bounding_box()
    thumb = 8  # half of its width
    return box["x"] + thumb + share * (box["width"] - 2 * thumb), box["y"] + box["height"] / 2


def hold(page, share: float) -> None:
    slider(page).scroll_into_view_if_needed()
    page.mouse.move(*place(page, share))
    page.mouse.down()


def test_numbers_follow_while_the_slider_is_dragged(budget):
    before = sent(budget).inner_text()
    hold(budget, 0.6)
    expect(sent(budget)).not_to_have_text(before, timeout=SOON)
    held = sent(budget).inner_text()
    budget.mouse.move(*place(budget, 0.1))
    expect(sent(budget)).not_to_have_text(held, timeout=SOON)
    assert "budget=" not in budget.url  # nothing is settled yet
    budget.mouse.up()
    budget.wait_for_url("**budget=0.*")
    expect(budget.get_by_text("no longer sent").first).to_be_visible(timeout=SOON)
    settled(budget)


@pytest.mark.parametrize("limits", ["", "&total=400&day=885"], ids=["known beforehand", "sent by the server"])
def test_numbers_while_dragged_are_those_of_the_same_step_at_rest(visit, limits):
    page = visit(f"budget?split=val&run=studio&point=cheapest&budget=0.5{limits}")
    hold(page, 0.4)
    expect(sent(page)).to_have_text(re.compile(r"^4[01]\d\."), timeout=SOON)
    page.mouse.move(*place(page, 0.2))
    expect(sent(page)).to_have_text(re.compile(r"^20\d\."), timeout=SOON)
    dragged = cards(page).all_inner_texts()
    assert "budget=0.5" in page.url
    page.mouse.up()
    page.wait_for_url("**budget=0.2*")
    settled(page)
    expect(cards(page)).to_have_text(dragged, use_inner_text=True, timeout=SOON)
    page.close()


def test_numbers_do_not_wait_for_the_server(visit):
    page = visit("budget?split=val&budget=0.5")
    page.context.set_offline(True)
    slider(page).focus()
    page.keyboard.press("Home")
    expect(sent(page)).to_have_text("0.0")
    page.context.set_offline(False)
    page.close()


def test_every_number_says_what_it_is_to_a_keyboard_too(budget):
    help_button = budget.get_by_role("button", name="Help on Missed of 1,000")
    tip = budget.get_by_role("tooltip").filter(has_text="Positives whose final answer").first
    expect(tip).to_be_hidden()
    slider(budget).focus()
    help_button.focus()
    budget.keyboard.press("Shift+Tab")
    budget.keyboard.press("Tab")
    expect(help_button).to_be_focused()
    expect(tip).to_be_visible()
    budget.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def test_slider_numbers_and_charts_are_on_the_first_screen_of_a_projector(visit):
    page = visit("budget?split=val")
    page.set_viewport_size({"width": 1280, "height": 720})
    settled(page)
    charts = page.get_by_test_id("stVegaLiteChart")
    expect(charts).to_have_count(2, timeout=SOON)
    for part in (slider(page), *cards(page).all(), *charts.all()):
        box = part.bounding_box()
        assert box["y"] + box["height"] <= 720
    page.close()


def test_numbers_of_the_second_row_follow_too(budget):
    second = budget.get_by_role("group", name="Expert cost").locator(".value")
    slider(budget).focus()
    budget.keyboard.press("Home")
    expect(second).to_have_text("0.000", timeout=SOON)
    settled(budget)


def test_how_long_a_number_takes_to_follow_is_told(budget, capsys):
    hold(budget, 0.5)
    budget.wait_for_timeout(1000)
    sent(budget).evaluate(WATCH)
    waits = []
    for move in range(MOVES):
        x, y = place(budget, 0.2 + 0.02 * move)
        known = budget.evaluate("window.seen.length")
        start = budget.evaluate("performance.now()")
        budget.mouse.move(x, y)
        budget.wait_for_function(f"window.seen.length > {known}", polling=5)
        waits.append(budget.evaluate(f"window.seen[{known}]") - start)
        budget.wait_for_timeout(100)
    budget.mouse.up()
    p50, p95 = np.percentile(waits, [50, 95])
    with capsys.disabled():
        print(f"\nslider to number: median {p50:.0f} ms, 95 % {p95:.0f} ms over {MOVES} moves")
    assert len(waits) == MOVES
    settled(budget)


def test_a_move_sends_little(server):
    address = server.replace("http", "ws", 1)
    with connected(address) as connection:
        visitor = Visitor(connection)
        visitor.open()
        sizes = [visitor.move(position)[1] for position in (20, 90)]
    assert max(sizes) < 100_000


def test_keys_move_it_too(budget):
    slider(budget).focus()
    budget.keyboard.press("Home")
    expect(sent(budget)).to_have_text("0.0", timeout=SOON)
    budget.keyboard.press("End")
    expect(sent(budget)).to_have_text("1000.0", timeout=SOON)
    budget.keyboard.press("ArrowLeft")
    meaning = "99.5\xa0% = 881 of 885 cases (298.6 a day of 300)"
    expect(slider(budget)).to_have_attribute("aria-valuetext", meaning, timeout=SOON)
    budget.wait_for_url("**budget=0.995*")
    settled(budget)


def test_a_link_shows_the_same_scenario(budget, visit):
    budget.get_by_role("button", name="Example days").click()
    budget.get_by_role("button", name="Screening camp").click()
    budget.wait_for_url("**reserve=*")
    expect(sent(budget)).to_have_text("200.0", timeout=SOON)
    shown = settled(budget).locator("#cards .value").all_inner_texts()
    other = visit(budget.url.split("/", 3)[3])
    expect(other.locator("#cards .value")).to_have_text(shown, timeout=SOON)
    other.close()


def test_the_plain_slider_is_as_good(visit):
    page = visit("budget?split=val&live=false&budget=0.25")
    plain = page.get_by_role("slider", name="Share of cases sent")
    plain.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**budget=0.255*")
    expect(sent(page)).to_have_text("255.4", timeout=SOON)
    settled(page).close()


def test_the_worklist_is_downloaded_with_its_assignments(budget):
    look_at(budget, "Worklist")
    with budget.expect_download() as download:
        budget.get_by_role("button", name="Worklist (CSV)").click()
    rows = pd.read_csv(StringIO(Path(download.value.path()).read_text(encoding="utf-8")))
    assert len(rows) == 885
    assert f"{1000 * (rows['decided_by'] == 'a reader').mean():.1f}" == sent(budget).inner_text()


def test_a_case_that_moved_is_one_click_away(visit):
    page = visit("budget?split=val&budget_topic=moved")
    slider(page).focus()
    page.keyboard.press("Home")
    page.wait_for_url("**budget=0*")
    table = settled(page).get_by_test_id("stDataFrame").filter(has=page.locator("canvas")).last
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    page.mouse.click(box["x"] + 12, box["y"] + 52)  # the box before the first row
    expect(page.get_by_role("heading", level=1, name="Case", exact=True)).to_be_visible(timeout=SOON)
    settled(page).close()
