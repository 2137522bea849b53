"""How many visitors servers hold: what these wait, what is wrong, and what the servers compute and hold meanwhile."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, process_time, sleep
from typing import Any

import numpy as np

from mpd2.cli.bench.crowd.crowd import ALONE, CHANGE, GO, REFRESH, Crowd, Log, Look, Step, come, go_round_alone
from mpd2.cli.bench.crowd.own_place import own_place
from mpd2.cli.bench.ui import PATIENCE, Server, serving
from mpd2.cli.output import aligned, now_and_then, say
from mpd2.clinic.access.actor import LOCAL
from mpd2.core.table_file import load_cohort
from mpd2.lab.jobs import orders, queue
from mpd2.lab.jobs.folder import Job, Workshop
from mpd2.training.config import STUDIO

A_LINE = 60.0  # seconds between two lines of the curve
QUIET = 8.0  # seconds until it does so: the first visitor has the server alone
AT_REST, LOOK = 0.1, 3.0  # a server that computes for less than this share of so many seconds has nothing to do
ROUTERS, EPOCHS = 48, 500  # the longest training anybody may ask for
HELD = ("when_they_came", "after_first_round", "at_end", "growth", "most")
MOST_SHOWN = 10  # different things that are wrong


def bench_visitors(crowd: Crowd, table: Path, curve: Path | None = None, alone: int = ALONE) -> dict[str, Any]:
    """Let a crowd come; plain values, ready for JSON. A line a minute is written to the file `curve`.

    First one visitor goes round alone, by which the server's work for a view of each page is told. Then all come, each
    to a process and with an order of pages of their own. Times and the growth of memory are of what follows once each
    of them has seen every page; what is wrong is counted from the beginning.
    """
    with TemporaryDirectory() as folder, own_place(folder) as place, ExitStack() as stack:
        say(f"starting {crowd.processes} server{'s' if crowd.processes > 1 else ''}")
        with ThreadPoolExecutor() as side_by_side:
            servers = list(side_by_side.map(stack.enter_context, [serving() for _ in range(crowd.processes)]))
        for server in servers:
            await_rest(server)
        say("one visitor alone")
        prices, first = _prices(servers, alone)
        with _training(place, table, crowd.training) as trained:
            say(f"{crowd.visitors} visitors for {crowd.minutes:g} minutes")
            before, client = os.getloadavg()[0], process_time()
            log = asyncio.run(come(crowd, servers, _watching(crowd, curve, place, trained)))
            client = process_time() - client
            after = os.getloadavg()[0]
    return {
        "setting": asdict(crowd),
        "load_average": {"before": before, "after": after},
        "alone": {"cpu_seconds_a_view": prices},
        **summary(log, crowd),
        "trainings": len(trained),
        "visitors_cpu_share": client / log.now(),  # of a core: they run on the same machine
        "problems": _problems([*first, *log.steps]),
    }


def summary(log: Log, crowd: Crowd) -> dict[str, Any]:
    """Times by deed and by page, and what the servers computed and held, after everybody's first round of pages."""
    whole = max(log.rounds.values(), default=crowd.seconds) if len(log.rounds) == crowd.visitors else crowd.seconds
    later = [step for step in log.steps if step.at >= whole]
    views = [step for step in later if step.is_view]
    pages = sorted({step.page for step in views})
    start = next((look for look in log.looks if look.at >= whole), log.looks[-1])
    return {
        "first_round_seconds": whole,
        "seconds": {
            "page_views": spread(views),
            "of_the_first_round": spread([step for step in log.steps if step.at < whole and step.is_view]),
            **{deed: spread([step for step in later if step.deed == deed]) for deed in (GO, CHANGE, REFRESH)},
        },
        "pages": {page: spread([step for step in views if step.page == page]) for page in pages},
        "kilobytes_a_view": _mean([step.answer.kilobytes for step in views]),
        "cpu_seconds_a_view": _price(start, log.looks[-1]),
        "megabytes": [_memory(log.looks, start, which) for which in range(crowd.processes)],
        "curve": [asdict(look) for look in _each_minute(log.looks)],
    }


def spread(steps: Sequence[Step]) -> dict[str, float] | None:
    """Median, 95 % and most of the seconds of answers; none where there are none."""
    if not steps:
        return None
    p50, p95, most = np.percentile([step.answer.seconds for step in steps], [50, 95, 100])
    return {"p50": float(p50), "p95": float(p95), "most": float(most), "n": len(steps)}


