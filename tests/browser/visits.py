"""What tests in a browser do over and over."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect

ROOT = Path(__file__).parents[2]
PATIENCE = 60  # seconds, on a busy machine


def settled(page: Page) -> Page:
    """Wait until a page has a title and nothing runs any more; it must have no exception on it."""
    page.get_by_role("heading", level=1).wait_for()
    expect(page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]')).to_be_visible(
        timeout=1000 * PATIENCE
    )
    expect(page.get_by_test_id("stException")).to_have_count(0)
    return page


def slice_of(page: Page) -> str:
    """What the page says it is about: run, slice and number of cases."""
    return page.get_by_text(" cases of ").filter(has_text="n = ").first.inner_text()
