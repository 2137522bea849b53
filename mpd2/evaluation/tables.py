"""Every table of the study: from what the methods did with the same cases to tidy rows.

One row a number: method (run name), title, cohort ("all" or its key), metric, value (mean over members), sd (over
members, NaN for one), low and high (interval of that mean), n, and beside it what the paper prints for the method that
`Outcome.published` names. Tables of methods resample cases; their `weights` are `intervals.resample_weights`, drawn
once by the caller for all tables. Tables of ablations take seeds as the unit and use Student's t.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools, Floats
from mpd2.core.errors import UserError
from mpd2.core.policy import Decisions
from mpd2.evaluation import metrics
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import Statistic, bootstrap, estimates, mean_of, paired_difference, percentiles, student
from mpd2.evaluation.metrics import (
    BEST_ORACLE,
    COUNTED,
    COUNTS,
    Tally,
    concentration,
    metrics_of,
    readers_alone,
    readings,
)
from mpd2.evaluation.published import published

ALL = "all"  # the cohort of a metric over every case
REPORTED = tuple(name for name in COUNTED if name != "Consults")
COLLAPSE = ("Routed", "Top1", "Top2", "EntropyCollapse", "NEff", "Gini")
RETAINED = ("Share", "Acc", "MCC", "ClinicalCost")
MATCHED = ("Acc", "Sens", "Spec", "F1", "MCC", "FN", "FP", "ClinicalCost")
OBJECTIVE = ("ClinicalCost", "ExpertCost", "TotalCost", "DeferSoft", "DeferHard", "Sens", "Spec", "Acc", "F1", "MCC")
REGULARISATION = (
    "Top1", "Top2", "HHI", "LoadCV", "DeadFrac", "EffExp", "Entropy", "DeferSoft", "DeferHard", "ClinicalCost",
)  # fmt: skip
METRICS_OF = {"overall": REPORTED, "cohorts": REPORTED, "collapse": COLLAPSE, "retention": RETAINED}
BUDGET_CONTROL = (
    "Target", "DeferSoft", "DeferHard", "GapSoft", "GapHard", "TotalCost", "ClinicalCost", "Acc", "F1",
)  # fmt: skip

COLUMNS = (
    "reader", "method", "title", "cohort", "metric", "value", "sd", "se", "low", "high", "n", "kept",
    "published", "published_sd",
)  # fmt: skip
"""The order of a table's columns; `reader`, `se` and `kept` only where they mean something."""


# ---------------------------------------------------------------------------------- methods on the same cases


def overall(evidence: Evidence, weights: Floats) -> pd.DataFrame:
    """REPORTED over every case."""
    parts = [
        _part(name, REPORTED, estimates(statistic, weights), n=len(evidence.cohort))
        for name, _, _, statistic in statistics("overall", evidence)
    ]
    return _beside_published(parts, _names(evidence), "overall", evidence)


def cohorts(evidence: Evidence, weights: Floats) -> pd.DataFrame:
    """REPORTED for each cohort that has cases."""
    parts = [
        _part(name, REPORTED, estimates(statistic, weights[:, rows]), key, n=rows.sum())
        for name, key, rows, statistic in statistics("cohorts", evidence)
    ]
    return _beside_published(parts, _names(evidence), "per_cohort", evidence)


def paired(evidence: Evidence, reference: str, weights: Floats) -> pd.DataFrame:
    """Every other method against `reference` on the same resamples.

    Columns: method, title, reference, metric, difference (method minus reference), low, high, favours_method (share
    of resamples in which the method is the better of the two, a tie counting half), n.
    """
    against = evidence.tallies[_known(evidence, reference)]
    differences = {
        name: paired_difference(counted, against, weights).set_index("metric").loc[list(REPORTED)]
        for name, counted in evidence.tallies.items()
        if name != reference
    }
    if not differences:
        raise UserError(f"comparison with {reference}: found no other method, expected at least one")
    rows = pd.concat(differences, names=["method"]).reset_index().rename(columns={"in_favour": "favours_method"})
    rows.insert(1, "title", [evidence.outcomes[name].title for name in rows["method"]])
    rows.insert(2, "reference", reference)
    return rows.assign(n=len(evidence.cohort))


