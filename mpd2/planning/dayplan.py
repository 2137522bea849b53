"""What one setting comes to: who reads what, what that costs, and how it differs from another setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import Cohort
from mpd2.core.policy import Decisions
from mpd2.core.text import percent
from mpd2.evaluation.clinical.per_thousand import OUTCOMES, SCREENED, at_prevalence
from mpd2.evaluation.intervals import Estimate, bootstrap, observed, paired_difference, percentiles
from mpd2.evaluation.metrics import COUNTED, COUNTS, Tally, load_of, tally
from mpd2.planning.day import DaySetting
from mpd2.planning.plan import Plan
from mpd2.planning.ranked_cases import RankedCases, soft_deferral
from mpd2.planning.roster_and_limits import Limits

SOFT = "DeferSoft"
PEOPLE = {"Missed": "FN", "Alarms": "FP", "Read": "deferred", "Readings": "consults"}
"""Metrics that are counts of SCREENED people, and what each is a count of."""

ALL_METRICS = (*COUNTED, SOFT, *PEOPLE)
ROUNDS = 6  # in which first questions give way to later ones
MET = 1e-6  # by which a mean probability may be off
COMPARED = ("TotalCost", "ClinicalCost", "ExpertCost", "Defer", SOFT, "Consults", "F1", "MCC", "Sens", "Spec")


@dataclass(frozen=True, eq=False)
class DayPlan:
    """Who reads each case under a setting, and what comes of it."""

    setting: DaySetting
    ranked: RankedCases
    plan: Plan
    decisions: Decisions  # [N]
    load: Ints  # [M] readings of each reader

    @cached_property
    def tally(self) -> Tally:
        """What each case adds to each count under the setting's costs, [N, C]."""
        return tally(self.ranked.cohort, self.decisions, self.setting.costs)

    @cached_property
    def soft(self) -> Floats:
        """The probability of deferral of each case, [N]."""
        return soft_deferral(self.ranked, self.setting.limits, self.plan)

    @property
    def sent(self) -> int:
        """Number of cases sent to a reader."""
        return int(self.decisions.deferred.sum())

    @property
    def share(self) -> float:
        """Share of cases sent to a reader."""
        return self.sent / len(self.decisions.label)

    @property
    def readings(self) -> int:
        """Number of readings; more than cases where a method asks on."""
        return int(self.load.sum())


def make_day(ranked: RankedCases, setting: DaySetting, urgent: Bools | None = None) -> DayPlan:
    """Plan the ranked cases under a setting."""
    made, decisions = _with_room_for_later(ranked, setting.limits, urgent)
    day = DayPlan(setting, ranked, made, decisions, load_of(decisions, ranked.cohort.readers))
    return replace(day, plan=replace(made, notes=(*made.notes, *_notes(day))))


def _with_room_for_later(ranked: RankedCases, limits: Limits, urgent: Bools | None) -> tuple[Plan, Decisions]:
    """A plan, and what comes of it; where a method's later questions overrun a reader, fewer cases start there."""
    capacity = limits.capacities(ranked.cohort.manifest)
    for _ in range(ROUNDS):
        made = ranked.plan(limits, urgent)
        decisions = made.decisions(ranked.cohort, ranked.continuations)
        over = load_of(decisions, ranked.cohort.readers) - capacity  # [M]
        first = np.bincount(made.action, minlength=1 + ranked.cohort.readers)[1:]
        if not (over[first > 0] > 0).any():
            break
        room = np.where(over > 0, np.maximum(first - over, 0), limits.capacities(ranked.cohort.manifest))
        left = zip(ranked.cohort.manifest.columns, room.tolist(), strict=True)
        limits = replace(limits, capacity=tuple((column, int(n)) for column, n in left if np.isfinite(n)))
    return made, decisions


def _notes(day: DayPlan) -> list[str]:
    """Wishes about probability and about later questions that could not be met."""
    limits, manifest, notes = day.setting.limits, day.ranked.cohort.manifest, []
    if limits.soft and limits.budget is not None and day.soft.mean() < limits.budget - MET:
        notes.append(
            f"The mean probability of deferral is to be {percent(limits.budget, 1)}; {percent(day.soft.mean(), 1)} is "
            f"all there is, with {int((day.soft == 0).sum())} cases that have nobody who could read them."
        )
    over = day.load > limits.capacities(manifest)
    notes += [
        f"{reader.name} is asked {asked} times, more than there are places: as the second or third reader of a case."
        for reader, asked, full in zip(manifest.readers, day.load, over, strict=True)
        if full
    ]
    return notes


@dataclass(frozen=True, eq=False)
class Judged:
    """A plan with its metrics, and the same of every resample to compare it with others."""

    day: DayPlan
    metrics: Mapping[str, Estimate]  # ALL_METRICS
    samples: Floats  # [R, ALL_METRICS]


