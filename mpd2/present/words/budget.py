"""A setting's numbers as people read them: each with its interval, and how far it is from the setting before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from mpd2.core.costs import Costs
from mpd2.core.text import GAP
from mpd2.evaluation.intervals import Estimate
from mpd2.evaluation.metrics import METRICS
from mpd2.planning.budget_sweep import SHOWN, STEPS, BudgetSweep, Estimates, rounded
from mpd2.planning.dayplan import Judged, difference
from mpd2.present.words.answer import sense

CELL, LINE = "\t", "\n"
Texts = list[str]
"""One text after the other, as many for every one of SHOWN."""


def figures_at(figures: Mapping[str, Estimate], sent: int, readings: int | None) -> Texts:
    """Value, interval, and what else there is to say, of each number; `readings` where they may differ from cases."""
    texts = []
    for metric in SHOWN:
        told, known = figures[metric], METRICS[metric]
        more = f"{readings} readings of {sent} cases" if metric == "Defer" and readings is not None else ""
        texts += [known.shown(told.value), f"95{GAP}% {known.interval(told.low, told.high)}", more]
    return texts


def changes_at(more: Mapping[str, Estimate] | None) -> Texts:
    """Difference, its interval, and whether that is beyond chance and for the better; none: nothing has changed."""
    if more is None:
        return ["no change", "", ""] * len(SHOWN)
    texts = []
    for metric in SHOWN:
        told, known = more[metric], METRICS[metric]
        ends = known.interval(told.low, told.high, signed=True)
        texts += [f"Δ {known.change(told.value)}", ends, sense(metric, told)]
    return texts


def told(before: Judged, now: Judged, many: bool) -> tuple[Texts, Texts]:
    """The numbers of a setting, and how they have changed; `many`: a case may have several readings."""
    costs = now.day.setting.costs
    more = None if before.day.setting == now.day.setting else _known(difference(before, now), costs)
    return figures_at(_known(now.metrics, costs), now.day.sent, now.day.readings if many else None), changes_at(more)


def figures_along(course: BudgetSweep, many: bool) -> str:
    """`figures_at` every place, a line each."""
    places = range(1 + STEPS)
    return _lines(
        figures_at(course.metrics.at(place), int(course.sent[place]), int(course.readings[place]) if many else None)
        for place in places
    )


def changes_along(course: BudgetSweep, start: Judged) -> str:
    """`changes_at` every place for a hand that starts from a setting of the same kind, a line each."""
    more, budget = course.less(start), start.day.setting.limits.budget
    return _lines(changes_at(None if place / STEPS == budget else more.at(place)) for place in range(1 + STEPS))


def _lines(places: Iterable[Texts]) -> str:
    """As one text: many small ones, kept, would be looked through at every collection of garbage."""
    return LINE.join(CELL.join(texts) for texts in places)


def _known(figures: Mapping[str, Estimate], costs: Costs) -> dict[str, Estimate]:
    """SHOWN, rounded as those of a sweep are."""
    ends = np.array([(figures[name].value, figures[name].low, figures[name].high) for name in SHOWN])  # [F, 3]
    return Estimates(*(rounded(numbers[None], costs) for numbers in ends.T)).at(0)
