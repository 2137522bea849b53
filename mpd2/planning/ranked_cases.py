"""A worklist at every budget: what is preferred for each case, the plan under any limits, and the whole cost curve.

All members of a run decide together, so that there is one worklist.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.special import expit, logit

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.error_rates import ErrorRates, expected_costs
from mpd2.core.policy import Continuations, Policy, Rule, apply_actions, preferences
from mpd2.evaluation.curves import COSTS
from mpd2.evaluation.intervals import percentiles
from mpd2.evaluation.metrics import COUNTS, each_metric, tally
from mpd2.planning.limits import Limits
from mpd2.planning.plan import Plan, cases_at, plan, plan_for, soft_price, strata
from mpd2.planning.recosting import exchange_rate, recosted, reordered, savings

POINTS = 51  # budgets a curve is drawn at
FINE = 101  # budgets among which the cheapest is looked for
CLOSE = 1e-15  # to certainty, beyond which log-odds are not followed


@dataclass(frozen=True, eq=False)
class RankedCases:
    """A worklist under a roster, before limits on places."""

    cohort: Cohort
    defer: Floats  # [N] d of all members together
    preference: Floats  # [N, M] log-odds of asking each reader against keeping the AI
    order: Floats  # [N, M] the same decisions, and which case is next as a hard budget moves
    continuations: Continuations | None = None  # [N]; none where whoever is asked has the last word

    def wish(self, soft: bool) -> Floats:
        """By what a soft or a hard budget tells cases and readers apart, [N, M]."""
        return self.preference if soft else self.order

    def soft(self, price: Floats) -> Floats:
        """The probability of deferral of each case at a price in log-odds, [N]."""
        odds = logit(np.clip(self.defer, CLOSE, 1 - CLOSE)) - price
        return np.where(self.defer > 0, expit(odds), 0.0)


def desk_of(
    policy: Policy,
    cohort: Cohort,
    rule: Rule,
    present: Bools,
    continuations: Continuations | None = None,
    saving: Floats | None = None,
) -> RankedCases:
    """The worklist of one policy, [N], with those readers who are there, [M]; an expected `saving` orders it."""
    under = policy.under(present)
    preference = preferences(under, rule)
    order = preference if saving is None else reordered(preference, saving)
    return RankedCases(cohort, under.defer, preference, order, continuations)


def for_costs(desk: RankedCases, errors: ErrorRates, trained: Costs, wanted: Costs) -> RankedCases:
    """The same worklist routed for other costs; d moves by as many log-odds as the best reader's preference."""
    there = np.isfinite(desk.preference)
    rate = exchange_rate(desk.preference, savings(errors, trained))
    moved = recosted(desk.preference, errors, trained, wanted, rate)
    somebody = there.any(-1)
    step = np.where(somebody, moved.max(-1), 0.0) - np.where(somebody, desk.preference.max(-1), 0.0)
    return replace(desk, preference=moved, order=reordered(moved, savings(errors, wanted)), defer=desk.soft(-step))


def plan_at(desk: RankedCases, limits: Limits, urgent: Bools | None = None) -> Plan:
    """The plan under limits; as `planning.reroute` where the desk is that of a policy."""
    return plan_for(desk.preference, desk.order, desk.defer, desk.cohort, limits, urgent)


def soft_deferral(desk: RankedCases, limits: Limits, made: Plan) -> Floats:
    """The probability of deferral of each case, [N], at the price by which the policy alone would send as many."""
    if limits.soft or not made.price.any():
        return desk.soft(made.price)
    sent = float((made.action > 0).mean())
    return desk.soft(plan(desk.preference, desk.cohort, Limits(budget=sent)).price)


def most_urgent(errors: ErrorRates, costs: Costs, cases: int) -> Bools:
    """The cases that are expected to cost most if the AI decides them, [N]; equal ones in the order of the table."""
    order = np.argsort(-expected_costs(errors, costs)[:, 0], kind="stable")
    urgent = np.zeros(len(order), bool)
    urgent[order[:cases]] = True
    return urgent


