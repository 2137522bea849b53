"""Who may ask the interface: generated from roles and routes, and tried with everything that is not a token."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from people import ADMIN, PEOPLE
from programs import TOKENS, installed, program, said, written_settings
from starlette.routing import Route

from mpd2.clinic.access.actions import RULES, Action, Role
from mpd2.clinic.access.authorise import refusal
from mpd2.clinic.access.tokens import new_token, settings_lines
from mpd2.clinic.record.reading import found
from mpd2.clinic.record.search import Search
from mpd2.clinic.settings import SETTINGS
from mpd2.studio.server.headers import security_headers
from mpd2.studio.server.interface import asking
from mpd2.studio.server.interface.attempts import MOST, Attempts
from mpd2.studio.server.interface.routes import interface
from mpd2.studio.shell.registry import PAGES

ACTIONS = {
    "/cases": Action.ROUTE_CASE,
    "/readings": Action.ANSWER_CASE,
    "/outcomes": Action.ADD_OUTCOMES,
    "/worklist": Action.SEE_WORKLIST,
    "/openapi.json": Action.SEE_FIGURES,
}
ROUTES = [
    (route.path, verb)
    for route in interface().routes
    if isinstance(route, Route)
    for verb in sorted(route.methods or set())
]


@pytest.fixture(autouse=True)
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """One in which no run is active, and whose record shows who was refused."""
    monkeypatch.setattr(asking, "WRONG", Attempts())
    with installed(tmp_path, "[record]\n") as folder:
        yield folder


def on_disk(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def rows_for(path: str) -> dict[str, object]:
    return {"json": {path.removeprefix("/"): [{}]}}


def test_every_route_has_its_action() -> None:
    assert {path for path, _ in ROUTES} == set(ACTIONS)


@pytest.mark.parametrize(("path", "verb"), ROUTES)
@pytest.mark.parametrize("role", Role)
def test_a_role_gets_through_where_the_rules_let_it_and_nowhere_else(
    role: Role, path: str, verb: str, installation: Path
) -> None:
    before = on_disk(installation / "clinic")
    answer = program(role).request(verb, path, **(rows_for(path) if verb == "POST" else {}))
    if role in RULES[ACTIONS[path]]:
        assert answer.status_code == 503
        assert verb == "HEAD" or "no run is active" in said(answer)
        return
    assert answer.status_code == 403
    if verb != "HEAD":
        assert said(answer) == refusal(PEOPLE[role], ACTIONS[path])
    assert on_disk(installation / "clinic") == before


@pytest.mark.parametrize(("path", "verb"), ROUTES)
@pytest.mark.parametrize(
    "shown",
    [
        *("", "Bearer", "Bearer ", "Basic dXNlcjpwYXNz", "Token {0}", "{0}", "Bearer {0}x", "Bearer {1}"),
        *("bearer,{0}", "Bearer {0} {0}", "Bearer é"),
    ],
)
def test_nobody_gets_through_without_a_token_that_is_known(path: str, verb: str, shown: str) -> None:
    told = shown.format(TOKENS[Role.ADMIN], asking.hash_of(TOKENS[Role.ADMIN])).encode("latin-1")
    answer = program().request(verb, path, headers=[(b"authorization", told)] if shown else [])
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert verb == "HEAD" or said(answer).startswith("Authorization")


@pytest.mark.parametrize("path", ACTIONS)
def test_a_token_counts_nowhere_but_in_its_header_and_there_once(path: str) -> None:
    token = TOKENS[Role.ADMIN]
    asked = program()
    named = {"token": token, "access_token": token, "authorization": token}
    assert asked.get(path, params=named).status_code in (401, 405)
    if path in ("/worklist", "/openapi.json"):
        twice = [("authorization", f"Bearer {token}"), ("authorization", f"Bearer {token}")]
        assert asked.get(path, headers=twice).status_code == 401
        assert asked.get(path, headers={"cookie": f"token={token}; authorization=Bearer {token}"}).status_code == 401


@pytest.mark.parametrize("path", ACTIONS)
@pytest.mark.parametrize("settings", ["", "[login]\nroles = { staff = 'admin' }\n", "[clinic]\n", "[record]\n", None])
def test_without_tokens_it_is_off_and_says_so(
    path: str, settings: str | None, installation: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (installation / "settings.toml").write_text(settings or "")
    if settings is None:
        monkeypatch.delenv(SETTINGS)
    for asked in (program(), program(Role.ADMIN)):
        for answer in (asked.get(path), asked.post(path, json={})):
            assert answer.status_code in (404, 405)
            if answer.status_code == 404:
                assert "the interface is off" in said(answer)


def test_settings_that_cannot_be_read_let_nobody_in_and_tell_nothing_of_the_disk(installation: Path) -> None:
    assert program(Role.ADMIN).get("/openapi.json").status_code == 503
    for broken in ("[[clinic.tokens]]\nname = 1\n", "[", "\xff"):
        (installation / "settings.toml").write_bytes(broken.encode("latin-1"))
        answer = program(Role.ADMIN).get("/openapi.json")
        assert answer.status_code == 503
        assert "cannot be read" in said(answer)
        assert str(installation) not in said(answer)
    (installation / "settings.toml").unlink()
    assert "cannot be read" in said(program(Role.ADMIN).get("/openapi.json"))


def test_a_token_is_withdrawn_and_another_one_taken_from_the_next_request_on(installation: Path) -> None:
    path, fresh = installation / "settings.toml", new_token()
    assert program(Role.VIEWER).get("/openapi.json").status_code == 503
    path.write_text(settings_lines("new", Role.VIEWER, fresh))
    assert program(Role.VIEWER).get("/openapi.json").status_code == 401
    assert program(token=fresh).get("/openapi.json").status_code == 503


def test_an_address_with_ten_wrong_tokens_is_not_listened_to_and_another_one_is() -> None:
    wrong = [program(token=new_token(), peer="10.0.0.7").get("/worklist").status_code for _ in range(MOST + 1)]
    assert wrong == [401] * MOST + [429]
    answer = program(Role.ADMIN, peer="10.0.0.7").get("/worklist")
    assert answer.status_code == 429
    assert 0 < int(answer.headers["retry-after"]) <= 60
    assert "too many wrong tokens" in said(answer)
    assert program(Role.ADMIN, peer="10.0.0.8").get("/openapi.json").status_code == 503


def test_a_forgotten_program_does_not_shut_out_its_neighbours() -> None:
    old = new_token()
    assert {program(token=old).get("/worklist").status_code for _ in range(50)} == {401}
    assert program(Role.ADMIN).get("/openapi.json").status_code == 503


def test_who_was_refused_is_in_the_record(installation: Path) -> None:
    program(Role.READER).post("/cases", json={"cases": [{}]})
    entries = found(Search(action=Action.ROUTE_CASE), by=ADMIN)
    assert [(entry.actor, entry.granted) for entry in entries] == [("token:reader", False)]


@pytest.mark.parametrize("role", [None, Role.ADMIN, Role.VIEWER])
@pytest.mark.parametrize("verb", ["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE", "ODD"])
@pytest.mark.parametrize("path", [*ACTIONS, "/", "", "/nothing", "/cases/", "/cases/1", "//cases"])
def test_every_answer_has_every_header_and_none_sets_a_cookie_or_lets_other_hosts_in(
    path: str, verb: str, role: Role | None
) -> None:
    headers = {"Origin": "https://elsewhere.example", "Access-Control-Request-Method": "POST", "Cookie": "a=b"}
    answer = program(role).request(verb, path, headers=headers, follow_redirects=False)
    assert answer.status_code >= 400
    assert {name: answer.headers[name] for name in security_headers()} == security_headers()
    assert answer.headers["cache-control"] == "no-store"
    assert not [name for name in answer.headers if name.startswith("access-control") or name == "set-cookie"]


def test_no_page_has_an_address_of_the_interface() -> None:
    assert not [page.key for page in PAGES if page.key.startswith("api")]


def test_a_token_is_in_no_answer(installation: Path) -> None:
    written_settings(installation)
    token = TOKENS[Role.ADMIN]
    for shown in (f"Bearer {token}", f"Bearer {token}x", f"Basic {token}"):
        assert token not in program().get("/worklist", headers={"authorization": shown}).text
