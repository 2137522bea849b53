"""A bound on misses among the cases no reader sees, valid for finitely many cases.

A case is kept where its log-odds of being sent are at or below a limit. Limits that can be promised to miss at most a
share `level` of what they keep are found on calibration cases by Learn then Test (Angelopoulos et al., 2022):
every limit of a fixed sequence is tested with the exact binomial chance of so few misses, and testing stops at the
first that fails. The promise holds with CONFIDENCE over the draw of the calibration cases if later cases are
exchangeable with them: the same kind of people and recordings, and a score that was not fitted to them.

MAPIE's controller is not used: its fixed sequence takes its direction from the calibration cases themselves, and its
other corrections cost the power that a few hundred cases have. The tests hold our sequence against MAPIE's.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.clusters import design_effect, effective_cases
from mpd2.core.errors import UserError
from mpd2.core.policy import mean_policy, preferences
from mpd2.core.rng import Stream, stream
from mpd2.evaluation.evidence import Evidence
from mpd2.evaluation.intervals import wilson

CONFIDENCE = 0.9
LEVELS = (0.02, 0.05, 0.1)
LIMITS = np.arange(-6, 6, 0.25)  # from the strictest to the laxest, fixed before any case is seen; 0 is the own rule
STARTS = 4  # places of the sequence at which testing begins anew, each with its share of the error allowed
NO_LIMIT = -1
ROUNDING = 1e-9  # cases
FOUND = ("limit", "kept", "missed", "judged_kept", "judged_missed", "rate", "low", "high")
HOLDS, TOO_FEW, NONE_HOLDS = "holds", "too few cases", "no limit holds"
AMONG = {
    "kept": "all cases no reader sees",
    "sent home": "those of them called negative",
}
"""What a share is of. Only what is called negative can be missed, so the second promise is the stronger one."""


Counts = tuple[Floats, Floats]
"""Cases kept and, of these, missed at every limit, [..., L] each."""


@dataclass(frozen=True, eq=False)
class Kept:
    """What each limit would keep of N cases, and what it would miss."""

    inside: Bools  # [L, N] kept at each of LIMITS
    missed: Bools  # [N] a miss if the case is kept
    cluster: Ints | None = None  # [N] which cases belong together; none: every case stands alone

    def __len__(self) -> int:
        return len(self.missed)

    def counts(self, weights: np.ndarray) -> Counts:
        """Kept and missed at every limit under R weightings of the cases, [R, N] -> [R, L] each."""
        return weights @ self.inside.T.astype(float), weights @ (self.inside & self.missed).T.astype(float)

    @property
    def all(self) -> Counts:
        """Kept and missed at every limit, [1, L] each."""
        return self.counts(np.ones((1, len(self))))

    def of(self, rows: np.ndarray) -> Kept:
        """Some of the cases."""
        return Kept(self.inside[:, rows], self.missed[rows], None if self.cluster is None else self.cluster[rows])

    def beside(self, other: Kept) -> Kept:
        """Both together."""
        return Kept(
            np.concatenate([self.inside, other.inside], axis=1),
            np.append(self.missed, other.missed),
            np.append(self.clusters, other.clusters + (0 if self.cluster is not None else len(self))),
        )

    @property
    def clusters(self) -> Ints:
        """Which cases belong together, [N]."""
        return np.arange(len(self)) if self.cluster is None else self.cluster

    @property
    def independent(self) -> float:
        """How many independent cases one case is worth, at most 1: what is promised counts rows of a cluster once."""
        return effective_cases(self.clusters) / len(self) if len(self) else 1.0


def kept_cases(evidence: Evidence, method: str, among: str) -> Kept:
    """What a method's members, deciding together, would keep at each limit, and how that would end."""
    outcome, cohort = evidence.outcomes[method], evidence.cohort
    if outcome.policy is None:
        raise UserError(f"{outcome.title}: has no soft policy, so there is nothing to put a limit on")
    label = cohort.ai_label if outcome.continuations is None else outcome.continuations.together().kept
    log_odds = preferences(mean_policy(outcome.policy), outcome.rule).max(-1, initial=-np.inf)  # [N]
    inside = log_odds <= LIMITS[:, None]
    cleared = label == 0
    kept = inside & cleared if among == "sent home" else inside
    return Kept(kept, cleared & (cohort.truth == 1), cohort.cluster)


def cases_needed(level: float) -> int:
    """The fewest kept cases that can bear the promise: so many without a single miss.

    >>> cases_needed(0.05), cases_needed(0.01)
    (72, 368)
    """
    if not 0 < level < 1:
        raise UserError(f"level: found {level}, expected a share above 0 and below 1")
    return int(np.ceil(np.log((1 - CONFIDENCE) / STARTS) / np.log1p(-level)))


def limits_that_hold(counts: Counts, level: float, independent: float = 1.0) -> Bools:
    """Which limits can be promised from counts of calibration cases, [..., L].

    Where cases belong together they count as fewer, `independent` each: kept ones rounded down, missed ones up.
    """
    kept, missed = np.floor(counts[0] * independent + ROUNDING), np.ceil(counts[1] * independent - ROUNDING)
    return in_sequence(np.asarray(stats.binom.cdf(missed, kept, level)), 1 - CONFIDENCE)


