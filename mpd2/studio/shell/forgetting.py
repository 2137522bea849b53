"""A visit that has ended is forgotten within about a minute, and with it every table that was brought along.

Streamlit keeps a visit for whoever comes back from a bad line, and lets go of it only once somebody else comes.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic

from streamlit.runtime import Runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from mpd2.lab.jobs.maintenance import beside

GRACE = 45.0  # seconds in which one can come back
EVERY = 5.0  # seconds between two looks

_visits: dict[str, float | None] = {}  # by session: since when nobody is there


def watch() -> None:
    """Forget this visit when it has ended."""
    context = get_script_run_ctx()
    if context is not None:
        _visits.setdefault(context.session_id, None)


@asynccontextmanager
async def forgetting() -> AsyncIterator[None]:
    """Look after visits for the length of the block."""
    async with beside(_look_after_visits()):
        yield


async def _look_after_visits() -> None:
    while True:
        await asyncio.sleep(EVERY)
        if Runtime.exists():
            forget_ended(Runtime.instance(), monotonic())


def forget_ended(runtime: Runtime, now: float) -> None:
    """Close every visit from which nobody has come back; to be called where the server's loop runs."""
    closed = False
    for visit, since in list(_visits.items()):
        if runtime.is_active_session(visit):
            _visits[visit] = None
        elif since is None:
            _visits[visit] = now
        elif now - since >= GRACE:
            _forget(runtime, visit)
            del _visits[visit]
            closed = True
    if closed:
        gc.collect()  # a visit and what it holds know each other


def _forget(runtime: Runtime, visit: str) -> None:
    """Empty a visit, then close it: the server's loop may hold on to the last one it served until the next comes."""
    there = runtime._session_mgr.get_session_info(visit)
    if there is not None:
        there.session.session_state.clear()
    runtime.close_session(visit)
