"""Programs that send cases to a server, each case in a request of its own, on time or as soon after it as they can."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from itertools import count
from time import monotonic, sleep
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from mpd2.cli.bench.ui import PATIENCE
from mpd2.studio.server.interface.routes import PREFIX

CONNECTIONS = 8  # over which cases are sent; a case waits for a free one, and that counts


@dataclass(frozen=True)
class Sent:
    """A case that was sent."""

    case: str
    time: str  # as it was said
    due: float  # seconds since the first could be sent
    seconds: float  # from when it was due until it was answered
    problem: str = ""  # empty if it was accepted


@dataclass
class Intake:
    """A program with a token."""

    address: str  # of the server
    token: str
    made: Callable[[int], dict[str, Any]]  # the case of a number
    connections: int = CONNECTIONS
    sent: list[Sent] = field(default_factory=list)
    _number: count[int] = field(default_factory=count)

    def one_after_another(self, cases: int) -> list[Sent]:
        """So many cases, each as soon as the one before is answered."""
        with closing(self._line()) as line:
            return [self._send(line, next(self._number), None, 0.0) for _ in range(cases)]

    def on_time(self, rate: float, seconds: float) -> list[Sent]:
        """So many cases a second for so long, whether or not those before have been answered."""
        start, turn = monotonic(), count()

        def keep_sending() -> list[Sent]:
            mine = list[Sent]()
            with closing(self._line()) as line:
                while (due := next(turn) / rate) < seconds:
                    sleep(max(0.0, start + due - monotonic()))
                    mine.append(self._send(line, next(self._number), start + due, due))
            return mine

        with ThreadPoolExecutor(self.connections) as pool:
            lines = [pool.submit(keep_sending) for _ in range(self.connections)]
        return sorted((each for line in lines for each in line.result()), key=lambda each: each.due)

    def _send(self, line: HTTPConnection, number: int, begin: float | None, due: float) -> Sent:
        row = self.made(number)
        begin = monotonic() if begin is None else begin
        problem = ""
        try:
            line.request("POST", f"{PREFIX}/cases", json.dumps({"cases": [row]}), self._headers)
            answer = line.getresponse()
            said = answer.read()
            if answer.status != 200 or json.loads(said)["accepted"] != 1:
                problem = f"status {answer.status}"
        except (OSError, HTTPException) as error:
            line.close()  # the next request opens it again
            problem = type(error).__name__
        found = Sent(row["case"], row["time"], due, monotonic() - begin, problem)
        self.sent.append(found)
        return found

    def _line(self) -> HTTPConnection:
        return HTTPConnection(urlsplit(self.address).netloc, timeout=PATIENCE)

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}


def spread_of(sent: Sequence[Sent]) -> dict[str, float] | None:
    """Median, 95 % and most of the seconds until cases were accepted; none where none were."""
    seconds = [each.seconds for each in sent if not each.problem]
    if not seconds:
        return None
    p50, p95, most = np.percentile(seconds, [50, 95, 100])
    return {"p50": float(p50), "p95": float(p95), "most": float(most), "n": len(seconds)}
