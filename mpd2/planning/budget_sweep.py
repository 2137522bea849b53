"""A setting at every budget at once: its figures with their intervals, and how far each is from another setting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpd2.core.arrays import Floats, Ints
from mpd2.core.costs import Costs
from mpd2.evaluation.curves import COSTS
from mpd2.evaluation.intervals import Estimate, percentiles
from mpd2.evaluation.metrics import COUNTS, each_metric
from mpd2.planning.day import DaySetting
from mpd2.planning.dayplan import ALL_METRICS, SOFT, Judged
from mpd2.planning.limits import Limits
from mpd2.planning.ranked_cases import RankedCases, counts_along, soft_prices

STEPS = 200  # from no case to all of them
KNOWN = 9  # digits after the largest cost's first that do not depend on the order in which cases are added up
SHOWN = ("TotalCost", "ClinicalCost", "ExpertCost", "Defer", "F1", "MCC", "Sens", SOFT)


@dataclass(frozen=True, eq=False)
class Estimates:
    """SHOWN at every place, [P, F] each, rounded."""

    value: Floats
    low: Floats
    high: Floats

    def at(self, place: int) -> dict[str, Estimate]:
        """Those of one place."""
        rows = zip(self.value[place].tolist(), self.low[place].tolist(), self.high[place].tolist(), strict=True)
        return {name: Estimate(*told) for name, told in zip(SHOWN, rows, strict=True)}


@dataclass(frozen=True, eq=False)
class BudgetSweep:
    """What becomes of a worklist as the budget goes from none to all in STEPS."""

    sent: Ints  # [P] cases
    readings: Ints  # [P]
    value: Floats  # [P, F] SHOWN
    samples: Floats  # [P, F, R] the same of every resample
    metrics: Estimates

    def less(self, other: Judged) -> Estimates:
        """What every place has more than another setting, on the same resampled cases."""
        columns = [ALL_METRICS.index(name) for name in SHOWN]
        value = self.value - np.array([other.metrics[name].value for name in SHOWN])
        return _estimates(value, self.samples - other.samples.T[columns], other.day.setting.costs)


def has_course(limits: Limits) -> bool:
    """Whether nothing but the budget is short; else each budget is an assignment of its own."""
    return not (limits.capacity or limits.reserve or limits.total is not None)


def course_of(ranked: RankedCases, setting: DaySetting, weights: Floats) -> BudgetSweep:
    """The course of a setting that has one; at each place it is what `dayplan.judged` says of that budget."""
    limits, budgets = setting.limits, np.arange(1 + STEPS) / STEPS
    drawn = np.concatenate([np.ones((1, len(ranked.cohort))), weights])  # first every case once
    prices = soft_prices(ranked, limits, budgets) if limits.soft else None
    counts = counts_along(ranked, limits, setting.costs, drawn, budgets, prices)  # [C, P, 1 + R]
    sent, readings = (counts[COUNTS.index(name), :, 0].astype(np.int64) for name in ("deferred", "consults"))
    known = each_metric(counts)
    known[SOFT] = ranked.soft(_prices(ranked, sent) if prices is None else prices) @ drawn.T / drawn.sum(1)
    figures = np.stack([known[name] for name in SHOWN], axis=1)  # [P, F, 1 + R]
    value, samples = figures[..., 0], figures[..., 1:]
    return BudgetSweep(sent, readings, value, samples, _estimates(value, samples, setting.costs))


def rounded(numbers: Floats, costs: Costs) -> Floats:
    """SHOWN, [..., F], without the digits that depend on the order in which cases are added up, in any unit of cost."""
    largest = max(costs.false_negative, costs.false_positive, *costs.fees) or 1.0
    unit = np.where(np.isin(SHOWN, COSTS), 10.0 ** np.floor(np.log10(largest)), 1.0)
    return np.round(numbers / unit, KNOWN) * unit


def _estimates(value: Floats, samples: Floats, costs: Costs) -> Estimates:
    low, high = percentiles(np.moveaxis(samples, -1, 0))
    return Estimates(*(rounded(numbers, costs) for numbers in (value, low, high)))


def _prices(ranked: RankedCases, sent: Ints) -> Floats:
    """The price at which the policy alone would send as many, [P] -> [P, 1]; as in `operating.soft_deferral`."""
    best = np.sort(ranked.preference.max(-1))[::-1]  # [N] falling
    possible = int(np.isfinite(best).sum())
    lowest = best[:possible].min(initial=0.0)  # where everybody who can be sent is
    return np.append(best[:possible], lowest)[np.minimum(sent, possible)][:, None]
