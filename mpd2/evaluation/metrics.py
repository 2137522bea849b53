"""Every metric: what it is called, which way it is better, what it means, and how it is counted from decisions.

A new column of a table is one entry in METRICS and, if it follows from COUNTS, its formula in `each_metric`. Leading
axes of decisions (methods, members of a population) stay leading axes of every count and become the first columns of
every table. Intervals are in `intervals`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from mpd2.core import text
from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY, Decisions, Policy

SHARE, COST, SCORE, NUMBER = "share", "cost", "score", "number"
"""Units: of all cases, readers or readings; of clinical cost; an index without a unit; a mean count."""

PLACES = {SHARE: 1, COST: 3, SCORE: 3, NUMBER: 1}
"""Decimals on screen; a share is shown in per cent."""

BOUNDS = {SHARE: (0.0, 1.0), COST: (0.0, np.inf), SCORE: (0.0, 1.0), NUMBER: (0.0, np.inf)}
EITHER_SIGN = (-np.inf, np.inf)


@dataclass(frozen=True)
class Metric:
    """What a metric is, whatever its value."""

    name: str  # in tables and links
    label: str  # in a sentence
    direction: int  # 1 where more is better, -1 where less is, 0 where neither is
    unit: str
    help: str  # a sentence; {missed} and {alarm} stand for what the two errors cost
    effort: bool = False  # readers' time and fees: less is cheaper, but it is a means and no merit
    own_bounds: tuple[float, float] | None = None  # where they are not those of its unit

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the most it can be."""
        return self.own_bounds or BOUNDS[self.unit]

    @property
    def merit(self) -> int:
        """The direction in which one method is better than another by this metric; 0 if it tells nothing of that."""
        return 0 if self.effort else self.direction

    @property
    def heading(self) -> str:
        """The label at the head of a column."""
        return text.capital(self.label)

    def explained(self, costs: Costs) -> str:
        """What it means where errors cost so much.

        >>> METRICS["ClinicalCost"].explained(Costs(2.0, 1.5, ()))
        'Mean cost of wrong final answers: a miss costs 2, a false alarm 1.5.'
        """
        return self.help.format(missed=f"{costs.false_negative:g}", alarm=f"{costs.false_positive:g}")

    def shown(self, value: float) -> str:
        r"""A value on screen.

        >>> METRICS["TotalCost"].shown(0.1784), METRICS["Defer"].shown(0.3891), METRICS["Top1"].shown(float("nan"))
        ('0.178', '38.9\xa0%', '–')
        """
        places = PLACES[self.unit]
        return text.percent(value, places) if self.unit == SHARE else text.decimal(value, places)

    def change(self, difference: float) -> str:
        """A difference on screen; shares differ by points.

        >>> METRICS["TotalCost"].change(-0.194), METRICS["Sens"].change(0.021)
        ('−0.194', '+2.1 points')
        """
        if self.unit == SHARE:
            return text.points(difference)
        return text.decimal(difference, PLACES[self.unit], signed=True)

    def interval(self, low: float, high: float, signed: bool = False) -> str:
        r"""The interval of a value or, signed, of a difference; empty where there is none.

        >>> METRICS["TotalCost"].interval(0.163, 0.193), METRICS["Sens"].interval(-0.04, 0.0, signed=True)
        ('0.163 to 0.193', '−4.0 to 0.0')
        """
        places = PLACES[self.unit]
        if self.unit != SHARE:
            return text.interval(low, high, places, signed)
        if signed:
            return text.interval(100 * low, 100 * high, places, signed)
        return text.percent_interval(low, high, places)


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("TotalCost", "total cost", -1, COST, "Clinical cost plus expert cost; what a router should make small."),
        Metric("ClinicalCost", "clinical cost", -1, COST,
               "Mean cost of wrong final answers: a miss costs {missed}, a false alarm {alarm}."),
        Metric("ExpertCost", "expert cost", -1, COST,
               "Mean fee of the readers who were asked, in the same unit as clinical cost.", effort=True),
        Metric("Defer", "share sent", -1, SHARE, "Share of cases sent to a reader.", effort=True),
        Metric("Consults", "readings a case", -1, NUMBER,
               "Readers asked about a case, on average; a case may be sent to more than one.", effort=True),
        Metric("F1", "F1", 1, SCORE, "Balance of precision and sensitivity; 1 is perfect."),
        Metric("MCC", "MCC", 1, SCORE,
               "Correlation of answer and truth; 0 is chance, 1 is perfect. It does not flatter a rare disease.",
               own_bounds=(-1.0, 1.0)),
        Metric("Sens", "sensitivity", 1, SHARE, "Share of positive cases that end with a positive answer."),
        Metric("Spec", "specificity", 1, SHARE, "Share of negative cases that end with a negative answer."),
        Metric("Prec", "precision", 1, SHARE, "Share of the positive final answers that are right."),
        Metric("Acc", "accuracy", 1, SHARE, "Share of all cases that end with the right answer."),
        Metric("AUPRC", "AUPRC", 1, SCORE,
               "Mean precision over all thresholds; 1 is perfect, the share of positives is chance."),
        Metric("Missed", "missed of 1,000", -1, NUMBER,
               "Positives whose final answer is negative, of 1,000 screened."),
        Metric("Alarms", "false alarms of 1,000", -1, NUMBER,
               "Negatives whose final answer is positive, of 1,000 screened."),
        Metric("Read", "read of 1,000", -1, NUMBER, "People whose case is sent to a reader, of 1,000 screened.",
               effort=True),
        Metric("Readings", "readings for 1,000", -1, NUMBER,
               "Readings for 1,000 screened, and the hours they take; a case may be read more than once.",
               effort=True),
        Metric("TotalGap", "difference in total cost", -1, COST,
               "Total cost less that of the active run, on the same resampled cases; below 0 the method is cheaper.",
               own_bounds=EITHER_SIGN),
        Metric("Routed", "cases sent", 0, NUMBER,
               "Number of cases sent to a reader, mean over trained copies of the method.", effort=True),
        Metric("Top1", "busiest reader's share", -1, SHARE, "Share of all readings that the busiest reader gives."),
        Metric("Top2", "two busiest readers' share", -1, SHARE,
               "Share of all readings that the two busiest readers give."),
        Metric("EntropyCollapse", "entropy collapse", -1, SCORE,
               "0 if all readers are equally busy, 1 if one reads everything."),
        Metric("NEff", "effective readers", 1, NUMBER, "How many equally busy readers the load amounts to."),
        Metric("Gini", "Gini index", -1, SCORE,
               "Inequality of the readers' load: 0 if all are equally busy, 1 if one reads everything."),
        Metric("Share", "share kept", 0, SHARE, "Share of the cohort's cases that no reader is asked about."),
        Metric("DeferSoft", "soft deferral", -1, SHARE,
               "Mean probability of deferral before a decision is made; the budget acts on this.", effort=True),
        Metric("DeferHard", "hard deferral", -1, SHARE, "Share of cases that are sent to a reader.", effort=True),
        Metric("HHI", "concentration (HHI)", -1, SCORE,
               "Concentration of the soft load: 0 if it is even, 1 if one reader has all of it."),
        Metric("LoadCV", "unevenness (CV)", -1, SCORE,
               "Spread of the soft load over readers, as a share of its mean; 0 is even.",
               own_bounds=(0.0, np.inf)),
        Metric("DeadFrac", "idle readers", -1, SHARE, "Share of readers who get less than 1 % of the soft load."),
        Metric("EffExp", "effective readers, soft", 1, NUMBER,
               "How many equally busy readers the soft load amounts to."),
        Metric("Entropy", "evenness (entropy)", 1, SCORE,
               "Evenness of the soft load: 1 if all readers are equally busy."),
        Metric("Target", "target", 0, SHARE, "The largest share of cases that training may send."),
        Metric("GapSoft", "soft deferral less target", 0, SHARE,
               "Soft deferral less the target; below 0 the budget is met.", own_bounds=(-1.0, 1.0)),
        Metric("GapHard", "hard deferral less target", 0, SHARE,
               "Hard deferral less the target; below 0 the budget is met.", own_bounds=(-1.0, 1.0)),
        Metric("Violation", "excess over the budget", -1, SHARE,
               "How far soft deferral is above its target; 0 if not."),
        Metric("Score", "score", -1, SCORE,
               "What tuning makes small: cost, errors and excess over the budget together.", own_bounds=EITHER_SIGN),
    )
}  # fmt: skip
"""Every metric by its name, in the order in which columns are shown."""