def collapse(evidence: Evidence, weights: Floats) -> pd.DataFrame:
    """Routed cases and how their readings are spread over the readers, as in `metrics.collapse`.

    Chance makes the load of a resample look more concentrated than the load it was drawn from, so the intervals are
    moved by the mean excess of the resamples.
    """
    parts = [
        _part(name, COLLAPSE, estimates(statistic, weights, True), n=len(evidence.cohort))
        for name, _, _, statistic in statistics("collapse", evidence)
    ]
    return _beside_published(parts, _names(evidence), "expert_collapse", evidence)


def retention(evidence: Evidence, weights: Floats) -> pd.DataFrame:
    """Which share of a cohort's n cases stays with the AI, and how safe they are there.

    `kept` is their number, mean over members; Acc, MCC and ClinicalCost are over those cases alone and leave out a
    member that keeps none.
    """
    parts = [
        _part(name, RETAINED, estimates(partial(_retained, counted), weights[:, rows]), key, n=rows.sum(),
              kept=_kept(counted).cases[..., :4].sum((-2, -1)).mean())
        for name, key, rows, counted in _by_cohort(evidence)
    ]  # fmt: skip
    return _beside_published(parts, _names(evidence), "ai_retention", evidence)


def statistics(table: str, evidence: Evidence) -> Iterator[tuple[str, str, Bools, Statistic]]:
    """Of each method and cohort of a table: both names, the cohort's rows, and METRICS_OF the table from their weights.

    `table`: overall, cohorts, collapse or retention.
    """
    every = np.ones(len(evidence.cohort), bool)
    if table == "overall":
        yield from ((name, ALL, every, partial(_scores, counted)) for name, counted in evidence.tallies.items())
    elif table == "collapse":
        spread = partial(_collapse, readers=evidence.cohort.readers)
        yield from ((name, ALL, every, partial(spread, each.decisions)) for name, each in evidence.outcomes.items())
    else:
        statistic = {"cohorts": _scores, "retention": _retained}[table]
        yield from ((name, key, rows, partial(statistic, counted)) for name, key, rows, counted in _by_cohort(evidence))


def pareto(rows: pd.DataFrame, score: str, cost: str) -> pd.DataFrame:
    """The methods of a tidy table in the plane of two metrics, score up and cost down: which ones nobody beats?

    Columns: method, title, the two metrics, on_front.
    """
    wide = rows.pivot(index="method", columns="metric", values="value").loc[rows["method"].unique(), [score, cost]]
    wide.insert(0, "title", rows.drop_duplicates("method").set_index("method")["title"])
    front = on_front(wide[score].to_numpy(), wide[cost].to_numpy())
    return wide.assign(on_front=front).rename_axis(columns=None).reset_index()


def on_front(score: Floats, cost: Floats) -> Bools:
    """The points no other one dominates, [..., methods]: none is as good in both ways and better in one.

    >>> on_front(np.array([0.5, 0.8, 0.8, 0.7]), np.array([0.1, 0.2, 0.3, 0.3])).tolist()
    [True, True, False, False]
    """
    score_gain = score[..., None, :] - score[..., :, None]  # [..., method, other]
    cost_gain = cost[..., :, None] - cost[..., None, :]
    beaten = (score_gain >= 0) & (cost_gain >= 0) & ((score_gain > 0) | (cost_gain > 0))
    return np.asarray(~beaten.any(-1))


# ---------------------------------------------------------------------------------- readers


