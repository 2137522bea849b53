"""What every case is like, and what a chosen region of cases is like against the rest."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.clusters import design_effect
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.errors import UserError
from mpd2.core.policy import AI, DECIDED_BY, DECIDERS, NOBODY, READER, RULE, Decisions, deciders
from mpd2.core.text import NOTHING, decimal, listed, percent, points
from mpd2.evaluation.curves import MEAN_READER
from mpd2.evaluation.evidence import Evidence
from mpd2.evaluation.intervals import mean_of, percentiles, wilson
from mpd2.evaluation.metrics import COUNTS, load_of, readings

RATES: Mapping[str, str] = {
    "positive": "Positive",
    "ai_wrong": "AI alone wrong",
    "readers_wrong": "Mean available reader wrong",
    "wrong": "Active run wrong",
    "missed": "Active run misses a positive",
    "alarmed": "Active run gives a false alarm",
    "deferred": "Sent to a reader",
    "overruled": "AI overruled by the rule, unread",
    "defer": "Deferral mass d",
}
COSTS: Mapping[str, str] = {
    "ai_clinical": "Clinical cost, AI alone",
    "clinical": "Clinical cost",
    "fees": "Expert cost",
    "total": "Total cost",
}
MEASURES: Mapping[str, str] = {**RATES, **COSTS}
"""What a region is compared by; each is the mean of the column of that name over cases."""


def cases(evidence: Evidence, method: str) -> pd.DataFrame:
    """One row a case: what it is, who is right about it and what `method` does with it, a mean over its members.

    Columns: case_id, cohort, truth, decider and action (categories), the MEASURES, and the state. `readers_wrong` is
    the share of those who have read the case, NaN where nobody has; `action` is what most members do: the reader asked
    first, else AI or rule; `decider` is one of DECIDERS. The mean available reader (MEAN_READER) is wrong and costs
    as readers are on average, and has no policy: `defer`, `deferred`, `overruled` and `fees` are NaN.
    """
    cohort, costs = evidence.cohort, evidence.costs
    truths = cohort.manifest.task.answers | {UNKNOWN: "unknown"}
    wrong = np.where(readings(cohort), cohort.decisions != cohort.truth[:, None], np.nan)  # [N, M]
    about = pd.DataFrame(
        {
            "case_id": cohort.ids,
            "cohort": _categories(cohort.source, [entry.name for entry in cohort.manifest.cohorts]),
            "truth": pd.Categorical([truths[truth] for truth in cohort.truth.tolist()], list(truths.values())),
            "positive": (cohort.truth == 1).astype(float),
            "ai_wrong": (cohort.ai_label != cohort.truth).astype(float),
            "ai_clinical": costs.of_errors(cohort.ai_label, cohort.truth),
            "readers_wrong": mean_of(wrong, axis=1),
        }
    )
    if method == MEAN_READER:
        done = _of_mean_reader(evidence)
    elif method in evidence.outcomes:
        done = _of_method(evidence, method)
    else:
        raise UserError(f"method: found {method!r}, expected one of {', '.join((*evidence.outcomes, MEAN_READER))}")
    done["total"] = done["clinical"] + done["fees"]
    return pd.concat([about, done, pd.DataFrame(cohort.state, columns=list(cohort.layout.names))], axis=1)


def _of_method(evidence: Evidence, method: str) -> pd.DataFrame:
    outcome = evidence.outcomes[method]
    counts = dict(zip(COUNTS, evidence.tallies[method].cases.mean(0).T, strict=True))  # each [N]
    mass = counts["deferred"] if outcome.policy is None else outcome.policy.defer.mean(0)
    action = _usual_action(outcome.decisions, evidence.cohort)
    names = [reader.name for reader in evidence.cohort.manifest.readers]
    return pd.DataFrame(
        {
            "decider": _categories(np.minimum(action, READER), DECIDERS),
            "action": _categories(action, [*DECIDED_BY[:READER], *names]),
            "wrong": counts["FN"] + counts["FP"],
            "missed": counts["FN"],
            "alarmed": counts["FP"],
            "defer": mass,
            "deferred": counts["deferred"],
            "overruled": (deciders(outcome.decisions, evidence.cohort) == RULE).mean(0),
            "clinical": counts["clinical"],
            "fees": counts["fees"],
        }
    )


def _of_mean_reader(evidence: Evidence) -> pd.DataFrame:
    cohort = evidence.cohort
    read, sick = readings(cohort), cohort.truth[:, None] == 1  # [N, M], [N, 1]
    missed = mean_of(np.where(read, sick & (cohort.decisions == 0), np.nan), axis=1)
    alarmed = mean_of(np.where(read, ~sick & (cohort.decisions == 1), np.nan), axis=1)
    clinical = evidence.costs.false_negative * missed + evidence.costs.false_positive * alarmed
    return pd.DataFrame(
        {
            "decider": DECIDERS[READER],
            "action": "readers on average",
            "wrong": missed + alarmed,
            "missed": missed,
            "alarmed": alarmed,
            "defer": np.nan,
            "deferred": np.nan,
            "overruled": np.nan,
            "clinical": clinical,
            "fees": np.nan,
        }
    )


def _usual_action(decisions: Decisions, cohort: Cohort) -> Ints:
    """What most members do, [N]: AI, RULE, or READER + j where reader j is asked first; a tie goes to the AI."""
    first = decisions.consulted[..., 0]  # [E, N]
    votes = (first[..., None] == np.arange(NOBODY, cohort.readers)).sum(0)  # [N, 1 + M]
    who = deciders(decisions, cohort)
    unread = np.where((who == RULE).sum(0) > (who == AI).sum(0), RULE, AI)
    best = votes.argmax(-1)
    return np.where(best == 0, unread, READER - 1 + best)


def _categories(positions: Ints, names: Sequence[str]) -> pd.Categorical[str]:
    return pd.Categorical.from_codes(positions, pd.Index(names))


def smoothed(table: pd.DataFrame, columns: Sequence[str], neighbours: int) -> pd.DataFrame:
    """The same cases with each column averaged over the `neighbours` nearest in the plane (x, y), itself included."""
    points = table[["x", "y"]].to_numpy(float)
    rows = cKDTree(points).query(points, np.arange(1, min(neighbours, len(table)) + 1))[1]  # [N, k]
    means = mean_of(table[list(columns)].to_numpy(float)[rows], axis=1)  # [N, columns]
    return table.assign(**dict(zip(columns, means.T, strict=True)))


def compare(table: pd.DataFrame, inside: Bools, weights: Floats, cluster: Ints | None = None) -> pd.DataFrame:
    """The region's means beside those of the rest, one row for each of MEASURES.

    Columns: measure, title, region, region_low, region_high, region_n, the same of the rest, and difference (region
    less rest), low, high. A rate has Wilson's interval; a mean over members or readers varies less than a single yes or
    no, for which that interval is made, so there it is a little too wide. A cost has the bootstrap's, from
    `intervals.resample_weights` of the cases. Region and rest share no case, so the distances to their ends add in
    squares. Where there is no case there is no number. Rows that belong together, `cluster` [N], count by their design
    effect.

    table: of `cases`, N rows; inside: [N]; weights: [R, N].
    """
    alone = np.arange(len(table)) if cluster is None else cluster
    here, there = (_means(table, rows, weights, alone) for rows in (inside, ~inside))
    difference = here["value"] - there["value"]
    below = np.hypot(here["value"] - here["low"], there["high"] - there["value"])
    above = np.hypot(here["high"] - here["value"], there["value"] - there["low"])
    columns: dict[str, Any] = {"measure": list(MEASURES), "title": list(MEASURES.values())}
    for name, part in (("region", here), ("rest", there)):
        columns |= {name: part["value"]}
        columns |= {f"{name}_{end}": part[end] for end in ("low", "high", "n")}
    return pd.DataFrame(columns | {"difference": difference, "low": difference - below, "high": difference + above})


def in_words(compared: pd.DataFrame) -> pd.DataFrame:
    """A comparison to be read: measure, title, value, gap (to the rest), and region, rest, difference with intervals.

    Rates are in per cent and their differences in points.
    """

    def number(row: Mapping[Hashable, Any], column: str) -> str:
        value = row[column]
        if np.isnan(value):
            return NOTHING
        if column in ("difference", "low", "high"):
            return points(value) if row["measure"] in RATES else decimal(value, signed=True)
        return percent(value, 1) if row["measure"] in RATES else decimal(value)

    def with_interval(row: Mapping[Hashable, Any], column: str, ends: str) -> str:
        return f"{number(row, column)} ({number(row, f'{ends}low')} to {number(row, f'{ends}high')})"

    return pd.DataFrame(
        {
            "measure": row["measure"],
            "title": row["title"],
            "value": number(row, "region"),
            "gap": number(row, "difference"),
            "region": with_interval(row, "region", "region_"),
            "rest": with_interval(row, "rest", "rest_"),
            "difference": with_interval(row, "difference", ""),
        }
        for row in compared.to_dict("records")
    )


def deferral_in_words(table: pd.DataFrame) -> str:
    """Whether the right cases are sent, in a sentence."""
    parts = {"wrong": table["ai_wrong"] > 0, "right": table["ai_wrong"] == 0}
    shares = [
        f"{percent(table.loc[rows, 'deferred'].mean(), 1)} of the {rows.sum()} cases the AI alone gets {name}"
        for name, rows in parts.items()
        if rows.any()
    ]
    sent = f"The active run sends {percent(table['deferred'].mean(), 1)} of all cases to a reader: {listed(shares)}."
    overruled = table["overruled"].mean()
    return sent if not overruled > 0 else f"{sent} Its rule overrules the AI unread in {percent(overruled, 1)}."


def _means(table: pd.DataFrame, rows: Bools, weights: Floats, cluster: Ints) -> dict[str, np.ndarray]:
    """Value, low, high and n of each of MEASURES over some cases."""
    values = table[list(MEASURES)].to_numpy(float).T  # [K, N]
    counted = rows & ~np.isnan(values)
    values = np.where(counted, values, 0.0)
    n = counted.sum(-1)
    mean = np.where(n > 0, values.sum(-1) / np.maximum(n, 1), np.nan)
    drawn = weights @ counted.T.astype(float)  # [R, K]
    resampled = np.where(drawn > 0, weights @ values.T / np.maximum(drawn, 1), np.nan)
    is_rate = np.array([measure in RATES for measure in MEASURES])
    rates = np.where(is_rate, np.minimum(values.sum(-1), n), 0.0)
    effects = [
        design_effect(value[some], cluster[some]) if some.any() else 1.0
        for value, some in zip(values, counted, strict=True)
    ]
    ends = np.where(is_rate, wilson(rates, n, np.array(effects)), percentiles(resampled))  # [2, K]
    low, high = np.where(n > 0, ends, np.nan)
    return {"value": mean, "low": low, "high": high, "n": n}


def reader_mix(evidence: Evidence, method: str, inside: Bools) -> pd.DataFrame:
    """Who reads the sent cases of a region, and who those of the rest.

    Columns: reader (name), where (region or rest), readings (mean over members), share of all readings there with
    Wilson's low and high, n (all readings there). Readers nobody asks anywhere are left out; so is a side without one.
    """
    decisions, readers = evidence.outcomes[method].decisions, evidence.cohort.manifest.readers
    parts = []
    for where, side in (("region", inside), ("rest", ~inside)):
        part = Decisions(decisions.consulted[:, side], decisions.label[:, side])
        load = load_of(part, len(readers)).mean(0)  # [M]
        total = load.sum()
        low, high = wilson(np.minimum(load, total), np.full(len(load), total))
        share = load / total if total > 0 else np.full(len(load), np.nan)
        columns = {"where": where, "readings": load, "share": share, "low": low, "high": high, "n": total}
        parts.append(pd.DataFrame({"reader": [reader.name for reader in readers], **columns}))
    mix = pd.concat(parts, ignore_index=True)
    asked = mix.groupby("reader")["readings"].transform("sum") > 0
    return mix[asked & (mix["n"] > 0)].reset_index(drop=True)
