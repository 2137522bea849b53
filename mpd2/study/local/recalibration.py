"""A run fitted anew on local cases beside those it learned from; both compared on local cases neither learned from.

What counts is what all members decide together, as in the clinic. Differences are paired, case by case, and resampled
by group, so that rows of one patient come and go together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from statistics import NormalDist

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.clusters import clusters_of
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.policy import Decisions, decided_together
from mpd2.core.runs import FILLS, Run
from mpd2.evaluation.intervals import TAILS, percentiles, resample_weights
from mpd2.evaluation.metrics import COUNTS, tally
from mpd2.evaluation.tables import ALL
from mpd2.methods.base import DecidesAnew
from mpd2.methods.recalibrated import Recalibrated
from mpd2.methods.registry import continuations_of, method_of, policy_of, refit
from mpd2.study.local.cases import held_out, joined
from mpd2.study.operating import as_fitted

NEW, OLD, AI = "new", "old", "ai"
"""The run fitted anew, the run it began with, and the AI recalibrated on the same cases, which asks nobody."""
COST, MISSED, ALARMS, SENT = "cost", "missed", "false_alarms", "sent"
METRICS = (COST, MISSED, ALARMS, SENT)  # cost a case; the others per 1,000 people
COHORT, READER = "cohort", "reader"  # kinds of parts, besides ALL
THOUSAND = 1000.0
POWER = 0.8  # how often the number of cases that is named would show a difference
COLUMNS = ("kind", "part", "metric", "against", NEW, "other", "difference", "low", "high", "error", "n", "groups")

Fit = Callable[[Run, Cohort], Run]
"""From a run and the cases to learn from to the run fitted anew."""


@dataclass(frozen=True, eq=False)
class Recalibration:
    """The new run, and what it does on held-out local cases."""

    run: Run
    cases: Cohort  # it was fitted to
    rows: pd.DataFrame  # COLUMNS


@dataclass(frozen=True)
class Verdict:
    """What the comparison on held-out local cases says of the new run against the old one."""

    difference: float  # in cost a case, new less old
    low: float
    high: float
    missed: tuple[float, float, float]  # difference per 1,000 with its interval
    n: int  # held-out cases
    needed: int | None  # held-out cases that would show the difference; none where the new run is not cheaper

    @property
    def cheaper(self) -> bool:
        """Whether it costs less beyond chance."""
        return self.high < 0

    @property
    def dearer(self) -> bool:
        """Whether it costs more beyond chance."""
        return self.low > 0

    @property
    def misses_more(self) -> bool:
        """Whether it misses more beyond chance."""
        return self.missed[1] > 0

    @property
    def wins(self) -> bool:
        """By the rule stated before it was made: cheaper beyond chance, and not missing more beyond chance."""
        return self.cheaper and not self.misses_more


def recalibrate(run: Run, learned: Cohort, local: Cohort, fit: Fit = refit) -> Recalibration:
    """Fit a run's method anew, with its settings, on what it learned from and local cases; compare on those held out.

    The run stays as it is, and the new one says that it is of the table of `learned`: that is what it is shown with.
    """
    cases, judged = joined(learned, local), held_out(local)
    fills = cases.train_fills()
    made = fit(run, cases)
    new = replace(made, fingerprint=learned.fingerprint, notes={**made.notes, **({FILLS: fills} if fills else {})})
    ai = Recalibrated().fit(cases, run.costs, [int(member["seed"]) for member in run.settings])
    ai = replace(ai, notes={**ai.notes, **({FILLS: fills} if fills else {})})
    runs = {NEW: new, OLD: run, AI: ai}
    decisions = {name: decided(each, judged) for name, each in runs.items()}
    return Recalibration(new, cases, compare(decisions, judged, run.costs))


def decided(run: Run, cases: Cohort) -> Decisions:
    """What all members together do with cases, [N]; what was not measured is what the run puts in its place."""
    fills = run.notes.get(FILLS)
    cases = cases if fills is None else cases.filled_with(fills)
    method = method_of(run, cases)
    if isinstance(method, DecidesAnew):
        return method.deciding(run, cases)(as_fitted(run))
    return decided_together(policy_of(run, cases), cases, run.rule, continuations_of(run, cases))


def compare(decisions: Mapping[str, Decisions], cases: Cohort, costs: Costs) -> pd.DataFrame:
    """The new run against every other, paired on the same cases: COLUMNS, a row a part, metric and rival.

    Parts are all cases, each cohort, and each reader who was there: of these only `sent`, how often they are asked.
    """
    weights = resample_weights(cases)  # [R, N]
    groups = clusters_of(cases).of
    most = np.array([max(costs.false_negative, costs.false_positive) + max(costs.fees), *[THOUSAND] * 3])
    parts = {ALL: np.ones(len(cases), bool)}
    parts |= {key: cases.sources == key for key in dict.fromkeys(cases.sources.tolist())}
    counted = {name: _counted(each, cases, costs) for name, each in decisions.items()}
    asked = {name: _asked(each, cases.readers) for name, each in decisions.items()}
    rows = []
    for rival in (name for name in decisions if name != NEW):
        for key, inside in parts.items():
            values = (counted[NEW][inside], counted[rival][inside])
            index = {"kind": ALL if key == ALL else COHORT, "part": key, "against": rival}
            rows.append(_paired(METRICS, values, weights[:, inside], groups[inside], most).assign(**index))
        there = np.flatnonzero(cases.available.any(0))
        names = [cases.manifest.columns[place] for place in there]
        per_reader = _paired(names, (asked[NEW][:, there], asked[rival][:, there]), weights, groups, THOUSAND)
        rows.append(per_reader.rename(columns={"metric": "part"}).assign(kind=READER, metric=SENT, against=rival))
    return pd.concat(rows, ignore_index=True)[list(COLUMNS)]


def verdict_of(rows: pd.DataFrame, rival: str = OLD) -> Verdict:
    """What the rows of `compare` say of the new run against a rival, on all held-out cases."""
    overall = rows[(rows["kind"] == ALL) & (rows["against"] == rival)].set_index("metric")
    numbers = overall[["difference", "low", "high", "error"]].astype(float)
    difference, low, high, error = numbers.to_numpy()[overall.index.get_loc(COST)].tolist()
    missed, fewest, most, _ = numbers.to_numpy()[overall.index.get_loc(MISSED)].tolist()
    n = int(overall["n"].iloc[0])
    return Verdict(
        difference=difference,
        low=low,
        high=high,
        missed=(missed, fewest, most),
        n=n,
        needed=cases_needed(difference, error, n),
    )


def cases_needed(difference: float, error: float, n: int) -> int | None:
    """How many held-out cases would show a saving of this size in POWER of all tries; none where there is no saving.

    >>> cases_needed(-0.05, 0.025, 100), cases_needed(0.01, 0.025, 100)
    (197, None)
    """
    if not difference < 0:
        return None
    normal = NormalDist()
    apart = normal.inv_cdf(TAILS[1]) + normal.inv_cdf(POWER)
    return max(1, ceil(n * (apart * error / difference) ** 2))


def _counted(decisions: Decisions, cases: Cohort, costs: Costs) -> Floats:
    """What each case adds to METRICS, [N, 4]."""
    part = dict(zip(COUNTS, tally(cases, decisions, costs).cases.T, strict=True))
    thousands = [THOUSAND * part[name] for name in ("FN", "FP", "deferred")]
    return np.column_stack([part["clinical"] + part["fees"], *thousands])


def _asked(decisions: Decisions, readers: int) -> Floats:
    """What each case adds to the readings of each reader per 1,000, [N, M]."""
    asked: Bools = decisions.consulted[..., None] == np.arange(readers)  # [N, K, M]; NOBODY is no position
    said: Floats = np.where(asked.any(-2), THOUSAND, 0.0)
    return said


def _paired(
    names: Sequence[str],
    values: tuple[Floats, Floats],
    weights: Floats,
    groups: Ints,
    most: Floats | float,
) -> pd.DataFrame:
    """Means of the new run and of another, [N, K] each, and their difference with its interval and standard error.

    `most` is how far one case can be apart. Where none is, no resample is either, and the ends are what so many groups
    leave possible.
    """
    new, other = values
    apart = new - other
    samples = weights @ apart / weights.sum(1, keepdims=True)  # [R, K]
    low, high = percentiles(samples)
    number, same = len(np.unique(groups)), ~apart.any(0)
    possible = most * (1 - TAILS[0] ** (1 / number))
    columns = {
        NEW: new.mean(0),
        "other": other.mean(0),
        "difference": apart.mean(0),
        "low": np.where(same, -possible, low),
        "high": np.where(same, possible, high),
        "error": samples.std(0),
    }
    return pd.DataFrame({"metric": list(names), **columns, "n": len(new), "groups": number})