def in_sequence(chances: Floats, error: float) -> Bools:
    """Which hypotheses fall in a fixed sequence with several starts, [..., L]; any of them wrongly with chance `error`.

    From each start on, hypotheses are tested in turn until one stands; all starts share the error.
    """
    small = chances <= error / STARTS
    fallen = np.zeros_like(small)
    for start in np.arange(STARTS) * (small.shape[-1] // STARTS):
        fallen[..., start:] |= np.logical_and.accumulate(small[..., start:], axis=-1)
    return fallen


def laxest(holds: Bools) -> Ints:
    """The position of the laxest limit that holds, [..., L] to [...]; NO_LIMIT where none does."""
    last = holds.shape[-1] - 1 - holds[..., ::-1].argmax(-1)
    return np.where(holds.any(-1), last, NO_LIMIT)


def promise(calibration: Kept, judged: Kept, level: float) -> dict[str, Any]:
    """The limit for a level, found on calibration cases, and what it does to cases that had no part in that.

    level, state (HOLDS, or why there is no limit), n and judged_n, and FOUND, NaN without a limit: kept and missed are
    calibration cases, judged_kept and judged_missed others, and rate the missed of these kept, with low and high.
    """
    needed = cases_needed(level)
    kept, missed = (count[0] for count in calibration.all)
    place = int(laxest(limits_that_hold((kept, missed), level, calibration.independent)))
    enough = np.floor(kept.max() * calibration.independent + ROUNDING) >= needed
    state = HOLDS if place != NO_LIMIT else NONE_HOLDS if enough else TOO_FEW
    row: dict[str, Any] = {"level": level, "state": state, "n": len(calibration), "judged_n": len(judged)}
    if place == NO_LIMIT:
        return row | dict.fromkeys(FOUND, np.nan)
    later, later_missed = (int(count[0, place]) for count in judged.all)
    rate = later_missed / later if later else np.nan
    inside = judged.inside[place]
    effect = design_effect(judged.missed[inside].astype(float), judged.clusters[inside]) if later else 1.0
    interval = wilson(later_missed, later, effect)
    values = (LIMITS[place], kept[place], missed[place], later, later_missed, rate, *interval)
    return row | {name: float(value) for name, value in zip(FOUND, values, strict=True)}


def redrawn(cases: int, calibration: int, checks: int, seed: int = 0, cluster: Ints | None = None) -> Floats:
    """Which cases are for calibration in each of many draws, [R, N] of 0 and 1.

    Where cases belong together, `cluster` [N], whole clusters are drawn until there are enough.
    """
    alone = np.arange(cases) if cluster is None else cluster
    _, first, of, sizes = np.unique(alone, return_index=True, return_inverse=True, return_counts=True)
    place = first.argsort()  # as they first occur, so that cases that stand alone are in the order of their rows
    of, sizes = place.argsort()[of.reshape(-1)], sizes[place]
    luck = stream(seed, Stream.RESPLIT).random((checks, len(sizes)))
    order = luck.argsort(-1)
    before = np.cumsum(sizes[order], axis=-1) - sizes[order]  # cases drawn before each cluster in turn, [R, G]
    drawn = np.empty(order.shape)
    np.put_along_axis(drawn, order, (before < calibration).astype(float), -1)
    return drawn[:, of]


def redraws(calibration: Kept, judged: Kept, checks: int) -> Floats:
    """Which cases of both together are for calibration in each of many draws, [R, N]."""
    return redrawn(
        len(calibration) + len(judged), len(calibration), checks, cluster=calibration.beside(judged).clusters
    )


def checked(pool: Kept, drawn: Floats, level: float) -> dict[str, float]:
    """How often the promise is broken if the calibration cases are drawn anew from a pool, and the rest is judged.

    found (share of draws with a limit), broken (share of draws whose limit misses more than `level` of what it keeps
    of the pool, the population they come from; 1 − CONFIDENCE is allowed) and held_out (the rate among the rest, mean
    over draws with a limit).
    """
    counts, everything = pool.counts(drawn), pool.all
    place = laxest(limits_that_hold(counts, level, pool.independent))
    has_limit, at = place != NO_LIMIT, np.maximum(place, 0)
    kept, missed = (np.asarray(count[0, at]) for count in everything)
    rest, rest_missed = (
        np.maximum(total - part[np.arange(len(at)), at], 0) for total, part in zip((kept, missed), counts, strict=True)
    )
    rates = rest_missed[has_limit] / np.maximum(rest[has_limit], 1)
    return {
        "found": float(has_limit.mean()),
        "broken": float((has_limit & (missed > level * kept)).mean()),
        "held_out": float(rates.mean()) if has_limit.any() else np.nan,
    }


def checked_promise(calibration: Kept, judged: Kept, level: float, drawn: Floats) -> dict[str, Any]:
    """A `promise`, how it fares when `checked` on all cases `drawn` anew, [R, N], and the number of checks, R."""
    pool = calibration.beside(judged)
    return promise(calibration, judged, level) | checked(pool, drawn, level) | {"checks": len(drawn)}


def guarantee(calibration: Evidence, judged: Evidence, checks: int) -> pd.DataFrame:
    """The promise of every method with a soft policy, in each cohort and for each level, and how it fares when checked.

    Columns: method, title, cohort, among, and those of `checked_promise`; the pool is all cases given.
    """
    rows = []
    for key in dict.fromkeys(calibration.cohort.sources.tolist()):
        first, then = (evidence.cohort.sources == key for evidence in (calibration, judged))
        pool = np.append(calibration.cohort.cluster[first], judged.cohort.cluster[then])
        drawn = redrawn(len(pool), int(first.sum()), checks, cluster=pool)
        for (method, outcome), among in product(calibration.outcomes.items(), AMONG):
            if outcome.policy is None:
                continue
            own = kept_cases(calibration, method, among).of(first)
            others = kept_cases(judged, method, among).of(then)
            about = {"method": method, "title": outcome.title, "cohort": key, "among": among}
            rows += [about | checked_promise(own, others, level, drawn) for level in LEVELS]
    return pd.DataFrame(rows)