def label_of(name: str) -> str:
    """A metric in a sentence, by its name.

    >>> label_of("Top1")
    "busiest reader's share"
    """
    return METRICS[name].label


COUNTS = ("TP", "FP", "FN", "TN", "deferred", "consults", "fees", "clinical")
"""What a case adds to the counts, in this order; every metric is a function of their sums."""

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


def _ratio(above: np.ndarray, below: np.ndarray | float, otherwise: np.ndarray | float = np.nan) -> Floats:
    """above / below, and `otherwise` where below is 0."""
    there = np.asarray(below) > 0
    return np.where(there, above / np.where(there, below, 1.0), otherwise)


def each_metric(counts: Floats) -> dict[str, Floats]:
    """Every metric that follows from COUNTS, [C, ...], by name, [...].

    Precision, F1 and MCC are 0 where their denominator is, as in scikit-learn; sensitivity without a diseased case
    and specificity without a negative one are NaN, and so is everything where there is no case at all.
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


COUNTED = tuple(each_metric(np.zeros(len(COUNTS))))
"""The metrics that follow from COUNTS, in the order of arrays and of the study's tables."""


def metrics_of(counts: np.ndarray) -> Floats:
    """COUNTED, of COUNTS, [..., C] -> [..., metrics].

    >>> dict(zip(COUNTED, metrics_of(np.array([3, 1, 1, 5, 4, 4, 0.8, 3.5])).round(3).tolist()))["F1"]
    0.75
    """
    return np.stack(list(each_metric(np.moveaxis(np.asarray(counts, float), -1, 0)).values()), axis=-1)


