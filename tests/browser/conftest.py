"""A real server and a real browser. Every visit fails on an error in the console or a request to another host."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, expect
from visits import settled

from mpd2.cli.bench.ui import PATIENCE, browsing, serving
from mpd2.lab.jobs.folder import PLACE

PROBES = ("/_stcore/health", "/_stcore/host-config")  # on a deep link the client first looks for these beside the page

Visit = Callable[[str], Page]


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[str]:
    """The address of a fresh server, with a workshop of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(PLACE, str(tmp_path_factory.mktemp("workshop")))
        with serving() as started:
            yield started.address


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A browser; that there is none is a failure."""
    with browsing() as started:
        yield started


@pytest.fixture(scope="session")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """One browser profile, so that the client's code is loaded once."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(1000 * PATIENCE)
    expect.set_options(timeout=1000 * PATIENCE)
    yield context
    context.close()


@pytest.fixture(scope="module")
def visit(server: str, context: BrowserContext) -> Iterator[Visit]:
    """Open a path of the server in a session of its own, and wait until the page is all there."""
    problems: list[str] = []

    def open_path(path: str = "") -> Page:
        page = context.new_page()
        page.on("console", lambda message: problems.extend(_error(message)))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: problems.extend(_stranger(request, server)))
        page.goto(f"{server}/{path}")
        return settled(page)

    yield open_path
    assert problems == []


def _error(message: ConsoleMessage) -> list[str]:
    expected = message.location["url"].endswith(PROBES)
    return [f"{message.text} ({message.location['url']})"] if message.type == "error" and not expected else []


def _stranger(request: Request, server: str) -> list[str]:
    own = request.url.startswith((server, server.replace("http", "ws", 1), "data:", "blob:"))
    return [] if own else [f"request to {request.url}"]
