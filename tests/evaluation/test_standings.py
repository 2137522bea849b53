"""Who is best by a metric, and who differs from the best by no more than chance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mpd2.core.cohort import Cohort
from mpd2.core.policy import NOBODY, Decisions, Policy, route
from mpd2.evaluation import tables
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import resample_weights
from mpd2.evaluation.metrics import METRICS
from mpd2.evaluation.standings import standings


def wrong_on(cohort: Cohort, *cases: range) -> Outcome:
    """Right without asking anybody, but for some cases."""
    label = cohort.truth.copy()
    wrong = np.concatenate(cases)
    label[wrong] = 1 - label[wrong]
    nobody = np.full((1, len(cohort), 1), NOBODY)
    return Outcome("", None, Decisions(nobody, label[None]))


def by_lot(cohort: Cohort, seed: int) -> Outcome:
    """Three members that ask at random."""
    scores = np.random.default_rng(seed).normal(size=(3, len(cohort), 1 + cohort.readers))
    policy = Policy.from_scores(scores, cohort.available)
    return Outcome("", None, route(policy, cohort), policy)


@pytest.fixture(scope="module")
def weights(small_cohort: Cohort) -> np.ndarray:
    return resample_weights(small_cohort, resamples=400)


def evidence_on(cohort: Cohort, outcomes: dict[str, Outcome]) -> Evidence:
    return Evidence(cohort, cohort.manifest.default_costs(), outcomes)


def only(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    return rows[rows["metric"] == metric].set_index("method")


def test_who_is_always_a_little_worse_does_not_tie_though_inside_the_interval_of_the_best(small_cohort, weights):
    often = range(0, 54, 3)
    outcomes = {"best": wrong_on(small_cohort, often), "worse": wrong_on(small_cohort, often, range(1, 54, 12))}
    evidence = evidence_on(small_cohort, outcomes)
    levels = only(tables.overall(evidence, weights), "Acc")
    assert levels.at["best", "low"] < levels.at["worse", "value"] < levels.at["best", "high"]
    rows = only(standings("overall", evidence, weights), "Acc")
    assert rows["best"].to_dict() == {"best": True, "worse": False}
    assert not rows["tied"].any()
    assert rows.at["worse", "high"] < 0


def test_who_errs_elsewhere_as_often_ties(small_cohort, weights):
    outcomes = {"one": wrong_on(small_cohort, range(10)), "other": wrong_on(small_cohort, range(20, 31))}
    rows = only(standings("overall", evidence_on(small_cohort, outcomes), weights), "Acc")
    assert rows.at["one", "best"]
    assert rows.at["other", "tied"]


@pytest.mark.parametrize("metric", ["Acc", "F1", "TotalCost"])
def test_the_difference_to_the_best_is_the_paired_one(small_cohort, weights, metric):
    evidence = evidence_on(small_cohort, {name: by_lot(small_cohort, seed) for seed, name in enumerate("abcd")})
    rows = only(standings("overall", evidence, weights), metric)
    best = rows.index[rows["best"]].item()
    values = only(tables.overall(evidence, weights), metric)["value"]
    assert best == (values * METRICS[metric].merit).idxmax()
    paired = only(tables.paired(evidence, best, weights), metric)
    for column in ("difference", "low", "high"):
        assert rows.drop(best)[column].to_dict() == pytest.approx(paired[column].to_dict())
    holds_zero = (paired["low"] <= 0) & (paired["high"] >= 0)
    assert rows.drop(best)["tied"].to_dict() == holds_zero.to_dict()


@pytest.mark.parametrize("table", ["overall", "cohorts", "collapse", "retention"])
def test_every_ranked_method_of_a_table_is_judged_by_its_metrics_of_merit(small_cohort, weights, table):
    evidence = evidence_on(small_cohort, {name: by_lot(small_cohort, seed) for seed, name in enumerate("abc")})
    rows = standings(table, evidence, weights, unranked=["c"])
    made = getattr(tables, table)(evidence, weights)
    of_merit = made["metric"].map(lambda name: METRICS[name].merit != 0)
    judged = made[of_merit & (made["method"] != "c")]
    keys = ["method", "cohort", "metric"]
    assert set(map(tuple, rows[keys].to_numpy())) == set(map(tuple, judged[keys].to_numpy()))
    assert (rows.groupby(["cohort", "metric"])["best"].sum() >= 1).all()


def test_what_nobody_has_is_nobodys_best(small_cohort, weights):
    outcomes = {"one": wrong_on(small_cohort, range(10)), "other": wrong_on(small_cohort, range(20, 31))}
    rows = standings("collapse", evidence_on(small_cohort, outcomes), weights)
    assert not rows[["best", "tied"]].to_numpy().any()
