"""A setting's numbers as people read them: each with its interval, and how far it is from the setting before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from mpd2.core.costs import Costs
from mpd2.core.text import capital, count, decimal, listed, percent
from mpd2.evaluation.clinical.per_thousand import MINUTES
from mpd2.evaluation.intervals import Estimate
from mpd2.evaluation.metrics import COST, METRICS
from mpd2.planning.budget_sweep import SHOWN, STEPS, BudgetSweep, Estimates, rounded
from mpd2.planning.dayplan import Judged, difference
from mpd2.planning.floors import KEPT, TOO_FEW, Choice
from mpd2.present.words.answer import sense

CELL, LINE = "\t", "\n"
NO_CHANGE = ["no change", "", ""]
PRICED = {"Missed": "missed", "Alarms": "false alarms", "Readings": "readings"}
RECOUNTED = "counted at the new costs"
Texts = list[str]
"""One text after the other, as many for every one of SHOWN."""


def values_at(numbers: Mapping[str, Estimate], sent: int, readings: int | None, minutes: float = MINUTES) -> Texts:
    """Value, interval, and what else there is to say, of each number; `readings` where they may differ from cases.

    `minutes`: what a reading takes, for the hours.
    """
    hours = decimal(numbers["Readings"].value * minutes / 60, 1)
    more = {"Readings": f"{hours} hours"}
    if readings is not None:
        more["Defer"] = f"{readings} readings of {sent} cases"
    texts = []
    for metric in SHOWN:
        number, form = numbers[metric], METRICS[metric]
        texts += [form.shown(number.value), form.interval(number.low, number.high), more.get(metric, "")]
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
            f"To keep {floor} under these limits, decisions weigh a miss as {alarms:.3g} false alarms "
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


def trust_in_words(more: Mapping[str, Estimate], confident: float) -> str:
    r"""What it costs that no confident AI is overruled unread; `more`: with that less without it, every metric.

    >>> same = {name: Estimate(0.0, 0.0, 0.0) for name in PRICED}
    >>> trust_in_words(same, 0.9)
    'Never overruling an AI that is at least 90\xa0% sure, unread, changes no count here.'
    """
    begin = f"Never overruling an AI that is at least {percent(confident)} sure, unread,"
    if all(apart.value == apart.low == apart.high == 0 for apart in (more[name] for name in PRICED)):
        return f"{begin} changes no count here."
    parts = [
        f"{METRICS[name].change(more[name].value)} {what} "
        f"({METRICS[name].interval(more[name].low, more[name].high, signed=True)})"
        for name, what in PRICED.items()
    ]
    return f"{begin} comes for 1,000 screened to {listed(parts)} against the same setting without it."


def texts_of(before: Judged, now: Judged, many: bool, minutes: float = MINUTES) -> tuple[Texts, Texts]:
    """The numbers of a setting, and how they have changed; `many`: a case may have several readings."""
    costs = now.day.setting.costs
    more = None if before.day.setting == now.day.setting else _rounded(difference(before, now), costs)
    values = values_at(_rounded(now.metrics, costs), now.day.sent, now.day.readings if many else None, minutes)
    return values, changes_at(more, recounted=costs != before.day.setting.costs)


def values_along(sweep: BudgetSweep, many: bool, minutes: float = MINUTES) -> str:
    """`values_at` every step, a line each."""
    return _lines(
        values_at(sweep.metrics.at(step), int(sweep.sent[step]), int(sweep.readings[step]) if many else None, minutes)
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
