"""A setting at every budget at once: its numbers with their intervals, and how far each is from another setting."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpd2.core.arrays import Floats, Ints
from mpd2.core.costs import Costs
from mpd2.evaluation.clinical.per_thousand import at_prevalence
from mpd2.evaluation.curves import COSTS
from mpd2.evaluation.intervals import Estimate, percentiles
from mpd2.evaluation.metrics import COUNTS, each_metric
from mpd2.planning.day import DaySetting
from mpd2.planning.dayplan import ALL_METRICS, PEOPLE, SOFT, Judged, in_people
from mpd2.planning.ranked_cases import RankedCases, counts_along, soft_prices
from mpd2.planning.roster_and_limits import Limits

STEPS = 200  # of the slider, from no case sent to all
KNOWN = 9  # digits after the largest cost's first that do not depend on the order in which cases are added up
SHOWN = ("TotalCost", "ClinicalCost", "Sens", "Defer", "ExpertCost", "F1", "MCC", SOFT, *PEOPLE)


@dataclass(frozen=True, eq=False)
class Estimates:
    """SHOWN at every step, [P, F] each, rounded."""

    value: Floats
    low: Floats
    high: Floats

    def at(self, step: int) -> dict[str, Estimate]:
        """Those of one step."""
        rows = zip(self.value[step].tolist(), self.low[step].tolist(), self.high[step].tolist(), strict=True)
        return {name: Estimate(*ends) for name, ends in zip(SHOWN, rows, strict=True)}


@dataclass(frozen=True, eq=False)
class BudgetSweep:
    """All metrics of a worklist as the budget goes from none to all in STEPS, P = 1 + STEPS."""

    sent: Ints  # [P] cases
    readings: Ints  # [P]
    value: Floats  # [P, F] SHOWN
    samples: Floats  # [P, F, R] the same of every resample
    metrics: Estimates

    def less(self, other: Judged) -> Estimates:
        """Every step less another setting, on the same resampled cases (paired bootstrap)."""
        columns = [ALL_METRICS.index(name) for name in SHOWN]
        value = self.value - np.array([other.metrics[name].value for name in SHOWN])
        return _estimates(value, self.samples - other.samples.T[columns], other.day.setting.costs)


def can_sweep(limits: Limits) -> bool:
    """Whether nothing but the budget is limited; under capacities each budget is an assignment of its own."""
    return not (limits.capacity or limits.reserve or limits.total is not None)


def sweep_budgets(
    ranked: RankedCases, setting: DaySetting, weights: Floats, prevalence: float | None = None
) -> BudgetSweep:
    """Every budget of a setting that `can_sweep`; each step is what `dayplan.measure` gives for that budget.

    People are counted at the `prevalence`, if one is given.
    """
    limits, budgets = setting.limits, np.arange(1 + STEPS) / STEPS
    drawn = np.concatenate([np.ones((1, len(ranked.cohort))), weights])  # first every case once
    prices = soft_prices(ranked, limits, budgets) if limits.soft else None
    counts = counts_along(ranked, limits, setting.costs, drawn, budgets, prices)  # [C, P, 1 + R]
    sent, readings = (counts[COUNTS.index(name), :, 0].astype(np.int64) for name in ("deferred", "consults"))
    metrics = each_metric(counts)
    if prevalence is not None:
        told = at_prevalence(drawn, ranked.cohort, prevalence)
        counts = counts_along(ranked, limits, setting.costs, told, budgets, prices)
    metrics |= dict(zip(PEOPLE, in_people(counts), strict=True))
    metrics[SOFT] = ranked.soft(_prices(ranked, sent) if prices is None else prices) @ drawn.T / drawn.sum(1)
    numbers = np.stack([metrics[name] for name in SHOWN], axis=1)  # [P, F, 1 + R]
    value, samples = numbers[..., 0], numbers[..., 1:]
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
    """The price at which the policy alone would send as many, [P] -> [P, 1]; as in `ranked_cases.soft_deferral`."""
    best = np.sort(ranked.preference.max(-1))[::-1]  # [N] falling
    possible = int(np.isfinite(best).sum())
    lowest = best[:possible].min(initial=0.0)  # where everybody who can be sent is
    return np.append(best[:possible], lowest)[np.minimum(sent, possible)][:, None]