def readers(evidence: Evidence, weights: Floats) -> pd.DataFrame:
    """Each reader, then each method on the n cases that reader has read, the paper's I_j.

    Besides the usual columns there is `reader` (their column); in a reader's own rows `method` is the same. FN and FP
    are counts. The last reader is the best-oracle, right wherever any available reader is.
    """
    alone, asked = readers_alone(evidence.cohort, evidence.costs)  # [J, N, C], [J, N]
    names = {reader.column: (reader.name, reader.column) for reader in evidence.cohort.manifest.readers}
    names[BEST_ORACLE] = ("Best reader of each case", BEST_ORACLE)
    index = pd.DataFrame(list(product(names, MATCHED)), columns=["reader", "metric"])
    index = index.assign(cohort=ALL, n=np.repeat(asked.sum(-1), len(MATCHED)))

    def part(cases: Floats, method: str | pd.Series[str]) -> pd.DataFrame:
        columns = estimates(partial(_matched, cases, asked, evidence), weights)  # each [J, metrics]
        return index.assign(method=method, **{name: values.ravel() for name, values in columns.items()})

    parts = [part(alone.cases[None], index["reader"])]
    parts += [part(counted.cases[:, None], name) for name, counted in evidence.tallies.items()]
    position = {column: place for place, column in enumerate(names)}
    rows = _beside_published(parts, names | _names(evidence), "per_expert", evidence)
    return rows.sort_values("reader", key=lambda column: column.map(position), kind="stable", ignore_index=True)


def reader_gaps(evidence: Evidence, method: str, weights: Floats) -> pd.DataFrame:
    """How far a method's F1, mean over members, is above each reader's on that reader's cases.

    Columns: method, title, reader, reader_title, n, reader_f1, method_f1, difference, low, high, favours_method (share
    of resamples in which the method has the higher F1, a tie counting half).
    """
    manifest = evidence.cohort.manifest
    theirs, ours = _matched_f1(evidence, method, np.ones((1, len(evidence.cohort))))[:, 0]  # [M]
    gaps = np.subtract(*_matched_f1(evidence, method, weights)[::-1])  # [R, M]
    wins = np.where(np.isnan(gaps), np.nan, (np.sign(gaps) + 1) / 2)
    low, high = percentiles(gaps)
    rows = pd.DataFrame({"method": method, "title": evidence.outcomes[method].title, "reader": manifest.columns})
    rows = rows.assign(reader_title=[reader.name for reader in manifest.readers], n=readings(evidence.cohort).sum(0))
    rows = rows.assign(reader_f1=theirs, method_f1=ours, difference=ours - theirs, low=low, high=high)
    return rows.assign(favours_method=mean_of(wins, axis=0))


def reader_wins(evidence: Evidence, method: str, weights: Floats) -> pd.DataFrame:
    """In how many pairings with a reader the method has the higher F1, mean over members; a tie is no win.

    One row: method, title, wins, low, high, wins_all (share of resamples in which it wins every pairing), n (pairings,
    readers without a case left out).
    """
    theirs, ours = _matched_f1(evidence, method, np.ones((1, len(evidence.cohort))))[:, 0]  # [M]
    sampled = np.greater(*_matched_f1(evidence, method, weights)[::-1]).sum(-1)  # [R]
    low, high = percentiles(sampled.astype(float))
    pairings = int((~np.isnan(theirs)).sum())
    row = {"method": method, "title": evidence.outcomes[method].title, "wins": int((ours > theirs).sum())}
    row |= {"low": low, "high": high, "wins_all": (sampled == pairings).mean(), "n": pairings}
    return pd.DataFrame([row])


# ---------------------------------------------------------------------------------- ablations: seeds are the unit


def objective(evidence: Evidence) -> pd.DataFrame:
    """OBJECTIVE of every condition; n seeds, se and interval of their mean."""
    return _over_seeds(by_seed(evidence), OBJECTIVE, evidence, "ablation_objective")


def regularisation(evidence: Evidence) -> pd.DataFrame:
    """REGULARISATION of every condition: Top1 and Top2 of the hard load, HHI to Entropy of the soft one."""
    return _over_seeds(by_seed(evidence), REGULARISATION, evidence, "ablation_regularisation")


