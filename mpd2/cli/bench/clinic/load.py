"""The clinic with a great many cases: how fast pages are and cases come in, at rest and while both go on at once."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import numpy as np

from mpd2.cli.bench.clinic.filling import Past, clinic_of_its_own, fill
from mpd2.cli.bench.clinic.sending import Intake, Sent, spread_of
from mpd2.cli.bench.crowd.crowd import CHANGE, FILLING, GO, Crowd, Log, Step, come
from mpd2.cli.bench.crowd.visit import Answer, Visit, visiting
from mpd2.cli.bench.crowd.visitors import MOST_SHOWN, await_rest, spread
from mpd2.cli.bench.ui import PATIENCE, Server, serving
from mpd2.cli.output import aligned, now_and_then, say
from mpd2.core.files import FIRST_WORKSPACE
from mpd2.lab.shadowing import Shadow
from mpd2.studio.clinic.texts import TABS
from mpd2.studio.shell.registry import PAGES

RUN = f"{FIRST_WORKSPACE}/mpd2-plus"
PAGE = "clinic"
LEAD = timedelta(microseconds=1)  # between the times of two cases that are sent, so that none is another's


@dataclass(frozen=True)
class Load:
    """How many cases are there, what comes, and how long it is looked at."""

    cases: int = 100_000
    rate: float = 10.0  # cases a second
    minutes: float = 10.0
    visitors: int = 10
    pause: float = 10.0  # seconds between two clicks of a visitor, on average
    alone: int = 200  # cases sent one after another, at rest
    rounds: int = 20  # of one visitor through all pages and through the tabs of the clinic, at rest
    seed: int = 0


def bench_clinic(load: Load) -> dict[str, Any]:
    """Fill a clinic, look and send at rest, then both at once; plain values, ready for JSON."""
    with TemporaryDirectory() as folder, clinic_of_its_own(folder, RUN) as (shadow, token):
        say(f"filling a clinic with {load.cases:,} cases")
        past = Past.of(shadow, load.cases, load.seed)
        filled = fill(shadow, past)
        return {"setting": vars(load), "filled": filled, **under_load(load, shadow, token, past)}


def under_load(load: Load, shadow: Shadow, token: str, past: Past) -> dict[str, Any]:
    """What a server of a clinic that is filled takes for its pages and for what comes in, and whether it keeps it."""
    begin = datetime.now(UTC)
    with serving() as server:
        await_rest(server)
        intake = Intake(server.address, token, lambda number: past.as_json(number, begin + number * LEAD))
        held = {"at_rest": server.megabytes()}
        say("looking at it at rest")
        seen, steps = asyncio.run(_look(server, load.rounds))
        held["after_looking"] = server.megabytes()
        say("sending at rest")
        spent, quiet = server.cpu_seconds(), intake.one_after_another(load.alone)
        at_rest = {"seconds": spread_of(quiet), "cpu_milliseconds": _each(spent, server.cpu_seconds(), len(quiet))}
        say(f"{load.rate:g} cases a second and {load.visitors} visitors for {load.minutes:g} minutes")
        held["before_load"] = server.megabytes()
        sent, log, cores = _both(load, server, intake)
        held["after_load"] = server.megabytes()
    return {
        "megabytes": held,
        "pages_at_rest": seen,
        "intake_at_rest": at_rest,
        "together": {
            "accepted": sum(not each.problem for each in sent),
            "intake": spread_of(sent),
            "views": spread([step for step in log.steps if step.is_view]),
            "pages": {entry.key: spread([step for step in log.steps if step.is_view and step.page == entry.key])
                      for entry in PAGES},
            "cores": cores,
            "megabytes_most": max(each.megabytes[0] or 0.0 for each in log.looks),
        },
        "kept": _kept(shadow, past, intake.sent),
        "problems": problems([*steps, *log.steps], intake.sent),
    }  # fmt: skip


def describe_clinic(found: dict[str, Any]) -> str:
    """The benchmark's figures as text."""
    heads = ("", "n", "median, ms", "95 %, ms", "most, ms", "CPU, ms")
    rows = [("a case sent at rest", *_cells(found["intake_at_rest"]["seconds"]),
             _number(found["intake_at_rest"]["cpu_milliseconds"]))]  # fmt: skip
    rows += [(f"{name}, at rest", *_cells(each["seconds"]), _number(each["cpu_milliseconds"]))
             for name, each in found["pages_at_rest"].items()]  # fmt: skip
    together = found["together"]
    rows += [("a case sent, with visitors", *_cells(together["intake"]), "")]
    rows += [("every view, with cases coming in", *_cells(together["views"]), "")]
    rows += [(f"{name}, with cases coming in", *_cells(each), "") for name, each in together["pages"].items()]
    fills = [
        f"{name}: {each['rows']:,} rows, {each['a_second']:.0f} a second" for name, each in found["filled"].items()
    ]
    memory = ", ".join(f"{name.replace('_', ' ')} {_number(held)}" for name, held in found["megabytes"].items())
    kept, busy = found["kept"], None if together["cores"] is None else 1000 * together["cores"]
    return "\n".join([
        *fills,
        "",
        aligned([heads, *rows]),
        "",
        f"memory, MB: {memory}, most {_number(together['megabytes_most'])}",
        f"CPU while cases came in, ms a second: {_number(busy)}",
        f"accepted {kept['accepted']:,}: {kept['missing']} missing, {kept['twice']} twice, {kept['strange']} strange",
        "wrong: " + ("; ".join(f"{n} × {what}" for what, n in found["problems"].items()) or "nothing"),
    ])  # fmt: skip


