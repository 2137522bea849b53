"""Many visitors at once, each with pauses as people make them, and a log of all they ask and all the servers hold."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from time import monotonic

from websockets.exceptions import InvalidHandshake

from mpd2.cli.bench.crowd.visit import Answer, Visit, visiting
from mpd2.cli.bench.ui import PATIENCE, Server
from mpd2.studio.shell.registry import PAGES

CHANGING = 0.25  # the share of clicks that change something on a page; the others go on to another page
FILLING, ALONE = 2, 10  # rounds of one visitor: so many fill caches, by so many the server's work is told
MOST_TRIED = 4  # other values of a widget that are tried once, for some are the only ones to need a library
BREATH = 0.02  # seconds until a server has put all of a page away
LOOK = 5.0  # seconds between two looks at the servers
GO, CHANGE, REFRESH = "go", "change", "refresh"


@dataclass(frozen=True)
class Crowd:
    """Who comes, for how long, and to how many processes that share a workshop."""

    visitors: int = 50
    minutes: float = 20.0
    processes: int = 1
    training: bool = False  # whether one goes on meanwhile
    pause: float = 10.0  # seconds between two clicks of a visitor, on average; how long each is follows from the seed
    seed: int = 0

    @property
    def seconds(self) -> float:
        """How long they stay."""
        return 60 * self.minutes


@dataclass(frozen=True)
class Step:
    """A click of somebody, or a part of a page that refreshed itself, and what came of it."""

    page: str
    deed: str  # go, change or refresh
    at: float  # seconds since the crowd came, when it was answered
    answer: Answer

    @property
    def is_view(self) -> bool:
        """Whether the page was drawn: somebody clicked."""
        return self.deed != REFRESH


@dataclass(frozen=True)
class Look:
    """What the servers hold and have computed at a moment."""

    at: float  # seconds since the crowd came
    megabytes: tuple[float | None, ...]
    cpu_seconds: tuple[float | None, ...]
    views: int  # of pages, until then
    load_average: float  # of the machine


@dataclass
class Log:
    """All that happened since the crowd came."""

    start: float = field(default_factory=monotonic)
    steps: list[Step] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    rounds: dict[int, float] = field(default_factory=dict)  # by visitor: when they had seen every page once

    def now(self) -> float:
        """Seconds since it began."""
        return monotonic() - self.start

    def look(self, servers: Sequence[Server]) -> None:
        """Look at the servers."""
        megabytes, spent = (each.megabytes() for each in servers), (each.cpu_seconds() for each in servers)
        self.looks.append(
            Look(
                self.now(), tuple(megabytes), tuple(spent), sum(step.is_view for step in self.steps), os.getloadavg()[0]
            )
        )


async def go_round_alone(server: Server, rounds: int = ALONE) -> tuple[dict[str, list[float]], list[Step]]:
    """The CPU seconds of a server for every view of each page, where the system says them, and the steps that told.

    Nobody else is there. First everything is chosen once that a page offers at first, in the round before the first one
    that counts: caches that all visitors share are filled by then.
    """
    steps, spent = list[Step](), {entry.key: list[float]() for entry in PAGES}
    async with visiting(server.address) as connection:
        visit = Visit(connection, PATIENCE)
        for turn in range(FILLING + rounds):
            for page, times in spent.items():
                before = server.cpu_seconds()
                steps.append(Step(page, GO, 0.0, await visit.go(page)))
                if not turn:
                    steps += await _try_all(visit)
                await asyncio.sleep(BREATH)
                after = server.cpu_seconds()
                if turn >= FILLING and before is not None and after is not None:
                    times.append(after - before)
    return spent, steps


async def _try_all(visit: Visit) -> list[Step]:
    """Choose all that a page offers, one after the other."""
    offered = [(choice, value) for choice in visit.choices for value in choice.others[:MOST_TRIED]]
    return [Step(visit.page, CHANGE, 0.0, await visit.choose(*each)) for each in offered]


async def come(crowd: Crowd, servers: Sequence[Server], watch: Callable[[Log], None]) -> Log:
    """Everybody at once until the time is over; `watch` is called at every look at the servers, from another thread."""
    log = Log()
    async with asyncio.TaskGroup() as group:
        for number in range(crowd.visitors):
            group.create_task(_stay(number, crowd, servers, log))
        while log.now() < crowd.seconds:
            log.look(servers)
            await asyncio.to_thread(watch, log)
            await asyncio.sleep(min(LOOK, max(0.0, crowd.seconds - log.now())))
    log.look(servers)
    await asyncio.to_thread(watch, log)
    return log


async def _stay(number: int, crowd: Crowd, servers: Sequence[Server], log: Log) -> None:
    """One visitor from coming to leaving; whoever loses the connection comes again, to the next server."""
    by, pages, home = Random(f"{crowd.seed} {number}"), list[str](), number
    await asyncio.sleep(by.uniform(0, min(crowd.pause, crowd.seconds)))
    while log.now() < crowd.seconds:
        try:
            async with visiting(servers[home % len(servers)].address) as connection:
                await _click_on(Visit(connection, PATIENCE), number, crowd, by, pages, log)
        except (OSError, InvalidHandshake) as error:
            log.steps.append(Step("", GO, log.now(), Answer(0.0, 0.0, f"no connection: {type(error).__name__}")))
            await asyncio.sleep(min(1.0, max(0.0, crowd.seconds - log.now())))
        home += 1


async def _click_on(visit: Visit, number: int, crowd: Crowd, by: Random, pages: list[str], log: Log) -> None:
    """Click and read until the time is over or the connection lost; `pages` are those left of a round."""
    while log.now() < crowd.seconds and not visit.is_lost:
        if visit.choices and by.random() < CHANGING:
            await _note(visit, CHANGE, visit.change(by), log)
        else:
            if not pages:
                pages += by.sample([entry.key for entry in PAGES], len(PAGES))
            await _note(visit, GO, visit.go(pages.pop()), log)
            if not pages:
                log.rounds.setdefault(number, log.now())
        await _read(visit, min(log.now() + by.expovariate(1 / crowd.pause), crowd.seconds), log)


async def _read(visit: Visit, until: float, log: Log) -> None:
    """Look at a page until a moment; parts of it that ask for it are refreshed meanwhile."""
    due = {part: log.now() + every for part, every in visit.refreshed.items()}
    while due and min(due.values()) < until and not visit.is_lost:
        part = min(due, key=due.__getitem__)
        await asyncio.sleep(due[part] - log.now())
        del due[part]
        await _note(visit, REFRESH, visit.refresh(part), log)
        due = {each: due.get(each, log.now() + every) for each, every in visit.refreshed.items()}
    if not visit.is_lost:
        await asyncio.sleep(until - log.now())


async def _note(visit: Visit, deed: str, asked: Awaitable[Answer], log: Log) -> None:
    answer = await asked
    log.steps.append(Step(visit.page, deed, log.now(), answer))
