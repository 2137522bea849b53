"""Where work waits that would hold up the server's event loop: a queue that does not grow without end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from http import HTTPStatus
from threading import Lock
from typing import ParamSpec, TypeVar

from mpd2.studio.server.interface.answers import Refused

Result = TypeVar("Result")
Given = ParamSpec("Given")
LATER = 5  # seconds after which whoever was turned away may come again


class Line:
    """So many threads of its own, and so many requests that may wait for one."""

    def __init__(self, name: str, threads: int, most: int) -> None:
        self.most = most
        self._pool = ThreadPoolExecutor(threads, f"interface-{name}")
        self._inside = 0
        self._lock = Lock()

    async def do(self, work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs) -> Result:
        """Work in a thread and wait for the result; once begun it is finished, whether or not anybody still waits."""
        with self._lock:
            if self._inside >= self.most:
                reason = f"{self.most} requests are waiting already; come again in {LATER} seconds"
                raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, reason, {"Retry-After": str(LATER)})
            self._inside += 1
        done = self._pool.submit(partial(work, *args, **kwargs))
        done.add_done_callback(self._left)
        return await asyncio.wrap_future(done)

    def _left(self, _: Future[Result]) -> None:
        with self._lock:
            self._inside -= 1