def measure(day: DayPlan, weights: Floats, prevalence: float | None = None) -> Judged:
    """Every metric, soft deferral and PEOPLE, with intervals over resamples; people at the `prevalence`, if given."""
    drawn = np.concatenate([np.ones((1, weights.shape[1])), weights])  # first every case once
    people = in_people(day.tally.weighted(at_prevalence(drawn, day.ranked.cohort, prevalence)).T)  # [4, 1 + R]
    soft = weights @ day.soft / weights.sum(1)
    samples = np.column_stack([bootstrap(day.tally, weights), soft, people[:, 1:].T])
    values = [*observed(day.tally).tolist(), float(day.soft.mean()), *people[:, 0].tolist()]
    return Judged(day, _estimates(values, samples), samples)


def in_people(counts: Floats) -> Floats:
    """PEOPLE, [4, ...], of COUNTS, [C, ...]."""
    rows = [COUNTS.index(name) for name in PEOPLE.values()]
    return np.asarray(SCREENED * counts[rows] / counts[: len(OUTCOMES)].sum(0))


def difference(first: Judged, second: Judged) -> dict[str, Estimate]:
    """What the second has more than the first, on the same resampled cases; each is counted by its own costs."""
    values = [second.metrics[name].value - first.metrics[name].value for name in ALL_METRICS]
    return _estimates(values, second.samples - first.samples)


def compared(first: Judged, second: Judged) -> pd.DataFrame:
    """Two settings side by side: metric (COMPARED), first, second, difference (of the second), low, high."""
    more = difference(first, second)
    return pd.DataFrame(
        [
            {
                "metric": name,
                "first": first.metrics[name].value,
                "second": second.metrics[name].value,
                "difference": more[name].value,
                "low": more[name].low,
                "high": more[name].high,
            }
            for name in COMPARED
        ]
    )


def _estimates(values: Sequence[float], samples: Floats) -> dict[str, Estimate]:
    low, high = percentiles(samples)
    ends = zip(values, low.tolist(), high.tolist(), strict=True)
    return {name: Estimate(*each) for name, each in zip(ALL_METRICS, ends, strict=True)}


def by_cohort(before: DayPlan, after: DayPlan, cohort: Cohort, weights: Floats) -> pd.DataFrame:
    """What a change of setting does to each cohort that has cases.

    Columns: cohort, n, sent_before, sent, share, TotalCost, low, high, ClinicalCost, ExpertCost, and difference of
    total cost to the setting before with its ends difference_low and difference_high.
    """
    rows = []
    for position in np.unique(cohort.source):
        inside = cohort.source == position
        first, second = (Tally(day.tally.cases[inside]) for day in (before, after))
        # Every cohort keeps its number of cases in every resample, so a part of the weights is a resample of it.
        part = weights[:, inside]
        value = dict(zip(COUNTED, observed(second).tolist(), strict=True))
        low, high = percentiles(bootstrap(second, part))[:, COUNTED.index("TotalCost")]
        apart = paired_difference(second, first, part).set_index("metric").loc["TotalCost"]
        rows.append(
            {
                "cohort": cohort.manifest.cohorts[position].name,
                "n": int(inside.sum()),
                "sent_before": int(before.decisions.deferred[inside].sum()),
                "sent": int(after.decisions.deferred[inside].sum()),
                "share": float(after.decisions.deferred[inside].mean()),
                "TotalCost": value["TotalCost"],
                "low": low,
                "high": high,
                "ClinicalCost": value["ClinicalCost"],
                "ExpertCost": value["ExpertCost"],
                "difference": apart["difference"],
                "difference_low": apart["low"],
                "difference_high": apart["high"],
            }
        )
    return pd.DataFrame(rows)


def roster(day: DayPlan, cohort: Cohort) -> pd.DataFrame:
    """A row a reader: reader, name, tier, here, at_most (NaN without a limit), fee, now (readings), free, worth.

    `free` counts places left, NaN without a limit; `worth` is what one more place would be worth, in log-odds.
    """
    limits, readers = day.setting.limits, cohort.manifest.readers
    capacity = limits.capacities(cohort.manifest)
    at_most = np.where(np.isfinite(capacity), capacity, np.nan)
    return pd.DataFrame(
        {
            "reader": cohort.manifest.columns,
            "name": [reader.name for reader in readers],
            "tier": [reader.tier for reader in readers],
            "here": limits.present(cohort.manifest),
            "at_most": at_most,
            "fee": day.setting.costs.fees,
            "now": day.load,
            "free": np.maximum(at_most - day.load, 0),
            "worth": day.plan.reader_prices,
        }
    )
