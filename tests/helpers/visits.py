"""What tests in a browser do over and over."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from mpd2.cli.bench.ui import settle


def settled(page: Page) -> Page:
    """The page, once nothing runs any more; it must have no exception on it."""
    settle(page)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    return page


def slice_of(page: Page) -> str:
    """What the page says it is about: run, slice and number of cases."""
    return page.get_by_text(" cases of ").filter(has_text="n = ").first.inner_text()
