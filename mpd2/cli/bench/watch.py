"""When a page has come to rest, measured inside the page: whoever asked from outside would slow it down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mpd2.core.errors import UserError

if TYPE_CHECKING:  # only benchmarks and tests need a browser
    from playwright.sync_api import Locator, Page

QUIET = 400  # milliseconds without a change after which everything counts as drawn; they are not part of any time

SCRIPT = """
{
  let received = 0;
  const Plain = window.WebSocket;
  window.WebSocket = class extends Plain {
    constructor(...given) {
      super(...given);
      this.addEventListener("message", ({ data }) => { received += data.byteLength ?? data.size ?? data.length; });
    }
  };
  const find = (part) => document.querySelector(`[data-testid="${part}"]`);
  const state = () => find("stApp")?.getAttribute("data-test-script-state");
  const heading = () => find("stMain")?.querySelector("h1")?.textContent.trim();
  const awaited = () => find("stMain").querySelector('[data-testid="stSkeleton"]');  // a part whose code is on its way

  window.settled = ([title, quiet, patience], act) => new Promise((resolve) => {
    const start = act ? performance.now() : 0;  // the clock of a page starts when it is asked for
    const before = act ? received : 0;
    let rest = null, drawn = null, timer = null;
    const end = (found) => { watcher.disconnect(); clearTimeout(timer); clearTimeout(limit); resolve(found); };
    const look = (changes) => {
      const now = performance.now() - start;
      if (state() !== "notRunning") { rest = null; clearTimeout(timer); return; }
      if (received === before || heading() !== title) return;  // a run can be too short to be seen, but not unheard
      rest ??= now;
      if (drawn === null || changes.some(({ target }) => find("stMain").contains(target))) {
        drawn = now;
        clearTimeout(timer);
        timer = setTimeout(() => {
          if (!awaited()) end({ rest, drawn: Math.max(rest, drawn), received: received - before });
        }, quiet);
      }
    };
    const watcher = new MutationObserver(look);
    const limit = setTimeout(() => end(null), patience);
    watcher.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    act?.();
    look([]);
  });
}
"""


@dataclass(frozen=True)
class Moment:
    """What a page took to show something."""

    rest_seconds: float  # until nothing ran any more
    drawn_seconds: float  # until nothing changed any more, charts included
    kilobytes: float  # that the server sent meanwhile
    cpu_seconds: float | None = None  # that the server computed meanwhile; none where the system does not say


def watch(page: Page) -> None:
    """Let a new page watch itself."""
    page.add_init_script(SCRIPT)


def opened(page: Page, address: str, title: str, patience: float) -> Moment:
    """Open an address in a page that watches itself, and wait until it shows `title` and all below it."""
    page.goto(address, wait_until="commit")
    return _moment(page.evaluate("(given) => settled(given)", _given(title, patience)), title)


def clicked(target: Locator, title: str, patience: float) -> Moment:
    """Click on something, and wait until the page has run again and shows `title` and all below it."""
    found = target.evaluate("(element, given) => settled(given, () => element.click())", _given(title, patience))
    return _moment(found, title)


def _given(title: str, patience: float) -> list[str | float]:
    return [title, QUIET, 1000 * patience]


def _moment(found: dict[str, float] | None, title: str) -> Moment:
    if found is None:
        raise UserError(f"the page {title} did not come to rest")
    return Moment(found["rest"] / 1000, found["drawn"] / 1000, found["received"] / 1024)