def evaluate(cohort: Cohort, decisions: Decisions, costs: Costs) -> pd.DataFrame:
    """All metrics over all cases: n and COUNTED, one row per leading index."""
    counts = tally(cohort, decisions, costs).counts  # [..., C]
    n = counts[..., :4].sum(-1).round().astype(np.int64)
    return _table({"n": n} | each_metric(np.moveaxis(counts, -1, 0)), _leading(decisions.label))


def readings(cohort: Cohort) -> Bools:
    """Which reader has read which case, [N, M]."""
    return cohort.available & (cohort.decisions != UNKNOWN)


def readers_alone(cohort: Cohort, costs: Costs) -> tuple[Tally, Bools]:
    """Each reader, and last the best-oracle, deciding alone, [M + 1, N, C], and which cases are theirs, [M + 1, N]."""
    read = readings(cohort)
    right = (read & (cohort.decisions == cohort.truth[:, None])).any(-1)
    words = np.column_stack([cohort.decisions, np.where(right, cohort.truth, 1 - cohort.truth)]).T  # [M + 1, N]
    asked = np.column_stack([read, read.any(-1)]).T
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
    every printed number. Its effective number is the inverse Simpson index, although its text calls it entropy-based:
    exp(H) would contradict the entropy column in all six rows.
    """
    columns = {"Routed": decisions.deferred.sum(-1)} | concentration(load_of(decisions, readers))
    return _table(columns, _leading(decisions.label))


def concentration(load: np.ndarray) -> dict[str, Floats]:
    """The columns of `collapse` but the first, of the readers' load, [..., M]."""
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


def _entropy(share: Floats) -> Floats:
    """H in nats over the last axis."""
    return -(share * np.log(np.where(share > 0, share, 1.0))).sum(-1)


def _leading(per_case: np.ndarray) -> dict[str, Sequence[object]]:
    """Name and values of each leading axis of something per case, [..., N]; at most methods and members."""
    *shape, _ = per_case.shape
    return {name: range(size) for name, size in zip(AXES[len(AXES) - len(shape) :], shape, strict=True)}


def _table(columns: Mapping[str, np.ndarray], axes: Mapping[str, Sequence[object]]) -> pd.DataFrame:
    """One row per element of the columns, which all have the shape the axes span."""
    index = pd.DataFrame(list(product(*axes.values())), columns=list(axes))
    return pd.concat([index, pd.DataFrame({name: np.ravel(values) for name, values in columns.items()})], axis=1)
