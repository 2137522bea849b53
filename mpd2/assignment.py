"""Who reads what when places are few: the assignment that keeps the most value, exactly or with a known gap.

A row limits how many of some cases may be sent (all of them, a cohort, the ones that are not urgent), a capacity how
many a reader can take. Cases in rows that contain or miss one another, and readers, make a network, so that the linear
programme has a whole solution.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from mpd2.arrays import Bools, Floats, Ints

EXACT_PAIRS = 60_000  # pairs of case and reader up to which the exact solver is quick
SWEEPS = 30  # over all prices
WHOLE = 1e-6  # how far a solver's 0 and 1 may be from it


@dataclass(frozen=True, eq=False)
class Row:
    """A limit on the number of cases sent among some."""

    cases: Bools  # [N]
    places: int


@dataclass(frozen=True, eq=False)
class Assignment:
    """Who is sent where, and what one more place would be worth."""

    action: Ints  # [N] 0 keeps the AI, j asks reader j − 1
    row_prices: Floats  # [rows]
    reader_prices: Floats  # [M]
    bound: float  # no assignment is worth more


def assign(worth: Floats, rows: Sequence[Row], capacity: Floats) -> Assignment:
    """The assignment of the largest total `worth`, [N, M], −∞ where a reader cannot be asked; nothing below 0 is sent.

    Exact for up to EXACT_PAIRS pairs worth something; beyond, by prices, and `bound` tells how good it must be.
    """
    if (worth > 0).sum() <= EXACT_PAIRS:
        return _exact(worth, rows, capacity)
    return _priced(worth, rows, capacity)


def total_worth(worth: Floats, action: Ints) -> float:
    """What an assignment is worth."""
    sent = np.flatnonzero(action)
    return float(worth[sent, action[sent] - 1].sum())


def _exact(worth: Floats, rows: Sequence[Row], capacity: Floats) -> Assignment:
    case, reader = np.nonzero(worth > 0)
    limited = np.flatnonzero(np.isfinite(capacity))
    if not len(case):
        return Assignment(np.zeros(len(worth), np.int64), np.zeros(len(rows)), np.zeros(len(capacity)), 0.0)
    kept, place = np.unique(case, return_inverse=True)
    blocks = [
        _indicator(place, len(kept)),  # a case is sent once
        *(sparse.csr_array(row.cases[case].astype(float)[None]) for row in rows),
        _indicator(reader, len(capacity))[limited],
    ]
    matrix = sparse.vstack(blocks, format="csr")
    most = np.concatenate([np.ones(len(kept)), [row.places for row in rows], capacity[limited]])
    value = worth[case, reader]
    solved = linprog(-value, A_ub=matrix, b_ub=most, bounds=(0, 1), method="highs")
    taken = np.asarray(solved.x)  # there always is one: to send nobody keeps every limit
    prices = -solved.ineqlin.marginals[len(kept) :]
    if np.abs(taken - taken.round()).max() > WHOLE:  # rows that overlap are no network
        whole = np.ones(len(value), int)
        limits = LinearConstraint(matrix, ub=most)
        taken = np.asarray(milp(-value, integrality=whole, bounds=Bounds(0, 1), constraints=limits).x)
    action = np.zeros(len(worth), np.int64)
    chosen = taken > 0.5
    action[case[chosen]] = reader[chosen] + 1
    reader_prices = np.zeros(len(capacity))
    reader_prices[limited] = prices[len(rows) :]
    return Assignment(action, prices[: len(rows)], reader_prices, float(value[chosen].sum()))


def _indicator(row: Ints, rows: int) -> sparse.csr_array:
    """A matrix with one 1 in each column, [rows, columns]."""
    return sparse.csr_array((np.ones(len(row)), (row, np.arange(len(row)))), shape=(rows, len(row)))


# ---------------------------------------------------------------------------------- by prices


def _priced(worth: Floats, rows: Sequence[Row], capacity: Floats) -> Assignment:
    row_prices, reader_prices = settle_prices(worth, rows, capacity)
    case_prices = _case_prices(rows, row_prices, len(worth))
    gain = np.maximum((worth - reader_prices).max(-1) - case_prices, 0.0)
    paid = sum(price * row.places for price, row in zip(row_prices, rows, strict=True))
    scarce = reader_prices > 0
    bound = float(gain.sum() + paid + (reader_prices[scarce] * capacity[scarce]).sum())
    action = _seat(worth, worth - reader_prices - case_prices[:, None], rows, capacity)
    return Assignment(action, row_prices, reader_prices, bound)


def settle_prices(worth: Floats, rows: Sequence[Row], capacity: Floats) -> tuple[Floats, Floats]:
    """Prices of the rows and of the readers' places at which demand meets the limits as nearly as it can.

    One price at a time is set to where its own limit is just met, given the others: the exact minimum of the dual
    function along that coordinate.
    """
    row_prices, reader_prices = np.zeros(len(rows)), np.zeros(len(capacity))
    limited = np.flatnonzero(np.isfinite(capacity))
    for _ in range(SWEEPS):
        before = np.concatenate([row_prices, reader_prices])
        for r, row in enumerate(rows):
            row_prices[r] = 0.0
            rest = (worth - reader_prices).max(-1) - _case_prices(rows, row_prices, len(worth))
            row_prices[r] = _clearing(rest[row.cases], row.places)
        case_prices = _case_prices(rows, row_prices, len(worth))
        for j in limited:
            net = worth - reader_prices - case_prices[:, None]
            net[:, j] = 0.0  # to keep the AI
            advantage = worth[:, j] - case_prices - net.max(-1)
            reader_prices[j] = _clearing(advantage, int(capacity[j]))
        if np.abs(np.concatenate([row_prices, reader_prices]) - before).max(initial=0.0) < WHOLE:
            break
    return row_prices, reader_prices


def _clearing(demand: Floats, places: int) -> float:
    """The lowest price, at least 0, at which no more than `places` still want one."""
    if len(demand) <= places:
        return 0.0
    return max(float(-np.partition(-demand, places)[places]), 0.0)


def _case_prices(rows: Sequence[Row], prices: Floats, cases: int) -> Floats:
    """What each case pays for the rows it is in, [N]."""
    paid = np.zeros(cases)
    for row, price in zip(rows, prices, strict=True):
        paid[row.cases] += price
    return paid


def _seat(worth: Floats, net: Floats, rows: Sequence[Row], capacity: Floats) -> Ints:
    """Give places to those who gain most at the prices, then what is left to whoever can use it."""
    action = np.zeros(len(worth), np.int64)
    free, places = capacity.copy(), np.array([row.places for row in rows])
    for wish in (np.where(worth > 0, net, -np.inf), np.where(worth > 0, worth, -np.inf)):
        while True:
            open_case = action == 0
            for row, left in zip(rows, places, strict=True):
                open_case &= ~row.cases | (left > 0)
            options = np.where(open_case[:, None] & (free > 0), wish, -np.inf)
            target = options.argmax(-1)
            gain = options[np.arange(len(worth)), target]
            seated = _fitting(np.flatnonzero(gain >= -WHOLE), target, gain, rows, places, free)
            if not len(seated):
                break
            action[seated] = target[seated] + 1
            free -= np.bincount(target[seated], minlength=len(free))
            places = places - [int(row.cases[seated].sum()) for row in rows]
    return action


def _fitting(wishing: Ints, target: Ints, gain: Floats, rows: Sequence[Row], places: Ints, free: Floats) -> Ints:
    """Of the cases wishing for a reader those who gain most and fit, all limits kept."""
    order = wishing[np.argsort(-gain[wishing], kind="stable")]
    for j in np.flatnonzero(np.isfinite(free)):
        mine = target[order] == j
        order = order[~mine | (np.cumsum(mine) <= free[j])]
    for row, left in zip(rows, places, strict=True):
        inside = row.cases[order]
        order = order[~inside | (np.cumsum(inside) <= left)]
    return order
