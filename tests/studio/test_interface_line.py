"""Where requests wait: nothing is done twice at a time, nothing waits without end, and what fails says so in words."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from http import HTTPStatus
from pathlib import Path
from threading import Event, Lock
from time import sleep
from typing import Any

import pytest
from programs import activated, installed, kept_arrivals, new_cases, program, said
from starlette.requests import Request

from mpd2.clinic.access.actions import Role
from mpd2.lab.shadowing import Shadow
from mpd2.studio.server.headers import security_headers
from mpd2.studio.server.interface import bodies, desk
from mpd2.studio.server.interface.answers import Refused
from mpd2.studio.server.interface.line import Line

SECRET = "what a cell says"
Message = dict[str, Any]


@pytest.fixture
def clinic(tmp_path: Path) -> Iterator[Path]:
    """A clinic with an active run and a record."""
    with installed(tmp_path, "[record]\n") as folder:
        activated()
        yield folder


def test_as_many_work_at_once_as_there_are_threads_and_all_get_their_own_result() -> None:
    line, lock, inside, most = Line("test", threads=1, most=50), Lock(), [0], [0]

    def work(each: int) -> int:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        sleep(0.002)
        with lock:
            inside[0] -= 1
        return each

    async def all_at_once() -> list[int]:
        return await asyncio.gather(*(line.do(work, each) for each in range(50)))

    assert asyncio.run(all_at_once()) == list(range(50))
    assert most == [1]


def test_whoever_finds_too_many_waiting_is_turned_away_and_let_in_afterwards() -> None:
    line, go = Line("test", threads=1, most=3), Event()

    async def four() -> list[Any]:
        waiting = [asyncio.create_task(line.do(go.wait, 10)) for _ in range(4)]
        await asyncio.sleep(0.05)
        go.set()
        return await asyncio.gather(*waiting, return_exceptions=True)

    answers = asyncio.run(four())
    assert [each for each in answers if each is True] == [True] * 3
    turned_away = next(each for each in answers if isinstance(each, Refused))
    assert turned_away.status == HTTPStatus.SERVICE_UNAVAILABLE
    assert turned_away.headers["Retry-After"]
    assert asyncio.run(line.do(go.wait, 10)) is True


@pytest.mark.parametrize("end", ["fails", "is given up"])
def test_a_place_is_free_again_however_work_ends(end: str) -> None:
    line, go = Line("test", threads=1, most=1), Event()

    def fail() -> None:
        raise ValueError(SECRET)

    async def try_once() -> None:
        if end == "fails":
            with pytest.raises(ValueError, match=SECRET):
                await line.do(fail)
            return
        waiting = asyncio.create_task(line.do(go.wait, 10))
        await asyncio.sleep(0.05)
        waiting.cancel()
        go.set()

    for _ in range(3):
        asyncio.run(try_once())
        while line._inside:  # until the thread has noticed
            sleep(0.01)
    assert asyncio.run(line.do(lambda: 7)) == 7


def read(receive: Callable[[], Awaitable[Message]], **headers: str) -> bytes:
    """A body as it arrives."""
    told = {"content-type": "application/json", **headers}
    scope = {"type": "http", "method": "POST", "headers": [(k.encode(), v.encode()) for k, v in told.items()]}
    return asyncio.run(bodies.read_body(Request(scope, receive)))


def test_a_body_that_does_not_arrive_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "PATIENCE", 0.1)

    async def drop_by_drop() -> Message:
        await asyncio.sleep(0.03)
        return {"type": "http.request", "body": b" ", "more_body": True}

    with pytest.raises(Refused, match="took longer") as found:
        read(drop_by_drop)
    assert found.value.status == HTTPStatus.REQUEST_TIMEOUT


def test_a_connection_that_ends_is_no_error_of_the_program() -> None:
    async def gone() -> Message:
        return {"type": "http.disconnect"}

    with pytest.raises(Refused, match="the connection ended"):
        read(gone)


def test_no_more_of_a_body_without_end_is_taken_than_may_arrive() -> None:
    taken = [0]

    async def without_end() -> Message:
        taken[0] += 100_000
        return {"type": "http.request", "body": b" " * 100_000, "more_body": True}

    with pytest.raises(Refused, match="at most 1,000,000 bytes"):
        read(without_end)
    assert taken[0] <= bodies.FARTHEST + 100_000


@pytest.mark.usefixtures("clinic")
def test_an_error_of_the_program_is_answered_in_words_that_tell_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Shadow:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(desk, "here", fail)
    asked = program(Role.ADMIN)
    for answer in (asked.get("/openapi.json"), asked.post("/cases", json={"cases": new_cases(1)})):
        assert answer.status_code == 500
        assert "an error of the program" in said(answer)
        assert SECRET not in answer.text
        assert {name: answer.headers[name] for name in security_headers()} == security_headers()


def test_nothing_is_kept_where_it_cannot_be_recorded(clinic: Path) -> None:
    assert program(Role.ADMIN).post("/cases", json={"cases": new_cases(1)}).status_code == 200
    for part in clinic.glob("record/record.db*"):
        part.unlink()
    answer = program(Role.ADMIN).post("/cases", json={"cases": new_cases(2)})
    assert answer.status_code == 503
    assert "record" in said(answer)
    assert str(clinic) not in answer.text
    assert len(kept_arrivals()) == 1


def test_the_server_starts_without_the_database_that_only_requests_need() -> None:
    code = "import sys, mpd2.studio.server.interface.routes as r; r.routes(); print('sqlalchemy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