def budget_control(evidence: Evidence, targets: Mapping[str, float | None]) -> pd.DataFrame:
    """BUDGET_CONTROL of every condition, by its target; a gap is a deferral rate minus the target, NaN without one.

    TotalCost is not printed: the paper's L_total weighs fees otherwise.
    """
    missing = sorted(set(evidence.outcomes) - set(targets))
    if missing:
        raise UserError(f"deferral targets: found none for {', '.join(missing)}; give a rate, or None where it is free")
    rows = by_seed(evidence)
    target = np.array([targets[name] for name in rows["method"]], float)  # NaN where there is none
    rows = rows.assign(Target=target, GapSoft=rows["DeferSoft"] - target, GapHard=rows["DeferHard"] - target)
    return _over_seeds(rows, BUDGET_CONTROL, evidence, "ablation_deferral")


def ablation_difference(evidence: Evidence, first: str, second: str, names: Sequence[str]) -> pd.DataFrame:
    """What condition `first` has more than `second`, seed by seed: member e of both must have the same seed.

    Columns: first, second, metric, difference, sd (over seeds), se, low, high, n.
    """
    pair = _known(evidence, first), _known(evidence, second)
    rows = by_seed(evidence)
    unknown = sorted(set(names) - set(rows.columns[3:]))
    if unknown:
        raise UserError(f"metric: found {', '.join(unknown)}, expected some of {', '.join(rows.columns[3:])}")
    left, right = (rows.loc[rows["method"] == name, list(names)].to_numpy(float) for name in pair)  # [E, metrics]
    if len(left) != len(right):
        raise UserError(f"seeds: found {len(left)} of {first} and {len(right)} of {second}, expected the same seeds")
    columns = student(left - right)
    difference = columns.pop("value")
    return pd.DataFrame({"first": first, "second": second, "metric": list(names), "difference": difference} | columns)


def by_seed(evidence: Evidence) -> pd.DataFrame:
    """Every member of every condition: method, title, member and a column for each metric, hard and soft."""
    parts = {name: _members(evidence, outcome) for name, outcome in evidence.outcomes.items()}
    return pd.concat(parts, names=["method"]).reset_index("method").reset_index(drop=True)


def _members(evidence: Evidence, outcome: Outcome) -> pd.DataFrame:
    if outcome.policy is None:
        raise UserError(f"{outcome.title}: has no soft policy; an ablation needs one")
    hard = metrics.evaluate(evidence.cohort, outcome.decisions, evidence.costs).drop(columns="n")
    load = metrics.collapse(outcome.decisions, evidence.cohort.readers)
    soft = metrics.soft_load(outcome.policy)
    hard.insert(0, "title", outcome.title)
    return hard.assign(DeferHard=hard["Defer"]).merge(load, on="member").merge(soft, on="member")


def _over_seeds(rows: pd.DataFrame, names: Sequence[str], evidence: Evidence, table: str) -> pd.DataFrame:
    """Mean, spread and interval over the seeds of each condition."""
    parts = [
        _part(str(method), names, student(members[list(names)].to_numpy(float)))
        for method, members in rows.groupby("method", sort=False)
    ]
    return _beside_published(parts, _names(evidence), table, evidence)


# ---------------------------------------------------------------------------------- metrics of weighted cases


def _scores(counted: Tally, weights: Floats) -> Floats:
    """REPORTED, [R, E, 10]."""
    return bootstrap(counted, weights)[..., [COUNTED.index(name) for name in REPORTED]]


def _kept(counted: Tally) -> Tally:
    """Only the cases that stay with the AI are counted."""
    return Tally(counted.cases * (1 - counted.cases[..., [COUNTS.index("deferred")]]))


def _retained(counted: Tally, weights: Floats) -> Floats:
    """RETAINED, [R, E, 4]."""
    counts = _kept(counted).weighted(weights)
    share = counts[..., :4].sum(-1, keepdims=True) / weights.sum(-1)[:, None, None]
    safety = metrics_of(counts)[..., [COUNTED.index(name) for name in RETAINED[1:]]]
    return np.concatenate([share, safety], axis=-1)


def _collapse(decisions: Decisions, weights: Floats, readers: int) -> Floats:
    """COLLAPSE, [R, E, 6]."""
    asked = (decisions.consulted[..., None] == np.arange(readers)).sum(-2)  # [E, N, M]
    cases = np.concatenate([decisions.deferred[..., None], asked], axis=-1).astype(float)
    counts = Tally(cases).weighted(weights)  # [R, E, 1 + M]
    spread = concentration(counts[..., 1:])
    return np.stack([counts[..., 0], *(spread[name] for name in COLLAPSE[1:])], axis=-1)


