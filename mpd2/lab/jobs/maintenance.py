"""What goes on beside a server and ends with it: above all the queue, maintained whether or not anybody looks at it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

from mpd2.core.errors import UserError
from mpd2.lab.jobs import queue, worker_pool
from mpd2.lab.jobs.folder import Workshop

EVERY = 2.0  # seconds

logger = logging.getLogger(__name__)


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Let `work` go on in the background for the length of the block, at most."""
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def tended(place: Workshop) -> AsyncIterator[None]:
    """Maintain the queue for the length of the block: jobs that an earlier server left go on, those that wait start."""
    try:
        async with beside(_maintain(place)):
            yield
    finally:
        worker_pool.let_go()


async def _maintain(place: Workshop) -> None:
    logged = ""
    while True:
        try:
            await asyncio.to_thread(queue.maintain, place)
        except UserError as error:
            if str(error) != logged:  # once, not every time
                logger.warning("jobs: %s", error)
            logged = str(error)
        await asyncio.sleep(EVERY)
