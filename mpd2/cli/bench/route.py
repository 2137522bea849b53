"""How fast a worklist is rerouted: as cases become many, and as places become few."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from mpd2.cli.output import say
from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.policy import Policy, Rule, mean_policy, preferences
from mpd2.core.runs import load_errors, load_run
from mpd2.methods.registry import policy_of
from mpd2.planning.plan import plan
from mpd2.planning.recosting import reordered, savings
from mpd2.planning.roster_and_limits import Limits

SIZES = (899, 2_000, 10_000, 100_000, 1_000_000)  # cases of a worklist
DAYS = 10_000  # cases up to which it is timed with few places too
BUDGET, STEP = 0.3, 0.001  # share of cases sent at first, and by how much more each time
PLACES = 50  # one place with each reader for so many cases
JITTER = 0.01  # noise by which copies of a case differ
LONG = 50_000  # cases from which on a few turns will do
TURNS, FEW_TURNS = 40, 5


def bench_route(run: Path, cohort: Cohort, sizes: tuple[int, ...] = SIZES) -> dict[str, Any]:
    """Time rerouting with a run's policy, in seconds by number of cases; plain values, ready for JSON.

    A worklist is prepared once: how each reader is preferred, and what that is expected to save. Rerouting is what
    follows every move of a hand, each with another budget; in `assign` every reader has few places. Larger worklists
    are copies of the test cases with a little noise on d. `growth` is the power of the number of cases by
    which the time grows.
    """
    trained, cases = load_run(run), cohort.subset(split="test")
    policy = mean_policy(policy_of(trained, cases))
    saving = savings(load_errors(run).predict(cases), trained.costs)
    times: dict[str, dict[int, dict[str, float]]] = {"prepare": {}, "reroute": {}, "assign": {}}
    for n in sizes:
        say(f"a worklist of {n:,} cases")
        worklist = _Worklist(cases, policy, trained.rule, saving, n)
        times["prepare"][n] = _time(worklist.prepare, n)
        times["reroute"][n] = _time(worklist.reroute, n)
        if n <= DAYS:
            times["assign"][n] = _time(worklist.assign, n)
    return {
        "setting": {"run": run.name, "readers": cohort.readers, "budget": BUDGET, "cases_for_a_place": PLACES},
        **{name: {str(n): spread for n, spread in by_size.items()} for name, by_size in times.items()},
        "growth": {name: _growth(by_size) for name, by_size in times.items()},
    }


class _Worklist:
    """So many cases, and what can be done with them under a budget."""

    def __init__(self, cases: Cohort, policy: Policy, rule: Rule, saving: Floats, n: int) -> None:
        rows = np.arange(n) % len(cases)
        noise = np.random.default_rng(0).normal(scale=JITTER, size=n)
        defer = np.clip(policy.defer[rows] * (1 + noise), 0.0, 1.0)
        self.cases, self.rule, self.saving = cases.rows(rows), rule, saving[rows]
        self.policy = Policy(defer, policy.allocation[rows], policy.available[rows])
        self.few = tuple((column, max(n // PLACES, 1)) for column in cases.manifest.columns)
        self.prepare(BUDGET)

    def prepare(self, _: float) -> None:
        self.ready = reordered(preferences(self.policy, self.rule), self.saving)

    def reroute(self, share: float) -> None:
        plan(self.ready, self.cases, Limits(budget=share))

    def assign(self, share: float) -> None:
        plan(self.ready, self.cases, Limits(budget=share, capacity=self.few))


def _time(action: Callable[[float], None], n: int) -> dict[str, float]:
    """Seconds of one call, by the clock and of CPU."""
    clock, cpu = [], []
    for turn in range(FEW_TURNS if n >= LONG else TURNS):
        begin, busy = perf_counter(), process_time()
        action(BUDGET + turn * STEP)
        clock.append(perf_counter() - begin)
        cpu.append(process_time() - busy)
    p50, p95 = np.percentile(clock, [50, 95])
    return {"p50": float(p50), "p95": float(p95), "cpu_p50": float(np.median(cpu))}


def _growth(by_size: dict[int, dict[str, float]]) -> float:
    """The slope of CPU time over cases, both in logarithms."""
    return float(np.polyfit(np.log(list(by_size)), np.log([times["cpu_p50"] for times in by_size.values()]), 1)[0])
