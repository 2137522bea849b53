"""Requests that wait are done together, and each is answered as if it had been alone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from http import HTTPStatus
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from programs import activated, installed, kept_arrivals, new_cases
from sqlalchemy import event

from mpd2.clinic.access.actions import Action, Role
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.access.authorise import NotAllowed
from mpd2.clinic.installation import Installation
from mpd2.clinic.record.log import RecordLog
from mpd2.clinic.record.search import Search
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.shadowing import Shadow
from mpd2.studio.server.interface import desk
from mpd2.studio.server.interface.answers import Refused
from mpd2.studio.server.interface.bodies import Rows
from mpd2.studio.server.interface.line import Line
from mpd2.studio.server.interface.together import MOST, Together

INTAKE = Actor("token:intake", "intake", Role.CLINICIAN, "interface")
VIEWER = Actor("token:screen", "screen", Role.VIEWER, "interface")


@pytest.fixture
def record(tmp_path: Path) -> Iterator[RecordLog]:
    """That of a clinic with an active run."""
    with installed(tmp_path, "[record]\n"):
        activated()
        found = Installation.here().record
        assert isinstance(found, RecordLog)
        yield found


class Desk:
    """Work that waits for the first request to be let go, and notes what it was given together."""

    def __init__(self) -> None:
        self.go, self.given = Event(), list[list[Rows]]()

    def work(self, _: str, parts: Sequence[Rows]) -> list[Any]:
        assert self.go.wait(10)
        self.given.append(list(parts))
        if any("bad" in row for rows in parts for row in rows):
            raise ValueError("bad")
        return [rows[0]["is"] for rows in parts]


def sent(requests: Sequence[tuple[str, Rows]], at_desk: Desk, most: int = 64, given_up: int | None = None) -> list[Any]:
    """What becomes of requests that come while the first one is being done."""
    turns = Together(Line("test", threads=1, most=most), at_desk.work)

    async def all_at_once() -> list[Any]:
        waiting = [asyncio.create_task(turns.do(sender, rows)) for sender, rows in requests]
        await asyncio.sleep(0.05)
        if given_up is not None:
            waiting[given_up].cancel()
            await asyncio.sleep(0.05)
        at_desk.go.set()
        return await asyncio.gather(*waiting, return_exceptions=True)

    found = asyncio.run(all_at_once())
    assert not turns._waiting
    return found


def row(number: int, **more: Any) -> Rows:
    return [{"is": number, **more}]


def test_what_waits_is_done_together_and_each_gets_its_own_result() -> None:
    at_desk = Desk()
    assert sent([("a", row(number)) for number in range(10)], at_desk) == list(range(10))
    assert at_desk.given == [[row(0)], [row(number) for number in range(1, 10)]]


def test_senders_are_kept_apart_and_no_more_rows_are_done_together_than_may_be() -> None:
    at_desk, large = Desk(), row(4) * MOST
    requests = [("a", row(1)), ("b", row(2)), ("a", row(3)), ("a", large), ("b", row(5)), ("a", row(6))]
    assert sent(requests, at_desk) == [1, 2, 3, 4, 5, 6]
    assert at_desk.given == [[row(1)], [row(2), row(5)], [row(3)], [large], [row(6)]]


def test_what_is_wrong_with_one_is_answered_to_that_one() -> None:
    found = sent([("a", row(0)), ("a", row(1)), ("a", row(2, bad=True)), ("a", row(3))], Desk())
    assert found[:2] + found[3:] == [0, 1, 3]
    assert isinstance(found[2], ValueError)


def test_whoever_gives_up_or_is_turned_away_has_sent_nothing() -> None:
    at_desk = Desk()
    found = sent([("a", row(number)) for number in range(4)], at_desk, given_up=2)
    assert found[:2] + found[3:] == [0, 1, 3]
    assert at_desk.given == [[row(0)], [row(1), row(3)]]
    at_desk = Desk()
    found = sent([("a", row(number)) for number in range(4)], at_desk, most=3)
    assert found[:3] == [0, 1, 2]
    assert isinstance(found[3], Refused)
    assert found[3].status == HTTPStatus.SERVICE_UNAVAILABLE
    assert row(3) not in [rows for parts in at_desk.given for rows in parts]


def test_requests_done_together_are_answered_as_one_after_another(record: RecordLog) -> None:
    cases = new_cases(6)
    other = cases[1] | {"vCDR": 0.111}  # the same case at the same time
    parts = [cases[:2], [cases[2], {"case": "x"}], [cases[2]], [other], [cases[3] | {"vCDR": 7}], cases[4:]]
    written = list[object]()
    event.listen(record.storage.engine, "commit", written.append)
    together = desk.take_each("cases", parts, by=INTAKE)
    assert len(written) == 1
    alone = [
        {"accepted": 2, "repeated": 0, "refused": 0},
        {"accepted": 1, "repeated": 0, "refused": 1},
        {"accepted": 0, "repeated": 1, "refused": 0},
        {"accepted": 0, "repeated": 0, "refused": 1},
        {"accepted": 0, "repeated": 0, "refused": 1},
        {"accepted": 2, "repeated": 0, "refused": 0},
    ]
    for reply, counts, rows in zip(together, alone, parts, strict=True):
        said = reply.content()
        assert {name: said[name] for name in counts} == counts
        assert [each["row"] for each in said["rows"]] == list(range(1, len(rows) + 1))
    assert [each.case for each in kept_arrivals()] == [each["case"] for each in (*cases[:3], *cases[4:])]
    Shadow.here(Workshop.here()).store.close()


def test_every_attempt_of_somebody_who_may_not_is_recorded(record: RecordLog) -> None:
    turns = Together(Line("test", threads=1, most=64), lambda sender, parts: desk.take_each("cases", parts, by=sender))

    async def three() -> list[Any]:
        sending = (turns.do(VIEWER, [each]) for each in new_cases(3))
        return await asyncio.gather(*sending, return_exceptions=True)

    assert {type(each) for each in asyncio.run(three())} == {NotAllowed}
    refused = record.search(Search(action=str(Action.ROUTE_CASE)))
    assert [entry.granted for entry in refused] == [False] * 3
