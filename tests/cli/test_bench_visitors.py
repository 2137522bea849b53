"""The benchmark of many visitors: what its visitors notice, what it makes of it, and a crowd at a real server."""

from __future__ import annotations

import asyncio
import json

import pytest
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from mpd2.cli import parser
from mpd2.cli.arguments import TABLE
from mpd2.cli.bench.crowd.crowd import CHANGE, GO, REFRESH, Crowd, Log, Look, Step
from mpd2.cli.bench.crowd.visit import Answer, Visit, choices_in
from mpd2.cli.bench.crowd.visitors import bench_visitors, describe_visitors, summary
from mpd2.studio.shell.registry import PAGES


class Line:
    """A connection that answers every wish with the same messages."""

    def __init__(self, *messages: ForwardMsg) -> None:
        self.messages = messages
        self.waiting: list[bytes] = []

    async def send(self, _: bytes) -> None:
        self.waiting = [message.SerializeToString() for message in self.messages]

    async def recv(self, decode: bool) -> bytes:
        if not self.waiting:
            await asyncio.sleep(60)
        return self.waiting.pop(0)


def finished(how: int = ForwardMsg.FINISHED_SUCCESSFULLY) -> ForwardMsg:
    return ForwardMsg(script_finished=how)


def visited(*messages: ForwardMsg, patience: float = 5.0) -> tuple[Visit, Answer]:
    visit = Visit(Line(*messages), patience)
    return visit, asyncio.run(visit.go("overview"))


def test_an_error_on_the_page_is_noticed():
    broken = ForwardMsg()
    broken.delta.new_element.exception.type = "KeyError"
    assert visited(broken, finished())[1].problem == "an error on the page: KeyError"
    assert visited(finished())[1].problem == ""


def test_a_page_that_cannot_be_read_or_is_not_there_is_noticed():
    missing = ForwardMsg()
    missing.page_not_found.page_name = "nowhere"
    assert visited(missing, finished())[1].problem == "there is no such page"
    unreadable = (finished(ForwardMsg.FINISHED_WITH_COMPILE_ERROR), finished())
    assert visited(*unreadable)[1].problem == "the script could not be read"


def test_a_run_that_another_one_follows_is_not_the_end():
    broken = ForwardMsg()
    broken.delta.new_element.exception.type = "KeyError"
    assert visited(finished(ForwardMsg.FINISHED_EARLY_FOR_RERUN), broken, finished())[1].problem


def test_whoever_gets_no_answer_says_so_and_comes_anew():
    visit, answer = visited(patience=0.1)
    assert answer.problem == "no answer"
    assert visit.is_lost


def asking(part: str) -> ForwardMsg:
    message = ForwardMsg()
    message.auto_rerun.fragment_id, message.auto_rerun.interval = part, 2.0
    return message


def test_parts_that_a_page_no_longer_has_are_not_refreshed():
    whole, part = finished(), finished(ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
    visit, _ = visited(asking("loss"), asking("queue"), whole)
    visit._scripts = {"overview": "hash"}
    visit.connection.messages = (asking("loss"), part)
    asyncio.run(visit.refresh("loss"))
    assert visit.refreshed == {"loss": 2.0, "queue": 2.0}
    ended = finished(ForwardMsg.FINISHED_EARLY_FOR_RERUN)
    visit.connection.messages = (asking("loss"), ended, asking("queue"), whole)
    asyncio.run(visit.refresh("loss"))
    assert visit.refreshed == {"queue": 2.0}


def test_choices_are_what_is_not_chosen_and_can_be():
    element = Element()
    element.radio.id, element.radio.default = "r", 1
    element.radio.options.extend(["a", "b", "c"])
    assert [choice.others for choice in choices_in(element)] == [("a", "c")]
    element.radio.disabled = True
    assert choices_in(element) == []
    assert choices_in(Element()) == []


def look(at: float, megabytes: float, cpu: float, views: int) -> Look:
    return Look(at, (megabytes,), (cpu,), views, 1.0)


def test_times_and_growth_are_of_what_follows_once_everybody_has_seen_every_page():
    crowd = Crowd(visitors=2, minutes=1.0)
    log = Log(
        steps=[
            Step("map", GO, 5.0, Answer(9.0, 10)),
            Step("map", GO, 25.0, Answer(0.2, 10)),
            Step("map", CHANGE, 30.0, Answer(0.4, 10)),
            Step("retrain", REFRESH, 31.0, Answer(0.1, 1)),
        ],
        looks=[look(0.0, 900, 10.0, 0), look(21.0, 950, 12.0, 1), look(60.0, 960, 13.0, 3)],
        rounds={0: 15.0, 1: 20.0},
    )
    found = summary(log, crowd)
    assert found["first_round_seconds"] == 20.0
    assert found["seconds"]["page_views"] == pytest.approx({"p50": 0.3, "p95": 0.39, "most": 0.4, "n": 2})
    assert found["seconds"]["of_the_first_round"]["n"] == 1
    assert found["seconds"][REFRESH]["n"] == 1
    assert found["megabytes"][0]["growth"] == 10
    assert found["cpu_seconds_a_view"] == 0.5


def test_what_they_do_can_be_chosen():
    args = parser().parse_args(["bench", "visitors", "--visitors", "3", "--minutes", "0.5", "--training"])
    assert (args.visitors, args.minutes, args.processes, args.training, args.pause) == (3, 0.5, 1, True, 10.0)


def test_a_small_crowd_sees_every_page_of_two_servers_without_an_error(tmp_path):
    curve = tmp_path / "curve.jsonl"
    crowd = Crowd(visitors=4, minutes=0.5, processes=2, pause=0.5, seed=1)
    found = json.loads(json.dumps(bench_visitors(crowd, TABLE, curve, alone=1), allow_nan=False))
    assert found["problems"] == {}
    assert set(found["alone"]["cpu_seconds_a_view"]) == {entry.key for entry in PAGES} | {"mean"}
    lines = [json.loads(line) for line in curve.read_text().splitlines()]
    assert len(lines) == 2
    assert lines[-1]["views"] >= crowd.visitors
    assert len(lines[-1]["megabytes"]) == 2
    assert "wrong: nothing" in describe_visitors(found)
