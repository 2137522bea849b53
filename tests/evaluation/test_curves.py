"""Curves against plain loops: cost by risk, score against cost, cost against deferral."""

from __future__ import annotations

import statistics
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import cohorts, policies

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY, RULES, Decisions, Policy, Rule, route
from mpd2.evaluation import curves
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import resample_weights
from mpd2.evaluation.metrics import evaluate
from mpd2.evaluation.tables import overall

MEMBERS = 3


def random_policy(cohort: Cohort, members: int = MEMBERS, seed: int = 0) -> Policy:
    scores = np.random.default_rng(seed).normal(size=(members, len(cohort), 1 + cohort.readers))
    return Policy.from_scores(2 * scores, cohort.available)


def never(cohort: Cohort) -> Policy:
    shape = (1, len(cohort), cohort.readers)
    return Policy(np.zeros(shape[:2]), np.zeros(shape), cohort.available)


def cheapest(cohort: Cohort) -> Policy:
    return Policy.from_scores(-50 * cohort.manifest.default_costs().of_actions(cohort)[None], cohort.available)


def outcome(cohort: Cohort, policy: Policy, title: str, rule: Rule = "joint") -> Outcome:
    return Outcome(title, None, route(policy, cohort, rule), policy, rule)


def curve(policy: Policy, cohort: Cohort, rule: Rule = "joint", points: int = 101) -> pd.DataFrame:
    """A deferral curve with a column for each cost, by deferral."""
    rows = curves.deferral_curve(policy, cohort, cohort.manifest.default_costs(), rule, points)
    assert rows["metric"].tolist() == list(curves.COSTS) * points
    values = rows["value"].to_numpy().reshape(points, len(curves.COSTS))
    return pd.DataFrame(values, index=rows["deferral"].iloc[:: len(curves.COSTS)], columns=list(curves.COSTS))


def costs_of(cohort: Cohort, decisions: Decisions) -> list[float]:
    """COSTS of decisions, mean over members."""
    return evaluate(cohort, decisions, cohort.manifest.default_costs())[list(curves.COSTS)].mean().tolist()


@pytest.fixture(scope="module")
def evidence(held_out: Cohort) -> Evidence:
    outcomes = {
        "ai": outcome(held_out, never(held_out), "AI only"),
        "chance": outcome(held_out, random_policy(held_out), "Chance"),
        "oracle": outcome(held_out, cheapest(held_out), "Cheapest"),
    }
    return Evidence(held_out, held_out.manifest.default_costs(), outcomes)


@pytest.fixture(scope="module")
def weights(held_out: Cohort) -> np.ndarray:
    return resample_weights(held_out, 200, seed=0)


# ---------------------------------------------------------------------------------- by risk


@settings(max_examples=25)
@given(st.data(), cohorts(), st.sampled_from(["structural", "reliability"]))
def test_strata_are_equal_within_one_and_rise_with_risk(data: st.DataObject, cohort: Cohort, signal: str) -> None:
    strata = data.draw(st.integers(1, len(cohort)))
    stratum = curves.risk_strata(cohort, signal, strata)
    sizes = np.bincount(stratum, minlength=strata + 1)[1:]
    assert len(sizes) == strata
    assert sizes.max() - sizes.min() <= 1
    risk = curves.risk_signal(cohort, signal)
    for level in range(1, strata):
        assert risk[stratum == level].max() <= risk[stratum == level + 1].min()


def test_a_stratum_does_not_depend_on_the_order_of_the_cases(held_out: Cohort) -> None:
    alike = replace(held_out, state=np.zeros_like(held_out.state))
    for cohort in (held_out, alike):
        shuffled = cohort.rows(np.random.default_rng(0).permutation(len(cohort)))
        for stratum in (1, 3, 5):
            one, other = (curves.cases_in_stratum(cases, "reliability", 5, stratum) for cases in (cohort, shuffled))
            assert set(one) == set(other)


def test_every_case_is_in_one_stratum(held_out: Cohort) -> None:
    ids = np.concatenate([curves.cases_in_stratum(held_out, "structural", 7, stratum) for stratum in range(1, 8)])
    assert sorted(ids) == sorted(held_out.ids)


