"""Does what comes in still look like what was learned from? Monitors that ring after a change, and seldom without one.

Each adds up, case after case, the evidence that something has become higher or lower, and begins anew at nothing
whenever the evidence is against it (Page's CUSUM, Biometrika 1954; for rates with an expectation of their own in every
case Steiner, Cook, Farewell and Treasure, Biostatistics 2000). It rings at a threshold found by simulation for the
number of cases that should pass, on average, between two alarms for nothing.

Evidence is an array of steps, [N, 2]: what a case adds to "higher" and to "lower". Whatever can be written so can be
watched; `value_steps`, `rate_steps` and `prevalence_steps` are the three kinds there are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.signal import lfilter
from scipy.special import expit, logit, logsumexp

from mpd2.core.arrays import Floats, Ints
from mpd2.core.errors import UserError
from mpd2.core.rng import Stream, stream

SIDES = ("higher", "lower")
SLACK = 0.5  # standard deviations a case: half the shift that is found soonest
ODDS_RATIO = 2.0  # by which the odds of an error, or a positive, must grow or shrink to be found soonest
SHARE_RATIO = 1.5  # the same for a share as learned, whose changes are smaller and whose cases are more
WEIGHT = 0.02  # of the newest value in a moving average: about the last hundred count
A_DAY = 300.0  # cases
DAYS = 365.25
FALSE_ALARMS = 12.0  # a year, over all monitors together
DRAWN = 2_000_000  # steps simulated for a threshold
BEYOND = 2_000  # of the highest climbs of these, from which on the tail is taken to be exponential
FEW_CLIMBS = 10 * BEYOND  # below which they are long, with several alarms in one, and are counted as they are
SURE, FAR = 1e-4, 30.0  # probabilities are not expected nearer to 0 or 1; log-odds no further from 0
WINDOW = 4_096  # steps searched at once after an alarm


@dataclass(frozen=True)
class Alarm:
    """A monitor has reached its threshold."""

    name: str  # of the monitor
    side: str  # one of SIDES
    number: int  # position of the value at which it rang, from 0
    value: float
    threshold: float


@dataclass(frozen=True, eq=False)
class Monitor:
    """What to compare with, and where to ring."""

    name: str
    steps: Callable[..., Floats]  # from what is observed to what each case adds, [N, 2]
    thresholds: Floats  # [2] of SIDES
    arl: float  # values between two alarms for nothing, on average

    def path(self, *observed: Floats) -> Floats:
        """The evidence after each value as a part of its threshold, the greater of both sides, [N]; 1 rings."""
        return np.asarray((reflected(self.steps(*observed)) / self.thresholds).max(-1))

    def alarms(self, *observed: Floats) -> list[Alarm]:
        """Every alarm in turn; after each, evidence is gathered anew."""
        return alarms(self.name, self.steps(*observed), self.thresholds)


def calibrated(
    reference: Floats, arl: float, seed: int = 0, *, name: str = "", cluster: Ints | None = None, slack: float = SLACK
) -> Monitor:
    """A monitor of values that compares with those of `reference`, [L]; rows of a `cluster`, [L], belong together.

    >>> monitor = calibrated(np.arange(100.0), arl=1000, name="size")
    >>> [(alarm.side, alarm.number) for alarm in monitor.alarms(np.append(np.tile([20.0, 80.0], 50), [90.0] * 8))]
    [('higher', 105)]
    """
    centre, spread = float(np.mean(reference)), float(np.std(reference))
    if len(reference) < 2 or not spread > 0:
        raise UserError(
            f"monitor {name}: found {len(reference)} values that are all the same, expected some that differ"
        )

    def steps(values: Floats) -> Floats:
        return value_steps((values - centre) / spread, slack)

    return Monitor(name, steps, thresholds(steps(reference), arl, seed, cluster), arl)


def calibrated_rate(
    happened: Floats,
    expected: Floats,
    arl: float,
    seed: int = 0,
    *,
    name: str = "",
    cluster: Ints | None = None,
    ratio: float = ODDS_RATIO,
) -> Monitor:
    """A monitor of what happens or not, against the probability expected in each case; the reference's are [L] each.

    Expectations are first made right on average for the reference, by one factor for all odds, so that only a change
    rings. One case of either outcome is added to it, so that what never happened there, or always, can be watched too:
    what never happened cannot become rarer, and rings on the other side alone.

    >>> monitor = calibrated_rate(np.tile([1.0, 0, 0, 0, 0], 40), np.full(200, 0.3), arl=1000, name="misses")
    >>> monitor.alarms(np.tile([1.0, 0.0], 50), np.full(100, 0.3))[0].side
    'higher'
    """
    impossible = np.array([len(happened) > 0 and bool((happened == sure).all()) for sure in (1, 0)])  # of SIDES
    happened, expected, cluster = _with_either(happened, expected, cluster)
    offset = _offset(happened, expected)

    def steps(happened: Floats, expected: Floats) -> Floats:
        return rate_steps(happened, expit(logit(np.clip(expected, SURE, 1 - SURE)) + offset), ratio)

    found = thresholds(steps(happened, expected), arl, seed, cluster)
    return Monitor(name, steps, np.where(impossible, np.inf, found), arl)


def _with_either(happened: Floats, expected: Floats, cluster: Ints | None) -> tuple[Floats, Floats, Ints | None]:
    """Trials and two more that belong to nothing else, one of which happened, expected as often as all on average."""
    mean = np.mean(expected) if len(expected) else 0.5
    more = None if cluster is None else np.append(cluster, cluster.max(initial=0) + np.arange(1, 3))
    return np.append(happened, [0.0, 1.0]), np.append(expected, [mean, mean]), more


def _offset(happened: Floats, expected: Floats) -> float:
    """What to add to the log-odds expected so that as much is expected as happened."""
    odds = logit(np.clip(expected, SURE, 1 - SURE))

    def surplus(offset: float) -> float:
        return float((expit(odds + offset) - happened).sum())

    return float(brentq(surplus, -FAR, FAR))


def calibrated_share(
    happened: Floats,
    arl: float,
    seed: int = 0,
    *,
    name: str = "",
    cluster: Ints | None = None,
    ratio: float = SHARE_RATIO,
) -> Monitor:
    """A monitor of what happens or not, as often in one case as in any other; the reference's is [L].

    >>> monitor = calibrated_share(np.tile([1.0, 0, 0, 0], 40), arl=1000, name="sent")
    >>> monitor.alarms(np.tile([1.0, 0.0], 50))[0].side
    'higher'
    """
    monitor = calibrated_rate(happened, np.full(len(happened), 0.5), arl, seed, name=name, cluster=cluster, ratio=ratio)

    def steps(happened: Floats) -> Floats:
        return monitor.steps(happened, np.full(len(happened), 0.5))

    return replace(monitor, steps=steps)


def calibrated_prevalence(
    posterior: Floats,
    arl: float,
    seed: int = 0,
    *,
    name: str = "",
    cluster: Ints | None = None,
    ratio: float = ODDS_RATIO,
) -> Monitor:
    """A monitor of how common positives are where the truth is not known, from P(positive) of each case, [L].

    >>> monitor = calibrated_prevalence(np.tile([0.9, 0.1, 0.1, 0.1], 50), arl=1000, name="positives")
    >>> monitor.alarms(np.tile([0.9, 0.1], 100))[0].side
    'higher'
    """
    prevalence = float(np.mean(posterior))

    def steps(posterior: Floats) -> Floats:
        return prevalence_steps(posterior, prevalence, ratio)

    return Monitor(name, steps, thresholds(steps(posterior), arl, seed, cluster), arl)


def run_length(monitors: int, seen: float = 1.0, false_alarms: float = FALSE_ALARMS, a_day: float = A_DAY) -> float:
    """The average run length, in its own values, of one of so many monitors that share the alarms for nothing.

    `seen` is the share of cases that give it a value.

    >>> run_length(30), run_length(30, seen=0.02)
    (273937.5, 5478.75)
    """
    return a_day * DAYS * seen * monitors / false_alarms


def cusum(values: Floats, k: float = SLACK) -> Floats:
    """The two-sided CUSUM of standardised values with slack `k`, the greater of both sides, [N, ...].

    >>> cusum(np.array([0.0, 2.0, 2.0, -1.0, -4.0])).tolist()
    [0.0, 1.5, 3.0, 1.5, 4.0]
    """
    return np.asarray(reflected(value_steps(values, k)).max(-1))


def ewma(values: Floats, weight: float = WEIGHT) -> Floats:
    """The moving average of standardised values in its own standard deviations, which grow to their final size.

    >>> ewma(np.array([1.0, 1.0]), 0.5).round(3).tolist()
    [1.0, 1.342]
    """
    smooth = np.asarray(lfilter([weight], [1, weight - 1], values, axis=0))
    number = np.arange(1, len(values) + 1).reshape(-1, *[1] * (values.ndim - 1))
    return smooth / np.sqrt(weight / (2 - weight) * (1 - (1 - weight) ** (2 * number)))


def ewma_limit(
    reference: Floats, arl: float, seed: int = 0, *, cluster: Ints | None = None, weight: float = WEIGHT
) -> float:
    """How far from 0 an `ewma` strays once in `arl` values where nothing changes; the reference is [L].

    Beyond what a simulation shows, the chance falls as that of a normal number.
    """
    values = (reference - reference.mean()) / reference.std()
    drawn = _redrawn(values, np.arange(len(values)) if cluster is None else cluster, seed)
    block = round(4 / weight)
    highest = np.sort(np.abs(ewma(drawn, weight)[: len(drawn) // block * block]).reshape(-1, block).max(1))[::-1]
    ranks = np.array([len(highest) // 10, len(highest) // 200])
    squares, rates = highest[ranks - 1] ** 2, -np.log1p(-ranks / len(highest)) / block
    slope = np.log(rates[0] / rates[1]) / (squares[1] - squares[0])
    return float(np.sqrt(squares[1] + np.log(arl * rates[1]) / slope))


def value_steps(values: Floats, slack: float = SLACK) -> Floats:
    """What standardised values add, [...] to [..., 2]: by how much they are off by more than the slack."""
    return np.stack([values - slack, -values - slack], axis=-1)


def rate_steps(happened: Floats, expected: Floats, ratio: float = ODDS_RATIO) -> Floats:
    """What trials add, [..., 2]: the log likelihood ratio of odds `ratio` times as high, and as low, as expected.

    >>> rate_steps(np.array([1.0, 0.0]), np.array([0.5, 0.5])).round(3).tolist()
    [[0.288, -0.405], [-0.405, 0.288]]
    """
    return np.stack([happened * np.log(each) - np.log1p(expected * (each - 1)) for each in (ratio, 1 / ratio)], axis=-1)


def prevalence_steps(posterior: Floats, prevalence: float, ratio: float = ODDS_RATIO) -> Floats:
    """What cases add, [..., 2]: the log likelihood ratio of other odds of a positive, where positives look as before.

    >>> prevalence_steps(np.array([1.0, 0.2]), 0.2)[:, 0].round(3).tolist()
    [0.511, 0.0]
    """
    if not 0 < prevalence < 1:
        raise UserError(f"prevalence: found {prevalence}, expected a share above 0 and below 1")
    odds = [prevalence / (1 - prevalence) * each for each in (ratio, 1 / ratio)]
    shares = [each / (1 + each) for each in odds]
    return np.stack(
        [np.log(posterior * p / prevalence + (1 - posterior) * (1 - p) / (1 - prevalence)) for p in shares], axis=-1
    )


def reflected(steps: Floats, start: Floats | float = 0.0) -> Floats:
    """The running sum of steps that never falls below 0, [N, ...], from where it stands at the start.

    >>> reflected(np.array([1.0, -3.0, 2.0, 2.0])).tolist()
    [1.0, 0.0, 2.0, 4.0]
    """
    total = np.cumsum(steps, axis=0)
    return total - np.minimum(np.minimum.accumulate(total, axis=0), -np.asarray(start))


def alarms(name: str, steps: Floats, thresholds: Floats) -> list[Alarm]:
    """Every alarm of steps, [N, 2], in turn; each side begins anew after its own."""
    found = [
        Alarm(name, SIDES[side], number, value, float(thresholds[side]))
        for side in range(steps.shape[-1])
        for number, value in _crossings(steps[:, side], float(thresholds[side]))
    ]
    return sorted(found, key=lambda alarm: (alarm.number, alarm.side))


def _crossings(steps: Floats, threshold: float) -> list[tuple[int, float]]:
    found, begin, level = [], 0, 0.0
    while begin < len(steps):
        path = reflected(steps[begin : begin + WINDOW], level)
        over = path >= threshold
        if over.any():
            first = int(over.argmax())
            found.append((begin + first, float(path[first])))
            begin, level = begin + first + 1, 0.0
        else:
            begin, level = begin + len(path), float(path[-1])
    return found


def thresholds(reference: Floats, arl: float, seed: int = 0, cluster: Ints | None = None) -> Floats:
    """Where each side rings so that, together, `arl` steps pass on average between alarms for nothing, [2].

    Steps of the reference, [L, 2], are drawn anew by cluster, DRAWN of them at most. Of the climbs from nothing back to
    nothing the highest BEYOND are counted; beyond these, where a simulation would be long, the chance of a climb falls
    exponentially, at the rate at which exponentially weighted steps balance (Cramér, Lundberg). Each side has half the
    alarms.
    """
    if not arl > 1 or not len(reference):
        raise UserError(f"monitor: found a run length of {arl} and {len(reference)} steps, expected more of both")
    drawn = _redrawn(reference, np.arange(len(reference)) if cluster is None else cluster, seed)
    sides = reference.shape[-1]
    return np.array([_threshold(drawn[:, side], reference[:, side], cluster, sides * arl) for side in range(sides)])


def _redrawn(reference: Floats, cluster: Ints, seed: int) -> Floats:
    """Whole clusters, at random, until there are DRAWN steps."""
    random = stream(seed, Stream.MONITOR)
    _, of, sizes = np.unique(cluster, return_inverse=True, return_counts=True)
    if len(sizes) == len(reference):
        return reference[random.integers(len(reference), size=DRAWN)]
    order = np.argsort(of.reshape(-1), kind="stable")
    first = np.cumsum(sizes) - sizes
    picked = random.integers(len(sizes), size=int(DRAWN / sizes.mean()))
    size = sizes[picked]
    within = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    return reference[order[np.repeat(first[picked], size) + within]]


def _threshold(drawn: Floats, reference: Floats, cluster: Ints | None, arl: float) -> float:
    of = np.arange(len(reference)) if cluster is None else np.unique(cluster, return_inverse=True)[1].reshape(-1)
    sums = np.asarray(np.bincount(of, reference), float)
    if not sums.mean() < 0:
        raise UserError("monitor: the cases to compare with already look like the change to be found")
    path = reflected(drawn[: round(max(BEYOND * arl, len(reference)))])
    starts = np.flatnonzero(np.append(True, path[:-1] == 0))
    climbs = np.sort(np.maximum.reduceat(path, starts))[::-1]
    climbs = climbs[climbs > 0]
    if not len(climbs):
        return np.inf
    if len(path) < BEYOND * arl and len(climbs) >= FEW_CLIMBS:
        rank = min(BEYOND, len(climbs))
        level, decay = float(climbs[rank - 1]), _decay(sums)
        rarer = arl * int((climbs >= level).sum()) / len(path)  # times as few climbs as reach this level
        return float(np.log1p(np.expm1(decay * level) * max(rarer, 1.0)) / decay)
    low, high = 0, len(climbs) - 1  # places of a level that rings seldom enough and of one that may not
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _between(path, starts, float(climbs[middle])) >= arl else (low, middle - 1)
    return float(climbs[low])


def _between(path: Floats, starts: Ints, level: float) -> float:
    """Steps between two times at which climbs, by their starts, reach a level and are then broken off."""
    over = np.flatnonzero(path >= level)
    climb, first = np.unique(np.searchsorted(starts, over, "right") - 1, return_index=True)
    broken_off = np.append(starts, len(path))[climb + 1] - over[first] - 1
    return float((len(path) - broken_off.sum()) / len(climb))


def _decay(sums: Floats) -> float:
    """The rate above 0 at which exponentially weighted sums average 1."""

    def growth(rate: float) -> float:
        return float(logsumexp(rate * sums) - np.log(len(sums)))

    far = 1.0 / np.abs(sums).max()
    while growth(far) < 0:
        far *= 2
    near = far / 2
    while growth(near) > 0:
        near /= 2
    return float(brentq(growth, near, far))
