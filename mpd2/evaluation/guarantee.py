"""A bound on missed glaucoma among the cases no reader sees, valid for finitely many cases.

A case is kept where its log-odds of being sent are at or below a limit. Limits that can be promised to miss at most a
share `level` of what they keep are found on calibration cases by Learn then Test (Angelopoulos et al., 2022):
every limit of a fixed sequence is tested with the exact binomial chance of so few misses, and testing stops at the
first that fails. The promise holds with CONFIDENCE over the draw of the calibration cases if later cases are
exchangeable with them: the same kind of people and cameras, and a score that was not fitted to them.

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
FOUND = ("limit", "kept", "missed", "judged_kept", "judged_missed", "rate", "low", "high")
HOLDS, TOO_FEW, NONE_HOLDS = "holds", "too few cases", "no limit holds"
AMONG = {
    "kept": "all cases no reader sees",
    "sent home": "those of them called healthy",
}
"""What a share is of. Only who is called healthy can be missed, so the second promise is the stronger one."""


Counts = tuple[Floats, Floats]
"""Cases kept and, of these, missed at every limit, [..., L] each."""


@dataclass(frozen=True, eq=False)
class Kept:
    """What each limit would keep of N cases, and what it would miss."""

    inside: Bools  # [L, N] kept at each of LIMITS
    missed: Bools  # [N] glaucoma missed if the case is kept

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
        return Kept(self.inside[:, rows], self.missed[rows])

    def beside(self, other: Kept) -> Kept:
        """Both together."""
        return Kept(np.concatenate([self.inside, other.inside], axis=1), np.append(self.missed, other.missed))


def kept_cases(evidence: Evidence, method: str, among: str) -> Kept:
    """What a method's members, deciding together, would keep at each limit, and how that would end."""
    outcome, cohort = evidence.outcomes[method], evidence.cohort
    if outcome.policy is None:
        raise UserError(f"{outcome.title}: has no soft policy, so there is nothing to put a limit on")
    label = cohort.ai_label if outcome.continuations is None else outcome.continuations.together().kept
    log_odds = preferences(mean_policy(outcome.policy), outcome.rule).max(-1, initial=-np.inf)  # [N]
    inside = log_odds <= LIMITS[:, None]
    healthy = label == 0
    return Kept(inside & healthy if among == "sent home" else inside, healthy & (cohort.truth == 1))


def cases_needed(level: float) -> int:
    """The fewest kept cases that can bear the promise: so many without a single miss.

    >>> cases_needed(0.05), cases_needed(0.01)
    (72, 368)
    """
    if not 0 < level < 1:
        raise UserError(f"level: found {level}, expected a share above 0 and below 1")
    return int(np.ceil(np.log((1 - CONFIDENCE) / STARTS) / np.log1p(-level)))


def limits_that_hold(counts: Counts, level: float) -> Bools:
    """Which limits can be promised from counts of calibration cases, [..., L]."""
    kept, missed = counts
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
    place = int(laxest(limits_that_hold((kept, missed), level)))
    state = HOLDS if place != NO_LIMIT else TOO_FEW if kept.max() < needed else NONE_HOLDS
    row: dict[str, Any] = {"level": level, "state": state, "n": len(calibration), "judged_n": len(judged)}
    if place == NO_LIMIT:
        return row | dict.fromkeys(FOUND, np.nan)
    later, later_missed = (int(count[0, place]) for count in judged.all)
    rate = later_missed / later if later else np.nan
    values = (LIMITS[place], kept[place], missed[place], later, later_missed, rate, *wilson(later_missed, later))
    return row | {name: float(value) for name, value in zip(FOUND, values, strict=True)}


def redrawn(cases: int, calibration: int, checks: int, seed: int = 0) -> Floats:
    """Which cases are for calibration in each of many draws, [R, N] of 0 and 1."""
    luck = stream(seed, Stream.RESPLIT).random((checks, cases))
    return (luck.argsort(-1).argsort(-1) < calibration).astype(float)


def checked(pool: Kept, drawn: Floats, level: float) -> dict[str, float]:
    """How often the promise is broken if the calibration cases are drawn anew from a pool, and the rest is judged.

    found (share of draws with a limit), broken (share of draws whose limit misses more than `level` of what it keeps
    of the pool, the population they come from; 1 − CONFIDENCE is allowed) and held_out (the rate among the rest, mean
    over draws with a limit).
    """
    counts, everything = pool.counts(drawn), pool.all
    place = laxest(limits_that_hold(counts, level))
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
        drawn = redrawn(int(first.sum() + then.sum()), int(first.sum()), checks)
        for (method, outcome), among in product(calibration.outcomes.items(), AMONG):
            if outcome.policy is None:
                continue
            own = kept_cases(calibration, method, among).of(first)
            others = kept_cases(judged, method, among).of(then)
            about = {"method": method, "title": outcome.title, "cohort": key, "among": among}
            rows += [about | checked_promise(own, others, level, drawn) for level in LEVELS]
    return pd.DataFrame(rows)
