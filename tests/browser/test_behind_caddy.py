"""Two processes behind Caddy, over HTTPS: every page within its policy, and a visit that outlives its process."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from time import monotonic
from urllib.request import urlopen

import pytest
from places import ROOT
from playwright.sync_api import Browser, Page, expect
from proxies import Proxy, proxying
from visits import settled

from mpd2.cli.bench.ui import PATIENCE, Server, serving, settle
from mpd2.lab.jobs.folder import PLACE
from mpd2.studio.server.headers import security_headers
from mpd2.studio.shell.registry import PAGES

LISTEN = """window.violations = []; document.addEventListener("securitypolicyviolation",
    (event) => window.violations.push(`${event.violatedDirective}: ${event.blockedURI}`));"""
HSTS = "Strict-Transport-Security"
MOST_SECONDS = 20  # until a visitor whose process died is back


@dataclass(frozen=True)
class Installation:
    """A proxy and the processes behind it."""

    proxy: Proxy
    servers: list[Server]

    def visits(self) -> list[int]:
        """How many visits each process has now."""
        return [number(server, "active_sessions") for server in self.servers]


def number(server: Server, name: str) -> int:
    with urlopen(f"{server.address}/_stcore/metrics?families=active_sessions&families=session_events") as answer:
        return int(re.search(rf"^{re.escape(name)} (\d+)$", answer.read().decode(), re.MULTILINE)[1])


@pytest.fixture(scope="module")
def installation(tmp_path_factory) -> Iterator[Installation]:
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv(PLACE, str(tmp_path_factory.mktemp("workshop")))
        with ThreadPoolExecutor() as side_by_side:
            servers = list(side_by_side.map(stack.enter_context, [serving(), serving()]))
        proxy = stack.enter_context(proxying([each.address for each in servers], tmp_path_factory.mktemp("caddy")))
        yield Installation(proxy, servers)


@pytest.fixture(scope="module")
def page(installation: Installation, browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, ignore_https_errors=True)
    context.set_default_timeout(1000 * PATIENCE)
    context.add_init_script(LISTEN)
    page = context.new_page()
    page.goto(f"{installation.proxy.address}/?run=paper")
    yield settled(page)
    context.close()


def test_every_answer_has_the_documented_headers_and_goes_over_tls_alone(installation):
    answer = installation.proxy.get("/")
    documented = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    assert {name: answer.headers[name] for name in security_headers()} == security_headers()
    assert answer.headers[HSTS] == "max-age=31536000"
    assert [name for name in (*security_headers(), HSTS) if name not in documented] == []
    assert not answer.headers.get("Server")
    cookies = [
        *answer.headers.get_all("Set-Cookie"),
        *installation.proxy.get("/_stcore/health").headers.get_all("Set-Cookie"),
    ]
    assert {cookie.split("=")[0] for cookie in cookies} >= {"mpd2_process", "_streamlit_xsrf"}
    assert [cookie for cookie in cookies if "; Secure" not in cookie] == []


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/_stcore/metrics/", "/_stcore/./metrics", "/x/_stcore/metrics"])
def test_no_visitor_reads_the_numbers(installation, path):
    answer = installation.proxy.get(path, **{"X-Forwarded-For": "127.0.0.1"})
    assert "active_sessions" not in answer.read().decode()


def test_every_page_keeps_to_the_policy_and_loads_nothing_from_elsewhere(installation, page):
    strangers: list[str] = []
    page.on(
        "request",
        lambda request: (
            strangers.append(request.url)
            if not re.match(rf"({re.escape(installation.proxy.address)}/|data:|blob:)", request.url)
            else None
        ),
    )
    for entry in PAGES:
        page.get_by_test_id("stSidebarNav").get_by_role("link", name=entry.title, exact=True).click()
        settle(page, entry.title)
        expect(page.get_by_test_id("stException")).to_have_count(0)
        if entry.key == "map":  # a chart that may not compile says so in its place, and nowhere else
            page.locator(".js-plotly-plot").first.wait_for()
            page.wait_for_timeout(1000)  # what draws it is fetched last
            page.locator(".js-plotly-plot .gl-canvas").first.wait_for(state="attached")
            expect(page.get_by_text("WebGL is not supported")).to_have_count(0)
    page.wait_for_timeout(500)  # what is drawn last
    assert page.evaluate("window.violations") == []
    assert strangers == []


def test_a_visit_stays_with_its_process(installation, page):
    first = installation.visits()
    assert sorted(first) == [0, 1]
    for _ in range(3):
        page.reload()
        settled(page)
    away = first.index(0)
    assert number(installation.servers[away], 'session_events_total{type="connect"}') == 0


def test_a_visitor_whose_process_died_is_back_on_another_with_their_link(installation, page):
    link = f"{installation.proxy.address}/risk?run=paper&split=val"
    page.goto(link)
    settle(page, "Risk")
    home = installation.visits().index(1)
    os.kill(installation.servers[home].process, signal.SIGKILL)
    start = monotonic()
    other = installation.servers[1 - home]
    while number(other, "active_sessions") == 0:
        assert monotonic() - start < MOST_SECONDS
        page.wait_for_timeout(100)
    settle(page, "Risk")
    print(f"back after {monotonic() - start:.1f} s")
    assert page.url == link
    expect(page.get_by_text("on the val cases").first).to_be_visible()
    page.get_by_test_id("stSidebarNav").get_by_role("link", name="Readers", exact=True).click()
    settle(page, "Readers")
