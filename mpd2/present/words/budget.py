"""A setting's numbers as people read them: each with its interval, and how far it is from the setting before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from mpd2.core.costs import Costs
from mpd2.core.text import capital, count
from mpd2.evaluation.intervals import Estimate
from mpd2.evaluation.metrics import COST, METRICS
from mpd2.planning.budget_sweep import SHOWN, STEPS, BudgetSweep, Estimates, rounded
from mpd2.planning.dayplan import Judged, difference
from mpd2.planning.floors import KEPT, TOO_FEW, Choice
from mpd2.present.words.answer import sense

CELL, LINE = "\t", "\n"
NO_CHANGE = ["no change", "", ""]
RECOUNTED = "counted at the new costs"
Texts = list[str]
"""One text after the other, as many for every one of SHOWN."""


def values_at(numbers: Mapping[str, Estimate], sent: int, readings: int | None) -> Texts:
    """Value, interval, and what else there is to say, of each number; `readings` where they may differ from cases."""
    texts = []
    for metric in SHOWN:
        number, form = numbers[metric], METRICS[metric]
        more = f"{readings} readings of {sent} cases" if metric == "Defer" and readings is not None else ""
        texts += [form.shown(number.value), form.interval(number.low, number.high), more]
    return texts


def changes_at(more: Mapping[str, Estimate] | None, recounted: bool = False) -> Texts:
    """Difference, its interval, and whether that is beyond chance and for the better; none: the setting is the same.

    `recounted`: the two settings count by different costs, so that a difference of costs is neither good nor bad.
    """
    if more is None:
        return NO_CHANGE * len(SHOWN)
    texts = []
    for metric in SHOWN:
        apart, form = more[metric], METRICS[metric]
        if apart.value == apart.low == apart.high == 0:
            texts += NO_CHANGE
        else:
            verdict = RECOUNTED if recounted and form.unit == COST else sense(metric, apart)
            ends = form.interval(apart.low, apart.high, signed=True)
            texts += [f"Δ {form.change(apart.value)}", ends, verdict]
    return texts


def floor_in_words(choice: Choice, alarms: float, without: float, rate: Estimate, above: Estimate) -> str:
    """How a floor stands under limits: what a miss has to weigh, or by how much it cannot be kept, and on these cases.

    `alarms`: as how many false alarms a miss weighs, and `without` limits; `above`: the rate less the floor.
    """
    form, floor = METRICS[choice.floor.rate], choice.floor.in_words()
    reached, demanded = form.shown(choice.reached), f"{form.shown(choice.level)} is demanded"
    if choice.state == KEPT:
        val = (
            f"To keep {floor} under these limits, decisions weigh a missed glaucoma as {alarms:.3g} false alarms "
            f"({without:.3g} without limits): {form.label} on val is {reached}, where {demanded}"
        )
    elif choice.state == TOO_FEW:
        val = (
            f"{capital(floor)} cannot be promised: that takes at least {choice.needed} val cases. At its safest point "
            f"{form.label} on val is {reached}"
        )
    else:
        short = choice.reached - choice.level
        apart = "not enough to be sure" if short >= 0 else f"{form.change(short)} to the floor"
        val = (
            f"{capital(floor)} cannot be kept under these limits: at its safest point {form.label} on val is "
            f"{reached}, where {demanded}: {apart}"
        )
    here = f"{form.shown(rate.value)} ({form.interval(rate.low, rate.high)})"
    ends = form.interval(above.low, above.high, signed=True)
    cases = f"{count(choice.cases)} cases"
    return f"{val} ({cases}). On these cases it is {here}, {form.change(above.value)} to the floor ({ends})."


def texts_of(before: Judged, now: Judged, many: bool) -> tuple[Texts, Texts]:
    """The numbers of a setting, and how they have changed; `many`: a case may have several readings."""
    costs = now.day.setting.costs
    more = None if before.day.setting == now.day.setting else _rounded(difference(before, now), costs)
    values = values_at(_rounded(now.metrics, costs), now.day.sent, now.day.readings if many else None)
    return values, changes_at(more, recounted=costs != before.day.setting.costs)


def values_along(sweep: BudgetSweep, many: bool) -> str:
    """`values_at` every step, a line each."""
    return _lines(
        values_at(sweep.metrics.at(step), int(sweep.sent[step]), int(sweep.readings[step]) if many else None)
        for step in range(1 + STEPS)
    )


def changes_along(sweep: BudgetSweep, start: Judged) -> str:
    """`changes_at` every step for a drag that starts from a setting of the same kind, a line each."""
    more, budget = sweep.less(start), start.day.setting.limits.budget
    return _lines(changes_at(None if step / STEPS == budget else more.at(step)) for step in range(1 + STEPS))


def _lines(steps: Iterable[Texts]) -> str:
    """As one text: many small ones, kept, would be looked through at every collection of garbage."""
    return LINE.join(CELL.join(texts) for texts in steps)


def _rounded(numbers: Mapping[str, Estimate], costs: Costs) -> dict[str, Estimate]:
    """SHOWN, rounded as those of a sweep are."""
    ends = np.array([(numbers[name].value, numbers[name].low, numbers[name].high) for name in SHOWN])  # [F, 3]
    return Estimates(*(rounded(each[None], costs) for each in ends.T)).at(0)