def problems(steps: Sequence[Step], sent: Sequence[Sent]) -> dict[str, int]:
    """What was wrong with views and with what was sent, and how often."""
    found = Counter(f"{step.page}: {step.answer.problem}" for step in steps if step.answer.problem)
    found.update(f"a case sent: {each.problem}" for each in sent if each.problem)
    return dict(found.most_common(MOST_SHOWN))


async def _look(server: Server, rounds: int) -> tuple[dict[str, Any], list[Step]]:
    """One visitor goes round all pages, and on the clinic's through its tabs; the first rounds fill caches."""
    steps, spent = list[Step](), dict[str, list[float]]()
    times: dict[str, list[Step]] = {}
    tell = now_and_then()

    def note(name: str, counts: bool, before: float | None, step: Step) -> None:
        after = server.cpu_seconds()
        steps.append(step)
        if counts:
            times.setdefault(name, []).append(step)
            if before is not None and after is not None:
                spent.setdefault(name, []).append(after - before)

    async with visiting(server.address) as connection:
        visit = Visit(connection, PATIENCE)
        for turn in range(FILLING + rounds):
            for entry in PAGES:
                before = server.cpu_seconds()
                note(entry.key, turn >= FILLING, before, Step(entry.key, GO, 0.0, await visit.go(entry.key)))
                if entry.key != PAGE:
                    continue
                tabs = next((each for each in visit.choices if set(each.others) <= set(TABS.values())), None)
                for tab in tabs.others if tabs else ():
                    before = server.cpu_seconds()
                    answer: Answer = await visit.choose(tabs, tab) if tabs else Answer(0, 0)
                    note(f"{PAGE}: {tab}", turn >= FILLING, before, Step(PAGE, CHANGE, 0.0, answer))
            tell(f"round {turn + 1} of {FILLING + rounds}")
    found = {
        name: {
            "seconds": spread(each),
            "cpu_milliseconds": 1000 * float(np.mean(spent[name])) if name in spent else None,
        }
        for name, each in times.items()
    }
    every = [step for each in times.values() for step in each]
    clinic = [step for name, each in times.items() for step in each if name.startswith(PAGE)]
    whole = {"every page": {"seconds": spread(every), "cpu_milliseconds": None},
             "clinic and its tabs": {"seconds": spread(clinic), "cpu_milliseconds": None}}  # fmt: skip
    return whole | found, steps


def _both(load: Load, server: Server, intake: Intake) -> tuple[list[Sent], Log, float | None]:
    """Cases come in while visitors look; and how many cores the server kept busy, until the last case was answered."""
    crowd, tell = Crowd(load.visitors, load.minutes, pause=load.pause, seed=load.seed), now_and_then(60.0)

    def watch(log: Log) -> None:
        tell(f"{log.now() / 60:.0f} of {load.minutes:g} minutes: {len(intake.sent)} cases, {len(log.steps)} views")

    before, start = server.cpu_seconds(), monotonic()
    with ThreadPoolExecutor(1) as beside:
        sending = beside.submit(intake.on_time, load.rate, crowd.seconds)
        log = asyncio.run(come(crowd, [server], watch))
        sent = sending.result()
    after, seconds = server.cpu_seconds(), monotonic() - start
    return sent, log, None if before is None or after is None else (after - before) / seconds


def _kept(shadow: Shadow, past: Past, sent: Sequence[Sent]) -> dict[str, int]:
    """Whether every case that was accepted is in the store, and once."""
    arrivals = shadow.store.everything().arrivals
    rows = list(zip(arrivals["case"].tolist(), arrivals["time"].tolist(), strict=True))
    there = Counter(rows)
    expected = set(zip(past.names.tolist(), past.times.astype(np.int64).tolist(), strict=True))
    accepted = {(each.case, _ticks(each.time)) for each in sent if not each.problem}
    asked = {(each.case, _ticks(each.time)) for each in sent}
    return {
        "rows": len(rows),
        "accepted": len(accepted),
        "missing": len((expected | accepted) - there.keys()),
        "twice": sum(number > 1 for number in there.values()),
        "strange": len(there.keys() - expected - asked),
    }


def _ticks(time: str) -> int:
    return int(np.datetime64(datetime.fromisoformat(time).replace(tzinfo=None), "us").astype(np.int64))


def _each(before: float | None, after: float | None, number: int) -> float | None:
    """Milliseconds of computing for each of so many."""
    return None if before is None or after is None or not number else 1000 * (after - before) / number


def _cells(times: dict[str, float] | None) -> tuple[str, ...]:
    if times is None:
        return ("0", "–", "–", "–")
    return (f"{times['n']:,}", *(f"{1000 * times[part]:.0f}" for part in ("p50", "p95", "most")))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.0f}"
