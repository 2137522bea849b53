"""How fast the dashboard is: a real server, a real browser, and visitors who go from page to page."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic, perf_counter, sleep
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import numpy as np

from mpd2.cli.bench.watch import Moment, clicked, opened, watch
from mpd2.cli.output import say
from mpd2.core.errors import UserError
from mpd2.core.files import ROOT
from mpd2.core.workspace import DEFAULT as WORKSPACE
from mpd2.evaluation.curves import risk_signals
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces.shelf import find
from mpd2.studio.readers.texts import TOPICS
from mpd2.studio.risk.texts import SIGNALS
from mpd2.studio.shell.registry import DEFAULT, PAGES, PageEntry

if TYPE_CHECKING:  # only this benchmark and the tests need a browser
    from playwright.sync_api import Browser, BrowserContext, Page

PATIENCE = 120  # seconds, on a busy machine
CHANGES = (("risk", SIGNALS["structural"]), ("readers", TOPICS["workload"]))
"""A page, and a choice on its first screen that draws its charts anew; the second where a table has no structure."""
MEASURES = fields(Moment)
AT_REST = '[data-testid="stApp"][data-test-script-state="notRunning"]'


@dataclass(frozen=True)
class Server:
    """A server that answers."""

    address: str
    process: int
    start_seconds: float  # until it answered
    query: str = ""  # of every link

    def megabytes(self) -> float | None:
        """The memory it holds; none where the system does not say."""
        status = Path(f"/proc/{self.process}/status")
        if not status.is_file():
            return None
        kilobytes = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS")).split()[1]
        return int(kilobytes) / 1024

    def cpu_seconds(self) -> float | None:
        """What it has computed so far, all cores together; none where the system does not say."""
        status = Path(f"/proc/{self.process}/stat")
        if not status.is_file():
            return None
        user, system = status.read_text().rpartition(")")[2].split()[11:13]  # after its name come state and numbers
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def timed(self, look: Callable[[], Moment]) -> Moment:
        """What something took, with what the server computed for it."""
        before = self.cpu_seconds()
        took = look()
        after = self.cpu_seconds()
        return took if before is None or after is None else replace(took, cpu_seconds=after - before)


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
            if not _answers(address, process):
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


@dataclass(frozen=True)
class Step:
    """Something a visitor did."""

    deed: str  # open, switch or change
    page: str
    took: Moment


def bench_ui(visits: int = 50, workspace: str = WORKSPACE) -> dict[str, Any]:
    """Time the dashboard on a workspace; plain values, ready for JSON.

    A visit is a new session that opens one page and goes on to the next; the pages take turns. The first round is left
    out of the times and of the growth of memory, because it also fills the caches that all visitors share.
    """
    pages = [entry for entry in PAGES if entry.path.exists()]
    say("starting the server")
    change = CHANGES[0 if "structural" in risk_signals(find(workspace, Workshop.here()).manifest().layout) else 1]
    setting = {"workspace": workspace, "pages": len(pages), "visits": visits, "change": f"{change[1]} on {change[0]}"}
    query = "" if workspace == WORKSPACE else f"?workspace={workspace}"
    with serving() as started, browsing() as browser:
        server = replace(started, query=query)
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(1000 * PATIENCE)
        first_view = _open(_new_page(context), server, next(entry for entry in pages if entry.key == DEFAULT))
        turns = cycle(zip(pages, [*pages[1:], pages[0]], strict=True))
        say(f"one visit to each of {len(pages)} pages")
        for here, there in islice(turns, len(pages)):
            _visit(_new_page(context), server, here, there, change)
        before = server.megabytes()
        say(f"{visits} visits to time")
        steps = [
            step
            for here, there in islice(turns, visits)
            for step in _visit(_new_page(context), server, here, there, change)
        ]
        return {
            "setting": setting,
            "start_seconds": server.start_seconds,
            "first_view": asdict(first_view.took),
            **spreads(steps),
            "pages": {entry.key: medians([step for step in steps if step.page == entry.key]) for entry in pages},
            "megabytes": {"after_first_round": before, "after_visits": server.megabytes()},
        }


def spreads(steps: list[Step]) -> dict[str, dict[str, dict[str, float]]]:
    """Median and 95 % of every measure of a moment that is known, by what was done."""
    taken: dict[str, list[Moment]] = {}
    for step in steps:
        taken.setdefault(step.deed, []).append(step.took)
    values = {deed: {part.name: [getattr(m, part.name) for m in taken[deed]] for part in MEASURES} for deed in taken}
    return {
        deed: {name: _spread(each) for name, each in measures.items() if None not in each}
        for deed, measures in values.items()
    }


def medians(steps: list[Step]) -> dict[str, dict[str, float]]:
    """The medians alone."""
    return {deed: {name: spread["p50"] for name, spread in each.items()} for deed, each in spreads(steps).items()}


def _new_page(context: BrowserContext) -> Page:
    page = context.new_page()
    watch(page)
    return page


def _visit(page: Page, server: Server, here: PageEntry, there: PageEntry, change: tuple[str, str]) -> list[Step]:
    link = page.get_by_test_id("stSidebarNav").get_by_role("link", name=there.title, exact=True)
    go_there = partial(clicked, link, there.title, PATIENCE)
    steps = [_open(page, server, here), Step("switch", there.key, server.timed(go_there))]
    if there.key == change[0]:
        choice = page.get_by_role("radio", name=change[1], exact=True)
        steps.append(Step("change", there.key, server.timed(partial(clicked, choice, there.title, PATIENCE))))
    page.close()
    return steps


def _open(page: Page, server: Server, entry: PageEntry) -> Step:
    address = f"{server.address}/{'' if entry.key == DEFAULT else entry.key}{server.query}"
    return Step("open", entry.key, server.timed(partial(opened, page, address, entry.title, PATIENCE)))


def _spread(values: list[float]) -> dict[str, float]:
    p50, p95 = np.percentile(values, [50, 95])
    return {"p50": float(p50), "p95": float(p95)}


def _answers(address: str, process: subprocess.Popen[bytes]) -> bool:
    """Whether a server comes to answer before patience ends."""
    end = monotonic() + PATIENCE
    while monotonic() < end and process.poll() is None:
        try:
            with urlopen(f"{address}/_stcore/health", timeout=5):
                return True
        except OSError:
            sleep(0.1)
    return False
