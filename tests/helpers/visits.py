"""What tests in a browser do over and over."""

from __future__ import annotations

import tomllib

from playwright.sync_api import Page, expect

from mpd2.cli.bench.ui import ROOT, settle

THEME = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))["theme"]
FITS = """(width) => [document.documentElement, document.querySelector('[data-testid=stMain]')]
    .every(part => part.scrollWidth <= width)"""
"""Whether a page is no wider than a window; to be waited for, because charts follow the window with a delay."""


def settled(page: Page) -> Page:
    """The page, once nothing runs any more; it must have no exception on it."""
    settle(page)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    return page


def shown_in(page: Page, scheme: str) -> Page:
    """The page, once it has the background that is set for a scheme of the system's, which is dark or light."""
    page.emulate_media(color_scheme=scheme)
    red, green, blue = bytes.fromhex(THEME[scheme]["backgroundColor"].removeprefix("#"))
    expect(page.get_by_test_id("stApp")).to_have_css("background-color", f"rgb({red}, {green}, {blue})")
    return page


def slice_of(page: Page) -> str:
    """What the page says it is about: run, slice and number of cases."""
    return page.get_by_text(" cases of ").filter(has_text="n = ").first.inner_text()
