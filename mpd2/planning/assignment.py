"""Who reads what when places are few: the assignment that keeps the most, exactly or with a known gap.

Places flow from one source through parts of the worklist (a cohort, the cases that are not urgent) to cases, readers
and out; an assignment is a flow of least cost through this network (Ahuja, Magnanti and Orlin, Network Flows, 1993).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from ortools.graph.python.min_cost_flow import SimpleMinCostFlow

from mpd2.core.arrays import Bools, Floats, Ints

EXACT_PAIRS = 1_000_000  # pairs of case and reader up to which the exact solver is quick enough to wait for
SAMPLE = 5_000  # cases whose exact prices stand for those of a larger worklist
PRECISION = 1e-6  # worth is counted in units of this
NO_PART = -1


@dataclass(frozen=True, eq=False)
class Places:
    """How many cases there is room for: in all, in parts of the worklist that do not overlap, and with each reader."""

    total: int
    part: Ints  # [N] the part each case is in, or NO_PART
    parts: Ints  # [G] cases of each part that can be sent
    readers: Ints  # [M] cases each reader can take
    fill: bool  # send as many as there are places, also where a reader is worth less than the AI

    def shrunk(self, rows: Ints) -> Places:
        """The same for some of the cases, with room in proportion."""
        share = len(rows) / len(self.part)
        total, parts, readers = (
            np.rint(np.asarray(room) * share).astype(np.int64) for room in (self.total, self.parts, self.readers)
        )
        return Places(int(total), self.part[rows], parts, readers, self.fill)


@dataclass(frozen=True, eq=False)
class Assignment:
    """Who is sent where, and the prices at which everybody would choose so."""

    action: Ints  # [N] 0 keeps the AI, j asks reader j − 1
    total_price: float  # what a case must be worth to be sent at all; below 0 where places are left to fill
    part_prices: Floats  # [G] what it must be worth besides, by its part
    reader_prices: Floats  # [M] and by whom it goes to
    gap: float  # by how much another assignment could be better at most

    def case_prices(self, part: Ints) -> Floats:
        """What each case pays before it comes to a reader, [N]."""
        return self.total_price + np.append(self.part_prices, 0.0)[part]  # NO_PART, the last, pays nothing


def assign(worth: Floats, places: Places) -> Assignment:
    """The assignment of the largest total `worth`, [N, M]; −∞ where a reader cannot be asked.

    Exact, in units of PRECISION, for up to EXACT_PAIRS pairs; beyond, by the prices of a sample, and `gap` tells how
    good it must be.
    """
    if np.isfinite(worth).sum() <= EXACT_PAIRS:
        return _exact(worth, places)
    return _by_prices(worth, places)


def total_worth(worth: Floats, action: Ints) -> float:
    """What an assignment is worth."""
    sent = np.flatnonzero(action)
    return float(worth[sent, action[sent] - 1].sum())


# ---------------------------------------------------------------------------------- exactly


def _exact(worth: Floats, places: Places) -> Assignment:
    cases, readers = worth.shape
    case, reader = np.nonzero(np.isfinite(worth) if places.fill else worth > 0)
    loss = np.full(worth.shape, np.iinfo(np.int64).max)
    loss[case, reader] = -np.rint(worth[case, reader] / PRECISION).astype(np.int64)
    first_reader, first_part = cases, cases + readers
    source = first_part + len(places.parts)
    sink = source + 1
    hub = np.where(places.part == NO_PART, source, first_part + places.part)  # where a case gets its place from

    network = SimpleMinCostFlow()
    every_case, every_reader, every_part = np.arange(cases), np.arange(readers), np.arange(len(places.parts))
    _add(network, np.full(len(every_part), source), first_part + every_part, places.parts)
    _add(network, hub, every_case, np.ones(cases))
    asked = _add(network, case, first_reader + reader, np.ones(len(case)), loss[case, reader])
    _add(network, first_reader + every_reader, np.full(readers, sink), np.minimum(places.readers, cases))
    if not places.fill:
        _add(network, np.array([source]), np.array([sink]), np.array([places.total]))  # a place may stay empty
    network.set_nodes_supplies(np.array([source, sink]), np.array([places.total, -places.total]))
    network.solve_max_flow_with_min_cost()

    taken = network.flows(asked) > 0
    action = np.zeros(cases, np.int64)
    action[case[taken]] = reader[taken] + 1
    potential = _potentials(loss, action, places) * PRECISION
    at_source, at_sink = potential[-2:]
    part_prices, reader_prices = potential[readers:-2] - at_source, at_sink - potential[:readers]
    # Where there is room to spare a price is 0, whatever the potential of a node that nothing flows through.
    return Assignment(action, at_source - at_sink, np.maximum(part_prices, 0), np.maximum(reader_prices, 0), 0.0)


def _add(network: SimpleMinCostFlow, tail: Ints, head: Ints, room: np.ndarray, cost: Ints | None = None) -> np.ndarray:
    """Add arcs; how to ask for their flows later."""
    cost = np.zeros(len(tail), np.int64) if cost is None else cost
    return np.asarray(
        network.add_arcs_with_capacity_and_unit_cost(
            tail.astype(np.int32), head.astype(np.int32), room.astype(np.int64), cost
        )
    )


def _potentials(loss: Ints, action: Ints, places: Places) -> Ints:
    """Dual potentials of readers, parts, source and sink, [M + G + 2], by which no place would rather be elsewhere.

    Cases are contracted: what matters is the cheapest one that could move between two readers, or in and out.
    """
    readers, parts = loss.shape[1], len(places.parts)
    source, sink = readers + parts, readers + parts + 1
    hub = np.where(places.part == NO_PART, source, readers + places.part)
    far = np.iinfo(np.int64).max // 4
    step = np.full((sink + 1, sink + 1), far)
    loss = np.minimum(loss, far // 2)
    for node in (*range(readers, source), source):
        here = loss[hub == node]
        waits = action[hub == node] == 0
        step[node, :readers] = here[waits].min(0, initial=far)
        for j in range(readers):
            step[j, node] = (-here[action[hub == node] == j + 1, j]).min(initial=far)
    for j in range(readers):
        mine = loss[action == j + 1]
        step[j, :readers] = (mine - mine[:, j : j + 1]).min(0, initial=far)
    load = np.bincount(action, minlength=readers + 1)[1:]
    filled = np.bincount(places.part[(action > 0) & (places.part != NO_PART)], minlength=parts)
    _both_ways(step, np.arange(readers), np.full(readers, sink), load, places.readers)
    _both_ways(step, np.full(parts, source), readers + np.arange(parts), filled, places.parts)
    if not places.fill:
        empty = places.total - (action > 0).sum()
        step[sink, source] = 0 if empty else far
        step[source, sink] = 0
    return _shortest(np.where(step > far // 4, far, step), far)


def _both_ways(step: Ints, tail: Ints, head: Ints, flow: Ints, room: Ints) -> None:
    """A free step along every arc that has room, and back along every one that is used."""
    step[tail[flow < room], head[flow < room]] = 0
    step[head[flow > 0], tail[flow > 0]] = 0


def _shortest(step: Ints, far: int) -> Ints:
    """The length of the shortest way to each node from anywhere, [V] (Bellman and Ford)."""
    length = np.zeros(len(step), np.int64)
    for _ in range(len(step)):
        reached = np.where(step < far, length[:, None] + step, far).min(0)
        length = np.minimum(length, reached)
    return length


# ---------------------------------------------------------------------------------- by prices


def _by_prices(worth: Floats, places: Places) -> Assignment:
    sample = sample_prices(worth, places)
    case_prices = sample.case_prices(places.part)
    net = worth - sample.reader_prices - case_prices[:, None]
    action = _seat(worth, net, places)
    sent = (action > 0).sum()
    bound = np.maximum(net.max(-1), 0.0).sum() + (sample.reader_prices * np.minimum(places.readers, len(worth))).sum()
    bound += (sample.part_prices * places.parts).sum() + sample.total_price * (sent if places.fill else places.total)
    gap = max(float(bound) - total_worth(worth, action), 0.0)
    return Assignment(action, sample.total_price, sample.part_prices, sample.reader_prices, gap)


def sample_prices(worth: Floats, places: Places) -> Assignment:
    """The exact assignment of a sample of cases spread evenly from the least to the most worth; its prices matter."""
    order = np.argsort(worth.max(-1), kind="stable")
    rows = order[np.linspace(0, len(order) - 1, min(SAMPLE, len(order))).astype(np.int64)]
    return _exact(worth[rows], places.shrunk(rows))


def _seat(worth: Floats, net: Floats, places: Places) -> Ints:
    """Give places to those who gain most at the prices, then what is left to whoever can use it."""
    action = np.zeros(len(worth), np.int64)
    possible = np.isfinite(worth) if places.fill else worth > 0
    seating = _Seating(places)
    for wish in (np.where(possible & (net > 0), net, -np.inf), np.where(possible, net, -np.inf)):
        while True:
            waiting = (action == 0) & seating.open_cases()
            options = np.where(waiting[:, None] & (seating.readers > 0), wish, -np.inf)
            target = options.argmax(-1)
            gain = np.take_along_axis(options, target[:, None], -1)[:, 0]
            seated = seating.take(np.flatnonzero(np.isfinite(gain)), target, gain)
            if not len(seated):
                break
            action[seated] = target[seated] + 1
    return action


class _Seating:
    """The places that are still free."""

    def __init__(self, places: Places) -> None:
        self.part = places.part
        self.total = places.total
        self.parts = places.parts.copy()
        self.readers = places.readers.copy()

    def open_cases(self) -> Bools:
        """Cases for which there is room, [N]."""
        return np.append(self.parts > 0, True)[self.part] & (self.total > 0)

    def take(self, wishing: Ints, target: Ints, gain: Floats) -> Ints:
        """Of the cases wishing for a reader those who gain most and fit; their places are no longer free."""
        order = wishing[np.argsort(-gain[wishing], kind="stable")]
        for j, room in enumerate(self.readers):
            order = _first(order, target[order] == j, room)
        for g, room in enumerate(self.parts):
            order = _first(order, self.part[order] == g, room)
        order = order[: self.total]
        self.total -= len(order)
        self.readers -= np.bincount(target[order], minlength=len(self.readers))
        self.parts -= np.bincount(self.part[order][self.part[order] != NO_PART], minlength=len(self.parts))
        return order


def _first(order: Ints, among: Bools, room: int) -> Ints:
    """The order without those `among` it for whom there is no room."""
    return order[~among | (np.cumsum(among) <= room)]