@pytest.mark.parametrize(("signal", "variables"), [("structural", (6, 7)), ("reliability", (3, 5))])
def test_risk_is_the_mean_rank_among_all_cases(signal: str, variables: tuple[int, int], small_cohort: Cohort) -> None:
    for case, risk in enumerate(curves.risk_signal(small_cohort, signal)):
        ranks = []
        for variable in variables:
            values = small_cohort.state[:, variable]
            ranks.append((values < values[case]).sum() + ((values == values[case]).sum() + 1) / 2)
        assert risk == pytest.approx(statistics.mean(ranks) / len(small_cohort))


def test_a_curve_is_the_mean_cost_of_its_stratums_cases(evidence: Evidence, weights: np.ndarray) -> None:
    cohort, costs = evidence.cohort, evidence.costs
    rows = curves.risk_curves(evidence, "structural", weights)
    for stratum in range(1, 6):
        ids = set(curves.cases_in_stratum(cohort, "structural", 5, stratum))
        cases = [case for case in range(len(cohort)) if cohort.ids[case] in ids]
        of_stratum = rows[rows["stratum"] == stratum].set_index("method")
        decisions = evidence.outcomes["chance"].decisions
        members = [
            statistics.mean(float(costs.of_errors(decisions.label[e, i], cohort.truth[i])) for i in cases)
            for e in range(MEMBERS)
        ]
        assert of_stratum.loc["chance", "value"] == pytest.approx(statistics.mean(members))
        assert of_stratum.loc["chance", "sd"] == pytest.approx(statistics.stdev(members))
        readers = [
            statistics.mean(
                float(costs.of_errors(cohort.decisions[i, j], cohort.truth[i]))
                for j in np.flatnonzero(cohort.available[i])
            )
            for i in cases
        ]
        assert of_stratum.loc[curves.MEAN_READER, "value"] == pytest.approx(statistics.mean(readers))
        assert (of_stratum["n"] == len(cases)).all()
    assert ((rows["low"] <= rows["value"]) & (rows["value"] <= rows["high"])).all()


def test_a_band_spans_the_means_of_the_drawn_cases(evidence: Evidence, weights: np.ndarray) -> None:
    few = weights[:20]
    rows = curves.risk_curves(evidence, "reliability", few).set_index(["method", "stratum"])
    stratum = curves.risk_strata(evidence.cohort, "reliability")
    cost = evidence.costs.of_errors(evidence.cohort.ai_label, evidence.cohort.truth)
    drawn = [np.repeat(np.arange(len(cost)), row.astype(int)) for row in few]
    means = [cost[cases[stratum[cases] == 5]].mean() for cases in drawn]
    assert rows.loc[("ai", 5), ["low", "high"]].tolist() == pytest.approx(np.quantile(means, [0.025, 0.975]))


def test_one_stratum_is_everybody(evidence: Evidence, weights: np.ndarray) -> None:
    rows = curves.risk_curves(evidence, "structural", weights, strata=1).set_index("method")
    table = overall(evidence, weights).query("metric == 'ClinicalCost'").set_index("method")
    for column in ("value", "low", "high"):
        assert rows.loc[list(evidence.outcomes), column].to_numpy() == pytest.approx(table[column].to_numpy())


def test_the_ai_breaks_where_it_is_unreliable_and_readers_do_not(evidence: Evidence, weights: np.ndarray) -> None:
    rows = curves.risk_curves(evidence, "reliability", weights).set_index(["method", "stratum"])
    assert rows.loc[("ai", 5), "low"] > rows.loc[("ai", 1), "high"]
    assert rows.loc[(curves.MEAN_READER, 5), "low"] < rows.loc[(curves.MEAN_READER, 1), "high"]


def test_a_case_nobody_has_read_is_left_out_of_the_readers_curve(evidence: Evidence, weights: np.ndarray) -> None:
    somebody = np.arange(len(evidence.cohort)) % 3 > 0
    away = replace(evidence, cohort=evidence.cohort.with_available(somebody[:, None]))
    away = replace(away, outcomes={"ai": evidence.outcomes["ai"]})
    rows = curves.risk_curves(away, "structural", weights, strata=1).set_index("method")
    assert rows["n"].to_dict() == {"ai": len(evidence.cohort), curves.MEAN_READER: somebody.sum()}
    part = evidence.cohort.rows(somebody)
    read = Evidence(part, evidence.costs, {})
    alone = curves.risk_curves(read, "structural", weights[:, somebody], strata=1)
    assert rows.loc[curves.MEAN_READER, "value"] == pytest.approx(alone["value"].item())


