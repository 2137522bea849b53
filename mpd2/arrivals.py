"""Cases that come one at a time, each decided on arrival while places for the rest of the day are kept.

A case is sent if it is worth more than the price of a place. The price is that of past cases under the places that are
left for the cases still to come, and is renewed as the day goes on (an adaptive form of the bid prices of Talluri and
van Ryzin, Management Science 44, 1998).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mpd2.arrays import Floats, Ints
from mpd2.assignment import NO_PART, Places, sample_prices, total_worth
from mpd2.cohort import Cohort
from mpd2.errors import UserError
from mpd2.limits import Limits
from mpd2.planning import Plan, places_for, plan

RENEWALS = 60  # times a day that prices are worked out anew


@dataclass(frozen=True, eq=False)
class Day:
    """What was done as cases arrived, beside what could have been done had all been known in the morning."""

    action: Ints  # [N] 0 keeps the AI, j asks reader j − 1
    value: float  # the log-odds of all who were sent
    batch: Plan  # the best plan for the same cases
    price: Floats  # [N] what a case had to be worth when each arrived, before the reader's own price

    @property
    def regret(self) -> float:
        """Value lost by not knowing what would come."""
        return self.batch.value - self.value


def decide_on_arrival(
    preference: Floats, cohort: Cohort, limits: Limits, past: Floats, expected: int | None = None
) -> Day:
    """Send or keep each case, [N, M], in the order of the cohort, by prices learned from `past` preferences, [P, M].

    `expected` is how many cases the day is thought to bring; without it the true number. Limits are those of the day:
    a budget is a share of the expected cases. Reserves and budgets by cohort need the whole worklist and are refused.
    """
    if limits.soft or limits.by_cohort or limits.reserve:
        raise UserError("cases on arrival: expected a hard budget for all, without a reserve")
    if not len(past):
        raise UserError("cases on arrival: found no past cases, expected some to learn prices from")
    batch = plan(preference, cohort, limits)
    day = len(cohort) if expected is None else expected
    places = places_for(cohort, limits, np.zeros(len(cohort), bool))
    room = places.readers.copy()
    left = places.total if expected is None or limits.budget is None else int(np.floor(limits.budget * day + 0.5))
    here = np.where(cohort.available & limits.present(cohort.manifest), preference, -np.inf)
    past = np.where(limits.present(cohort.manifest), past, -np.inf)

    action, price = np.zeros(len(cohort), np.int64), np.zeros(len(cohort))
    every = max(len(cohort) // RENEWALS, 1)
    for i in range(len(cohort)):
        coming = max(day - i, 1)
        if i % every == 0:
            bar, reader_prices = _prices(past, left, room, coming, places.fill)
        price[i] = bar
        net = np.where(room > 0, here[i] - reader_prices, -np.inf)
        j = int(net.argmax())
        must = places.fill and left >= coming  # every case still to come has a place
        if left > 0 and np.isfinite(net[j]) and (net[j] > bar or must):
            action[i] = j + 1
            room[j] -= 1
            left -= 1
    return Day(action, total_worth(preference, action), batch, price)


def _prices(past: Floats, left: int, room: Ints, coming: int, fill: bool) -> tuple[float, Floats]:
    """The price of a place and of each reader's, if the cases still to come were like past ones."""
    scale = len(past) / coming
    total, readers = (np.rint(np.minimum(n, coming) * scale).astype(np.int64) for n in (np.int64(left), room))
    nowhere = np.full(len(past), NO_PART, np.int64)
    found = sample_prices(past, Places(int(total), nowhere, np.zeros(0, np.int64), readers, fill))
    return found.total_price, found.reader_prices
