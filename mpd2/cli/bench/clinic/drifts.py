"""How soon monitors ring after a planted change, and how seldom without one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mpd2.cli.output import now_and_then
from mpd2.clinic.shadow.deciding import Decider
from mpd2.clinic.shadow.evidence.monitoring import INPUT, PREVALENCE, READER, Past, Seen, Watcher, past_of, watchers
from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.rng import Stream, stream
from mpd2.evaluation.over_time.monitors import A_DAY, DAYS, FALSE_ALARMS, Monitor, alarms, reflected

AT_ONCE = 256  # values of every replay simulated at a time
BEFORE = 1_000  # cases without change that go before a planted one
FOUND_WITHIN = 500  # cases
HORIZON = 50_000  # cases after which a change counts as never found
FOLLOWED, RUNS = 60_000, 3.0  # values, or run lengths if these are fewer, for which a replay without change goes on
YEARS = 40
POINTS = 0.1  # by which shares are moved
COMMON, MORE = 0.15, 0.25  # prevalence before and after


@dataclass(frozen=True, eq=False)
class Arrivals:
    """What a monitor may be given: steps to draw from, how likely each, and the share of cases that give one."""

    steps: Floats  # [K, 2]
    chance: Floats | None  # [K]
    share: float

    def drawn(self, random: np.random.Generator, size: tuple[int, int]) -> Floats:
        """Steps at random, [*size, 2]."""
        if self.chance is None:
            return self.steps[random.integers(len(self.steps), size=size)]
        return self.steps[np.searchsorted(np.cumsum(self.chance), random.random(size)).clip(max=len(self.steps) - 1)]


def first_alarms(
    thresholds: Floats, before: Arrivals, after: Arrivals, replays: int, longest: int, seed: int
) -> Floats:
    """Values until the first alarm after a change in each replay, [R]; infinite where there is none in so many.

    Evidence from BEFORE unchanged cases stands when the change comes, unless it had rung.
    """
    random = stream(seed, Stream.SIMULATION)
    level = np.zeros((replays, 2))
    for start in range(0, round(BEFORE * before.share), AT_ONCE):
        size = min(AT_ONCE, round(BEFORE * before.share) - start)
        path = reflected(before.drawn(random, (size, replays)), level)
        level = np.where(np.any(path >= thresholds, axis=(0, 2))[:, None], 0.0, path[-1])
    found, open_, done = np.full(replays, np.inf), np.arange(replays), 0
    while len(open_) and done < longest:
        size = min(longest - done, AT_ONCE * max(1, replays // len(open_)))
        path = reflected(after.drawn(random, (size, len(open_))), level)
        rung = np.asarray(np.any(path >= thresholds, axis=-1))  # [size, open]
        any_ = rung.any(0)
        found[open_[any_]] = done + rung[:, any_].argmax(0) + 1
        open_, level, done = open_[~any_], path[-1, ~any_], done + size
    return found


@dataclass(frozen=True, eq=False)
class Watched:
    """What is watched and has a monitor."""

    watcher: Watcher
    monitor: Monitor


def watched(decider: Decider, past: Past, false_alarms: float = FALSE_ALARMS) -> dict[str, Watched]:
    """What the clinic watches where it compares with past cases, by name; what has too few of them is left out."""
    found = watchers(decider, past, false_alarms)
    return {each.name: Watched(each, each.monitor) for each in found if each.monitor is not None}


def among(cases: Seen) -> Past:
    """The same cases, whatever is compared with them."""
    return Past(cases, cases)


def arrivals(watching: dict[str, Watched], cases: Past, chance: Floats | None = None) -> dict[str, Arrivals]:
    """What each monitor may be given of cases, some of them likelier, [N]; of readers every word there is."""
    found = {}
    for name, each in watching.items():
        seen = cases.of(each.watcher.kind)
        weight = np.full(len(seen.cohort), 1 / len(seen.cohort)) if chance is None else chance / chance.sum()
        there, values = each.watcher.observe(seen.with_every_word())
        own = weight[there]
        share = float(weight[each.watcher.observe(seen)[0]].sum())
        found[name] = Arrivals(each.monitor.steps(*values), None if chance is None else own / own.sum(), share)
    return found


def average_run_lengths(watching: dict[str, Watched], learned: Past, replays: int) -> list[dict[str, Any]]:
    """Of each monitor on cases drawn from those it compares with: values gone through for each alarm, and promised.

    A replay goes on until its first alarm, or for FOLLOWED values or RUNS of the promised length, whichever are fewer.
    """
    rows, tell = [], now_and_then()
    for name, each in arrivals(watching, learned).items():
        monitor = watching[name].monitor
        longest = round(min(FOLLOWED, RUNS * monitor.arl))
        lengths = first_alarms(monitor.thresholds, replace(each, share=0.0), each, replays, longest, seed=1)
        rung = int(np.isfinite(lengths).sum())
        between = float(np.minimum(lengths, longest).sum()) / max(rung, 1)
        tell(f"run length of {name}")
        rows.append(
            {
                "monitor": watching[name].watcher.label,
                "promised": monitor.arl,
                "found": between,
                "error": between / np.sqrt(max(rung, 1)),
            }
            | {"alarms": rung, "followed": longest, "thresholds": [_number(each) for each in monitor.thresholds]}
        )
    return rows


def alarms_a_year(watching: dict[str, Watched], unchanged: dict[str, Arrivals]) -> dict[str, float]:
    """Of each monitor on cases as they come, without a planted change, from YEARS of them."""
    found = {}
    for name, each in watching.items():
        random, given = stream(2, Stream.SIMULATION), unchanged[name]
        values = round(A_DAY * DAYS * YEARS * given.share)
        drawn = given.drawn(random, (values, 1))[:, 0]
        found[each.watcher.label] = len(alarms(name, drawn, each.monitor.thresholds)) / YEARS
    return found


def delays(watching: dict[str, Watched], name: str, before: Arrivals, after: Arrivals, replays: int) -> dict[str, Any]:
    """How soon one monitor rings after a change, in its values and in cases of the clinic."""
    longest = max(1, round(HORIZON * after.share))
    values = first_alarms(watching[name].monitor.thresholds, before, after, replays, longest, seed=3)
    random = stream(4, Stream.SIMULATION)
    cases = np.full(replays, np.inf)
    rung = np.isfinite(values)
    extra = random.negative_binomial(values[rung], after.share) if after.share < 1 else 0
    cases[rung] = values[rung] + extra
    within = float((cases <= FOUND_WITHIN).mean())
    resampled = np.median(random.choice(cases, (400, replays)), axis=1)
    finite = np.isfinite(resampled).all()
    return {
        "monitor": watching[name].watcher.label,
        "median_values": _number(np.median(values)),
        "median_cases": _number(np.median(cases)),
        "error_cases": float(resampled.std()) if finite else None,
        "p90_cases": _number(np.quantile(cases, 0.9, method="higher")),
        "within": within,
        "error_within": float(np.sqrt(within * (1 - within) / replays)),
        "share_of_cases": after.share,
    }


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def moved_input(cohort: Cohort, column: str, by: float) -> Cohort:
    """An input larger by so many standard deviations."""
    at = cohort.layout.position(column)
    state = cohort.state.copy()
    state[:, at] += by * state[:, at].std()
    return replace(cohort, state=state)


def moved_threshold(cohort: Cohort, points: float) -> Cohort:
    """The AI's scores moved until it calls more cases positive, by this share of all."""
    layout, wanted = cohort.layout, float(cohort.ai_label.mean()) + points

    def at(offset: float) -> Cohort:
        state = cohort.state.copy()
        state[:, layout.position(layout.scores[-1])] += offset
        return replace(cohort, state=layout.completed(state))

    low, high = 0.0, 20.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle).ai_label.mean() < wanted else (low, middle)
    return at(high)


