"""Does it hold elsewhere? Every method over many resplits, in a cohort nobody learned from, and with a few local cases.

The unit is the resplit: a metric of one is the mean over the method's members. Test parts of different resplits share
cases and so do their training parts, so that the spread over resplits alone would promise too much: intervals are
Student's with the correction of Nadeau and Bengio (2003), which adds the ratio of test to learning cases to 1 / R.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from mpd2.core.arrays import Floats
from mpd2.core.errors import UserError
from mpd2.evaluation import metrics
from mpd2.evaluation.intervals import TAILS
from mpd2.evaluation.tables import ALL
from mpd2.methods.registry import NOT_DEPLOYABLE
from mpd2.study.definition import STUDIO_RUN, Study
from mpd2.study.experiments import AS_FITTED, FLOOR_KEPT, FLOORS, UNHEARD, WEIGHT, Experiment, ExperimentCache, Resplit

REPORTED = ("TotalCost", "ClinicalCost", "ExpertCost", "Defer", "Consults", "F1", "MCC", "Sens", "Spec")
AI, PLUS = "ai", "mpd2-plus"  # the run that asks nobody, and the one that asks again
COST = "TotalCost"
AT_FLOORS = ("Sens", "Spec", "Defer", "Consults", "ExpertCost", "TotalCost", WEIGHT, FLOOR_KEPT)


# ---------------------------------------------------------------------------------- which experiments


def deployable(study: Study) -> list[str]:
    """The contenders that could be used."""
    return [name for name in study.contenders if name not in NOT_DEPLOYABLE]


def reference(study: Study) -> str:
    """Whom the others are compared with."""
    return next(name for name in (PLUS, STUDIO_RUN, *study.contenders) if name in study.contenders)


class CohortSize(NamedTuple):
    """Cases of a cohort."""

    learned: int  # in train and val
    test: int


def cohort_sizes(study: Study) -> dict[str, CohortSize]:
    """How many cases of each cohort there are to learn from and to judge by; of those that have any."""
    test, sources = study.cohort.split == "test", study.cohort.sources
    keys = dict.fromkeys(sources.tolist())
    return {
        key: CohortSize(int(((sources == key) & ~test).sum()), int(((sources == key) & test).sum())) for key in keys
    }


def resplit_experiments(study: Study) -> list[Experiment]:
    """Every method in every resplit."""
    return [Experiment(method, Resplit(number)) for number in study.plan.resplits for method in deployable(study)]


def transfer_experiments(study: Study) -> list[Experiment]:
    """Every method in each cohort, new and known."""
    named = study.plan.transferred
    methods = [name for name in deployable(study) if not named or name in named]
    return _new_cohort_experiments(study, methods, study.plan.draws, (0,))


def recalibration_experiments(study: Study) -> list[Experiment]:
    """Some methods in each cohort, with more and more of its cases known."""
    methods = [name for name in study.plan.recalibrated if name in study.contenders]
    return _new_cohort_experiments(study, methods, study.plan.local_draws, (0, *study.plan.local))


def _new_cohort_experiments(
    study: Study, methods: Sequence[str], draws: Sequence[int], local: Sequence[int]
) -> list[Experiment]:
    """With each cohort new in turn and so many of its cases known, then with all known, which is the resplit itself.

    A cohort with fewer cases to learn from is not given more than it has in every draw.
    """
    fewest = _fewest_learned(study, draws)
    new = [(key, known) for key, learned in fewest.items() for known in local if known <= learned]
    return [
        Experiment(method, resplit)
        for number in draws
        for resplit in (*(Resplit(number, key, known) for key, known in new), Resplit(number))
        for method in methods
    ]


def _fewest_learned(study: Study, draws: Sequence[int]) -> dict[str, int]:
    """How many cases of each cohort there are to learn from at least, in some resplits.

    Dealt one by one they are always as many; where rows belong together, large groups can fall to test.
    """
    fewest = {key: size.learned for key, size in cohort_sizes(study).items()}
    for number in draws if study.cohort.manifest.groups else ():
        dealt = cohort_sizes(replace(study, cohort=Resplit(number).of(study.cohort)))
        fewest = {key: min(learned, dealt[key].learned) for key, learned in fewest.items()}
    return fewest


# ---------------------------------------------------------------------------------- resplits


def resplits(cache: ExperimentCache) -> pd.DataFrame:
    """REPORTED of every method over resplits, on all cases and in each cohort.

    Columns: method, title, cohort, metric, value (mean over resplits), sd (over resplits), low, high, n (resplits).
    """
    results = cache.results(resplit_experiments(cache.study))
    parts = []
    for (method, cohort), rows in results.groupby(["method", "cohort"], sort=False):
        index = {"method": method, "title": _title(cache, method), "cohort": cohort, "metric": REPORTED}
        parts.append(pd.DataFrame(index | over_resplits(rows[list(REPORTED)].to_numpy(float), overlap(cache.study))))
    return pd.concat(parts, ignore_index=True)


def rivals(cache: ExperimentCache, against: str) -> pd.DataFrame:
    """Every other method against one of them, resplit by resplit, on all cases.

    Columns: method, title, reference, metric, difference (method minus reference), sd, low, high, n (resplits), and
    won: the share of resplits in which the reference is the better of the two, a tie counting half.
    """
    return _less(cache, cache.results(resplit_experiments(cache.study)), against, REPORTED)


def at_floors(cache: ExperimentCache) -> pd.DataFrame:
    """AT_FLOORS of every method over resplits, when each keeps the same floor, on all cases.

    Columns: floor (as written), method, title, metric, value, sd, low, high, n (resplits). The metric FloorKept is the
    share of resplits in which a weight of a miss could be found on val that keeps the floor.
    """
    results = cache.results_at_floors(resplit_experiments(cache.study))
    results = results[(results["cohort"] == ALL) & (results["floor"] != AS_FITTED)]
    parts = []
    for (floor, method), rows in results.groupby(["floor", "method"], sort=False):
        index = {"floor": floor, "method": method, "title": _title(cache, method), "metric": AT_FLOORS}
        parts.append(pd.DataFrame(index | over_resplits(rows[list(AT_FLOORS)].to_numpy(float), overlap(cache.study))))
    return pd.concat(parts, ignore_index=True).sort_values("floor", key=_floor_order, kind="stable", ignore_index=True)


def floor_rivals(cache: ExperimentCache, against: str) -> pd.DataFrame:
    """Every other method against one of them at the same floor, resplit by resplit: floor, and columns as `rivals`."""
    results = cache.results_at_floors(resplit_experiments(cache.study))
    parts = []
    for floor in map(str, FLOORS):
        rows = _less(cache, results[results["floor"] == floor], against, AT_FLOORS)
        rows.insert(0, "floor", floor)
        parts.append(rows)
    return pd.concat(parts, ignore_index=True)


def _less(cache: ExperimentCache, results: pd.DataFrame, against: str, names: Sequence[str]) -> pd.DataFrame:
    """Metrics of every other method less those of one, resplit by resplit; columns as `rivals`."""
    methods = deployable(cache.study)
    if against not in methods:
        raise UserError(f"comparison: found {against!r}, expected one of {', '.join(methods)}")
    results = results[results["cohort"] == ALL].set_index("number")
    by_method = {method: results.loc[results["method"] == method, list(names)] for method in methods}
    better = np.array([metrics.METRICS[name].direction if name in metrics.METRICS else 0 for name in names])
    parts = []
    for method, own in by_method.items():
        if method == against:
            continue
        differences = (own - by_method[against]).to_numpy(float)  # [R, metrics]
        columns = over_resplits(differences, overlap(cache.study))
        rows = pd.DataFrame({"method": method, "title": _title(cache, method), "reference": against, **columns})
        rows.insert(3, "metric", names)
        won = ((1 - np.sign(differences * better)) / 2).mean(0)
        parts.append(rows.rename(columns={"value": "difference"}).assign(won=won))
    if not parts:
        raise UserError(f"comparison with {against}: found no other method, expected at least one")
    return pd.concat(parts, ignore_index=True)


def _floor_order(floors: pd.Series[str]) -> pd.Series[int]:
    places = {str(floor): place for place, floor in enumerate(FLOORS)}
    return floors.map(places)


# ---------------------------------------------------------------------------------- a cohort that is new


def transfer(cache: ExperimentCache) -> pd.DataFrame:
    """Every method in a cohort it has learned nothing from, beside the same test cases when it has.

    Columns: method, title, cohort, metric, value, sd, low, high, n (resplits); `known` is the metric when the cohort
    was learned from as well, and change, change_low, change_high are value minus that, resplit by resplit. The last
    metric, Unheard, is the share of cases sent to a reader of whom nothing had been learned.
    """
    metrics = [*REPORTED, UNHEARD]
    results, ratio = cache.results(transfer_experiments(cache.study)), overlap(cache.study)
    results = results[results["cohort"] != ALL]
    known = dict(iter(results[results["new"] == ""].groupby(["method", "cohort"])))
    parts = []
    for (method, cohort), rows in results[results["new"] != ""].groupby(["method", "cohort"], sort=False):
        before = known[method, cohort][metrics].to_numpy(float)  # the same resplits in the same order
        values = rows[metrics].to_numpy(float)
        change = over_resplits(values - before, ratio)
        index: dict[str, Any] = {"method": method, "title": _title(cache, method), "cohort": cohort, "metric": metrics}
        index |= over_resplits(values, ratio) | {"known": before.mean(0)}
        index |= {"change": change["value"], "change_low": change["low"], "change_high": change["high"]}
        parts.append(pd.DataFrame(index))
    return pd.concat(parts, ignore_index=True)


def recalibration(cache: ExperimentCache) -> pd.DataFrame:
    """What labelled cases of a new cohort buy: total cost there by how many of them training had beside the others'.

    Columns: method, title, cohort, local (labelled cases), value, sd, low, high, n (draws); less_ai, the difference
    from the AI alone, and less_none, the difference from no local case, each with low and high, draw by draw.
    """
    study, ratio = cache.study, overlap(cache.study)
    results = cache.results(recalibration_experiments(study))
    results = results[results["cohort"] != ALL]
    pool = pd.Series(study.cohort.sources[study.cohort.split != "test"]).value_counts()
    known = results["new"] == ""
    results.loc[known, "local"] = results.loc[known, "cohort"].map(pool)  # all there are
    costs = {key: rows.set_index("number")[COST] for key, rows in results.groupby(["method", "cohort", "local"])}
    rows = []
    for (method, cohort, local), values in costs.items():
        row: dict[str, Any] = {"method": method, "title": _title(cache, method), "cohort": cohort, "local": local}
        row |= over_resplits(values.to_numpy(float), ratio)
        # The AI alone costs the same whatever it might have learned from.
        for name, base in (("ai", costs[AI, cohort, 0]), ("none", costs[method, cohort, 0])):
            less = over_resplits((values - base).to_numpy(float), ratio)
            row |= {f"less_{name}": less["value"], f"less_{name}_low": less["low"], f"less_{name}_high": less["high"]}
        rows.append(row)
    return pd.DataFrame(rows)


# ---------------------------------------------------------------------------------- metrics over resplits


def overlap(study: Study) -> float:
    """Test cases to learning cases."""
    test = int((study.cohort.split == "test").sum())
    return test / (len(study.cohort) - test)


def over_resplits(values: Floats, ratio: float) -> dict[str, Any]:
    """Mean, sd and corrected interval over the first axis, [R, ...]; with one resplit there is only the mean.

    >>> columns = over_resplits(np.array([0.1, 0.2, 0.3]), 0.5)
    >>> [round(float(columns[name]), 3) for name in ("value", "sd", "low", "high")]
    [0.2, 0.1, -0.193, 0.593]
    """
    n = len(values)
    mean = values.mean(0)
    if n == 1:
        none = np.full_like(mean, np.nan)
        return {"value": mean, "sd": none, "low": none, "high": none, "n": n}
    sd = values.std(0, ddof=1)
    half = stats.t.ppf(TAILS[1], n - 1) * sd * np.sqrt(1 / n + ratio)
    return {"value": mean, "sd": sd, "low": mean - half, "high": mean + half, "n": n}


def _title(cache: ExperimentCache, method: object) -> str:
    return cache.study.contenders[str(method)].title
