"""Wake the server's loop once for many messages.

A page is some fifty to two hundred messages. Its thread hands each to the loop, and for each the loop is woken through
a socket of its own: both threads then take turns at every message, and wait for one another. A loop that has not
yet answered the last call need not be called again, and one that has looks by itself once more, a moment later.
"""

from __future__ import annotations

import asyncio
from typing import Protocol, cast

MOMENT = 0.004  # seconds for which more messages are waited for; nobody sees them


class _Waking(Protocol):
    """The parts of a loop of the standard library that other threads wake it with."""

    def _write_to_self(self) -> None: ...

    def _process_self_data(self, data: bytes) -> None: ...


def spare_wakeups(loop: asyncio.AbstractEventLoop) -> None:
    """Let a loop be woken only where it would not look by itself; loops of other kinds are left as they are.

    What a thread has for the loop lies ready before the call. While none is made, the loop either has one to answer
    or looks again within a `MOMENT`, and what lies ready when it says that calls are needed it does next.
    """
    if not isinstance(loop, asyncio.SelectorEventLoop):
        return
    waking = cast(_Waking, loop)
    wake, answer = waking._write_to_self, waking._process_self_data
    called = False

    def call() -> None:
        nonlocal called
        if not called:
            called = True
            wake()

    def answered(data: bytes) -> None:
        answer(data)
        loop.call_later(MOMENT, need_calls)

    def need_calls() -> None:
        nonlocal called
        called = False

    vars(loop).update(_write_to_self=call, _process_self_data=answered)