def _matched(cases: Floats, asked: Bools, evidence: Evidence, weights: Floats) -> Floats:
    """MATCHED on the cases of each reader, [E or 1, J or 1, N, C] -> [R, E, J, 8]."""
    errors = cases[..., [COUNTS.index("FN"), COUNTS.index("FP")]] * asked[..., None]
    missed, alarmed = np.moveaxis(Tally(errors).weighted(weights), -1, 0)  # [R, E, J]
    # All other counts follow: two columns instead of eight save most of the time of the product.
    sick, well = (
        (weights @ (asked & (evidence.cohort.truth == truth)).T.astype(float))[:, None] for truth in (1, 0)
    )  # [R, 1, J]
    clinical = evidence.costs.false_negative * missed + evidence.costs.false_positive * alarmed
    unasked = np.zeros_like(missed)
    counts = (sick - missed, alarmed, missed, well - alarmed, unasked, unasked, unasked, clinical)
    values = dict(zip(COUNTED, np.moveaxis(metrics_of(np.stack(counts, axis=-1)), -1, 0), strict=True))
    values |= {"FN": missed, "FP": alarmed}
    return np.stack([values[name] for name in MATCHED], axis=-1)


def _matched_f1(evidence: Evidence, method: str, weights: Floats) -> Floats:
    """F1 of every reader and of the method, mean over members, on that reader's cases, [2, R, M]."""
    alone, asked = readers_alone(evidence.cohort, evidence.costs)
    both = alone.cases[None], evidence.tallies[_known(evidence, method)].cases[:, None]
    scores = [_matched(cases, asked, evidence, weights)[..., :-1, MATCHED.index("F1")] for cases in both]  # [R, E, M]
    return np.stack([mean_of(f1, axis=1) for f1 in scores])


# ---------------------------------------------------------------------------------- rows


def _by_cohort(evidence: Evidence) -> Iterator[tuple[str, str, Bools, Tally]]:
    """Run name, cohort key, the cohort's rows and the method's tally of them, for each cohort that has cases."""
    present = [evidence.cohort.manifest.cohorts[position].key for position in np.unique(evidence.cohort.source)]
    for (name, counted), key in product(evidence.tallies.items(), present):
        rows = evidence.cohort.sources == key
        yield name, key, rows, Tally(counted.cases[:, rows])


def _part(
    method: str, names: Sequence[str], values: Mapping[str, Floats], cohort: str = ALL, **columns: float
) -> pd.DataFrame:
    """The rows of one method and cohort; the values are in the order of the metrics' names."""
    return pd.DataFrame({"method": method, "cohort": cohort, "metric": list(names), **values, **columns})


def _names(evidence: Evidence) -> dict[str, tuple[str, str | None]]:
    """Each method's title and its name in the paper."""
    return {name: (outcome.title, outcome.published) for name, outcome in evidence.outcomes.items()}


def _beside_published(
    parts: Sequence[pd.DataFrame], names: Mapping[str, tuple[str, str | None]], table: str, evidence: Evidence
) -> pd.DataFrame:
    """All parts in one table, with titles and what the paper prints for the same method, cohort and metric."""
    rows = pd.concat(parts, ignore_index=True)
    rows[["title", "printed_as"]] = [names[method] for method in rows["method"]]
    printed = published(table, evidence.published)
    printed = printed.set_axis(["printed_as", "cohort", "metric", "published", "published_sd"], axis=1)
    rows = rows.merge(printed, how="left", on=["printed_as", "cohort", "metric"])
    return rows[[column for column in COLUMNS if column in rows]]


def _known(evidence: Evidence, method: str) -> str:
    """The name itself, refused where no outcome has it."""
    if method not in evidence.outcomes:
        raise UserError(f"method: found {method!r}, expected one of {', '.join(evidence.outcomes)}")
    return method
