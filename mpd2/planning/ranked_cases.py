"""Cases ranked for deferral: per-reader preferences, the order in which cases are sent, and cost at every budget.

All members of a run decide together, so that there is one ranking for every page, file and command.
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
from mpd2.core.error_rates import ErrorRates, Expectations
from mpd2.core.policy import Continuations, Policy, Rule, apply_actions, preferences
from mpd2.evaluation.curves import COSTS
from mpd2.evaluation.intervals import percentiles
from mpd2.evaluation.metrics import COUNTS, each_metric, tally
from mpd2.planning.plan import Plan, cases_at, plan, plan_for, soft_price, strata
from mpd2.planning.recosting import exchange_rate, in_unit_of, recosted, reordered, savings
from mpd2.planning.roster_and_limits import Limits

POINTS = 51  # budgets a curve is drawn at
FINE = 101  # budgets among which the cheapest is looked for
CLOSE = 1e-15  # to certainty, beyond which log-odds are not followed


@dataclass(frozen=True, eq=False)
class RankedCases:
    """How much each reader is preferred for every case under a roster, before budgets and capacities."""

    cohort: Cohort
    defer: Floats  # [N] d of all members together
    preference: Floats  # [N, M] log-odds of asking each reader against keeping the AI
    order: Floats  # [N, M] the same decisions, and which case is next as a hard budget moves
    continuations: Continuations | None = None  # [N]; none where whoever is asked has the last word

    @property
    def kept(self) -> Ints:
        """The label each case has if nobody is asked, [N]: the AI's, or that of a rule that may overrule it."""
        return self.cohort.ai_label if self.continuations is None else self.continuations.kept

    @property
    def places(self) -> Ints:
        """How many cases must be sent for each one to be among them, [N]; 0 where nobody can read it."""
        best = self.order.max(-1)
        return np.where(np.isfinite(best), 1 + _ranks(best, self.cohort.ids, np.zeros(len(best), np.int64)), 0)

    def wish(self, soft: bool) -> Floats:
        """By what a soft or a hard budget tells cases and readers apart, [N, M]."""
        return self.preference if soft else self.order

    def soft(self, price: Floats) -> Floats:
        """The probability of deferral of each case at a price in log-odds, [N]."""
        odds = logit(np.clip(self.defer, CLOSE, 1 - CLOSE)) - price
        return np.where(self.defer > 0, expit(odds), 0.0)

    def plan(self, limits: Limits, urgent: Bools | None = None) -> Plan:
        """Who reads each case under limits; `urgent` cases, [N], may use the reserve."""
        return plan_for(self.preference, self.order, self.defer, self.cohort, limits, urgent)


def rank_cases(
    policy: Policy,
    cohort: Cohort,
    rule: Rule,
    present: Bools,
    continuations: Continuations | None = None,
    saving: Floats | None = None,
) -> RankedCases:
    """Rank the cases of one policy, [N], with those readers who are there, [M]; an expected `saving` orders them."""
    under = policy.under(present)
    preference = preferences(under, rule)
    order = preference if saving is None else reordered(preference, saving)
    return RankedCases(cohort, under.defer, preference, order, continuations)


def for_costs(ranked: RankedCases, errors: ErrorRates, trained: Costs, wanted: Costs) -> RankedCases:
    """The same worklist routed for other costs; d moves by as many log-odds as the best reader's preference."""
    wanted = in_unit_of(trained, wanted)
    there = np.isfinite(ranked.preference)
    rate = exchange_rate(ranked.preference, savings(errors, trained))
    moved = recosted(ranked.preference, errors, trained, wanted, rate)
    somebody = there.any(-1)
    step = np.where(somebody, moved.max(-1), 0.0) - np.where(somebody, ranked.preference.max(-1), 0.0)
    return replace(ranked, preference=moved, order=reordered(moved, savings(errors, wanted)), defer=ranked.soft(-step))


