"""Every curve of the study: cost by how hard a case is, score against cost, and cost against deferral; tidy rows.

As in `tables`, a value is the mean over members, and `weights` are `intervals.resample_weights`.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from mpd2.core.arrays import Bools, Floats, Ints
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.policy import Continuations, Policy, Rule, preferences, route
from mpd2.core.state import UNCERTAINTY, StateLayout
from mpd2.evaluation.evidence import Evidence
from mpd2.evaluation.intervals import bootstrap, estimates, mean_of, sd_of
from mpd2.evaluation.metrics import COUNTED, COUNTS, readings, tally
from mpd2.evaluation.tables import on_front, overall, pareto

MEAN_READER = "mean-reader"  # takes the place of a run name in the readers' own curve
SCORES = ("F1", "MCC")
COSTS = ("ClinicalCost", "ExpertCost", "TotalCost")

# ---------------------------------------------------------------------------------- by risk


def risk_signals(layout: StateLayout) -> dict[str, tuple[str, ...]]:
    """The ways to call a case hard, each with the variables whose mean rank it is.

    `structural`, where there are inputs of structure: how much it looks positive. `reliability`: how little the AI can
    be trusted, by its own uncertainty and by how far the case is from what it was trained on.
    """
    structure = tuple(layout.names[position] for position in layout.of_role("structure"))
    found = {"structural": structure, "reliability": (*layout.distances, UNCERTAINTY)}
    return {name: variables for name, variables in found.items() if variables}


def risk_signal(cohort: Cohort, name: str) -> Floats:
    """How hard each case is among all cases given, [N], above 0 and up to 1: the mean of its ranks.

    Ranks put quantities of different scales, outliers and all, on one footing. They run over all cases together and
    not within each cohort: where a whole cohort is far from what the AI knows, all of it is hard.
    """
    known = risk_signals(cohort.layout)
    if name not in known:
        raise UserError(f"risk signal: found {name!r}, expected one of {', '.join(known)}")
    values = np.stack([cohort.column(variable) for variable in known[name]])  # [K, N]
    return rankdata(values, axis=-1).mean(0) / len(cohort)


def risk_strata(cohort: Cohort, signal: str, strata: int = 5) -> Ints:
    """The quantile each case falls in, from 1 to `strata`, [N]; sizes differ by one at most, ties go by case id."""
    if not 1 <= strata <= len(cohort):
        raise UserError(f"strata: found {strata}, expected from 1 to the number of cases, {len(cohort)}")
    order = np.lexsort((cohort.ids, risk_signal(cohort, signal)))
    stratum = np.empty(len(cohort), np.int64)
    stratum[order] = 1 + np.arange(len(cohort)) * strata // len(cohort)
    return stratum


def cases_in_stratum(cohort: Cohort, signal: str, strata: int, stratum: int) -> np.ndarray:
    """The ids of one stratum's cases, in the cohort's order."""
    if not 1 <= stratum <= strata:
        raise UserError(f"stratum: found {stratum}, expected from 1 to {strata}")
    return cohort.ids[risk_strata(cohort, signal, strata) == stratum]


def risk_curves(evidence: Evidence, signal: str, weights: Floats, strata: int = 5) -> pd.DataFrame:
    """Clinical cost of every method, and of the mean available reader, in each stratum of risk.

    The mean reader's cost of a case is the mean over those who have read it; a case nobody has read is left out there.
    Columns: method, title, signal, stratum (1 is the easiest), metric, value, sd, low, high, n.
    """
    cohort = evidence.cohort
    levels = np.arange(1, strata + 1)
    inside = risk_strata(cohort, signal, strata) == levels[:, None]  # [S, N]
    costs = {name: counted.cases[..., COUNTS.index("clinical")] for name, counted in evidence.tallies.items()}
    readers = evidence.costs.of_errors(cohort.decisions, cohort.truth[:, None])  # [N, M]
    costs[MEAN_READER] = mean_of(np.where(readings(cohort), readers, np.nan), axis=1)[None]  # [1, N]
    titles = {name: outcome.title for name, outcome in evidence.outcomes.items()}
    titles[MEAN_READER] = "Mean available reader"
    parts = []
    for name, cost in costs.items():
        counted = inside & ~np.isnan(cost[0])
        columns = estimates(partial(_stratum_means, np.nan_to_num(cost), counted), weights)
        index = {"method": name, "title": titles[name], "signal": signal, "stratum": levels, "metric": "ClinicalCost"}
        parts.append(pd.DataFrame(index | columns | {"n": counted.sum(-1)}))
    return pd.concat(parts, ignore_index=True)


def _stratum_means(cost: Floats, inside: Bools, weights: Floats) -> Floats:
    """Mean cost in each stratum under R weightings, [E, N], [S, N] -> [R, E, S]; NaN where no case is drawn."""
    total = np.tensordot(weights, cost[:, None] * inside, axes=((1,), (-1,)))  # [R, E, S]
    n = (weights @ inside.T.astype(float))[:, None]  # [R, 1, S]
    return np.where(n > 0, total / np.maximum(n, 1), np.nan)


# ---------------------------------------------------------------------------------- score against cost


def tradeoff(evidence: Evidence, weights: Floats) -> pd.DataFrame:
    """Every method in the planes of SCORES and COSTS; ExpertCost is the cost of deferral.

    Columns: method, title, score, cost (the two metrics), score_value, score_low, score_high, score_published, the same
    of cost, on_front, front_share (share of resamples in which it is on the front), n. A front is among all methods
    given, so leave out of the evidence what cannot be deployed.
    """
    rows = overall(evidence, weights)
    samples = np.stack([bootstrap(counted, weights).mean(1) for counted in evidence.tallies.values()], axis=1)
    drawn = dict(zip(COUNTED, np.moveaxis(samples, -1, 0), strict=True))  # each [R, methods]

    def axis(name: str, metric: str) -> pd.DataFrame:
        of_metric = rows.loc[rows["metric"] == metric, ["value", "low", "high", "published"]]
        return of_metric.reset_index(drop=True).add_prefix(f"{name}_")

    planes = []
    for score, cost in product(SCORES, COSTS):
        front = pareto(rows, score, cost)
        plane = pd.concat([front[["method", "title"]], axis("score", score), axis("cost", cost)], axis=1)
        plane.insert(2, "score", score)
        plane.insert(3, "cost", cost)
        share = on_front(drawn[score], drawn[cost]).mean(0)
        planes.append(plane.assign(on_front=front["on_front"], front_share=share, n=len(evidence.cohort)))
    return pd.concat(planes, ignore_index=True)


# ---------------------------------------------------------------------------------- cost against deferral


def deferral_curve(
    policy: Policy,
    cohort: Cohort,
    costs: Costs,
    rule: Rule = "joint",
    points: int = 101,
    continuations: Continuations | None = None,
) -> pd.DataFrame:
    """What a policy, [E, N], costs at any hard deferral rate, as a price on deferral moves from prohibitive to none.

    A case is deferred where the log-odds of its best reader against the AI, by the policy's rule, exceed the price; at
    price 0 these are the policy's own decisions. Cases of equal log-odds are as likely to go one as the other. The last
    point defers every case that has a reader. Columns: deferral, metric (COSTS), value, sd (over members), n.
    """
    if points < 2:
        raise UserError(f"points: found {points}, expected at least 2")
    kept, asked = (_amounts(policy, share, cohort, costs, continuations) for share in (0.0, 1.0))  # [E, N, 2]
    odds = preferences(policy, rule).max(-1)  # [E, N]
    order = np.argsort(-odds, axis=-1)  # who has no reader last
    change = np.take_along_axis(asked - kept, order[..., None], axis=1)
    change = _shared_among_ties(change, np.take_along_axis(odds, order, axis=1))
    steps = np.concatenate([kept.sum(1, keepdims=True), change], axis=1).cumsum(1)  # [E, 1 + N, 2]

    position = np.linspace(0, policy.available.any(-1).sum(), points)  # cases deferred, also between whole ones
    below = np.floor(position).astype(int)
    rest = (position - below)[:, None]
    sums = (1 - rest) * steps[:, below] + rest * steps[:, np.minimum(below + 1, len(cohort))]  # [E, points, 2]
    members = np.concatenate([sums, sums.sum(-1, keepdims=True)], axis=-1) / len(cohort)  # in the order of COSTS
    rows = pd.DataFrame(list(product(position / len(cohort), COSTS)), columns=["deferral", "metric"])
    return rows.assign(value=members.mean(0).ravel(), sd=sd_of(members).ravel(), n=len(cohort))


def deferral_curves(evidence: Evidence, points: int = 101) -> pd.DataFrame:
    """The deferral curve of every method that has a soft policy: method, title, then as in `deferral_curve`."""
    parts = []
    for name, outcome in evidence.outcomes.items():
        if outcome.policy is not None:
            about = (outcome.rule, points, outcome.continuations)
            rows = deferral_curve(outcome.policy, evidence.cohort, evidence.costs, *about)
            rows.insert(0, "method", name)
            rows.insert(1, "title", outcome.title)
            parts.append(rows)
    if not parts:
        raise UserError("deferral curves: found no method with a soft policy, expected at least one")
    return pd.concat(parts, ignore_index=True)


def _amounts(policy: Policy, share: float, cohort: Cohort, costs: Costs, continuations: Continuations | None) -> Floats:
    """Clinical cost and fee of each case if all are deferred (share 1) or none (share 0), [E, N, 2]."""
    fixed = Policy(np.full_like(policy.defer, share), policy.allocation, policy.available)
    cases = tally(cohort, route(fixed, cohort, "staged", continuations), costs).cases
    return cases[..., [COUNTS.index("clinical"), COUNTS.index("fees")]]


def _shared_among_ties(change: Floats, odds: Floats) -> Floats:
    """The mean change over cases side by side with the same odds, [E, N, 2]."""
    first = np.concatenate([np.ones((len(odds), 1), bool), odds[:, 1:] != odds[:, :-1]], axis=1)
    starts = np.flatnonzero(first)
    sizes = np.diff(starts, append=first.size)
    means = np.add.reduceat(change.reshape(-1, 2), starts, axis=0) / sizes[:, None]
    return np.repeat(means, sizes, axis=0).reshape(change.shape)
