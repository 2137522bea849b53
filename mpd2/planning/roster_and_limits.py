"""What a clinic can do on a day: how many cases it can send, to whom, and how many each of them can take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpd2.core.arrays import Bools, Floats
from mpd2.core.errors import UserError
from mpd2.core.manifest import Manifest


@dataclass(frozen=True)
class Limits:
    """Limits on deferral. `Limits()` leaves a policy alone."""

    budget: float | None = None  # share of cases to send, ρ; without one, as many as the policy wants
    soft: bool = False  # the budget is one of the mean probability of deferral, not of the cases sent
    by_cohort: bool = False  # every cohort has this budget, rather than all together
    total: int | None = None  # cases that can be sent at most
    capacity: tuple[tuple[str, int], ...] = ()  # reader's column and the cases they can take at most
    away: tuple[str, ...] = ()  # columns of readers who are not there today
    reserve: int = 0  # of all places, those only an urgent case may take

    def __post_init__(self) -> None:
        if self.budget is not None and not 0 <= self.budget <= 1:  # refuses NaN too
            raise UserError(f"budget: found {self.budget}, expected a share from 0 to 1")
        if self.soft and self.budget is None:
            raise UserError("budget: a soft budget needs its share, found none")
        if self.by_cohort and self.reserve:
            raise UserError("reserve: found together with budgets by cohort; keep one of the two")
        for what, number in (("total", self.total), ("reserve", self.reserve), *self.capacity):
            if number is not None and not (number >= 0 and float(number).is_integer()):
                raise UserError(f"{what}: found {number}, expected a whole number of cases, at least 0")
        named = [column for column, _ in self.capacity]
        if len(set(named)) < len(named):
            raise UserError(f"capacity: found a reader twice in {', '.join(named)}")

    def check(self, manifest: Manifest) -> None:
        """Refuse a reader who is not in the manifest."""
        unknown = sorted({*(column for column, _ in self.capacity), *self.away} - set(manifest.columns))
        if unknown:
            raise UserError(f"reader: found {', '.join(unknown)}, expected some of {', '.join(manifest.columns)}")

    def present(self, manifest: Manifest) -> Bools:
        """Who is there today, [M]."""
        return ~np.isin(manifest.columns, self.away)

    def capacities(self, manifest: Manifest) -> Floats:
        """How many cases each reader can take, [M]; infinite without a limit."""
        limited = dict(self.capacity)
        return np.array([limited.get(column, np.inf) for column in manifest.columns], float)
