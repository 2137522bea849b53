"""Small requests of one sender that wait for the same turn are done in it together: they wait for the disk once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock
from typing import Generic, TypeVar

from mpd2.studio.server.interface.bodies import Rows
from mpd2.studio.server.interface.line import Line

MOST = 32  # rows that are done together; a request with more has a turn of its own

Sender = TypeVar("Sender", bound=Hashable)
Result = TypeVar("Result")


@dataclass(eq=False)
class _Waiting(Generic[Result]):
    """A request that waits for its turn."""

    rows: Rows
    result: Future[Result] = field(default_factory=Future)


class Together(Generic[Sender, Result]):
    """Turns of a line with a single thread; `work` does the requests of one sender, and has a result for each."""

    def __init__(self, line: Line, work: Callable[[Sender, Sequence[Rows]], list[Result]]) -> None:
        self._line, self._work = line, work
        self._waiting: dict[Sender, list[_Waiting[Result]]] = {}
        self._lock = Lock()

    async def do(self, sender: Sender, rows: Rows) -> Result:
        """What becomes of the rows of a request; whoever gives up before its turn has sent nothing."""
        mine = _Waiting[Result](rows)
        with self._lock:
            self._waiting.setdefault(sender, []).append(mine)
        try:
            await self._line.do(self._take_turn, sender, mine)
        finally:
            self._taken(sender, mine, 1)
        return mine.result.result()

    def _take_turn(self, sender: Sender, first: _Waiting[Result]) -> None:
        """Do a request with those that came after it, unless it was done with an earlier one."""
        some = self._taken(sender, first, MOST)
        if len(some) > 1 and self._done(sender, some):
            return
        for each in some:  # whatever was wrong with one of them is answered to that one
            try:
                each.result.set_result(self._work(sender, [each.rows])[0])
            except Exception as error:
                each.result.set_exception(error)

    def _done(self, sender: Sender, some: Sequence[_Waiting[Result]]) -> bool:
        """Whether all could be done together."""
        try:
            results = self._work(sender, [each.rows for each in some])
        except Exception:
            return False
        for each, result in zip(some, results, strict=True):
            each.result.set_result(result)
        return True

    def _taken(self, sender: Sender, first: _Waiting[Result], most: int) -> list[_Waiting[Result]]:
        """A request and those that came after it, as many as have so many rows, which wait no longer."""
        with self._lock:
            queue = self._waiting.get(sender, [])
            if first not in queue:
                return []
            begin = queue.index(first)
            end, rows = begin + 1, len(first.rows)
            while end < len(queue) and (rows := rows + len(queue[end].rows)) <= most:
                end += 1
            some = queue[begin:end]
            del queue[begin:end]
            if not queue:
                del self._waiting[sender]
            return some
