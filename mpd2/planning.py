"""A trained policy under today's limits: any budget, roster and capacity without training anew."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from mpd2.arrays import Bools, Floats, Ints
from mpd2.assignment import Row, assign, total_worth
from mpd2.cohort import Cohort
from mpd2.errors import UserError
from mpd2.limits import Limits
from mpd2.policy import Decisions, Policy, Rule, act, best_actions, preferences

STEPS = 60  # halvings of the interval a soft price lies in
FAR = 40.0  # log-odds beyond which no price matters


@dataclass(frozen=True, eq=False)
class Plan:
    """Who reads each case today."""

    action: Ints  # [N] 0 keeps the AI, j asks reader j − 1
    price: Floats  # [N] λ, what each case had to be worth above to be sent, in log-odds
    reader_prices: Floats  # [M] what one more place of each reader would be worth, in log-odds
    value: float  # policy value kept: the log-odds of all who are sent
    gap: float  # by how much an assignment could be better at most; 0 where this one is the best
    notes: tuple[str, ...] = ()  # wishes that could not be met, in words

    def decisions(self, cohort: Cohort) -> Decisions:
        """What comes of it."""
        return act(self.action, cohort)


def reroute(
    policy: Policy, cohort: Cohort, rule: Rule, limits: Limits, urgent: np.ndarray | None = None
) -> Plan:
    """Apply one policy, [N], under limits; `urgent` cases, [N], may use the reserve.

    Without limits this is the policy's own decision, and at the policy's own rate of deferral too. A larger budget
    never takes a case back.
    """
    limits.check(cohort.manifest)
    present = policy.under(limits.present(cohort.manifest))
    preference = preferences(present, rule)
    if not limits.soft or limits.budget is None:
        return plan(preference, cohort, limits, urgent)
    price = soft_price(present.defer, limits.budget, _strata(cohort, limits))
    return plan(preference, cohort, _without_budget(limits), urgent, price)


def plan(
    preference: Floats,
    cohort: Cohort,
    limits: Limits,
    urgent: np.ndarray | None = None,
    price: Floats | None = None,
) -> Plan:
    """The best assignment by any preference, [N, M], of asking each reader over keeping the AI, −∞ where one cannot.

    A `price`, [N], is taken off first. With a budget as many cases as that are sent, if need be against the preference;
    without one only those in whose favour it is.
    """
    limits.check(cohort.manifest)
    if preference.shape != cohort.available.shape or np.isnan(preference).any():
        raise UserError(f"preferences: expected numbers for {len(cohort)} cases and {cohort.readers} readers, no NaN")
    price = np.zeros(len(cohort)) if price is None else price
    open_to = cohort.available & limits.present(cohort.manifest)
    worth = np.where(open_to, preference - price[:, None], -np.inf)
    urgent = np.zeros(len(cohort), bool) if urgent is None else np.asarray(urgent, bool)
    budgets = _budget_rows(cohort, limits)
    capacity = limits.capacities(cohort.manifest)
    rows = [*budgets, *_total_rows(cohort, limits, budgets, capacity, urgent)]

    quick = _plain_action(worth, cohort, budgets, price)
    fits = _keeps(quick.action, rows, capacity)
    made = quick if fits else _assigned(worth, rows, capacity, bool(budgets), price)
    value = total_worth(np.where(open_to, preference, 0.0), made.action)
    notes = _notes(made.action, worth, cohort, limits, budgets, urgent)
    return Plan(made.action, made.price, made.reader_prices, value, made.gap, notes)


def soft_price(defer: Floats, share: float, strata: Ints | None = None) -> Floats:
    """The price λ, [N], at which the mean probability of deferral, E[σ(logit d − λ)], is the share; in each stratum.

    Found by halving; exact to rounding. Cases that have no reader, with d = 0, are never deferred and count as such: a
    share that cannot be reached has the price at which everybody who can be sent is.
    """
    odds = logit(np.clip(defer, 1e-15, 1 - 1e-15))
    price = np.empty(len(defer))
    strata = np.zeros(len(defer), np.int64) if strata is None else strata
    for stratum in np.unique(strata):
        mine = strata == stratum
        price[mine] = _one_soft_price(odds[mine & (defer > 0)], share * mine.sum())
    return price


def _one_soft_price(odds: Floats, mass: float) -> float:
    if np.isclose(expit(odds).sum(), mass, rtol=0, atol=1e-9):
        return 0.0  # its own rate, so its own decisions
    low, high = -2 * FAR, 2 * FAR
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if expit(odds - middle).sum() > mass else (low, middle)
    return (low + high) / 2


# ---------------------------------------------------------------------------------- without and with scarcity


@dataclass(frozen=True, eq=False)
class _Made:
    action: Ints
    price: Floats
    reader_prices: Floats
    gap: float = 0.0


def _plain_action(worth: Floats, cohort: Cohort, budgets: list[Row], price: Floats) -> _Made:
    """What would be done if only the budget counted: the clearest cases go first, each to whom it is best."""
    nobody = np.zeros(cohort.readers)
    if not budgets:
        return _Made(best_actions(worth), price, nobody)
    best = worth.max(-1)
    sent, paid = np.zeros(len(cohort), bool), price.copy()
    for row in budgets:
        inside = np.flatnonzero(row.cases)
        chosen, bar = _clearest(best[inside], cohort.ids[inside], row.places)
        sent[inside[chosen]] = True
        paid[inside] += bar
    return _Made(np.where(sent, worth.argmax(-1) + 1, 0), paid, nobody)


def _clearest(best: Floats, ids: np.ndarray, places: int) -> tuple[Bools, float]:
    """Who is sent if only so many can be, and the price that does it; equal cases go in the order of their ids."""
    possible = np.isfinite(best)
    if possible.sum() <= places:
        return possible, float(best[possible].min(initial=0.0)) if possible.any() else 0.0
    bar = float(-np.partition(-best, places)[places])  # the best of those who stay
    chosen = best > bar
    tied = np.flatnonzero(best == bar)
    chosen[tied[np.argsort(ids[tied])[: places - chosen.sum()]]] = True
    return chosen, bar


def _assigned(worth: Floats, rows: list[Row], capacity: Floats, budgeted: bool, price: Floats) -> _Made:
    """The best assignment where places are scarce."""
    finite = worth[np.isfinite(worth)]
    # A place taken must be worth more than any chain of exchanges it may cause: one for each reader, there and back.
    bonus = (2 * worth.shape[1] + 2) * (np.ptp(finite) + 1) - finite.min() if budgeted and len(finite) else 0.0
    found = assign(worth + bonus, rows, capacity)
    paid = price - bonus
    for row, extra in zip(rows, found.row_prices, strict=True):
        paid = paid + np.where(row.cases, extra, 0.0)
    gap = max(found.bound - total_worth(worth + bonus, found.action), 0.0)
    return _Made(found.action, paid, found.reader_prices, gap)


def _keeps(action: Ints, rows: list[Row], capacity: Floats) -> bool:
    load = np.bincount(action, minlength=len(capacity) + 1)[1:]
    return bool((load <= capacity).all()) and all((action[row.cases] > 0).sum() <= row.places for row in rows)


# ---------------------------------------------------------------------------------- limits as rows


def _strata(cohort: Cohort, limits: Limits) -> Ints:
    """Which budget each case falls under, [N]."""
    return cohort.source if limits.by_cohort else np.zeros(len(cohort), np.int64)


def _budget_rows(cohort: Cohort, limits: Limits) -> list[Row]:
    if limits.budget is None:
        return []
    strata = _strata(cohort, limits)
    inside = [strata == stratum for stratum in np.unique(strata)]
    return [Row(cases, int(np.floor(limits.budget * cases.sum() + 0.5))) for cases in inside]


def _total_rows(
    cohort: Cohort, limits: Limits, budgets: list[Row], capacity: Floats, urgent: Bools
) -> list[Row]:
    """The limit on all cases, and the places the reserve leaves to those that are not urgent."""
    rows = [] if limits.total is None else [Row(np.ones(len(cohort), bool), int(limits.total))]
    if limits.reserve:
        places = [float(len(cohort)), capacity.sum(), *(row.places for row in rows)]
        places += [float(sum(row.places for row in budgets))] if budgets else []
        rows.append(Row(~urgent, max(int(min(places)) - int(limits.reserve), 0)))
    return rows


def _without_budget(limits: Limits) -> Limits:
    return Limits(total=limits.total, capacity=limits.capacity, away=limits.away, reserve=limits.reserve)


def _notes(
    action: Ints, worth: Floats, cohort: Cohort, limits: Limits, budgets: list[Row], urgent: Bools
) -> tuple[str, ...]:
    """Which wishes could not be met, and why."""
    notes = []
    alone = int((~np.isfinite(worth).any(-1)).sum())
    for row in budgets:
        sent = int((action[row.cases] > 0).sum())
        if sent < row.places:
            where = f" of {cohort.manifest.cohorts[cohort.source[row.cases][0]].name}" if limits.by_cohort else ""
            reasons = [f"{alone} cases have nobody who could read them"] if alone else []
            reasons += [f"in all {limits.total} can be sent"] if limits.total is not None else []
            reasons += ["the readers have no more places"] if limits.capacity else []
            reasons += [f"{limits.reserve} places are kept for urgent cases"] if limits.reserve else []
            notes.append(f"The budget{where} is {row.places} cases; {sent} are sent: {', '.join(reasons)}.")
    if limits.reserve > urgent.sum():
        notes.append(f"{limits.reserve} places are kept for urgent cases, of which there are {urgent.sum()}.")
    absent = [reader.name for reader in cohort.manifest.readers if reader.column in limits.away]
    if len(absent) == cohort.readers:
        notes.append("No reader is there: the AI decides every case.")
    return tuple(notes)