def describe_visitors(timings: dict[str, Any]) -> str:
    """The benchmark's figures as text."""
    heads = ("", "answers", "median, s", "95 %, s", "most, s")
    rows = [(words.replace("_", " "), *_cells(times)) for words, times in timings["seconds"].items()]
    prices = timings["alone"]["cpu_seconds_a_view"]
    pages = [(f"  {page}", *_cells(timings["pages"].get(page)), _number(1000, price)) for page, price in prices.items()]
    memory = [
        (f"process {number + 1}", *(_number(1, held[part]) for part in HELD))
        for number, held in enumerate(timings["megabytes"])
    ]
    return "\n\n".join(
        [
            aligned([heads, *rows]),
            aligned([(*heads, "alone: ms of CPU"), *pages]),
            aligned([("memory, MB", *(part.replace("_", " ") for part in HELD)), *memory]),
            f"server's CPU, ms a page view: {_number(1000, timings['cpu_seconds_a_view'])}",
            "wrong: " + ("; ".join(f"{n} × {what}" for what, n in timings["problems"].items()) or "nothing"),
        ]
    )


# ---------------------------------------------------------------------------------- what goes on


def await_rest(server: Server) -> None:
    """Wait until a new server has warmed its pages."""
    sleep(QUIET)
    end, before = monotonic() + PATIENCE, server.cpu_seconds()
    while before is not None and monotonic() < end:
        sleep(LOOK)
        after = server.cpu_seconds()
        if after is None or after - before < AT_REST * LOOK:
            return
        before = after


def _prices(servers: Sequence[Server], rounds: int) -> tuple[dict[str, float | None], list[Step]]:
    """What each page costs the first server, and the mean over pages; the others get to know them too."""
    spent, steps = asyncio.run(go_round_alone(servers[0], rounds))
    for server in servers[1:]:
        steps += asyncio.run(go_round_alone(server, 0))[1]
    prices = {page: _mean(times) for page, times in spent.items()}
    return prices | {"mean": _mean([price for price in prices.values() if price is not None])}, steps


def _watching(crowd: Crowd, curve: Path | None, place: Workshop, trained: list[Job]) -> Callable[[Log], None]:
    """What is done at every look at the servers."""
    tell, written = now_and_then(A_LINE), -A_LINE

    def watch(log: Log) -> None:
        nonlocal written
        tell(f"{log.now() / 60:.0f} of {crowd.minutes:g} minutes, {len(log.steps)} answers")
        if curve is not None and (log.now() - written >= A_LINE or log.now() >= crowd.seconds):
            written = log.now()
            with curve.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(log.looks[-1])) + "\n")
        if trained and not trained[-1].is_held() and log.now() < crowd.seconds:
            trained.append(_train(place, trained[-1].order.table))

    return watch


@contextmanager
def _training(place: Workshop, table: Path, wanted: bool) -> Iterator[list[Job]]:
    """A training as long as one may be, which another follows when it ends; none if none is wanted."""
    trained = [_train(place, table)] if wanted else []
    yield trained
    for job in trained:
        queue.cancel(job, place, by=LOCAL)


def _train(place: Workshop, table: Path) -> Job:
    cohort = load_cohort(table)
    costs = cohort.manifest.default_costs()
    start = orders.Start("studio", "MPD² (studio)", STUDIO, costs)
    in_full = STUDIO.but(training__epochs=EPOCHS, training__patience=EPOCHS)
    return queue.submit(orders.training(orders.Wish(start, in_full, costs), ROUTERS, table, cohort), place, by=LOCAL)


# ---------------------------------------------------------------------------------- what came of it


def _price(start: Look, end: Look) -> float | None:
    """CPU seconds of all servers for a page view, all else they do included; none where the system does not say."""
    before, after = (None if None in look.cpu_seconds else sum(filter(None, look.cpu_seconds)) for look in (start, end))
    views = end.views - start.views
    return None if before is None or after is None or not views else (after - before) / views


def _memory(looks: Sequence[Look], start: Look, which: int) -> dict[str, float | None]:
    """What a process held once everybody had seen every page, and at the end."""
    before, after = start.megabytes[which], looks[-1].megabytes[which]
    held = [look.megabytes[which] for look in looks]
    return {
        "when_they_came": held[0],
        "after_first_round": before,
        "at_end": after,
        "growth": None if before is None or after is None else after - before,
        "most": max((each for each in held if each is not None), default=None),
    }


def _each_minute(looks: Sequence[Look]) -> list[Look]:
    """The first look in every minute, and the last of all."""
    first = {int(look.at // A_LINE): look for look in reversed(looks)}
    return [*(look for _, look in sorted(first.items())), *looks[-1:]]


def _problems(steps: Sequence[Step]) -> dict[str, int]:
    """What was wrong, and how often."""
    found = Counter(f"{step.page}: {step.answer.problem}" for step in steps if step.answer.problem)
    return dict(found.most_common(MOST_SHOWN))


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def _cells(times: dict[str, float] | None) -> tuple[str, ...]:
    if times is None:
        return ("0", "–", "–", "–")
    return (str(times["n"]), *(f"{times[part]:.2f}" for part in ("p50", "p95", "most")))


def _number(unit: float, value: float | None) -> str:
    return "–" if value is None else f"{unit * value:.0f}"