def test_what_cannot_be_stratified_is_said(small_cohort: Cohort) -> None:
    with pytest.raises(UserError, match="risk signal: found 'luck', expected one of structural, reliability"):
        curves.risk_signal(small_cohort, "luck")
    for strata in (0, 55):
        with pytest.raises(UserError, match=f"strata: found {strata}, expected from 1 to the number of cases, 54"):
            curves.risk_strata(small_cohort, "structural", strata)
    with pytest.raises(UserError, match="stratum: found 6, expected from 1 to 5"):
        curves.cases_in_stratum(small_cohort, "structural", 5, 6)


# ---------------------------------------------------------------------------------- score against cost


def test_every_plane_has_every_method_with_its_figures(evidence: Evidence, weights: np.ndarray) -> None:
    rows = curves.tradeoff(evidence, weights)
    table = overall(evidence, weights).set_index(["method", "metric"])
    assert len(rows) == len(curves.SCORES) * len(curves.COSTS) * len(evidence.outcomes)
    for row in rows.itertuples():
        for metric, figures in (
            (row.score, (row.score_value, row.score_low, row.score_high)),
            (row.cost, (row.cost_value, row.cost_low, row.cost_high)),
        ):
            assert figures == pytest.approx(tuple(table.loc[(row.method, metric), ["value", "low", "high"]]))


def test_the_front_is_flagged_and_its_share_counted(evidence: Evidence, weights: np.ndarray) -> None:
    rows = curves.tradeoff(evidence, weights).set_index(["score", "cost", "method"])
    assert rows.loc[("F1", "TotalCost"), "on_front"].to_dict() == {"ai": False, "chance": False, "oracle": True}
    assert rows.loc[("MCC", "ExpertCost"), "on_front"].to_dict() == {"ai": True, "chance": False, "oracle": True}
    assert rows.loc[("MCC", "ExpertCost"), "front_share"].to_dict() == {"ai": 1, "chance": 0, "oracle": 1}


# ---------------------------------------------------------------------------------- cost against deferral


@pytest.mark.parametrize("rule", RULES)
def test_a_curve_starts_with_the_ai_and_ends_with_always_the_best_reader(rule: Rule, held_out: Cohort) -> None:
    policy = random_policy(held_out)
    points = curve(policy, held_out, rule)
    best = policy.allocation.argmax(-1)  # [E, N]
    words = held_out.decisions[np.arange(len(held_out)), best]
    assert points.index[[0, -1]].tolist() == [0, 1]
    assert points.iloc[0].tolist() == pytest.approx(costs_of(held_out, route(never(held_out), held_out)))
    assert points.iloc[-1].tolist() == pytest.approx(costs_of(held_out, Decisions(best[..., None], words)))


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=25)
@given(data=st.data(), cohort=cohorts())
def test_at_its_own_rate_a_policy_has_the_cost_of_its_own_decisions(
    rule: Rule, data: st.DataObject, cohort: Cohort
) -> None:
    drawn = data.draw(policies(cohort))
    decisions = route(drawn, cohort, rule)
    policy = Policy(drawn.defer[None], drawn.allocation[None], drawn.available)
    possible = int(cohort.available.any(-1).sum())
    points = curve(policy, cohort, rule, points=max(possible, 1) + 1)
    assert points.iloc[int(decisions.deferred.sum())].tolist() == pytest.approx(costs_of(cohort, decisions))


@pytest.mark.parametrize("rule", RULES)
def test_every_point_defers_the_cases_with_the_highest_odds(rule: Rule, small_cohort: Cohort) -> None:
    policy = random_policy(small_cohort, members=1)
    defer, allocation = policy.defer[0], policy.allocation[0]
    odds = [
        defer[i] * (allocation[i].max() if rule == "joint" else 1) / (1 - defer[i]) for i in range(len(small_cohort))
    ]
    ranked = sorted(range(len(small_cohort)), key=lambda i: -odds[i])
    points = curve(policy, small_cohort, rule, len(small_cohort) + 1)
    for k in range(len(small_cohort) + 1):
        consulted, label = np.full((len(small_cohort), 1), NOBODY), small_cohort.ai_label.copy()
        for i in ranked[:k]:
            consulted[i] = allocation[i].argmax()
            label[i] = small_cohort.decisions[i, consulted[i, 0]]
        assert points.iloc[k].tolist() == pytest.approx(costs_of(small_cohort, Decisions(consulted, label)))


