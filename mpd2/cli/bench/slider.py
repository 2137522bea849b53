"""How fast the Budget page follows its slider on the server: visitors who speak as a browser does, without one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from time import perf_counter, sleep
from typing import Any

import numpy as np
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import ClientConnection, connect

from mpd2.cli.bench.crowd.visit import LARGEST, PROTOCOL
from mpd2.cli.bench.ui import PATIENCE, serving
from mpd2.cli.output import say
from mpd2.core.errors import UserError
from mpd2.studio.parts.live_slider import NAME

PAGE, STEPS = "budget", 200
VISITORS = 10
PAUSE = 0.06  # seconds a live slider waits at least between two moves


@dataclass
class Visitor:
    """Somebody on the Budget page."""

    connection: ClientConnection
    slider: str = ""  # the widget's id
    fragment: str = ""  # the id of what follows it
    turn: int = 0

    def open(self) -> None:
        """Come to the page and find its slider."""
        for message in self._ask(BackMsg()):
            component = message.delta.new_element.bidi_component
            if component.component_name == NAME:
                self.slider, self.fragment = component.id, message.delta.fragment_id
        if not self.slider:
            raise UserError(f"page {PAGE}: found no live slider on it")

    def move(self, step: int) -> tuple[float, int]:
        """Move the slider while holding it; the seconds until all that follows is there, and its bytes."""
        self.turn += 1
        wish = BackMsg()
        wish.rerun_script.fragment_id = self.fragment
        state = {"step": {"step": step, "moving": True, "turn": self.turn}}
        wish.rerun_script.widget_states.widgets.add(id=self.slider, json_value=json.dumps(state))
        start = perf_counter()
        size = sum(message.ByteSize() for message in self._ask(wish))
        return perf_counter() - start, size

    def _ask(self, wish: BackMsg) -> Iterator[ForwardMsg]:
        """Everything the server answers until its script has finished."""
        wish.rerun_script.page_name = PAGE
        self.connection.send(wish.SerializeToString())
        while True:
            message = ForwardMsg.FromString(bytes(self.connection.recv(timeout=PATIENCE, decode=False)))
            yield message
            if message.WhichOneof("type") == "script_finished":
                return


def connected(address: str) -> ClientConnection:
    """A line to a server at an address that begins with ws; closed by `with`."""
    return connect(f"{address}/_stcore/stream", subprotocols=[PROTOCOL], max_size=LARGEST)


def bench_slider(moves: int = 40) -> dict[str, Any]:
    """Time the moves of ten visitors at once, then of one; plain values, ready for JSON.

    A visitor moves on once the last move is answered and a short pause is over, as the live slider does. The visitors
    take their share of the same machine. Ten come first: by then the server has warmed all its pages.
    """
    with serving() as server:
        address = server.address.replace("http", "ws", 1)
        say(f"{VISITORS} visitors at the slider of the {PAGE.title()} page")
        crowd = _together(address, VISITORS, moves)
        say("one visitor alone")
        alone = _together(address, 1, moves)
    return {
        "setting": {"moves": moves, "visitors": VISITORS},
        "alone_seconds": _spread(alone),
        "crowd_seconds": _spread(crowd),
        "bytes": int(np.median([size for _, size in alone])),
    }


def _together(address: str, visitors: int, moves: int) -> list[tuple[float, int]]:
    """The answers to every visitor's moves, after one round that fills the caches all share."""
    with ExitStack() as stack:
        people = [Visitor(stack.enter_context(connected(address))) for _ in range(visitors)]
        for person in people:
            person.open()
        with ThreadPoolExecutor(visitors) as pool:
            first, second = (_steps(visitors, moves, odd) for odd in (1, 0))  # apart: what is known costs nothing
            list(pool.map(_moves, people, first))
            return [answer for answers in pool.map(_moves, people, second) for answer in answers]


def _steps(visitors: int, moves: int, odd: int) -> list[list[int]]:
    """Where each visitor goes, all even or all odd steps."""
    return [[(34 * turn + 2 * who + odd) % STEPS for turn in range(moves)] for who in range(visitors)]


def _moves(person: Visitor, steps: list[int]) -> list[tuple[float, int]]:
    answers = []
    for step in steps:
        answers.append(person.move(step))
        sleep(PAUSE)
    return answers


def _spread(answers: list[tuple[float, int]]) -> dict[str, float]:
    p50, p95 = np.percentile([seconds for seconds, _ in answers], [50, 95])
    return {"p50": float(p50), "p95": float(p95)}
