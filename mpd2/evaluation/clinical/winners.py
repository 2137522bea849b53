"""Who costs least where: every ratio miss : false alarm against every level of readers' fees.

In each cell all strategies decide by the cell's costs and the cases are only counted. Costs are told as false alarms: a
total cost of 90 per 1,000 screened is as bad as 90 false alarms, where a miss counts as `ratio` of them and a
reading as its fee over the cost of a false alarm.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np
import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.policy import Decisions
from mpd2.evaluation.clinical.decision_curve import Strategy, at_ratio, ratio_of
from mpd2.evaluation.intervals import percentiles
from mpd2.evaluation.metrics import COUNTS, tally

RATIOS = (1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 20.0, 32.0, 50.0)
FEES = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0)  # times the fees of the table
PEOPLE = 1000


def grid(costs: Costs) -> list[float]:
    """RATIOS, and among them the ratio of the costs themselves if it is not beyond them.

    >>> grid(Costs(2.0, 1.5, ()))[:3]
    [1.0, 1.333333, 2.0]
    """
    own = round(ratio_of(costs), 6)
    return sorted({*RATIOS, own} if RATIOS[0] <= own <= RATIOS[-1] else RATIOS)


def winners(
    cohort: Cohort,
    costs: Costs,
    strategies: Mapping[str, Strategy],
    weights: Floats,
    ratios: Sequence[float] | None = None,
    fees: Sequence[float] = FEES,
) -> pd.DataFrame:
    """Total cost of 1,000 people in false alarms, of every strategy in every cell, mean over members.

    `ratios`: RATIOS and the one of the costs, unless others are given. Columns: ratio, fee (times the table's), method,
    title, value, low, high, more (than the cheapest strategy of the cell, on the same resamples), more_low, more_high,
    winner, stands_for (which of several strategies it is here, else empty), n.
    """
    parts = [
        _cell(cohort, at_ratio(costs, ratio, fee), strategies, weights).assign(ratio=ratio, fee=fee)
        for ratio, fee in product(ratios or grid(costs), fees)
    ]
    rows = pd.concat(parts, ignore_index=True)
    return rows[["ratio", "fee", *rows.columns.drop(["ratio", "fee"])]].assign(n=len(cohort))


def cells(rows: pd.DataFrame) -> pd.DataFrame:
    """One row a cell of `winners`: who wins, over whom and by how much.

    Columns: ratio, fee, method, title, value (of the winner), second (title of the next), margin, low, high,
    beyond_chance (every other one's interval is above 0).
    """
    order = rows.sort_values(["ratio", "fee", "more", "winner"], ascending=[True, True, True, False], kind="stable")
    grouped = order.groupby(["ratio", "fee"], sort=False)
    first, second = grouped.nth(0).reset_index(drop=True), grouped.nth(1).reset_index(drop=True)
    sure = grouped["more_low"].apply(lambda low: bool((low.iloc[1:] > 0).all())).to_numpy()
    beside = {
        "second": second["title"],
        "margin": second["more"],
        "low": second["more_low"],
        "high": second["more_high"],
    }
    return first[["ratio", "fee", "method", "title", "value"]].assign(**beside, beyond_chance=sure)


def cheapest_on(val: Cohort, strategies: Mapping[str, Strategy]) -> Callable[[Costs], str]:
    """Which of several strategies has the least total cost on val, by any costs."""

    def choose(costs: Costs) -> str:
        total = {name: float(_costs(val, each.decide(costs), costs).mean()) for name, each in strategies.items()}
        return min(total, key=total.__getitem__)

    return choose


def one_of(title: str, strategies: Mapping[str, Strategy], choose: Callable[[Costs], str]) -> Strategy:
    """One strategy that by any costs is whichever of several is chosen for them."""
    return Strategy(title, lambda costs: strategies[choose(costs)].decide(costs), choose)


def _cell(cohort: Cohort, costs: Costs, strategies: Mapping[str, Strategy], weights: Floats) -> pd.DataFrame:
    decided = (_costs(cohort, strategy.decide(costs), costs) for strategy in strategies.values())
    cost = PEOPLE * np.stack([np.atleast_2d(part).mean(0) for part in decided])  # [S, N]
    value, samples = cost.mean(-1), weights @ cost.T / len(cohort)  # [S], [R, S]
    first = int(value.argmin())
    (low, high), (more_low, more_high) = percentiles(samples), percentiles(samples - samples[:, [first]])
    stands_for = [each.stands_for(costs) if each.stands_for else "" for each in strategies.values()]
    return pd.DataFrame({
        "method": list(strategies), "title": [each.title for each in strategies.values()], "value": value,
        "low": low, "high": high, "more": value - value[first], "more_low": more_low, "more_high": more_high,
        "winner": np.arange(len(value)) == first, "stands_for": stands_for,
    })  # fmt: skip


def _costs(cohort: Cohort, decisions: Decisions, costs: Costs) -> Floats:
    """Total cost of every case in false alarms, [..., N]."""
    cases = tally(cohort, decisions, costs).cases
    return (cases[..., COUNTS.index("clinical")] + cases[..., COUNTS.index("fees")]) / costs.false_positive
