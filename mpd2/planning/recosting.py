"""What the expected cost of every action adds to a trained policy: routing for other costs, and a better order.

A policy is trained to be right about its own rate of deferral and its own costs. Estimates of everybody's errors say
what asking a reader is expected to save over the AI; how many log-odds a unit of saving is worth to a policy is read
off its own preferences, so that both can be added up. Decisions depend on ratios of costs alone, so other costs are
first expressed in the unit of those the policy was trained for.
"""

from __future__ import annotations

import numpy as np

from mpd2.core.arrays import Floats
from mpd2.core.costs import Costs
from mpd2.core.error_rates import ErrorRates, expected_costs
from mpd2.core.errors import UserError
from mpd2.core.policy import SURE

ALIKE = 1e-9  # savings that differ by less, as a share of the largest, tell nothing apart
NOTHING = 1e-100  # a saving whose square is too small to divide by
LEAST = np.finfo(float).tiny  # log-odds that are still on their side of 0
NEAR, FAR = 1.5, 3.0  # factors between two costs up to which a run is called near and not far


def savings(errors: ErrorRates, costs: Costs) -> Floats:
    """What asking each reader is expected to save against keeping the AI, fee included, [N, M]."""
    expected = expected_costs(errors, costs)
    return expected[:, :1] - expected[:, 1:]


def in_unit_of(trained: Costs, wanted: Costs) -> Costs:
    """The wanted costs times whatever makes them comparable with the trained ones; their ratios stay.

    Misses, false alarms and the mean fee have each become so many times dearer; the median of the three is taken for a
    change of unit, so that a change of one of them alone is none.

    >>> in_unit_of(Costs(2.0, 1.5, (0.25,)), Costs(2000.0, 1500.0, (500.0,)))
    Costs(false_negative=2.0, false_positive=1.5, fees=(0.5,))
    """
    if len(trained.fees) != len(wanted.fees):
        raise UserError(f"fees: found {len(wanted.fees)}, expected one for each of the {len(trained.fees)} readers")
    times = [
        after / before
        for before, after in zip(_kinds(trained), _kinds(wanted), strict=True)
        if before > 0 and after > 0  # nothing can be said of a unit by what is free
    ]
    unit = float(np.median(times)) if times else 1.0
    return Costs(wanted.false_negative / unit, wanted.false_positive / unit, tuple(fee / unit for fee in wanted.fees))


def _kinds(costs: Costs) -> tuple[float, float, float]:
    return costs.false_negative, costs.false_positive, float(np.mean(costs.fees)) if costs.fees else 0.0


def exchange_rate(preference: Floats, saving: Floats) -> float:
    """Log-odds for a unit of expected saving, both [N, M], by least squares over readers there and cases in doubt.

    A policy that does not follow the savings at all has the rate 0, and other costs leave it as it is.
    """
    used = np.abs(preference) < SURE  # absent readers are at −∞
    x, y = saving[used], preference[used]
    if len(x) < 2 or np.ptp(x) <= max(ALIKE * np.abs(x).max(), NOTHING):
        return 0.0
    x = x - x.mean()
    return max(float(x @ y / (x @ x)), 0.0)


def recosted(preference: Floats, errors: ErrorRates, trained: Costs, wanted: Costs, rate: float) -> Floats:
    """The preference, [..., N, M], for the `wanted` costs in any unit; `rate` is the policy's exchange rate."""
    return preference + rate * (savings(errors, in_unit_of(trained, wanted)) - savings(errors, trained))


def reordered(preference: Floats, saving: Floats, rate: float | None = None) -> Floats:
    """The same decisions, with another order in which cases join or leave as the budget moves; both [N, M].

    A case the policy sends stays above 0, goes to the same reader, and is held the longer the more that is expected to
    save; a case it keeps stays below 0, and the first to join is the one that would save most, with whoever would. The
    exchange `rate` is that of these cases, unless one is known.
    """
    summed = preference + (exchange_rate(preference, saving) if rate is None else rate) * saving
    best = preference.argmax(-1)[:, None]
    sent = np.take_along_axis(preference, best, -1) > 0  # [N, 1]
    chosen = np.take_along_axis(summed, best, -1)
    ordered = np.where(sent, preference, summed)
    top = ordered.max(-1, keepdims=True)
    held, kept = np.logaddexp(0.0, chosen), -np.logaddexp(0.0, -top)
    level = np.where(sent, np.maximum(held, LEAST), np.minimum(kept, -LEAST))  # log-odds of the case as a whole
    behind = np.subtract(ordered, top, out=np.full_like(ordered, -np.inf), where=np.isfinite(top))
    return behind + level  # exactly the level for the first reader, however small it is


def distance_in_words(trained: Costs, wanted: Costs) -> str:
    """How far the ratios of the wanted costs are from those trained for, and what to make of it.

    >>> distance_in_words(Costs(2.0, 1.5, (0.1,)), Costs(2.0, 1.5, (0.1,)))
    'These are the costs the run was trained for.'
    """
    if wanted == trained:
        return "These are the costs the run was trained for."
    factor = _largest_change(trained, wanted)
    if factor <= 1 + ALIKE:
        return "These are the costs the run was trained for, in another unit: decisions stay the same."
    if factor <= NEAR:
        return "Close to the costs the run was trained for: little is lost by not retraining."
    if factor <= FAR:
        return f"Up to {factor:.1f} times off the costs the run was trained for: read the result with care."
    times = f"{factor:.0f} times" if np.isfinite(factor) else "beyond any factor"
    return f"Far from the costs the run was trained for ({times}): train a run for these costs before acting on them."


def _largest_change(trained: Costs, wanted: Costs) -> float:
    """By what factor the ratio of two costs has changed most, at least 1; infinite where only one of two is 0."""
    pairs = zip(
        (trained.false_negative, trained.false_positive, *trained.fees),
        (wanted.false_negative, wanted.false_positive, *wanted.fees),
        strict=True,
    )
    both = [(before, after) for before, after in pairs if before or after]
    if any(before == 0 or after == 0 for before, after in both):
        return float("inf")
    times = [after / before for before, after in both] or [1.0]
    return max(times) / min(times)
