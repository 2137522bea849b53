"""Decision curves: net benefit as a missed positive comes to weigh from one to fifty false alarms.

Net benefit (Vickers and Elkin, 2006) counts in true positives a person, NB = TP/n − FP/n · w − h. The weight of a false
alarm is the odds at the threshold probability p_t from which on a case is called positive, w = p_t / (1 − p_t). Whoever
decides by costs calls it so where p · c_fn ≥ (1 − p) · c_fp: hence w = c_fp / c_fn, one over the ratio miss : false
alarm, and p_t = 1 / (1 + ratio). The harm h is what finding out costs, the readers' fees: a fee κ is worth κ / c_fn
true positives. Along a curve c_fp and κ stay as they are in the table and c_fn = ratio · c_fp, so that

    NB = prevalence − (c_fn · FN + c_fp · FP + fees) / (n · c_fn):

at any one ratio the largest net benefit is the least total cost. Every strategy decides by the ratio it is judged at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY, Decisions
from mpd2.evaluation.intervals import percentiles
from mpd2.evaluation.metrics import COUNTS, tally

RATIOS = (1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0, 6.3, 8.0, 10.0, 12.5, 16.0, 20.0, 25.0, 32.0, 40.0, 50.0)
"""False alarms that a miss weighs as much as: preferred numbers, ten to a decade, a log grid."""

MOVED, ALL, NONE = "ai-moved", "treat-all", "treat-none"  # strategies that no run is needed for


@dataclass(frozen=True)
class Strategy:
    """A way to decide the same cases by any costs."""

    title: str  # as shown
    decide: Callable[[Costs], Decisions]  # [E, N], or [N]
    stands_for: Callable[[Costs], str] | None = None  # which of several strategies it is by some costs, where it varies


def at_ratio(costs: Costs, ratio: float, fee: float = 1.0) -> Costs:
    """Costs under which a miss weighs as much as `ratio` false alarms, and every fee is so many times what it was.

    >>> at_ratio(Costs(2.0, 1.5, (0.2,)), 10, fee=2)
    Costs(false_negative=15.0, false_positive=1.5, fees=(0.4,))
    """
    if costs.false_positive == 0:
        raise UserError("cost of a false alarm: found 0, expected more, for a miss is weighed against it")
    return Costs(ratio * costs.false_positive, costs.false_positive, tuple(fee * each for each in costs.fees))


def ratio_of(costs: Costs) -> float:
    """How many false alarms a miss weighs as much as; infinite where false alarms are free."""
    return costs.false_negative / costs.false_positive if costs.false_positive else np.inf


def without_runs(cohort: Cohort) -> dict[str, Strategy]:
    """The AI's probability against the threshold of the costs, everybody called positive, and nobody."""
    positive = cohort.manifest.task.positive
    return {
        MOVED: Strategy("AI, threshold moved", lambda costs: _labelled(cohort.ai_probability >= threshold(costs))),
        ALL: Strategy(f"Call everybody {positive}", lambda _: _labelled(np.ones(len(cohort)))),
        NONE: Strategy(f"Call nobody {positive}", lambda _: _labelled(np.zeros(len(cohort)))),
    }


def threshold(costs: Costs) -> float:
    """p_t, the probability of a positive from which on a false alarm is the cheaper risk.

    >>> threshold(Costs(6.0, 1.5, ()))
    0.2
    """
    return costs.false_positive / (costs.false_positive + costs.false_negative)


def net_benefits(cohort: Cohort, decisions: Decisions, costs: Costs) -> Floats:
    """What every case adds to net benefit, [..., N]: 1 for a true positive, less weights of false alarms and fees."""
    cases = tally(cohort, decisions, costs).cases
    found, alarmed, fees = (cases[..., COUNTS.index(name)] for name in ("TP", "FP", "fees"))
    return found - alarmed * (costs.false_positive / costs.false_negative) - fees / costs.false_negative


def decision_curves(
    cohort: Cohort,
    costs: Costs,
    strategies: Mapping[str, Strategy],
    weights: Floats,
    reference: str = MOVED,
    ratios: Sequence[float] = RATIOS,
) -> pd.DataFrame:
    """The net benefit of every strategy at every ratio, mean over members, a person.

    `weights`: `intervals.resample_weights`, on which strategies are compared pair by pair; `reference`: one of them.
    Columns: method, title, ratio, threshold (p_t), value, low, high, more (than the reference), more_low, more_high,
    best (of all at this ratio), behind (the best one less this), behind_low, behind_high, tied (not the best, and not
    to be told from it), reference, n.
    """
    each = [at_ratio(costs, ratio) for ratio in ratios]
    benefit = np.stack([_along(cohort, strategy, each) for strategy in strategies.values()])  # [S, P, N]
    value = benefit.mean(-1)
    samples = np.tensordot(weights, benefit, axes=((1,), (2,))) / len(cohort)  # [R, S, P]
    (low, high), base, first = percentiles(samples), list(strategies).index(reference), value.argmax(0)  # first: [P]
    more_low, more_high = percentiles(samples - samples[:, [base]])
    leader = np.take_along_axis(samples, first[None, None, :], axis=1)  # [R, 1, P]
    behind_low, behind_high = percentiles(leader - samples)
    best = np.arange(len(value))[:, None] == first
    parts = {
        "value": value, "low": low, "high": high,
        "more": value - value[base], "more_low": more_low, "more_high": more_high,
        "best": best, "behind": value.max(0) - value, "behind_low": behind_low, "behind_high": behind_high,
        "tied": (behind_low <= 0) & ~best,
    }  # fmt: skip
    index = pd.MultiIndex.from_product([strategies, ratios], names=["method", "ratio"]).to_frame(index=False)
    index.insert(1, "title", [strategies[name].title for name in index["method"]])
    index["threshold"] = 1 / (1 + index["ratio"])
    return index.assign(**{name: part.ravel() for name, part in parts.items()}, reference=reference, n=len(cohort))


def where_best(rows: pd.DataFrame) -> pd.DataFrame:
    """The stretches of ratios in which one strategy stays the best of a decision curve, and stays so beyond chance.

    Columns: method, title, beyond_chance (nobody is tied with it), first, last (ratios of the grid).
    """
    tied = rows.groupby("ratio")["tied"].any()
    leaders = rows[rows["best"]].sort_values("ratio")
    return stretches(leaders.assign(beyond_chance=~leaders["ratio"].map(tied)), ["method", "title", "beyond_chance"])


def stretches(rows: pd.DataFrame, alike: list[str]) -> pd.DataFrame:
    """Neighbouring rows, one a ratio, that are alike in some columns: these columns, then first and last ratio."""
    border = (rows[alike] != rows[alike].shift()).any(axis=1).cumsum()
    ends = {name: (name, "first") for name in alike}
    return rows.groupby(border.to_numpy()).agg(**ends, first=("ratio", "first"), last=("ratio", "last"))


def _along(cohort: Cohort, strategy: Strategy, each: Sequence[Costs]) -> Floats:
    """What every case adds at each of the costs, mean over members, [P, N]."""
    added = (net_benefits(cohort, strategy.decide(costs), costs) for costs in each)
    return np.stack([np.atleast_2d(part).mean(0) for part in added])


def _labelled(label: np.ndarray) -> Decisions:
    """Decisions without any reader."""
    return Decisions(np.full((len(label), 1), NOBODY), label.astype(np.int64))