def soft_deferral(ranked: RankedCases, limits: Limits, made: Plan) -> Floats:
    """The probability of deferral of each case, [N], at the price by which the policy alone would send as many."""
    if limits.soft or not made.price.any():
        return ranked.soft(made.price)
    sent = float((made.action > 0).mean())
    return ranked.soft(plan(ranked.preference, ranked.cohort, Limits(budget=sent)).price)


def most_urgent(expected: Expectations, cases: int) -> Bools:
    """The cases that are expected to cost most if they are kept, [N]; equal ones in the order of the table."""
    order = np.argsort(-expected.cost[:, 0], kind="stable")
    urgent = np.zeros(len(order), bool)
    urgent[order[:cases]] = True
    return urgent


def operating_curve(
    ranked: RankedCases, limits: Limits, costs: Costs, weights: Floats | None = None, points: int = POINTS
) -> pd.DataFrame:
    """Every cost at budgets from none to all, of the kind the limits say and without limits on places.

    Columns: budget, sent (cases), metric (COSTS), value, low, high (NaN without `weights`), n.
    """
    budgets, once = np.linspace(0, 1, points), np.ones((1, len(ranked.cohort)))
    drawn = once if weights is None else np.concatenate([once, weights])
    counts = counts_along(ranked, limits, costs, drawn, budgets)  # [C, P, 1 + R], first every case once
    metrics = each_metric(counts)
    costed = np.stack([metrics[name] for name in COSTS], axis=-1)  # [P, 1 + R, 3]
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
            "n": len(ranked.cohort),
        }
    )


def counts_along(
    ranked: RankedCases, limits: Limits, costs: Costs, weights: Floats, budgets: Floats, prices: Floats | None = None
) -> Floats:
    """COUNTS at every budget under R weightings of the cases, [R, N] -> [C, P, R], without limits on places.

    Which cases are sent only grows with the budget, so all budgets are one sum over the cases by when they come in.
    `prices`: the `soft_prices` of soft budgets, where they are known.
    """
    entry = _entries(ranked, limits, budgets, prices)  # [N]
    kept, change = _amounts(ranked, limits, costs)  # [N, C] each
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


def soft_prices(ranked: RankedCases, limits: Limits, budgets: Floats) -> Floats:
    """The price of each case at soft budgets, [P, N]."""
    return np.array([soft_price(ranked.defer, share, strata(ranked.cohort, limits)) for share in budgets])


def _entries(ranked: RankedCases, limits: Limits, budgets: Floats, prices: Floats | None) -> Ints:
    """The first of the budgets at which each case is sent, [N]; as many as there are where none is large enough."""
    best = ranked.wish(limits.soft).max(-1)
    if limits.soft:
        return (best <= (soft_prices(ranked, limits, budgets) if prices is None else prices)).sum(0)
    _, stratum, sizes = np.unique(strata(ranked.cohort, limits), return_inverse=True, return_counts=True)
    room = cases_at(budgets, sizes)  # [P, G]
    rank = _ranks(best, ranked.cohort.ids, stratum)
    return np.where(np.isfinite(best), (room[:, stratum] <= rank).sum(0), len(budgets))


def _ranks(best: Floats, ids: np.ndarray, stratum: Ints) -> Ints:
    """The position of each case in the order of its stratum, [N]: the clearest first, equal ones by their ids."""
    order = np.lexsort((ids, -best, stratum))
    first = np.searchsorted(stratum[order], np.unique(stratum))
    rank = np.empty(len(best), np.int64)
    rank[order] = np.arange(len(best)) - first[stratum[order]]
    return rank


def _amounts(ranked: RankedCases, limits: Limits, costs: Costs) -> tuple[Floats, Floats]:
    """The COUNTS of each case if it is kept, and how much more if it is sent, [N, C] each."""
    wish = ranked.wish(limits.soft)
    sent = np.where(np.isfinite(wish).any(-1), wish.argmax(-1) + 1, 0)
    kept, asked = (
        tally(ranked.cohort, apply_actions(action, ranked.cohort, ranked.continuations), costs).cases
        for action in (np.zeros_like(sent), sent)
    )
    return kept, asked - kept
