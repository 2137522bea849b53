"""A trained policy under today's limits: any budget, roster and capacity without training anew."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.policy import Continuations, Decisions, Policy, Rule, apply_actions, best_actions, preferences
from mpd2.planning.assignment import NO_PART, Places, assign, total_worth
from mpd2.planning.recosting import reordered
from mpd2.planning.roster_and_limits import Limits

FAR = 80.0  # log-odds beyond which no price matters
ITS_OWN = 1e-9  # cases by which a sum of probabilities may be off


@dataclass(frozen=True, eq=False)
class Plan:
    """Who reads each case today."""

    action: Ints  # [N] 0 keeps the AI, j asks reader j − 1
    price: Floats  # [N] λ, what each case had to be worth above to be sent, in log-odds
    reader_prices: Floats  # [M] what one more place of each reader would be worth, in log-odds
    value: float  # policy value kept: the log-odds of all who are sent
    gap: float  # by how much an assignment could be better at most; 0 where this one is the best
    notes: tuple[str, ...] = ()  # wishes that could not be met, in words

    def decisions(self, cohort: Cohort, continuations: Continuations | None = None) -> Decisions:
        """What comes of it; a method that goes on by itself says how each first question ends."""
        return apply_actions(self.action, cohort, continuations)


def reroute(
    policy: Policy,
    cohort: Cohort,
    rule: Rule,
    limits: Limits,
    saving: Floats | None = None,
) -> Plan:
    """Apply one policy, [N], under limits.

    Without limits this is the policy's own decision, and at the policy's own rate of deferral too. A larger budget
    never takes a case back. Where the expected `saving` of asking each reader is known, [N, M], it helps to say which
    case is the next to be sent or kept as a hard budget moves away from the policy's own rate.
    """
    limits.check(cohort.manifest)
    present = policy.under(limits.present(cohort.manifest))
    preference = preferences(present, rule)
    order = preference if saving is None else reordered(preference, saving)
    return plan_for(preference, order, present.defer, cohort, limits)


def plan_for(
    preference: Floats, order: Floats, defer: Floats, cohort: Cohort, limits: Limits, urgent: np.ndarray | None = None
) -> Plan:
    """Hard budget: rank cases by `order`. Soft budget: solve for the price λ on d, [N], then threshold `preference`."""
    if not limits.soft or limits.budget is None:
        return plan(order, cohort, limits, urgent)
    price = soft_price(defer, limits.budget, strata(cohort, limits))
    return plan(preference, cohort, replace(limits, budget=None, soft=False, by_cohort=False), urgent, price)


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
    worth = np.where(cohort.available & limits.present(cohort.manifest), preference, -np.inf)
    if price is None:
        price = np.zeros(len(cohort))
    else:
        worth -= price[:, None]
    urgent = np.zeros(len(cohort), bool) if urgent is None else np.asarray(urgent, bool)
    places = places_for(cohort, limits, urgent)

    action, bar = _unhindered(worth, cohort, places)
    reader_prices, gap = np.zeros(cohort.readers), 0.0
    if not _fits(action, places):
        best = assign(worth, places)
        action, bar, reader_prices, gap = best.action, best.case_prices(places.part), best.reader_prices, best.gap
    value = total_worth(preference, action)
    return Plan(action, price + bar, reader_prices, value, gap, _notes(action, worth, cohort, limits, places, urgent))


def soft_price(defer: Floats, share: float, stratum: Ints | None = None) -> Floats:
    """The price λ, [N], at which the mean probability of deferral, E[σ(logit d − λ)], is the share; in each stratum.

    Exact to rounding. Cases that have no reader, with d = 0, are never deferred and count as such: a
    share that cannot be reached has the price at which everybody who can be sent is.
    """
    odds = logit(np.clip(defer, 1e-15, 1 - 1e-15))
    price = np.empty(len(defer))
    stratum = np.zeros(len(defer), np.int64) if stratum is None else stratum
    for one in np.unique(stratum):
        mine = stratum == one
        price[mine] = _one_soft_price(odds[mine & (defer > 0)], share * mine.sum())
    return price


def _one_soft_price(odds: Floats, mass: float) -> float:
    def excess(price: float) -> float:
        return float(expit(odds - price).sum()) - mass

    if abs(excess(0.0)) < ITS_OWN:
        return 0.0  # its own rate, so its own decisions
    if excess(-FAR) <= 0:
        return -FAR
    return float(brentq(excess, -FAR, FAR)) if excess(FAR) < 0 else FAR


# ---------------------------------------------------------------------------------- while nobody is full


def _unhindered(worth: Floats, cohort: Cohort, places: Places) -> tuple[Ints, Floats]:
    """What would be done if no reader were ever full, and its price: the clearest go first, each to whom it is best."""
    if not places.fill:
        return best_actions(worth), np.zeros(len(worth))
    reader = worth.argmax(-1)
    best = np.take_along_axis(worth, reader[:, None], -1)[:, 0]
    sent, bar = np.zeros(len(worth), bool), np.zeros(len(worth))
    together = [(places.part == g, room) for g, room in enumerate(places.parts)]
    if (places.part == NO_PART).any():
        together = [(np.ones(len(worth), bool), places.total)]
    for inside, room in together:
        rows = np.flatnonzero(inside)
        chosen, bar[rows] = _clearest(best[rows], cohort.ids[rows], int(room))
        sent[rows[chosen]] = True
    return np.where(sent, reader + 1, 0), bar


def _clearest(best: Floats, ids: np.ndarray, places: int) -> tuple[Bools, float]:
    """Who is sent if only so many can be, and the price that does it; equal cases go in the order of their ids."""
    possible = np.isfinite(best)
    if possible.sum() <= places:
        return possible, float(best[possible].min(initial=0.0))
    bar = float(-np.partition(-best, places)[places])  # the best of those who stay
    chosen = best > bar
    tied = np.flatnonzero(best == bar)
    chosen[tied[np.argsort(ids[tied])[: places - chosen.sum()]]] = True
    return chosen, bar


def _fits(action: Ints, places: Places) -> bool:
    sent = action > 0
    load = np.bincount(action, minlength=len(places.readers) + 1)[1:]
    filled = np.bincount(places.part[sent & (places.part != NO_PART)], minlength=len(places.parts))
    return bool(sent.sum() <= places.total and (load <= places.readers).all() and (filled <= places.parts).all())


# ---------------------------------------------------------------------------------- limits as places


def places_for(cohort: Cohort, limits: Limits, urgent: Bools) -> Places:
    """How many places there are, of which kind."""
    everybody = len(cohort)
    capacity = limits.capacities(cohort.manifest)
    budgets = _budgets(cohort, limits)
    total = min([everybody, *([sum(budgets)] if budgets else []), *([] if limits.total is None else [limits.total])])
    part, parts = np.full(everybody, NO_PART, np.int64), np.zeros(0, np.int64)
    if budgets and limits.by_cohort:
        part, parts = np.unique(cohort.source, return_inverse=True)[1], np.array(budgets)
    elif limits.reserve:
        part = np.where(urgent, NO_PART, 0)
        parts = np.array([max(int(min(total, capacity.sum())) - limits.reserve, 0)])
    readers = np.minimum(capacity, everybody).astype(np.int64)
    return Places(int(total), part, parts, readers, fill=limits.budget is not None)


def _budgets(cohort: Cohort, limits: Limits) -> list[int]:
    """The cases to send of each stratum."""
    if limits.budget is None:
        return []
    sizes = np.unique(strata(cohort, limits), return_counts=True)[1]
    return cases_at(limits.budget, sizes).tolist()


def cases_at(share: Floats | float, sizes: Ints) -> Ints:
    """How many cases a share of each stratum is, [...] and [G] to [..., G]; half a case is one.

    >>> cases_at(0.5, np.array([3, 4])).tolist()
    [2, 2]
    """
    return np.floor(np.multiply.outer(share, sizes) + 0.5).astype(np.int64)


def strata(cohort: Cohort, limits: Limits) -> Ints:
    """Which budget each case falls under, [N]."""
    return cohort.source if limits.by_cohort else np.zeros(len(cohort), np.int64)


def _notes(
    action: Ints, worth: Floats, cohort: Cohort, limits: Limits, places: Places, urgent: Bools
) -> tuple[str, ...]:
    """Which wishes could not be met, and why."""
    notes = []
    wanted, sent = sum(_budgets(cohort, limits)), int((action > 0).sum())
    if sent < wanted:
        alone = int((~np.isfinite(worth).any(-1)).sum())
        reasons = [f"{alone} cases have nobody who could read them"] if alone else []
        reasons += [f"only {places.total} can be sent in all"] if places.total < wanted else []
        reasons += ["the readers have no more places"] if limits.capacity else []
        reasons += [f"{limits.reserve} places are kept for urgent cases"] if limits.reserve else []
        notes.append(f"The budget is {wanted} cases; {sent} are sent: {', '.join(reasons)}.")
    if limits.reserve > urgent.sum():
        notes.append(f"{limits.reserve} places are kept for urgent cases, of which there are {urgent.sum()}.")
    if not limits.present(cohort.manifest).any():
        notes.append("No reader is there: every case is kept.")
    return tuple(notes)
