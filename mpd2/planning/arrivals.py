"""Cases that come one at a time, each decided on arrival while places for the rest of the day are kept.

A case is sent if it is worth more than the price of a place. The price is that of past cases under the places that are
left for the cases still to come, and is renewed as the day goes on (an adaptive form of the bid prices of Talluri and
van Ryzin, Management Science 44, 1998).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from mpd2.core.arrays import Floats, Ints
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.policy import apply_actions
from mpd2.core.rng import Stream, stream
from mpd2.evaluation.curves import COSTS
from mpd2.evaluation.intervals import observed
from mpd2.evaluation.metrics import COUNTED, tally
from mpd2.planning.assignment import NO_PART, Places, sample_prices, total_worth
from mpd2.planning.plan import Plan, places_for, plan
from mpd2.planning.ranked_cases import RankedCases
from mpd2.planning.roster_and_limits import Limits

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


def can_arrive(limits: Limits) -> bool:
    """Whether cases can be decided one by one under such limits, without the whole worklist."""
    return not (limits.soft or limits.by_cohort or limits.reserve)


def decide_on_arrival(preference: Floats, cohort: Cohort, limits: Limits, past: Floats) -> Day:
    """Send or keep each case, [N, M], in the order of the cohort, by prices learned from `past` preferences, [P, M].

    How many cases the day brings is known. Reserves and budgets by cohort need the whole worklist and are refused.
    """
    if not can_arrive(limits):
        raise UserError("cases on arrival: expected a hard budget for all, without a reserve")
    if not len(past):
        raise UserError("cases on arrival: found no past cases, expected some to learn prices from")
    batch = plan(preference, cohort, limits)
    places = places_for(cohort, limits, np.zeros(len(cohort), bool))
    room = places.readers.copy()
    left = places.total
    here = np.where(cohort.available & limits.present(cohort.manifest), preference, -np.inf)
    past = np.where(limits.present(cohort.manifest), past, -np.inf)

    action, price = np.zeros(len(cohort), np.int64), np.zeros(len(cohort))
    every = max(len(cohort) // RENEWALS, 1)
    for i in range(len(cohort)):
        coming = len(cohort) - i
        left = min(left, int(room.sum()))  # a budget nobody has room for must not hurry anybody
        if i % every == 0:
            bar, reader_prices = place_prices(past, left, room, coming, places.fill)
        price[i] = bar
        net = np.where(room > 0, here[i] - reader_prices, -np.inf)
        j = int(net.argmax())
        must = places.fill and left >= coming  # every case still to come has a place
        if left > 0 and np.isfinite(net[j]) and (net[j] > bar or must):
            action[i] = j + 1
            room[j] -= 1
            left -= 1
    return Day(action, total_worth(preference, action), batch, price)


def in_many_orders(ranked: RankedCases, past: Floats, limits: Limits, costs: Costs, orders: int) -> pd.DataFrame:
    """The same day with its cases in so many orders drawn by chance, and first, as order 0, with all known beforehand.

    Columns: order, sent (cases), otherwise (cases that go elsewhere than with all known), regret (the share of the
    plan's worth that is lost; NaN where it has none), and COSTS.
    """
    best = plan(ranked.order, ranked.cohort, limits)
    actions = [best.action]
    for number in range(orders):
        order = stream(number, Stream.ARRIVAL).permutation(len(ranked.cohort))
        action = np.empty_like(best.action)
        action[order] = decide_on_arrival(ranked.order[order], ranked.cohort.rows(order), limits, past).action
        actions.append(action)
    rows = []
    for number, action in enumerate(actions):
        lost = best.value - total_worth(ranked.order, action)
        counted = observed(tally(ranked.cohort, apply_actions(action, ranked.cohort, ranked.continuations), costs))
        rows.append({
            "order": number,
            "sent": int((action > 0).sum()),
            "otherwise": int((action != best.action).sum()),
            "regret": lost / best.value if best.value > 0 else np.nan,
            **{name: float(counted[COUNTED.index(name)]) for name in COSTS},
        })  # fmt: skip
    return pd.DataFrame(rows)


def place_prices(past: Floats, left: int, room: Ints, coming: int, fill: bool) -> tuple[float, Floats]:
    """The price of a place and of each reader's, [M], if the cases still to come were like past ones, [P, M]."""
    scale = len(past) / coming
    total, readers = (np.rint(np.minimum(n, coming) * scale).astype(np.int64) for n in (np.int64(left), room))
    nowhere = np.full(len(past), NO_PART, np.int64)
    sample = sample_prices(past, Places(int(total), nowhere, np.zeros(0, np.int64), readers, fill))
    return sample.total_price, sample.reader_prices
