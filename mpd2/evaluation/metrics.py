"""Every number of every table, counted from a cohort, its costs and the decisions made; intervals are in `intervals`.

Leading axes of decisions (methods, members of a population) stay leading axes of every count and become the first
columns of every table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY, Decisions, Policy

COUNTS = ("TP", "FP", "FN", "TN", "deferred", "consults", "fees", "clinical")
"""What a case adds to the counts, in this order; every metric is a function of their sums."""

BETTER: Mapping[str, int] = {
    **dict.fromkeys(("Acc", "Prec", "F1", "Sens", "Spec", "MCC"), 1),
    **dict.fromkeys(("Defer", "Consults", "ClinicalCost", "ExpertCost", "TotalCost"), -1),
}
"""The metrics and their direction: 1 where more is better, -1 where less is."""

METRICS = tuple(BETTER)
AXES = ("method", "member")  # names of leading axes, the last axis last
BEST_ORACLE = "best-oracle"
DEAD_SHARE = 0.01  # a reader with less of the soft load is idle; the paper prints no threshold


@dataclass(frozen=True, eq=False)
class Tally:
    """What each case adds to each count."""

    cases: Floats  # [..., N, C] in the order of COUNTS

    @property
    def counts(self) -> Floats:
        """Every case counted once, [..., C]."""
        return self.cases.sum(-2)

    def weighted(self, weights: np.ndarray) -> Floats:
        """The counts under R weightings of the cases, [R, N] -> [R, ..., C], as one matrix product."""
        return np.tensordot(weights, self.cases, axes=((1,), (-2,)))


def tally(cohort: Cohort, decisions: Decisions, costs: Costs) -> Tally:
    """Count every case; a truth or a label that nobody knows cannot be counted and is an error."""
    if decisions.label.shape[-1] != len(cohort):
        raise UserError(f"decisions: found {decisions.label.shape[-1]} cases, expected the cohort's {len(cohort)}")
    _require_known("truth", cohort.truth, cohort)
    _require_known("label", decisions.label, cohort)
    label, truth = decisions.label, np.broadcast_to(cohort.truth, decisions.label.shape)
    fees = np.append(costs.fees, 0.0)  # NOBODY, the last position, is paid nothing
    columns = (
        (label == 1) & (truth == 1),
        (label == 1) & (truth == 0),
        (label == 0) & (truth == 1),
        (label == 0) & (truth == 0),
        decisions.deferred,
        (decisions.consulted != NOBODY).sum(-1),
        fees[decisions.consulted].sum(-1),
        costs.of_errors(label, truth),
    )
    return Tally(np.stack([np.asarray(column, float) for column in columns], axis=-1))


def metrics_of(counts: np.ndarray) -> Floats:
    """The METRICS of COUNTS, [..., C] -> [..., metrics].

    >>> dict(zip(METRICS, metrics_of(np.array([3, 1, 1, 5, 4, 4, 0.8, 3.5])).round(3).tolist()))["F1"]
    0.75
    """
    values = each_metric(np.moveaxis(np.asarray(counts, float), -1, 0))
    return np.stack([values[name] for name in METRICS], axis=-1)


def each_metric(counts: Floats) -> dict[str, Floats]:
    """Every one of METRICS, [...], of COUNTS, [C, ...].

    Precision, F1 and MCC are 0 where their denominator is, as in scikit-learn; sensitivity without a diseased case
    and specificity without a healthy one are NaN, and so is everything where there is no case at all.
    """
    tp, fp, fn, tn, deferred, consults, fees, clinical = counts
    n = tp + fp + fn + tn
    none = np.where(n > 0, 0.0, np.nan)
    margins = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return {
        "Acc": _ratio(tp + tn, n),
        "Prec": _ratio(tp, tp + fp, none),
        "F1": _ratio(2 * tp, 2 * tp + fp + fn, none),
        "Sens": _ratio(tp, tp + fn),
        "Spec": _ratio(tn, tn + fp),
        "MCC": _ratio(tp * tn - fp * fn, np.sqrt(margins), none),
        "Defer": _ratio(deferred, n),
        "Consults": _ratio(consults, n),
        "ClinicalCost": _ratio(clinical, n),
        "ExpertCost": _ratio(fees, n),
        "TotalCost": _ratio(clinical + fees, n),
    }


def evaluate(cohort: Cohort, decisions: Decisions, costs: Costs) -> pd.DataFrame:
    """All metrics over all cases: n and METRICS, one row per leading index."""
    counts = tally(cohort, decisions, costs).counts  # [..., C]
    return _table({"n": _cases(counts)} | _named(counts, METRICS), _leading(decisions.label))


def by_cohort(cohort: Cohort, decisions: Decisions, costs: Costs) -> pd.DataFrame:
    """All metrics for each cohort that has cases: cohort, n and METRICS, one row per leading index and cohort."""
    keys, member = _strata(cohort)
    counts = np.moveaxis(tally(cohort, decisions, costs).weighted(member), 0, -2)  # [..., S, C]
    return _table({"n": _cases(counts)} | _named(counts, METRICS), _leading(decisions.label) | {"cohort": keys})


def retention(cohort: Cohort, decisions: Decisions, costs: Costs) -> pd.DataFrame:
    """How safe the cases are that stay with the AI, for each cohort that has cases.

    Columns: n, kept (cases no reader is asked about), Share = kept / n, and Acc, MCC, ClinicalCost among the kept,
    NaN where nothing is kept.
    """
    keys, member = _strata(cohort)
    cases = tally(cohort, decisions, costs).cases
    kept = Tally(cases * ~decisions.deferred[..., None])
    counts = np.moveaxis(kept.weighted(member), 0, -2)  # [..., S, C]
    n = np.broadcast_to(member.sum(-1).astype(np.int64), counts.shape[:-1])
    columns = {"n": n, "kept": _cases(counts), "Share": _ratio(_cases(counts), n)}
    columns |= _named(counts, ("Acc", "MCC", "ClinicalCost"))
    return _table(columns, _leading(decisions.label) | {"cohort": keys})


def matched(cohort: Cohort, decisions: Decisions, costs: Costs) -> pd.DataFrame:
    """Each reader against the method on the cases that reader has read, the paper's I_j.

    Rows: leading index, reader (their column), who = reader or method; columns: n, Acc, Sens, Spec, F1, MCC, FN, FP,
    ClinicalCost. The last reader is the best-oracle: a case is right if any available reader is right, so it is the
    skyline of choosing readers with the answer in hand, over cases with at least one reader; the AI plays no part.
    """
    alone, asked = readers_alone(cohort, costs)
    readers = np.einsum("mn,mnc->mc", asked.astype(float), alone.cases)
    method = np.moveaxis(tally(cohort, decisions, costs).weighted(asked.astype(float)), 0, -2)  # [..., M + 1, C]
    counts = np.stack([np.broadcast_to(readers, method.shape), method], axis=-2)  # [..., M + 1, 2, C]
    columns = {"n": _cases(counts)} | _named(counts, ("Acc", "Sens", "Spec", "F1", "MCC"))
    columns |= {name: counts[..., COUNTS.index(name)].astype(int) for name in ("FN", "FP")}
    columns |= _named(counts, ("ClinicalCost",))
    readers_and_method = {"reader": (*cohort.manifest.columns, BEST_ORACLE), "who": ("reader", "method")}
    return _table(columns, _leading(decisions.label) | readers_and_method)


def readings(cohort: Cohort) -> Bools:
    """Which reader has read which case, [N, M]."""
    return cohort.available & (cohort.decisions != UNKNOWN)


def readers_alone(cohort: Cohort, costs: Costs) -> tuple[Tally, Bools]:
    """Each reader, and last the best-oracle, deciding alone, [M + 1, N, C], and which cases are theirs, [M + 1, N]."""
    known = readings(cohort)
    right = (known & (cohort.decisions == cohort.truth[:, None])).any(-1)
    words = np.column_stack([cohort.decisions, np.where(right, cohort.truth, 1 - cohort.truth)]).T  # [M + 1, N]
    asked = np.column_stack([known, known.any(-1)]).T
    # Where a reader said nothing the truth stands in; such a case is not theirs.
    alone = Decisions(np.full((*words.shape, 0), NOBODY), np.where(asked, words, cohort.truth))
    return tally(cohort, alone, costs), asked


def load_of(decisions: Decisions, readers: int) -> Ints:
    """How often each reader is asked, [..., M]."""
    return (decisions.consulted[..., None] == np.arange(readers)).sum((-3, -2))


def collapse(decisions: Decisions, readers: int) -> pd.DataFrame:
    """How concentrated the readers' hard load is, one row per leading index; NaN where nobody is asked.

    Columns: Routed (cases with a reader), Top1 and Top2 (share of all readings by the busiest one and two),
    EntropyCollapse = 1 - H / ln M, NEff = 1 / sum p^2, and Gini, scaled by M / (M - 1) so that one busy reader has 1.
    With a single reader nothing can be spread, and EntropyCollapse and Gini are NaN.

    The published table fixes these formulas: for each of its six rows there are whole numbers of readings that give
    every printed figure. Its effective number is the inverse Simpson index, although its text calls it entropy-based:
    exp(H) would contradict the entropy column in all six rows.
    """
    columns = {"Routed": decisions.deferred.sum(-1)} | concentration(load_of(decisions, readers))
    return _table(columns, _leading(decisions.label))


def concentration(load: np.ndarray) -> dict[str, Floats]:
    """The figures of `collapse` but the first, of the readers' load, [..., M]."""
    readers = load.shape[-1]
    share = _ratio(load, load.sum(-1, keepdims=True))
    ranked = np.sort(share, axis=-1)[..., ::-1]
    ranks = np.arange(1, readers + 1)
    return {
        "Top1": ranked[..., 0],
        "Top2": ranked[..., :2].sum(-1),
        "EntropyCollapse": 1 - _ratio(_entropy(share), np.log(readers)),
        "NEff": 1 / (share**2).sum(-1),
        "Gini": _ratio(readers + 1 - 2 * (ranked * ranks).sum(-1), readers - 1),
    }