def operating_curve(
    desk: RankedCases, limits: Limits, costs: Costs, weights: Floats | None = None, points: int = POINTS
) -> pd.DataFrame:
    """Every cost at budgets from none to all, of the kind the limits say and without limits on places.

    Columns: budget, sent (cases), metric (COSTS), value, low, high (NaN without `weights`), n.
    """
    budgets, once = np.linspace(0, 1, points), np.ones((1, len(desk.cohort)))
    drawn = once if weights is None else np.concatenate([once, weights])
    counts = counts_along(desk, limits, costs, drawn, budgets)  # [C, P, 1 + R], first every case once
    known = each_metric(counts)
    costed = np.stack([known[name] for name in COSTS], axis=-1)  # [P, 1 + R, 3]
    value = costed[:, 0]
    ends = np.full((2, *value.shape), np.nan) if weights is None else percentiles(np.moveaxis(costed[:, 1:], 1, 0))
    sent = counts[COUNTS.index("deferred"), :, 0].astype(np.int64)
    rows = pd.DataFrame(list(product(range(points), COSTS)), columns=["point", "metric"])
    return pd.DataFrame(
        {
            "budget": budgets[rows["point"]],
            "sent": sent[rows["point"]],
            "metric": rows["metric"],
            "value": value.ravel(),
            "low": ends[0].ravel(),
            "high": ends[1].ravel(),
            "n": len(desk.cohort),
        }
    )


def counts_along(
    desk: RankedCases, limits: Limits, costs: Costs, weights: Floats, budgets: Floats, prices: Floats | None = None
) -> Floats:
    """COUNTS at every budget under R weightings of the cases, [R, N] -> [C, P, R], without limits on places.

    Which cases are sent only grows with the budget, so all budgets are one sum over the cases by when they come in.
    `prices`: the `soft_prices` of soft budgets, where they are known.
    """
    entry = _entries(desk, limits, budgets, prices)  # [N]
    kept, change = _amounts(desk, limits, costs)  # [N, C] each
    case, count = np.nonzero(change * (entry < len(budgets))[:, None])
    shape = (len(COUNTS), len(budgets))
    cell = count * len(budgets) + entry[case]
    coming = sparse.csr_array((change[case, count], (cell, case)), shape=(shape[0] * shape[1], len(entry)))
    steps = np.asarray(coming @ weights.T).reshape(*shape, len(weights))
    return np.cumsum(steps, axis=1, out=steps) + (kept.T @ weights.T)[:, None]


def cheapest(curve: pd.DataFrame) -> pd.Series[float]:
    """The point of a curve with the least total cost, the smallest budget of several; budget, value and so on."""
    total = curve[curve["metric"] == "TotalCost"]
    return total.iloc[int(total["value"].argmin())]


def soft_prices(desk: RankedCases, limits: Limits, budgets: Floats) -> Floats:
    """The price of each case at soft budgets, [P, N]."""
    return np.array([soft_price(desk.defer, share, strata(desk.cohort, limits)) for share in budgets])


def _entries(desk: RankedCases, limits: Limits, budgets: Floats, prices: Floats | None) -> Ints:
    """The first of the budgets at which each case is sent, [N]; as many as there are where none is large enough."""
    best = desk.wish(limits.soft).max(-1)
    if limits.soft:
        return (best <= (soft_prices(desk, limits, budgets) if prices is None else prices)).sum(0)
    _, stratum, sizes = np.unique(strata(desk.cohort, limits), return_inverse=True, return_counts=True)
    room = cases_at(budgets, sizes)  # [P, G]
    order = np.lexsort((desk.cohort.ids, -best, stratum))
    first = np.searchsorted(stratum[order], np.arange(room.shape[1]))
    rank = np.empty(len(best), np.int64)
    rank[order] = np.arange(len(best)) - first[stratum[order]]
    return np.where(np.isfinite(best), (room[:, stratum] <= rank).sum(0), len(budgets))


def _amounts(desk: RankedCases, limits: Limits, costs: Costs) -> tuple[Floats, Floats]:
    """The COUNTS of each case if it is kept, and how much more if it is sent, [N, C] each."""
    wish = desk.wish(limits.soft)
    sent = np.where(np.isfinite(wish).any(-1), wish.argmax(-1) + 1, 0)
    kept, asked = (
        tally(desk.cohort, apply_actions(action, desk.cohort, desk.continuations), costs).cases
        for action in (np.zeros_like(sent), sent)
    )
    return kept, asked - kept
