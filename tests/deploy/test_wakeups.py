"""The server's loop is woken once for many messages, and misses none."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from threading import Thread
from time import sleep

import pytest

from mpd2.studio.server.wakeups import MOMENT, spare_wakeups


def counted(loop: asyncio.AbstractEventLoop) -> list[int]:
    """The wakings of a loop, one entry each."""
    woken: list[int] = []
    wake = loop._write_to_self

    def call() -> None:
        woken.append(1)
        wake()

    loop._write_to_self = call
    return woken


async def hand_over(calls: int, threads: int, prepare: Callable[[asyncio.AbstractEventLoop], None]) -> tuple[int, int]:
    """How many of the calls of several threads were made, and how often the loop was woken for them."""
    loop, made, done = asyncio.get_running_loop(), [], asyncio.Event()
    woken = counted(loop)
    prepare(loop)

    def note(number: int) -> None:
        made.append(number)
        if len(made) == calls * threads:
            done.set()

    def give() -> None:
        for number in range(calls):
            loop.call_soon_threadsafe(note, number)

    workers = [Thread(target=give) for _ in range(threads)]
    for worker in workers:
        worker.start()
    await asyncio.wait_for(done.wait(), 30)
    for worker in workers:
        worker.join()
    return len(made), len(woken)


@pytest.mark.parametrize("threads", [1, 4])
def test_every_call_is_made_though_the_loop_is_woken_less_often(threads: int) -> None:
    usual = asyncio.run(hand_over(2000, threads, lambda _: None))
    spared = asyncio.run(hand_over(2000, threads, spare_wakeups))
    assert usual == (2000 * threads, 2000 * threads)
    assert spared[0] == 2000 * threads
    assert spared[1] < usual[1]


def test_a_loop_that_sleeps_is_woken_for_every_call_that_stands_alone() -> None:
    async def one_by_one() -> int:
        loop = asyncio.get_running_loop()
        spare_wakeups(loop)
        made = 0
        for _ in range(200):
            heard = asyncio.Event()
            await asyncio.to_thread(loop.call_soon_threadsafe, heard.set)
            await asyncio.wait_for(heard.wait(), 10)
            made += 1
        return made

    assert asyncio.run(one_by_one()) == 200


def test_a_loop_is_woken_once_a_moment_for_calls_that_come_one_after_the_other() -> None:
    async def dripping() -> tuple[int, int, float]:
        loop, made = asyncio.get_running_loop(), list[int]()
        woken = counted(loop)
        spare_wakeups(loop)

        def drip() -> None:
            for number in range(300):
                loop.call_soon_threadsafe(made.append, number)
                sleep(MOMENT / 8)

        start = loop.time()
        await asyncio.to_thread(drip)
        return len(made), len(woken), loop.time() - start

    made, woken, seconds = asyncio.run(dripping())
    assert made == 300
    assert woken <= seconds / MOMENT + 2