def less_specific(cohort: Cohort, reader: int, points: float) -> Cohort:
    """One reader calls more negatives positive, by this share of all negatives, at random."""
    words = cohort.decisions.copy()
    right = (cohort.truth == 0) & (words[:, reader] == 0)
    wrong = (cohort.truth == 0) & (words[:, reader] == 1)
    turned = points * (right.sum() + wrong.sum()) / right.sum()
    rows = np.flatnonzero(right)
    chosen = stream(5, Stream.SIMULATION).permutation(rows)[: round(turned * len(rows))]
    words[chosen, reader] = 1
    return replace(cohort, decisions=words)


def planted(
    watching: dict[str, Watched], seen: Seen, decider: Decider, replays: int, beside: bool = True
) -> list[dict[str, Any]]:
    """Every planted change with the monitors made for it and, `beside`, two more that ring soonest after it."""
    cohort, before = seen.cohort, arrivals(watching, among(seen))
    distance = (*cohort.layout.distances, *cohort.manifest.columns)[0]
    busiest = [int(each) for each in np.argsort(-seen.heard.mean(0), kind="stable")[:2]]
    readers = cohort.manifest.readers
    sick = cohort.truth == 1
    common, more = (np.where(sick, p / sick.mean(), (1 - p) / (1 - sick.mean())) for p in (COMMON, MORE))
    usual = arrivals(watching, among(seen), common)
    changes: list[tuple[str, Callable[[], dict[str, Arrivals]], dict[str, Arrivals], tuple[str, ...]]] = [
        (
            f"{cohort.layout.titles.get(distance, distance)} + 1 sd",
            lambda: arrivals(watching, among(past_of(decider, moved_input(cohort, distance, 1.0)))),
            before,
            (f"{INPUT} {distance}",),
        ),
        (
            "AI calls 10 points more positive",
            lambda: arrivals(watching, among(past_of(decider, moved_threshold(cohort, POINTS)))),
            before,
            ("ai positive", "ai false alarms"),
        ),
        (
            f"prevalence {COMMON:.0%} to {MORE:.0%}",
            lambda: arrivals(watching, among(seen), more),
            usual,
            (PREVALENCE, f"{PREVALENCE} outcomes"),
        ),
    ]
    for reader in busiest:

        def worse(reader: int = reader) -> dict[str, Arrivals]:
            changed = less_specific(cohort, reader, POINTS)
            return arrivals(watching, among(replace(seen, cohort=changed)))

        name = f"{READER} {readers[reader].column} false alarms"
        changes.append((f"{readers[reader].name}: specificity − 10 points", worse, before, (name,)))
    rows, tell = [], now_and_then()
    for change, make, start, made_for in changes:
        after = make()
        for name in made_for:
            tell(f"{change}: {name}")
            rows.append({"change": change} | delays(watching, name, start[name], after[name], replays))
        if not beside:
            continue
        others = [name for name in watching if name not in made_for and _moved(start[name], after[name])]
        told = [delays(watching, name, start[name], after[name], max(replays // 10, 10)) for name in others]
        told = sorted((each for each in told if each["median_cases"]), key=lambda each: each["median_cases"])
        rows += [{"change": change, "beside": True} | each for each in told[:2]]
    return rows


def _moved(before: Arrivals, after: Arrivals) -> bool:
    """Whether the change is one for this monitor, if it is given anything."""
    other = before.chance is not after.chance and not np.array_equal(
        np.asarray(before.chance), np.asarray(after.chance)
    )
    return after.share > 0 and (other or not np.array_equal(before.steps, after.steps))
