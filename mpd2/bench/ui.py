"""How fast the dashboard is: a real server, a real browser, and visitors who go from page to page."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic, perf_counter, sleep
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import numpy as np

from mpd2.errors import UserError
from mpd2.studio.registry import DEFAULT, PAGES, PageEntry

if TYPE_CHECKING:  # only this benchmark and the tests need a browser
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]
PATIENCE = 60  # seconds, on a busy machine
AT_REST = '[data-testid="stApp"][data-test-script-state="notRunning"]'


@dataclass(frozen=True)
class Server:
    """A server that answers."""

    address: str
    process: int
    start_seconds: float  # until it was healthy

    def megabytes(self) -> float | None:
        """The memory it holds; none where the system does not say."""
        status = Path(f"/proc/{self.process}/status")
        if not status.is_file():
            return None
        kilobytes = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS")).split()[1]
        return int(kilobytes) / 1024


@contextmanager
def serving() -> Iterator[Server]:
    """A fresh server on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--server.port", str(port), "--server.address", "127.0.0.1", "--server.headless", "true"]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", *options]
    start = perf_counter()
    with TemporaryFile() as log, subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log) as process:
        try:
            address = f"http://127.0.0.1:{port}"
            if not _healthy(address, process):
                log.seek(0)
                raise UserError(f"the server did not start:\n{log.read().decode()}")
            yield Server(address, process.pid, perf_counter() - start)
        finally:
            process.terminate()


@contextmanager
def browsing() -> Iterator[Browser]:
    """Chromium as the system has it."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise UserError("found no playwright; `pip install -r requirements-dev.txt` brings it") from None
    program = shutil.which("chromium")
    if program is None:
        raise UserError("found no chromium; `make system` installs it on Debian")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


def settle(page: Page, title: str | None = None) -> None:
    """Wait until a page has a title, the one given if any, and nothing runs any more."""
    page.get_by_role("heading", level=1, name=title, exact=True).wait_for(timeout=1000 * PATIENCE)
    page.locator(AT_REST).wait_for(timeout=1000 * PATIENCE)


def bench_ui(visits: int = 50) -> dict[str, Any]:
    """Time the dashboard; plain values, ready for JSON.

    A visit is a new session that opens one page and goes on to the next; the pages take turns. The first round is left
    out of the times, because it also fills the caches that all visitors share.
    """
    pages = [entry for entry in PAGES if entry.path.exists()]
    with serving() as server, browsing() as browser:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        first_view = _open(context.new_page(), server, next(entry for entry in pages if entry.key == DEFAULT))
        before = server.megabytes()
        turns = list(islice(cycle(zip(pages, [*pages[1:], pages[0]], strict=True)), len(pages) + visits))
        opened, switched = [], []
        for here, there in turns:
            page = context.new_page()
            opened.append(_open(page, server, here))
            switched.append(_switch(page, there))
            page.close()
        return {
            "setting": {"pages": len(pages), "visits": visits},
            "start_seconds": server.start_seconds,
            "first_view_seconds": first_view,
            "open_seconds": _spread(opened[len(pages) :]),
            "switch_seconds": _spread(switched[len(pages) :]),
            "megabytes": {"after_first_view": before, "after_visits": server.megabytes()},
        }


def _open(page: Page, server: Server, entry: PageEntry) -> float:
    start = perf_counter()
    page.goto(f"{server.address}/{'' if entry.key == DEFAULT else entry.key}")
    settle(page, entry.title)
    return perf_counter() - start


def _switch(page: Page, entry: PageEntry) -> float:
    start = perf_counter()
    page.get_by_test_id("stSidebarNav").get_by_role("link", name=entry.title).click()
    settle(page, entry.title)
    return perf_counter() - start


def _spread(seconds: list[float]) -> dict[str, float]:
    p50, p95 = np.percentile(seconds, [50, 95])
    return {"p50": float(p50), "p95": float(p95)}


def _healthy(address: str, process: subprocess.Popen[bytes]) -> bool:
    """Whether a server comes to answer before patience ends."""
    end = monotonic() + PATIENCE
    while monotonic() < end and process.poll() is None:
        try:
            with urlopen(f"{address}/_stcore/health", timeout=5):
                return True
        except OSError:
            sleep(0.1)
    return False
