"""The interface on two real processes behind Caddy: the same rules, and nothing lost or twice when one of them dies."""

from __future__ import annotations

import json
import os
import random
import signal
import ssl
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from time import sleep
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest
from programs import TOKENS, activated, installed, kept_arrivals, new_cases
from proxies import PATIENCE, Proxy, proxying

from mpd2.cli.bench.ui import Server, serving
from mpd2.clinic.access.actions import Role
from mpd2.clinic.access.tokens import new_token
from mpd2.studio.server.headers import security_headers
from mpd2.studio.server.interface.attempts import MOST
from mpd2.studio.server.interface.routes import PREFIX

TRIES = 30  # of a program that sends again whenever in doubt


@dataclass(frozen=True)
class Said:
    """An answer."""

    status: int
    headers: Any
    body: bytes

    def content(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Installation:
    """A proxy and the processes behind it."""

    proxy: Proxy
    servers: list[Server]

    def asked(self, path: str, body: bytes | None = None, address: str = "", **headers: str) -> Said:
        """An answer through the proxy, or of one process; by an admin's program unless it shows another token."""
        told = {"Authorization": f"Bearer {TOKENS[Role.ADMIN]}", "Content-Type": "application/json", **headers}
        trust = ssl.create_default_context(cafile=str(self.proxy.authority))
        request = Request((address or self.proxy.address) + PREFIX + path, body, told)
        try:
            with urlopen(request, timeout=PATIENCE, context=None if address else trust) as answer:
                return Said(answer.status, answer.headers, answer.read())
        except HTTPError as error:
            return Said(error.code, error.headers, error.read())

    def sent(self, rows: list[dict[str, Any]]) -> Said:
        return self.asked("/cases", json.dumps({"cases": rows}).encode())

    def sent_surely(self, rows: list[dict[str, Any]]) -> Said:
        """Sent again until it is answered."""
        for _ in range(TRIES):
            try:
                answer = self.sent(rows)
            except (URLError, OSError):
                answer = None
            if answer is not None and answer.status == 200:
                return answer
            sleep(0.5)
        raise AssertionError(answer)


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with ExitStack() as stack:
        stack.enter_context(installed(tmp_path_factory.mktemp("workshop"), "[record]\n"))
        activated()
        with ThreadPoolExecutor() as side_by_side:
            servers = list(side_by_side.map(stack.enter_context, [serving(), serving()]))
        proxy = stack.enter_context(proxying([each.address for each in servers], tmp_path_factory.mktemp("caddy")))
        yield Installation(proxy, servers)


def kept() -> list[str]:
    return sorted(row.case for row in kept_arrivals())


def test_an_answer_through_the_proxy_has_the_headers_and_no_cookie(installation: Installation) -> None:
    for answer in (installation.asked("/openapi.json"), installation.asked("/nothing"), installation.sent([{}])):
        assert {name: answer.headers[name] for name in security_headers()} == security_headers()
        assert answer.headers["Strict-Transport-Security"]
        assert answer.headers.get_all("Set-Cookie") is None
        assert answer.content()
    assert installation.asked("/openapi.json").content()["openapi"].startswith("3.1")


def test_pages_are_where_they_were(installation: Installation) -> None:
    for path in ("/", "/clinic", "/risk"):
        answer = installation.proxy.get(path)
        assert answer.status == 200
        assert "text/html" in answer.headers["Content-Type"]
    assert installation.proxy.get("/_stcore/health").read() == b"ok"


def test_too_large_a_body_is_refused_in_words_and_a_far_larger_one_does_not_get_through(
    installation: Installation,
) -> None:
    answer = installation.asked("/cases", b" " * 1_500_000)
    assert answer.status == 413
    assert "1,000,000 bytes" in answer.content()["detail"]
    with suppress(OSError):  # the proxy may end the connection while the body still comes
        assert installation.asked("/cases", b" " * 3_000_000).status in (413, 502)


def test_wrong_tokens_are_counted_by_the_address_the_proxy_tells(installation: Installation) -> None:
    direct, tried = installation.servers[0].address, {"X-Forwarded-For": "203.0.113.7"}
    for _ in range(MOST):
        wrong = {"Authorization": f"Bearer {new_token()}", **tried}
        assert installation.asked("/worklist", address=direct, **wrong).status == 401
    assert installation.asked("/worklist", address=direct, **tried).status == 429
    assert installation.asked("/worklist", address=direct, **{"X-Forwarded-For": "203.0.113.8"}).status == 400
    forged = installation.asked("/worklist", **tried)  # the proxy believes nobody
    assert forged.status == 400


def test_two_processes_keep_every_case_once_though_one_of_them_dies(installation: Installation) -> None:
    before = kept()
    cases = new_cases(200)
    parts = [cases[start : start + 5] for start in range(0, 200, 5)] * 2
    random.Random(0).shuffle(parts)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(installation.sent_surely, parts[:30]))
        rest = [pool.submit(installation.sent_surely, part) for part in parts[30:]]
        os.kill(installation.servers[1].process, signal.SIGKILL)
        answers += [each.result() for each in rest]
    assert {answer.content()["refused"] for answer in answers} == {0}
    assert kept() == sorted(before + [case["case"] for case in cases])
