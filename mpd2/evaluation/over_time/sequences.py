"""Intervals that may be looked at every week: with chance 1 − alpha they are right at every look, however many.

An ordinary 95 % interval is right at one look that was fixed beforehand; of one that is looked at every week until it
says what is hoped for, far fewer are. These are confidence sequences (Robbins 1970; Howard, Ramdas, McAuliffe and
Sekhon, Annals of Statistics 2021): a value is left out once a bet against it, fair if it were true, has multiplied the
stake by 1 / alpha, and by Ville's inequality that ever happens to the true value with chance alpha at most. The bet is
a mixture over what else might be true. It is a function of counts alone, so that the order of cases does not matter.

What they are about must stay the same: a rate or a mean that drifts is for `mpd2.evaluation.over_time.monitors`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, lambertw, psi, zeta

from mpd2.core.arrays import Floats
from mpd2.core.errors import UserError

ALPHA = 0.05  # chance that a sequence is ever wrong
TIGHT_AT = 2_000.0  # cases at which a sequence is narrowest for what it promises: about a week of 300 a day
FEWEST = 100  # values from which on a mean has a sequence: it rests on the law of large numbers
HALVINGS, STEPS = 12, 7  # by which an end is found
MOST, CLOSE = 60, 1e-9  # Newton's steps to a profile, and how near they must come
NEAR = 0.02  # of the way to the end of a span: as far as a step goes that would leave it
EASY = 1e-3  # from the end of a span: nearer, Newton's steps would begin too short
TINY = 1e-100  # in place of a share of 0


def rate_sequence(
    successes: ArrayLike, n: ArrayLike, alpha: float = ALPHA, tight_at: float = TIGHT_AT
) -> tuple[Floats, Floats]:
    """An exact sequence for a rate after `n` cases, low and high, of the shape of the counts; all of 0 to 1 for none.

    Against each rate p the bet is the mixture of all rates by Beta(c p, c (1 − p)). Its logarithm is convex in p and
    at most 0 at the observed share, so that what is left is an interval around it.

    >>> low, high = rate_sequence([0, 50, 500], [0, 1000, 10000])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.0, 0.031, 0.043], [1.0, 0.074, 0.057])
    """
    successes, n = _counts("successes", n, successes)
    strength = concentration(tight_at, alpha)

    def stake(rate: Floats) -> tuple[Floats, Floats]:
        cells = ((successes, rate), (n - successes, 1 - rate))
        slopes = [_slope(count, share, strength) for count, share in cells]
        return _stake(cells, strength), slopes[0] - slopes[1]

    share = np.where(n > 0, successes / np.maximum(n, 1), 0.5)
    low, high = (_edge(stake, -np.log(alpha), share, np.full_like(n, end)) for end in (0.0, 1.0))
    return low, high


def difference_sequence(
    plus: ArrayLike, minus: ArrayLike, n: ArrayLike, alpha: float = ALPHA, tight_at: float = TIGHT_AT
) -> tuple[Floats, Floats]:
    """An exact sequence for the mean of `n` paired differences of −1, 0 or +1, low and high; −1 to 1 for none.

    `plus` and `minus` count the +1 and −1. The bet is the mixture of all shares of the three by Dirichlet(c times the
    shares it is against); a mean is left out once the best of all shares with that mean is.

    >>> low, high = difference_sequence([0, 40, 400], [0, 10, 100], [0, 1000, 10000])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([-1.0, 0.007, 0.022], [1.0, 0.058, 0.038])
    """
    plus, minus, n = _counts("plus and minus", n, plus, minus)
    shape, (plus, minus, n) = n.shape, (part.ravel() for part in (plus, minus, n))
    share = np.where(n > 0, (plus - minus) / np.maximum(n, 1), 0.0)
    profile = _Profile(plus, minus, n - plus - minus, concentration(tight_at, alpha, 2))
    low, high = (_edge(profile, -np.log(alpha), share, np.full_like(n, end)) for end in (-1.0, 1.0))
    return low.reshape(shape), high.reshape(shape)


def mean_sequence(
    total: ArrayLike, squares: ArrayLike, n: ArrayLike, alpha: float = ALPHA, tight_at: float = TIGHT_AT
) -> tuple[Floats, Floats]:
    """A sequence for the mean of `n` values from their sum and sum of squares, low and high; endless below FEWEST.

    Asymptotic (Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, Annals of Statistics 2024): the mixture is normal, and
    the spread is the observed one. Values that are all the same say nothing of their spread, and get no end.

    >>> low, high = mean_sequence(500, 1000, [50, 1000, 2000])
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([-inf, 0.416, 0.205], [inf, 0.584, 0.295])
    """
    total, squares, n = (np.asarray(part, float) for part in (total, squares, n))
    return ratio_sequence(ClusterSums(total, n, squares, total, n, n), alpha, tight_at)


class ClusterSums(NamedTuple):
    """Sums over clusters of rows, one patient's each: all that a sequence needs of them."""

    total: Floats  # of the values
    rows: Floats  # number of rows
    squares: Floats  # of each cluster's own total
    products: Floats  # of each cluster's own total and number of rows
    row_squares: Floats  # of each cluster's number of rows
    n: Floats  # clusters


