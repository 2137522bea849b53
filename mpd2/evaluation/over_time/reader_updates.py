"""Readers change: their rates after new outcomes, drawn towards what readers are like, with intervals.

A reader's rate (of positives found, say) is taken to come from a population of readers, a Beta distribution that all
of them tell of. Few readings then say little against it and many outweigh it; of a reader who has read nothing yet the
population is all that is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaln

from mpd2.core.arrays import Floats
from mpd2.core.errors import UserError
from mpd2.evaluation.intervals import LEVEL

MEANS = np.linspace(0.005, 0.995, 100)  # of populations that are weighed
STRENGTHS = np.geomspace(2, 2_000, 13)  # readings that a population's mean is worth: from very mixed to all alike
LIKELY = 1e-4  # populations less likely than the likeliest by this play no part
HALVINGS = 16


@dataclass(frozen=True, eq=False)
class UpdatedRates:
    """Rates of R readers after their new outcomes."""

    rate: Floats  # [R]
    low: Floats  # [R]
    high: Floats  # [R]
    population: tuple[float, float, float]  # what is known of a newcomer: rate, low and high


def updated_rates(
    learned_hits: ArrayLike, learned_n: ArrayLike, new_hits: ArrayLike, new_n: ArrayLike, level: float = LEVEL
) -> UpdatedRates:
    """Every reader's rate from what was learned and what is new, [R] each, with intervals at `level`.

    The populations of MEANS and STRENGTHS are weighed by how well they explain all readers, each as likely as any
    other at first (strengths by their logarithm), so that the intervals allow for not knowing the population. Where a
    reader is known to have changed, give 0 of 0 as learned: only what is new, and the population, counts then.

    >>> found = updated_rates([90, 80, 0], [100, 100, 0], [9, 2, 0], [10, 10, 0])
    >>> found.rate.round(2).tolist(), bool(found.rate[2] == found.population[0])
    ([0.88, 0.76, 0.78], True)
    """
    parts = np.broadcast_arrays(*(np.asarray(p, float) for p in (learned_hits, learned_n, new_hits, new_n)))
    for hits, n in (parts[:2], parts[2:]):
        if (hits < 0).any() or (hits > n).any():
            raise UserError("readers' rates: found fewer than 0 hits, or more hits than readings")
    hits, n = np.append(parts[0] + parts[2], 0.0), np.append(parts[1] + parts[3], 0.0)  # the last is a newcomer
    up, down = (np.multiply.outer(each, STRENGTHS).ravel() for each in (MEANS, 1 - MEANS))  # [P]
    fit = betaln(up + hits[:, None], down + (n - hits)[:, None]) - betaln(up, down)  # [R + 1, P]
    together = fit.sum(0)
    weight = np.exp(together - together.max())
    likely = weight > LIKELY
    weight, up, down = weight[likely] / weight[likely].sum(), up[likely], down[likely]
    first, second = up + hits[:, None], down + (n - hits)[:, None]
    rate = (first / (first + second)) @ weight
    low, high = (_quantile(first, second, weight, share) for share in ((1 - level) / 2, (1 + level) / 2))
    newcomer = (float(rate[-1]), float(low[-1]), float(high[-1]))
    return UpdatedRates(rate[:-1], low[:-1], high[:-1], newcomer)


def _quantile(first: Floats, second: Floats, weight: Floats, share: float) -> Floats:
    """Below which a mixture of Beta distributions has this share, [R, P] to [R]."""
    low, high = np.zeros(len(first)), np.ones(len(first))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below = betainc(first, second, middle[:, None]) @ weight < share
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2
