"""A real server and a real browser. Every visit fails on an error in the console or a request to another host."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request, sync_playwright
from visits import PATIENCE, ROOT, settled

PROBES = ("/_stcore/health", "/_stcore/host-config")  # on a deep link the client first looks for these beside the page

Visit = Callable[[str], Page]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a fresh server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    log = tmp_path_factory.mktemp("server") / "log.txt"
    options = ["--server.port", str(port), "--server.address", "127.0.0.1", "--server.headless", "true"]
    with (
        log.open("wb") as file,
        subprocess.Popen(
            [sys.executable, "-m", "streamlit", "run", "app.py", *options], cwd=ROOT, stdout=file, stderr=file
        ) as process,
    ):
        try:
            _wait_for(address, process, log)
            yield address
        finally:
            process.terminate()


def _wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = monotonic() + PATIENCE
    while monotonic() < end and process.poll() is None:
        try:
            with urlopen(f"{address}/_stcore/health", timeout=5):
                return
        except (URLError, OSError):
            sleep(0.2)
    pytest.fail(f"the server did not start:\n{log.read_text(encoding='utf-8')}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium as the system has it."""
    program = shutil.which("chromium")
    if program is None:
        pytest.fail("found no chromium; `make system` installs it on Debian")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """One browser profile, so that the client's code is loaded once."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(1000 * PATIENCE)
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