def test_more_deferral_never_costs_less_in_fees(held_out: Cohort) -> None:
    points = curve(random_policy(held_out), held_out)
    assert points.index.is_monotonic_increasing
    assert points["ExpertCost"].diff().iloc[1:].gt(0).all()
    assert (points["ClinicalCost"] + points["ExpertCost"]).to_numpy() == pytest.approx(points["TotalCost"].to_numpy())


def test_a_population_has_the_mean_of_its_members_curves(held_out: Cohort) -> None:
    policy = random_policy(held_out)
    members = [Policy(policy.defer[[e]], policy.allocation[[e]], policy.available) for e in range(MEMBERS)]
    alone = [curve(member, held_out) for member in members]
    assert curve(policy, held_out).to_numpy() == pytest.approx(np.mean([points.to_numpy() for points in alone], axis=0))
    rows = curves.deferral_curve(policy, held_out, held_out.manifest.default_costs())
    total = rows[rows["metric"] == "TotalCost"]["sd"]
    assert total.iloc[0] == pytest.approx(0)
    assert total.iloc[50] == pytest.approx(statistics.stdev(points["TotalCost"].iloc[50] for points in alone))


def test_cases_of_equal_odds_lie_on_a_straight_line(held_out: Cohort) -> None:
    soft = random_policy(held_out, members=1)
    half = np.arange(len(held_out))[None] % 2.0
    points = curve(Policy(half, soft.allocation, soft.available), held_out, points=2 * len(held_out) + 1)
    own = int(2 * half.sum())  # every second point is a whole case
    for part in (points.iloc[: own + 1], points.iloc[own:]):
        assert part.diff().iloc[1:].std().max() == pytest.approx(0, abs=1e-9)


def test_a_case_without_a_reader_is_never_deferred(small_cohort: Cohort) -> None:
    somebody = np.arange(len(small_cohort)) % 3 > 0
    cohort = small_cohort.with_available(somebody[:, None])
    soft = random_policy(cohort)
    reluctant = Policy(np.zeros_like(soft.defer), soft.allocation, soft.available)  # as sure of the AI everywhere
    last = [curve(policy, cohort).iloc[-1] for policy in (soft, reluctant)]
    assert last[0].name == pytest.approx(somebody.mean())
    assert last[1].tolist() == pytest.approx(last[0].tolist())


def test_a_reader_whose_word_is_not_known_has_no_cost(small_cohort: Cohort) -> None:
    silent = replace(small_cohort, decisions=np.full_like(small_cohort.decisions, -1))
    with pytest.raises(UserError, match="label: not known"):
        curve(random_policy(silent), silent)


def test_all_curves_go_through_the_methods_own_costs_whatever_their_rule(held_out: Cohort) -> None:
    policy = random_policy(held_out, members=1, seed=5)
    outcomes = {rule: outcome(held_out, policy, rule, rule) for rule in RULES}
    outcomes["hard"] = replace(outcomes["joint"], policy=None)
    evidence = Evidence(held_out, held_out.manifest.default_costs(), outcomes)
    rows = curves.deferral_curves(evidence, points=len(held_out) + 1)
    assert rows["method"].unique().tolist() == list(RULES)
    for rule in RULES:
        decisions = outcomes[rule].decisions
        points = rows[rows["method"] == rule].pivot(index="deferral", columns="metric", values="value")
        own = points[list(curves.COSTS)].iloc[int(decisions.deferred.sum())]
        assert own.tolist() == pytest.approx(costs_of(held_out, decisions))


def test_no_soft_policy_and_no_second_point_are_errors(evidence: Evidence) -> None:
    hard = replace(evidence, outcomes={"ai": replace(evidence.outcomes["ai"], policy=None)})
    with pytest.raises(UserError, match="found no method with a soft policy"):
        curves.deferral_curves(hard)
    with pytest.raises(UserError, match="points: found 1, expected at least 2"):
        curves.deferral_curves(evidence, points=1)
