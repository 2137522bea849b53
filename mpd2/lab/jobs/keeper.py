"""While a server runs, the queue is looked after whether or not anybody looks at it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from mpd2.core.errors import UserError
from mpd2.lab.jobs import crew, queue
from mpd2.lab.jobs.beside import beside
from mpd2.lab.jobs.folder import Workshop

EVERY = 2.0  # seconds

logger = logging.getLogger(__name__)


@asynccontextmanager
async def tended(place: Workshop) -> AsyncIterator[None]:
    """Take up what an earlier server left, and start what waits, for the length of the block."""
    try:
        async with beside(_tend(place)):
            yield
    finally:
        crew.let_go()


async def _tend(place: Workshop) -> None:
    told = ""
    while True:
        try:
            await asyncio.to_thread(queue.maintain, place)
        except UserError as error:
            if str(error) != told:  # once, not every time
                logger.warning("jobs: %s", error)
            told = str(error)
        await asyncio.sleep(EVERY)
