"""What every answer of the server says of itself, and who may read its numbers."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from mpd2.core.errors import UserError
from mpd2.studio.server.headers import METRICS, WATCHERS, SecurityHeaders, content_security_policy, security_headers


async def with_cookies(_) -> Response:
    answer = PlainTextResponse("here")
    answer.headers.append("set-cookie", "_streamlit_xsrf=2|a|b|c; Path=/; SameSite=Lax")
    answer.headers.append("set-cookie", "other=1; Secure; HttpOnly")
    return answer


def visitor(scheme: str = "http", peer: str = "127.0.0.1") -> TestClient:
    routes = [Route(path, with_cookies) for path in ("/", METRICS, "/_stcore/health", f"/base{METRICS}")]
    app = Starlette(routes=routes, middleware=[Middleware(SecurityHeaders)])
    return TestClient(app, base_url=f"{scheme}://mpd2.test", client=(peer, 50_000))


@pytest.mark.parametrize("path", ["/", METRICS, "/_stcore/health", "/nothing-here"])
def test_every_answer_has_every_header(path):
    answer = visitor().get(path)
    assert {name: answer.headers[name] for name in security_headers()} == security_headers()


def test_scripts_are_files_of_this_server_or_known_by_their_digest():
    rules = dict(rule.split(" ", 1) for rule in content_security_policy().split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["script-src"].startswith("'self'")
    assert "'unsafe-inline'" not in rules["script-src"]
    assert rules["script-src"].count("'sha256-") == 1
    assert rules["frame-ancestors"] == "'none'"


def test_no_rule_names_another_host():
    assert "http" not in content_security_policy()
    assert "*" not in content_security_policy()


def test_cookies_go_over_tls_alone_where_there_is_tls():
    assert visitor("https").get("/").headers.get_list("set-cookie") == [
        "_streamlit_xsrf=2|a|b|c; Path=/; SameSite=Lax; Secure",
        "other=1; Secure; HttpOnly",
    ]
    assert "; Secure" not in visitor("http").get("/").headers.get_list("set-cookie")[0]


@pytest.mark.parametrize("path", [METRICS, METRICS + "/", f"/base{METRICS}"])
def test_the_numbers_are_not_there_for_visitors(path):
    assert visitor(peer="10.0.0.7").get(path).status_code == 404


@pytest.mark.parametrize("header", ["X-Forwarded-For", "Forwarded", "X-Real-IP"])
def test_the_numbers_are_not_there_through_a_proxy_on_the_same_machine(header):
    assert visitor().get(METRICS, headers={header: "127.0.0.1"}).status_code == 404


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.0.0.9", "::1"])
def test_the_numbers_are_there_for_the_machine_itself(peer):
    assert visitor(peer=peer).get(METRICS).text == "here"


def test_the_numbers_are_there_for_a_named_watcher_alone(monkeypatch):
    monkeypatch.setenv(WATCHERS, "10.0.0.5, 10.0.0.6")
    assert visitor(peer="10.0.0.6").get(METRICS).status_code == 200
    assert visitor(peer="10.0.0.7").get(METRICS).status_code == 404


def test_health_is_open_to_all():
    assert visitor(peer="10.0.0.7").get("/_stcore/health").status_code == 200


def test_watchers_who_are_no_addresses_are_refused(monkeypatch):
    monkeypatch.setenv(WATCHERS, "prometheus.example")
    with pytest.raises(UserError, match=r"MPD2_METRICS_FROM: found 'prometheus.example', expected addresses"):
        visitor().get("/")