def soft_load(policy: Policy) -> pd.DataFrame:
    """How a soft policy spreads its deferred mass over the readers, one row per leading index.

    The load of reader j is the sum of d_i q_ij over cases, as a share of all deferred mass. Columns: DeferSoft (mean
    d), HHI = (sum p^2 - 1/M) / (1 - 1/M), LoadCV (population sd over mean), DeadFrac (share of readers below
    DEAD_SHARE), EffExp = exp(H) and Entropy = H / ln M; NaN where nothing is deferred.

    The published ablation agrees with these formulas up to the spread of ten seeds (LoadCV^2 = (M - 1) HHI and
    EffExp = M^Entropy); it says neither which load it puts into them nor when a reader is dead.
    """
    mass = policy.actions[..., 1:].sum(-2)  # [..., M]
    readers = mass.shape[-1]
    share = _ratio(mass, mass.sum(-1, keepdims=True))
    spread = readers * (share**2).sum(-1) - 1  # squared coefficient of variation
    entropy = _entropy(share)
    columns = {
        "DeferSoft": policy.defer.mean(-1),
        "HHI": _ratio(spread, readers - 1),
        "LoadCV": np.sqrt(np.maximum(spread, 0.0)),
        "DeadFrac": np.where(np.isnan(entropy), np.nan, (share < DEAD_SHARE).mean(-1)),
        "EffExp": np.exp(entropy),
        "Entropy": _ratio(entropy, np.log(readers)),
    }
    return _table(columns, _leading(policy.defer))


