"""How much of what can be gained do methods gain, the more cases they learn from? And how long do many cases take?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from time import perf_counter, process_time
from typing import Any

import numpy as np

from mpd2.cli.output import say
from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.policy import apply_actions, choose
from mpd2.core.runs import Run
from mpd2.imaging.simulation.bayes import AI, OWN, THREE, WORD, Bound, Known, expected_costs, known, least, mean
from mpd2.imaging.simulation.law import Law, fitted_law
from mpd2.imaging.simulation.manifest import simulated_manifest
from mpd2.imaging.simulation.programme import draw
from mpd2.methods.base import Method
from mpd2.methods.learned import Learned
from mpd2.methods.mpd2_router import Mpd2
from mpd2.methods.registry import METHODS, continuations_of, policy_of
from mpd2.training.config import PAPER, STUDIO

SIZES = (1_000, 10_000, 100_000)  # cases learned from; a quarter as many to choose by
VAL = 0.25
TEST = 50_000  # cases judged on, the same for all
SEEDS = 3
FEW_SEEDS, MANY_CASES = 1, 100_000  # so many seeds where there are so many cases
VIEWS = 1_000_000  # cases seen in training, over all epochs: what many cases leave of the epochs
FEWEST_EPOCHS = 10
MILLION = 1_000_000
LAPS = ("draw", "policy", "route")
JUDGE_SEED, TRAIN_SEED = 10**6, 10**6 + 1
PART = 10_000  # cases judged at once
KIND = {"ai": AI, "recalibrated-score": OWN, "recalibrated": OWN, "mpd2-plus": THREE}
"""What a method may do; all others keep the AI's word or take one reader's."""
KEYS = (
    "ai", "best-reader", "uncertainty", "recalibrated-score", "recalibrated",
    "mao", "narasimhan", "verma", "hemmer", "keswani", "mpd2", "mpd2-studio", "mpd2-costs", "mpd2-plus",
)  # fmt: skip
COSTS_ALONE = STUDIO.but(
    objective__fee_weight=1.0,
    objective__gsdp_weight=0.0,
    objective__rank_weight=0.0,
    budget__target=None,
    training__weight_decay=1e-4,
    training__checkpoint="hard",
)
"""The router trained for what is counted, without the terms that presets add to it."""
ROUTERS = {"mpd2": PAPER, "mpd2-studio": STUDIO, "mpd2-costs": COSTS_ALONE}
TITLES = {"mpd2": "MPD² (paper)", "mpd2-studio": "MPD² (studio)", "mpd2-costs": "MPD² (studio, costs alone)"}


def bench_learning_curve(
    sizes: Sequence[int] = SIZES,
    seeds: int = SEEDS,
    keys: Sequence[str] = KEYS,
    test: int = TEST,
    scale: int | None = MILLION,
) -> dict[str, Any]:
    """Cost on a large simulated test set, beside the least of each method's kind; plain values, ready for JSON.

    Costs are expected ones given what was measured and heard, over the truth; `above` is the mean difference to the
    bound of the method's kind on the same cases, with half its 95 % interval.
    """
    law = fitted_law()
    judge = drawn(law, test, JUDGE_SEED, (0.0, 0.0, 1.0))
    facts, costs = known(law, judge), judge.manifest.default_costs()
    best = {kind: least(facts, costs, kind) for kind in (AI, OWN, WORD, THREE)}
    rows: list[dict[str, Any]] = []
    for n in sizes:
        cohort = drawn(law, round(n * (1 + VAL)), TRAIN_SEED + n, (1.0, VAL, 0.0))
        members = seeds if n < MANY_CASES else min(seeds, FEW_SEEDS)
        for key in keys:
            begin = perf_counter()
            run = shortened(key, n).fit(cohort, costs, range(1, members + 1))
            seconds = perf_counter() - begin
            cost = judged(run, judge, facts)  # [E, N]
            kind = KIND.get(key, WORD)
            rows.append(
                {"n": n, "method": key, "kind": kind, "seeds": members, "seconds": round(seconds, 1)}
                | {"cost": float(cost.mean()), "by_seed": [float(each) for each in cost.mean(-1)]}
                | {"above": asdict(mean(cost.mean(0) - best[kind]))}
            )
            say(f"{n:,} cases, {key}: {rows[-1]['cost']:.4f} ({seconds:.0f} s)")
    return {
        "test": test,
        "least": {kind: asdict(mean(values)) for kind, values in best.items()},
        "rows": rows,
    } | ({} if scale is None else {"scale": time_scale(law, run_of(law), scale)})


def drawn(law: Law, n: int, seed: int, shares: tuple[float, ...]) -> Cohort:
    """A cohort of this many cases, divided in these shares."""
    return draw(law, n, seed, shares).cohort(simulated_manifest(law, "Simulated", "cases.parquet"))


def shortened(key: str, n: int) -> Method:
    """A method as it is, but for networks: with many cases they pass over them fewer times, at most VIEWS in all."""
    epochs = max(FEWEST_EPOCHS, VIEWS // n)
    if key in ROUTERS:
        preset = ROUTERS[key]
        training = preset.training
        if epochs >= training.epochs:
            return Mpd2(preset)
        return Mpd2(preset.but(training__epochs=epochs, training__warm_up=2, training__patience=epochs))
    method = METHODS[key]
    if isinstance(method, Learned) and epochs < method.net.epochs:
        return replace(method, net=replace(method.net, epochs=epochs))
    return method


def judged(run: Run, judge: Cohort, facts: Known) -> Floats:
    """The expected cost of every case under every member, [E, N], a part of the cases at a time."""
    parts = []
    for start in range(0, len(judge), PART):
        rows = np.arange(start, min(start + PART, len(judge)))
        cases = judge.rows(rows)
        some = Known(facts.positive[rows], facts.says[rows], facts.available[rows], facts.ai_label[rows])
        decisions = apply_actions(choose(policy_of(run, cases), run.rule), cases, continuations_of(run, cases))
        parts.append(expected_costs(some, decisions, cases.decisions, run.costs))
    return np.concatenate(parts, axis=-1)


def run_of(law: Law) -> Run:
    """A router to time: one member of the studio preset, trained for a moment."""
    config = STUDIO.but(training__epochs=2, training__warm_up=0)
    cohort = drawn(law, 1_250, TRAIN_SEED, (1.0, VAL, 0.0))
    return Mpd2(config).fit(cohort, cohort.manifest.default_costs(), [1])


def time_scale(law: Law, run: Run, n: int) -> dict[str, Any]:
    """Seconds, by the clock and of CPU, to draw very many cases, to apply a router to them, and to decide."""
    clock, cpu = [perf_counter()], [process_time()]

    def lap() -> None:
        clock.append(perf_counter())
        cpu.append(process_time())

    cases = drawn(law, n, TRAIN_SEED, (0.0, 0.0, 1.0))
    lap()
    policy = policy_of(run, cases).member(0)
    lap()
    apply_actions(choose(policy, run.rule), cases)
    lap()
    times = {"seconds": clock, "cpu_seconds": cpu}
    laps = {name: dict(zip(LAPS, np.diff(each).round(3).tolist(), strict=True)) for name, each in times.items()}
    return {"n": n, **laps}


def as_table(found: dict[str, Any]) -> str:
    """The costs as a table in Markdown, a row a method, a column a number of cases."""
    sizes = sorted({row["n"] for row in found["rows"]})
    by = {(row["method"], row["n"]): row for row in found["rows"]}
    keys = dict.fromkeys(row["method"] for row in found["rows"])
    lines = ["| method | " + " | ".join(f"{n:,} cases" for n in sizes) + " | least of its kind |"]
    lines += ["|" + " --- |" * (len(sizes) + 2)]
    for key in keys:
        cells = [by.get((key, n)) for n in sizes]
        kind = next(row["kind"] for row in cells if row is not None)
        least_cost = found["least"][kind]
        told = ["–" if row is None else f"{row['cost']:.4f} ({_signed(row['above']['cost'])})" for row in cells]
        lines.append(f"| {title(key)} | {' | '.join(told)} | {least_cost['cost']:.4f} |")
    return "\n".join(lines)


def _signed(value: float) -> str:
    """With its sign, and no minus before nothing.

    >>> _signed(-1e-9), _signed(0.01), _signed(-0.01)
    ('+0.0000', '+0.0100', '-0.0100')
    """
    return f"{round(value, 4) + 0.0:+.4f}"


def title(key: str) -> str:
    """A method as shown."""
    return TITLES.get(key) or METHODS[key].name


def describe_curve(found: dict[str, Any]) -> str:
    """The same as text, with how sure it is."""
    widest = max(Bound(**row["above"]).margin for row in found["rows"])
    scale = found.get("scale")
    told = [
        as_table(found),
        f"cost a case on {found['test']:,} simulated cases, and how much that is above the least of its kind "
        f"(known to ±{widest:.4f})",
    ]
    if scale is not None:
        both = [(what, scale["seconds"][what], scale["cpu_seconds"][what]) for what in LAPS]
        times = ", ".join(f"{what} {seconds:.2f} s (CPU {cpu:.2f})" for what, seconds, cpu in both)
        told.append(f"{scale['n']:,} cases: {times}")
    return "\n\n".join(told)
