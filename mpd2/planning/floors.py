"""Floors: the least sensitivity or specificity a clinic demands, and the weight of a miss that keeps it on val.

The heavier a miss weighs in the decision, the more positives are found and the more false alarms are raised. Weights
are tried from the safest end of a fixed grid. "On average" the floor is kept where the rate on val is at least the
floor. "With confidence" every weight is tested in turn, from the safest on, until one cannot be promised (fixed
sequence testing): then the rate of later cases of the same kind is at least the floor with CONFIDENCE over the draw of
val.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log
from typing import Any, Literal

import numpy as np
from scipy import stats

from mpd2.core import text
from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.clusters import effective_cases
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError

Rate = Literal["Sens", "Spec"]
RATES: dict[Rate, str] = {"Sens": "sensitivity", "Spec": "specificity"}
TRUTH: dict[Rate, int] = {"Sens": 1, "Spec": 0}  # the cases a rate is of; each should end with its truth
CONFIDENCE = 0.9
STEP = 1.1  # from one weight of a miss to the next
LIGHTEST, HEAVIEST = -24, 60  # steps from the cost of a miss that a run was fitted for
SHIPPED_LEVELS = (None, 0.9, 0.95, 0.975)
ROUNDING = 1e-9  # cases
KEPT, TOO_FEW, OUT_OF_REACH = "kept", "too few cases", "out of reach"


@dataclass(frozen=True)
class Floor:
    """The least rate that is demanded."""

    level: float | None = None  # none: the AI's own rate on the same cases
    rate: Rate = "Sens"
    sure: bool = False  # with CONFIDENCE, or else on average

    def __post_init__(self) -> None:
        if self.level is not None and not 0 < self.level < 1:
            raise UserError(f"floor: found {self.level}, expected a share above 0 and below 1, or ai")

    def __str__(self) -> str:
        """The floor as it is written on the command line and in links."""
        parts = ("" if self.rate == "Sens" else "spec:", "ai" if self.level is None else f"{self.level:g}")
        return "".join(parts) + (":sure" if self.sure else "")

    def in_words(self) -> str:
        """The floor in a sentence.

        >>> Floor().in_words(), Floor(0.95, sure=True).in_words()
        ("the AI's own sensitivity", 'a sensitivity of at least 95\\xa0% with 90\\xa0% confidence')
        """
        name = RATES[self.rate]
        what = f"the AI's own {name}" if self.level is None else f"a {name} of at least {text.percent(self.level)}"
        return what + (f" with {text.percent(CONFIDENCE, 0)} confidence" if self.sure else "")


@dataclass(frozen=True)
class Choice:
    """The weight of a miss chosen for a floor, and how the floor stands on the cases it was chosen on."""

    floor: Floor
    weight: float  # of a miss in decisions, in the unit of the run's costs
    level: float  # the rate that had to be reached
    reached: float  # the rate at this weight
    cases: int  # positive or negative, that the rate is of
    state: str  # KEPT, or why it is not; then the weight is the safest there is
    independent: float = 1.0  # what a case counts for in a promise: less where several belong together

    @property
    def needed(self) -> int:
        """The fewest cases that can bear a promise: so many without a single error."""
        return cases_needed(self.level) if self.floor.sure and 0 < self.level < 1 else 1

    def in_words(self) -> str:
        """How the point was chosen, and what of the floor cannot be kept, in sentences."""
        demanded = f"{text.percent(self.level, 1)} demanded, {text.percent(self.reached, 1)} reached"
        sort = "positive" if TRUTH[self.floor.rate] else "negative"
        chosen = f"a miss weighs {self.weight:.3g}; on {self.cases} {sort} val cases {demanded}"
        if self.state == KEPT:
            return f"{text.capital(self.floor.in_words())}: {chosen}."
        if self.state == TOO_FEW:
            worth = int(_fewer(self.cases, self.independent))
            fewer = f", which count as {worth} because some belong together" if worth < self.cases else ""
            return (
                f"{text.capital(self.floor.in_words())} cannot be promised: that takes at least {self.needed} "
                f"{sort} val cases and there are {self.cases}{fewer}. This is the safest point there is."
            )
        return f"{text.capital(self.floor.in_words())} cannot be kept. At the safest point {chosen}."


Counts = int | np.integer[Any] | Ints
"""How many cases, one number or many."""

Deciding = Callable[[Cohort], Callable[[float], Ints]]
"""From cases to, from a weight of a miss, the labels they end with when all members decide together, [N]."""


def parse_floor(words: str, prevalence: float | None = None) -> Floor:
    """A floor from what people write: ai, 0.95, 95%, spec:0.9, missed:5 (per 1,000 people), with :sure at the end.

    >>> parse_floor("95%"), str(parse_floor("spec:ai:sure")), parse_floor("missed:15", prevalence=0.15).level
    (Floor(level=0.95, rate='Sens', sure=False), 'spec:ai:sure', 0.9)
    """
    match = re.fullmatch(r"(?:(sens|spec|missed):)?(ai|\d*\.?\d+%?)(:sure)?", words.strip().lower())
    if match is None:
        raise UserError(f"floor: found {words!r}, expected ai or a share such as 0.95, spec:0.9 or missed:5")
    kind, level, sure = match[1] or "sens", match[2], bool(match[3])
    if level == "ai":
        if kind == "missed":
            raise UserError("floor: found missed:ai, expected ai or a number of misses per 1,000 screened")
        return Floor(None, "Spec" if kind == "spec" else "Sens", sure)
    number = float(level.removesuffix("%")) / (100 if level.endswith("%") else 1)
    if kind != "missed":
        return Floor(number, "Spec" if kind == "spec" else "Sens", sure)
    if not prevalence:
        raise UserError("floor: misses per 1,000 screened need cases of which the truth is known")
    return Floor(round(1 - number / 1000 / prevalence, 6), "Sens", sure)


def weights_for(costs: Costs) -> Floats:
    """The weights of a miss that are tried, from the lightest to the heaviest; fixed before any case is seen."""
    base = costs.false_negative or costs.false_positive or 1.0
    return np.asarray(base * STEP ** np.arange(LIGHTEST, HEAVIEST + 1.0))


def cases_needed(level: float) -> int:
    """The fewest cases that can bear a promise of a rate: so many without a single error.

    >>> cases_needed(0.9), cases_needed(0.95), cases_needed(0.975)
    (22, 45, 91)
    """
    return ceil(log(1 - CONFIDENCE) / log(level))


def choose_weight(floor: Floor, val: Cohort, deciding: Deciding, costs: Costs, every: int = 1) -> Choice:
    """The lightest miss (for a floor on specificity the heaviest) that keeps the floor on val.

    Only the cases the rate is of are labelled. On average the turn of the grid is found by bisection; with confidence
    weights are tested one by one from the safest. Only `every` so many weights of the grid are tried.
    """
    truth = TRUTH[floor.rate]
    rows = np.flatnonzero(val.truth == truth)
    if not len(rows):
        raise UserError(f"floor: no case of val is {'positive' if truth else 'negative'}, so no floor can be chosen")
    ai = np.asarray(val.ai_label[rows] == truth)
    level = float(ai.mean()) if floor.level is None else floor.level
    grid = weights_for(costs)
    grid = (grid[::-1] if floor.rate == "Sens" else grid)[::every]  # the safest first

    labels = deciding(val.rows(rows))

    def right(weight: float) -> Bools:
        return np.asarray(labels(weight) == truth)

    def holds(position: int) -> bool:
        return keeps(floor, level, right(float(grid[position])), ai, independent)

    independent = effective_cases(val.cluster[rows]) / len(rows)
    if floor.sure and floor.level is not None and _fewer(len(rows), independent) < cases_needed(level):
        position, state = 0, TOO_FEW
    elif not holds(0):
        position, state = 0, OUT_OF_REACH
    else:
        position, state = (_walk if floor.sure else _bisect)(holds, len(grid)), KEPT
    weight = float(grid[position])
    return Choice(floor, weight, level, float(right(weight).mean()), len(rows), state, independent)


def keeps(floor: Floor, level: float, right: Bools, ai: Bools, independent: float = 1.0) -> bool:
    """Whether a weight keeps a floor: `right` says which cases of the rate end with their truth, `ai` the AI's own.

    With confidence by the exact binomial test; against the AI by the exact test of the cases on which the two differ.
    `independent` is as in `chance`.
    """
    if not floor.sure:
        return bool(right.mean() >= level)
    small = chance(floor, right.sum(), len(right), (right & ~ai).sum(), (~right & ai).sum(), independent)
    return float(small) <= 1 - CONFIDENCE


def chance(
    floor: Floor, found: Counts, cases: Counts, gained: Counts, lost: Counts, independent: float = 1.0
) -> Floats:
    """How likely so many right answers would be if the floor were just not kept; small values speak for the floor.

    `found` of `cases` are right; `gained` are right where the AI is wrong, `lost` the other way round. Any shapes that
    broadcast. Where cases belong together each counts for only so much, `independent`, as if those of a cluster always
    ended alike; what speaks against the floor is rounded up.
    """
    if floor.level is not None:
        counted, wrong = _fewer(cases, independent), -_fewer(-np.asarray(cases - found), independent)
        return np.asarray(stats.binom.sf(counted - wrong - 1, counted, floor.level))
    gains, losses = _fewer(gained, independent), -_fewer(-np.asarray(lost), independent)
    return np.asarray(stats.binom.sf(gains - 1, gains + losses, 0.5))


def _fewer(cases: Counts, independent: float) -> Floats:
    """How many independent cases some are worth, rounded down; a negative number away from 0."""
    return np.floor(np.asarray(cases) * independent + ROUNDING)


def _walk(holds: Callable[[int], bool], places: int) -> int:
    """The last place up to which the floor is kept without a break; the first is."""
    position = 0
    while position + 1 < places and holds(position + 1):
        position += 1
    return position


def _bisect(holds: Callable[[int], bool], places: int) -> int:
    """A place that keeps the floor whose next does not; the first keeps it."""
    low, high = 0, places
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