def _require_known(what: str, values: np.ndarray, cohort: Cohort) -> None:
    """Refuse values that are UNKNOWN, [..., N], and name the first cases."""
    cases = cohort.ids[(values == UNKNOWN).any(axis=tuple(range(values.ndim - 1)))]
    if len(cases):
        shown = ", ".join(map(str, cases[:5])) + (", …" if len(cases) > 5 else "")
        raise UserError(f"{what}: not known for {len(cases)} of {len(cohort)} cases ({shown}); leave them out to count")


def _ratio(above: np.ndarray, below: np.ndarray | float, otherwise: np.ndarray | float = np.nan) -> Floats:
    """above / below, and `otherwise` where below is 0."""
    there = np.asarray(below) > 0
    return np.where(there, above / np.where(there, below, 1.0), otherwise)


def _entropy(share: Floats) -> Floats:
    """H in nats over the last axis."""
    return -(share * np.log(np.where(share > 0, share, 1.0))).sum(-1)


def _cases(counts: np.ndarray) -> Ints:
    """The number of cases behind counts, [..., C] -> [...]."""
    return counts[..., :4].sum(-1).round().astype(np.int64)


def _named(counts: np.ndarray, names: Sequence[str]) -> dict[str, np.ndarray]:
    """Chosen metrics of the counts, by name."""
    values = metrics_of(counts)
    return {name: values[..., METRICS.index(name)] for name in names}


def _strata(cohort: Cohort) -> tuple[list[str], Floats]:
    """The cohorts that have cases and which case belongs to which, [S, N]."""
    entries = cohort.manifest.cohorts
    present = np.unique(cohort.source)
    return [entries[position].key for position in present], (cohort.source == present[:, None]).astype(float)


def _leading(per_case: np.ndarray) -> dict[str, Sequence[object]]:
    """Name and values of each leading axis of something per case, [..., N]; at most methods and members."""
    *shape, _ = per_case.shape
    return {name: range(size) for name, size in zip(AXES[len(AXES) - len(shape) :], shape, strict=True)}


def _table(columns: Mapping[str, np.ndarray], axes: Mapping[str, Sequence[object]]) -> pd.DataFrame:
    """One row per element of the columns, which all have the shape the axes span."""
    index = pd.DataFrame(list(product(*axes.values())), columns=list(axes))
    return pd.concat([index, pd.DataFrame({name: np.ravel(values) for name, values in columns.items()})], axis=1)
