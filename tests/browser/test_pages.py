"""Every page in a browser: by its link, at every width, in light and dark."""

from itertools import pairwise

import pytest
from playwright.sync_api import expect
from visits import FITS, settled, shown_in

from mpd2.cli.bench.ui import ROOT
from mpd2.core.manifest import load_manifest
from mpd2.studio.shell.glossary import banner
from mpd2.studio.shell.registry import DEFAULT, PAGES

THERE = [entry for entry in reversed(PAGES) if entry.path.exists()]  # the page at "/" last: first links must be deep
BANNER = banner(load_manifest(ROOT / "data" / "glaucoma" / "manifest.toml"))
WIDTHS = (1600, 1280, 390)
BEAMER = {"width": 1280, "height": 720}


@pytest.fixture(scope="module", params=THERE, ids=lambda entry: entry.key)
def entry(request):
    return request.param


@pytest.fixture(scope="module")
def page(entry, visit):
    page = visit("" if entry.key == DEFAULT else entry.key)
    yield page
    page.close()


def heading_levels(page) -> list[int]:
    """From 1 to 6, in the order of the page."""
    found = page.get_by_test_id("stMain").locator("h1, h2, h3, h4, h5, h6")
    return [int(tag[1]) for tag in found.evaluate_all("all => all.map((one) => one.tagName)")]


def test_its_link_leads_to_it_within_the_frame(page, entry):
    expect(page.get_by_role("heading", level=1, name=entry.title, exact=True)).to_be_visible()
    expect(page.get_by_text(entry.question).first).to_be_visible()
    expect(page.get_by_text(BANNER)).to_be_visible()
    expect(page.get_by_test_id("stSidebar").get_by_text("Active run")).to_be_visible()
    for other in THERE:
        expect(page.get_by_test_id("stSidebarNav").get_by_role("link", name=other.title, exact=True)).to_be_attached()


def test_headings_never_skip_a_level(page):
    levels = heading_levels(page)
    assert levels[:2] == [1, 2]
    assert all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("part", ["card", "data", "sources"])
def test_no_part_of_about_skips_a_level(visit, part):
    page = visit(f"about?part={part}")
    levels = heading_levels(page)
    page.close()
    assert set(levels) >= {1, 2, 3}
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_default_page_can_be_linked_by_its_name_too(visit):
    page = visit(f"{DEFAULT}?split=val&run=paper&cohorts=refuge&cohorts=origa&view=collapse")
    expect(page.get_by_role("heading", level=1, name="Overview", exact=True)).to_be_visible()
    expect(page.get_by_text("Page not found")).to_have_count(0)
    expect(
        page.get_by_text("MPD² (paper), at the AI's own sensitivity, on the val cases of REFUGE, ORIGA")
    ).to_be_visible()
    expect(page.get_by_test_id("stMain").get_by_role("radio", name="Spread of readings")).to_be_checked()
    page.close()


@pytest.mark.parametrize(
    ("path", "kind", "charts"), [("?run=mpd2-plus&point=ai", "stImage", 2), ("readers", "stVegaLiteChart", 1)]
)
def test_the_main_charts_are_above_the_fold_of_a_beamer(visit, path, kind, charts):
    page = visit(path)
    page.set_viewport_size(BEAMER)
    page.wait_for_timeout(500)  # charts follow the window with a delay
    drawn = page.get_by_test_id("stMain").get_by_test_id(kind)
    boxes = [drawn.nth(place).bounding_box() for place in range(charts)]
    page.close()
    assert all(box["y"] + box["height"] <= BEAMER["height"] for box in boxes)


@pytest.mark.parametrize("width", WIDTHS)
def test_it_is_never_wider_than_the_window(page, width):
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_timeout(500)  # charts follow the window with a delay
    page.wait_for_function(FITS, arg=width)
    page.set_viewport_size({"width": 1280, "height": 900})


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_it_follows_the_colours_of_the_system(page, scheme):
    settled(shown_in(page, scheme))