def cluster_sums(values: Floats, cluster: np.ndarray) -> ClusterSums:
    """The sums of values by cluster, [N] and [N].

    >>> cluster_sums(np.array([1.0, 2.0, 3.0]), np.array([7, 7, 8]))._asdict()["squares"].item()
    18.0
    """
    _, of, rows = np.unique(cluster, return_inverse=True, return_counts=True)
    own = np.bincount(of.reshape(-1), values, minlength=len(rows))  # [G]
    parts = (own, rows, own**2, own * rows, rows**2, np.ones_like(own))
    return ClusterSums(*(np.asarray(part.sum(), float) for part in parts))


def ratio_sequence(sums: ClusterSums, alpha: float = ALPHA, tight_at: float = TIGHT_AT) -> tuple[Floats, Floats]:
    """A sequence for the mean of rows that belong together, as `mean_sequence`, with clusters in place of cases."""
    total, rows, squares, products, row_squares, n = np.broadcast_arrays(*(np.asarray(p, float) for p in sums))
    mean = total / np.where(rows > 0, rows, 1)
    apart = squares - 2 * mean * products + mean**2 * row_squares  # of a cluster's total from what its rows would give
    enough = (n >= FEWEST) & (apart > 1e-12 * squares)
    spread = np.sqrt(np.where(enough, apart, 0) / np.maximum(n - 1, 1)) * n / np.where(rows > 0, rows, 1)
    strength = concentration(tight_at, alpha)
    reach = np.sqrt((n + strength) * (np.log((n + strength) / strength) - 2 * np.log(alpha))) / np.maximum(n, 1)
    half = np.where(enough, spread * reach, np.inf)
    return mean - half, mean + half


def concentration(tight_at: float, alpha: float = ALPHA, dimensions: int = 1) -> float:
    """How many cases a mixture is worth, the c above, so that its interval is narrowest at so many cases.

    With d free shares the squared reach at n is about (n + c) (2 log 1/alpha + d log(1 + n/c)), least here.

    >>> round(concentration(2000)), round(concentration(2000, dimensions=2))
    (244, 422)
    """
    if not 0 < alpha < 1 or not tight_at > 0:
        raise UserError(f"sequence: found alpha {alpha} and {tight_at} cases, expected 0 to 1 and a number above 0")
    ratio = -lambertw(-np.exp(-1 + 2 * np.log(alpha) / dimensions), -1).real
    return float(tight_at / (ratio - 1))


def _counts(what: str, n: ArrayLike, *parts: ArrayLike) -> tuple[Floats, ...]:
    """Counts of one shape, then their number, checked."""
    arrays = np.broadcast_arrays(*(np.asarray(part, float) for part in (*parts, n)))
    if any((part < 0).any() for part in arrays) or (sum(arrays[:-1]) > arrays[-1]).any():
        raise UserError(f"{what}: found a number below 0, or more together than there are cases")
    return tuple(arrays)


def _stake(cells: Iterable[tuple[Floats, Floats]], strength: float) -> Floats:
    """The logarithm of what a bet has made of 1: each cell's count, and its share by what the bet is against."""
    grown, n = np.zeros(()), np.zeros(())
    for count, share in cells:
        some = np.where(share > 0, share, 1.0)
        own = gammaln(strength * some + count) - gammaln(strength * some) - count * np.log(some)
        grown, n = grown + np.where(count > 0, np.where(share > 0, own, np.inf), 0.0), n + count
    return np.asarray(grown + gammaln(strength) - gammaln(strength + n))


