"""What local outcomes buy where a cohort is new: the old run against one recalibrated on more and more of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd

from mpd2.cli.output import aligned, say
from mpd2.core.clusters.splits import leave_cohort_out, resplit
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.runs import Run
from mpd2.core.text import NOTHING, decimal, interval
from mpd2.evaluation.metrics import evaluate
from mpd2.evaluation.tables import ALL
from mpd2.methods.base import Method
from mpd2.methods.mpd2_router import Mpd2
from mpd2.methods.registry import METHODS
from mpd2.study.local.cases import held_out
from mpd2.study.local.recalibration import AI, ALARMS, COST, MISSED, NEW, OLD, compare, decided, recalibrate, verdict_of
from mpd2.study.robustness import over_resplits
from mpd2.training.config import STUDIO

LOCAL = (0, 50, 100, 200, 400)
DRAWS = 10
SEEDS = (42, 43)
METHOD = "mpd2-plus"
STUDIO_METHOD = "mpd2-studio"


def bench_local_cases(
    cohort: Cohort,
    key: str,
    sizes: Sequence[int] = LOCAL,
    draws: int = DRAWS,
    methods: Sequence[str] = (METHOD,),
    seeds: Sequence[int] = SEEDS,
) -> dict[str, Any]:
    """Cost on held-out cases of cohort `key`, the largest if empty, which is new: by how many outcomes there are.

    Each draw deals all cases anew. The old run learns from the other cohorts alone; the new one from so many local
    outcomes besides. Plain values, ready for JSON.
    """
    key = key or _largest(cohort)
    known = int(((cohort.sources == key) & (cohort.split != "test")).sum())
    if not known:
        raise UserError(f"cohort: found {key!r}, expected one of {', '.join(dict.fromkeys(cohort.sources.tolist()))}")
    counts = tuple(dict.fromkeys(min(size, known) for size in sizes))
    results = []
    for name in methods:
        found = []
        for number in range(draws):
            begin = perf_counter()
            found.append(_one_draw(cohort, key, counts, number, method_named(name), seeds))
            say(f"{name}, draw {number + 1} of {draws}: {perf_counter() - begin:.0f} s")
        results += [{"method": name} | row for row in _over_draws(found, _overlap(cohort, key))]
    return {
        "cohort": key,
        "known": known,
        "held_out": int((cohort.sources == key).sum()) - known,
        "draws": draws,
        "seeds": list(seeds),
        "rows": results,
    }


def method_named(name: str) -> Method:
    """A method by its key, or the router of the studio preset."""
    if name == STUDIO_METHOD:
        return Mpd2(STUDIO)
    if name not in METHODS:
        raise UserError(f"method: found {name!r}, expected one of {', '.join((*METHODS, STUDIO_METHOD))}")
    return METHODS[name]


def describe_local_cases(timings: Mapping[str, Any]) -> str:
    """The curve as text."""
    heads = ("local outcomes", "old run", "new run", "recalibrated AI", "AI", "new − old", "95 %", "wins, of draws")
    rows = [
        (
            f"{row['method']}: {row['local']}",
            *(decimal(row[name]["value"]) for name in (OLD, NEW, AI, "plain")),
            decimal(row["less_old"]["value"], signed=True),
            NOTHING if row["less_old"]["low"] is None else interval(*_ends(row["less_old"]), signed=True),
            f"{row['wins']} of {timings['draws']}",
        )
        for row in timings["rows"]
    ]
    return aligned([heads, *rows])


def _one_draw(
    cohort: Cohort, key: str, counts: Sequence[int], number: int, method: Method, seeds: Sequence[int]
) -> pd.DataFrame:
    """A row for each number of local outcomes: costs of all, differences, and what the clinic would conclude."""
    dealt = resplit(cohort, number)
    costs, others = cohort.manifest.default_costs(), dealt.rows(dealt.sources != key)
    old = method.fit(others, costs, seeds)
    nobody = METHODS["ai"].fit(others, costs, seeds[:1])
    rows = []
    for count in counts:
        cases = leave_cohort_out(dealt, key, count, number)
        local = cases.rows(cases.sources == key)
        made = _without(old, others, local) if count == 0 else recalibrate(old, others, local).rows
        rows.append(_row(made, count) | {"plain": _cost(nobody, held_out(local))})
    return pd.DataFrame(rows)


def _without(old: Run, others: Cohort, local: Cohort) -> pd.DataFrame:
    """Before there is any outcome: the old run is the new one, and the AI is recalibrated on the others."""
    ai = METHODS["recalibrated"].fit(others, old.costs, [int(member["seed"]) for member in old.settings])
    judged = held_out(local)
    same = decided(old, judged)
    return compare({NEW: same, OLD: same, AI: decided(ai, judged)}, judged, old.costs)


def _cost(run: Run, cases: Cohort) -> float:
    return float(evaluate(cases, decided(run, cases), run.costs)["TotalCost"].item())


def _row(rows: pd.DataFrame, count: int) -> dict[str, float]:
    """What one draw says for a number of local outcomes."""
    overall = rows[rows["kind"] == ALL].set_index(["against", "metric"])
    of = overall.to_dict("index")
    verdict, ai = verdict_of(rows), verdict_of(rows, AI)
    return {
        "local": count,
        NEW: of[OLD, COST][NEW],
        OLD: of[OLD, COST]["other"],
        AI: of[AI, COST]["other"],
        "less_old": verdict.difference,
        "less_ai": ai.difference,
        MISSED: of[OLD, MISSED]["difference"],
        ALARMS: of[OLD, ALARMS]["difference"],
        "wins": verdict.wins,
        "cheaper": verdict.cheaper,
        "dearer": verdict.dearer,
        "wins_over_ai": ai.cheaper,
        "ai_wins": ai.dearer,
        "needed": np.nan if verdict.needed is None else verdict.needed,
    }


def _over_draws(found: Sequence[pd.DataFrame], overlap: float) -> list[dict[str, Any]]:
    """Means over draws with corrected intervals, and in how many draws the clinic would say that the new run wins."""
    every = pd.concat(found, ignore_index=True)
    rows = []
    for local in dict.fromkeys(every["local"].astype(int).tolist()):
        part = every[every["local"] == local]
        row: dict[str, Any] = {"local": local}
        for name in (OLD, NEW, AI, "plain", "less_old", "less_ai", MISSED, ALARMS):
            spread = over_resplits(part[name].to_numpy(float), overlap)
            row[name] = {end: _number(spread[end]) for end in ("value", "low", "high")}
        row |= {name: int(part[name].sum()) for name in ("wins", "cheaper", "dearer", "wins_over_ai", "ai_wins")}
        needed = part["needed"].dropna()
        row["needed"] = {"median": None if needed.empty else float(needed.median()), "draws": len(needed)}
        rows.append(row)
    return rows


def _largest(cohort: Cohort) -> str:
    """The cohort with most cases to learn from."""
    names, cases = np.unique(cohort.sources[cohort.split != "test"], return_counts=True)
    return str(names[cases.argmax()])


def _ends(spread: Mapping[str, float]) -> tuple[float, float]:
    return spread["low"], spread["high"]


def _number(value: Any) -> float | None:
    """For JSON, which knows no NaN: of a single draw there is no interval."""
    return None if np.isnan(value) else float(value)


def _overlap(cohort: Cohort, key: str) -> float:
    """Held-out to all other cases of the cohort that is new: what is dealt anew is these."""
    held = int(((cohort.sources == key) & (cohort.split == "test")).sum())
    return held / (int((cohort.sources == key).sum()) - held)
