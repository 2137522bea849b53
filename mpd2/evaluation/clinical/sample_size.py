"""How many cases would we need? How narrow intervals become with more cases, and how many a wanted width takes.

What differs from place to place is asked of the user: how many cases, and how many of them are sick. What belongs to
the run is taken from its results: its rates, how often it and the AI end a case differently, whom a reader gets to see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pandas as pd

from mpd2.core.arrays import Floats
from mpd2.core.clusters import design_effect
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.policy import Decisions
from mpd2.evaluation.intervals import TAILS, wilson
from mpd2.evaluation.metrics import readings

RATES = ("Sens", "Spec")
GRID = tuple(round(50 * 2 ** (step / 4)) for step in range(41))  # cases, 50 to 51,200
MOST = 10_000_000  # cases that are looked for

Width = Callable[[Floats], Floats]
"""From numbers of cases to the half-widths of the interval, [K] to [K]."""


@dataclass(frozen=True)
class Spread:
    """What of a run decides how sure its numbers are, for sensitivity (among the sick) or specificity (the well)."""

    rate: float  # on these cases
    apart: float  # sd over cases of right less the AI right, the paired difference; wider where cases belong together
    cases: int  # that both are estimated from
    effect: float = 1.0  # by how much clusters widen the variance of the rate; later cases are taken to come alike


@dataclass(frozen=True)
class Seen:
    """Whom one reader gets to see, and how often they are right; sick first, well second."""

    share: tuple[float, float]  # of all sick and all well cases that the run sends to this reader
    rate: tuple[float, float]  # sensitivity and specificity on all cases the reader has read


def spread_of(cohort: Cohort, decisions: Decisions) -> dict[str, Spread]:
    """The spread of both rates; decisions, [E, N], are judged as the mean over members.

    One case more is counted as gained and one as lost against the AI, so that two who never differed in a small table
    are not believed to be the same for ever.
    """
    found = {}
    for name, truth in zip(RATES, (1, 0), strict=True):
        rows = cohort.truth == truth
        if not rows.any():
            raise UserError(
                f"sample size: no case is {'positive' if truth else 'negative'}, so nothing is known of {name}"
            )
        right = (decisions.label[..., rows] == truth).reshape(-1, rows.sum()).mean(0)  # [n]
        beside = right - (cohort.ai_label[rows] == truth)
        differs = np.append(beside, [1.0, -1.0])
        effects = [design_effect(each, cohort.cluster[rows]) for each in (right, beside)]
        apart = float(differs.std()) * effects[1] ** 0.5
        found[name] = Spread(float(right.mean()), apart, int(rows.sum()), effects[0])
    return found


def seen_by(cohort: Cohort, decisions: Decisions, reader: int) -> Seen:
    """Whom a run lets one reader see; a rate that was never seen is NaN."""
    asked = (decisions.consulted == reader).any(-1).reshape(-1, len(cohort)).mean(0)  # [N] over members
    read = readings(cohort)[:, reader]
    parts = []
    for truth in (1, 0):
        rows = cohort.truth == truth
        own = cohort.decisions[rows & read, reader] == truth
        parts.append((float(asked[rows].mean()) if rows.any() else 0.0, float(own.mean()) if own.size else np.nan))
    (sick, sens), (well, spec) = parts
    return Seen((sick, well), (sens, spec))


def rate_width(rate: float, share: float, effect: float = 1.0) -> Width:
    """Half of Wilson's interval of a rate among those `share` of all cases it is counted in, by their design effect."""

    def width(cases: Floats) -> Floats:
        n = np.asarray(cases, float) * share
        low, high = wilson(rate * n, n, effect)
        return (high - low) / 2

    return width


def paired_width(apart: float, share: float) -> Width:
    """Half of the interval of the difference to the AI on the same cases; over single cases its sd is `apart`.

    For a run of one member the variance is McNemar's: with gains b and losses c, b + c − (b − c)².
    """
    z = NormalDist().inv_cdf(TAILS[1])

    def width(cases: Floats) -> Floats:
        n = np.maximum(np.asarray(cases, float) * share, 1.0)
        return np.minimum(z * apart / np.sqrt(n), 1.0)

    return width


def cases_for(width: Width, wanted: float) -> int | None:
    """The fewest cases with an interval of at most ± `wanted`; none where MOST are not enough.

    >>> cases_for(rate_width(0.93, share=0.15), 0.03)
    1897
    """
    if not wanted > 0:
        raise UserError(f"half-width: found {wanted}, expected a number above 0")
    low, high = 0, MOST
    if not width(np.array([high]))[0] <= wanted:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if width(np.array([middle]))[0] <= wanted else (middle, high)
    return high


def widths(spreads: Mapping[str, Spread], prevalence: float, seen: Seen | None = None) -> dict[str, Width]:
    """Every number that is planned for, by name, at a prevalence: both rates, both differences, a reader's rates."""
    if not 0 < prevalence < 1:
        raise UserError(f"prevalence: found {prevalence}, expected a share above 0 and below 1")
    shares = dict(zip(RATES, (prevalence, 1 - prevalence), strict=True))
    planned: dict[str, Width] = {
        name: rate_width(spreads[name].rate, shares[name], spreads[name].effect) for name in RATES
    }
    planned |= {f"{name} less AI": paired_width(spreads[name].apart, shares[name]) for name in RATES}
    if seen is not None:
        for name, share, rate in zip(RATES, seen.share, seen.rate, strict=True):
            if share > 0 and not np.isnan(rate):
                planned[f"{name} reader"] = rate_width(rate, shares[name] * share)
    return planned


def curve(planned: Mapping[str, Width]) -> pd.DataFrame:
    """Half-widths over GRID: what, cases, half_width."""
    cases = np.array(GRID, float)
    parts = [pd.DataFrame({"what": name, "cases": GRID, "half_width": width(cases)}) for name, width in planned.items()]
    return pd.concat(parts, ignore_index=True)


def local_cases(recalibration: pd.DataFrame, method: str) -> pd.DataFrame:
    """From how many labelled local cases on they pay, for each cohort that was new: cohort, cheaper, sure, most.

    `recalibration`: the study's learning curve, total cost by the number of local cases in training. `cheaper`: the
    fewest from which on the mean cost stays below that without any; `sure`: from which on its interval stays below too;
    both NaN where none do. `most`: the most that were tried.
    """
    rows = []
    for cohort, part in recalibration[recalibration["method"] == method].groupby("cohort", sort=False):
        tried = part[part["local"] > 0].sort_values("local")
        most = tried["local"].max()
        cheaper, sure = (_stays_below(tried, column) for column in ("less_none", "less_none_high"))
        rows.append({"cohort": cohort, "cheaper": cheaper, "sure": sure, "most": most})
    return pd.DataFrame(rows)


def _stays_below(tried: pd.DataFrame, column: str) -> float:
    """The first number of local cases from which on a difference is below 0; NaN if the last is not."""
    above = tried[tried[column] >= 0]["local"]
    left = tried if above.empty else tried[tried["local"] > above.max()]
    return float(left["local"].min())