def _slope(count: Floats, share: Floats, strength: float) -> Floats:
    """By how much a cell's part of that logarithm grows with its share; never up."""
    some = np.maximum(share, TINY)
    return np.asarray(strength * (psi(strength * some + count) - psi(strength * some)) - count / some)


def _edge(stake: Callable[[Floats], tuple[Floats, Floats]], goal: float, inside: Floats, outside: Floats) -> Floats:
    """Where a convex stake, given with its slope, exceeds the goal on the way to `outside`; that itself if nowhere.

    Halving comes near; Newton's steps from beyond then stay beyond, so that what is left over errs on the wide side.
    """
    inside, edge = inside.copy(), outside.copy()
    never = stake(edge)[0] < goal
    for _ in range(HALVINGS):
        middle = (inside + edge) / 2
        over = stake(middle)[0] >= goal
        inside, edge = np.where(over, inside, middle), np.where(over, middle, edge)
    for _ in range(STEPS):
        value, slope = stake(edge)
        usable = np.isfinite(value) & (slope != 0)
        step = edge - np.where(usable, value - goal, 0.0) / np.where(usable, slope, 1.0)
        edge = np.where((step - inside) * (edge - step) > 0, step, edge)
    return np.where(never, outside, edge)


class _Profile:
    """The least a bet can have made against any three shares with a given mean of the differences."""

    def __init__(self, plus: Floats, minus: Floats, none: Floats, strength: float) -> None:
        self.counts, self.strength = np.stack([plus, minus, none]), strength  # [3, K]
        self.place = np.full(plus.shape, 0.5)  # of the share of −1 within its span, as last found

    def __call__(self, mean: Floats) -> tuple[Floats, Floats]:
        """Its logarithm and slope."""
        shares = self._shares(mean)
        plus, minus, none = _slope(self.counts, shares, self.strength)
        held = np.maximum(plus + minus - 2 * none, 0.0)  # where −1, or +1, has no share and stays without
        slope = (plus - minus + np.where(mean < 0, -held, held)) / 2
        return _stake(zip(self.counts, shares, strict=True), self.strength), slope

    def _shares(self, mean: Floats) -> Floats:
        """Of +1, −1 and 0, [3, K]: a convex problem in one share, by Newton's steps within a shrinking span."""
        low = np.maximum(0.0, -mean)
        span = (1 - mean) / 2 - low
        found, lower, upper = self.place.copy(), np.zeros_like(mean), np.ones_like(mean)
        open_ = np.flatnonzero(span > 0)
        for _ in range(MOST):
            at, width = found[open_], span[open_]
            minus, counts = low[open_] + width * at, self.counts[:, open_]
            shares = np.stack([minus + mean[open_], minus, 1 - 2 * minus - mean[open_]])
            slope, curve = self._derivatives(counts, shares)
            lower[open_] = np.where(slope < 0, at, lower[open_])
            upper[open_] = np.where(slope > 0, at, upper[open_])
            step = at - slope / np.maximum(curve, TINY) / width
            least, most = lower[open_], upper[open_]
            step = np.clip(step, least + NEAR * (at - least), most - NEAR * (most - at))
            found[open_] = step
            open_ = open_[np.abs(step - at) > CLOSE]
            if not len(open_):
                break
        self.place = np.clip(found, EASY, 1 - EASY)
        minus = low + span * found
        return np.stack([mean + minus, minus, 1 - 2 * minus - mean])

    def _derivatives(self, counts: Floats, shares: Floats) -> tuple[Floats, Floats]:
        """First and second, by the share of −1, [K] each."""
        factor = np.array([1.0, 1.0, -2.0])
        some = np.maximum(shares, TINY)
        at = self.strength * some
        bent = counts / some**2 - self.strength**2 * (zeta(2, at) - zeta(2, at + counts))
        return factor @ _slope(counts, shares, self.strength), factor**2 @ np.where(counts > 0, bent, 0.0)
