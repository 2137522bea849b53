"""Counts, the metrics made of them, and how the readers' load is spread."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn import metrics as sk
from strategies import cohorts, policies

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY, Decisions, Policy, route
from mpd2.evaluation import tables
from mpd2.evaluation.metrics import (
    COUNTED,
    COUNTS,
    METRICS,
    PLACES,
    collapse,
    evaluate,
    load_of,
    metrics_of,
    readers_alone,
    soft_load,
    tally,
)
from mpd2.evaluation.published import published

PRINTED = 0.0005 + 1e-9  # what printing three decimals can hide

# Whole numbers of readings that give every figure of a published row.
PUBLISHED_LOADS = {
    "Mao-TwoStage": (123, 92, 75, 20, 14, 12, 8, 7, 4, 4, 3, 0),
    "Narasimhan-PH": (89, 71, 59, 35, 31, 28, 22, 9, 3, 2, 0, 0),
    "Verma-OvA": (228, 228, 119, 35, 22, 21, 11, 4, 3, 1, 0, 0),
    "Hemmer-MoE": (285, 160, 72, 17, 14, 7, 4, 3, 1, 0, 0, 0),
    "Keswani-Joint Committee": (369, 42, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0),
    "MPD²-Router": (97, 76, 60, 55, 54, 25, 15, 6, 3, 2, 0, 0),
}


def test_every_column_of_every_table_is_described() -> None:
    columns = (tables.REPORTED, tables.COLLAPSE, tables.RETAINED, tables.OBJECTIVE, tables.REGULARISATION)
    assert {name for names in (*columns, tables.BUDGET_CONTROL, COUNTED) for name in names} <= set(METRICS)
    assert all(metric.name == name and metric.unit in PLACES for name, metric in METRICS.items())


def test_a_metric_explains_itself_at_the_costs_in_force() -> None:
    assert "a miss costs 7, a false alarm 0.25" in METRICS["ClinicalCost"].explained(Costs(7.0, 0.25, ()))
    assert not [name for name, metric in METRICS.items() if "{" in metric.explained(Costs(7.0, 0.25, ()))]


def test_more_of_what_readers_do_is_cheaper_to_leave_out_but_never_a_merit() -> None:
    assert {name: metric.merit for name, metric in METRICS.items() if name in COUNTED} == {
        "TotalCost": -1, "ClinicalCost": -1, "ExpertCost": 0, "Defer": 0, "Consults": 0, "F1": 1, "MCC": 1, "Sens": 1,
        "Spec": 1, "Prec": 1, "Acc": 1,
    }  # fmt: skip


def test_an_even_load_is_better_than_a_single_busy_reader_by_every_metric_of_the_load() -> None:
    even, single = (collapse(asked(load), 4).iloc[0] for load in ((2, 2, 2, 2), (8, 0, 0, 0)))
    columns = ["Top1", "Top2", "EntropyCollapse", "NEff", "Gini"]
    assert all(METRICS[name].merit * (even[name] - single[name]) > 0 for name in columns)
    shares = np.array([[[0.25] * 4], [[1.0, 0.0, 0.0, 0.0]]])  # [2, 1, 4]
    rows = soft_load(Policy(np.ones((2, 1)), shares, np.ones((1, 4), bool)))
    columns = ["HHI", "LoadCV", "DeadFrac", "EffExp", "Entropy"]
    assert all(METRICS[name].merit * (rows[name][0] - rows[name][1]) > 0 for name in columns)


def ai_only(cohort: Cohort) -> Decisions:
    return Decisions(np.full((len(cohort), 1), NOBODY), cohort.ai_label)


def costs_of(cohort: Cohort) -> Costs:
    return cohort.manifest.default_costs()


def random_decisions(cohort: Cohort, members: int, seed: int = 0) -> Decisions:
    scores = np.random.default_rng(seed).normal(size=(members, len(cohort), 1 + cohort.readers))
    return route(Policy.from_scores(scores, cohort.available), cohort)


def asked(load: tuple[int, ...]) -> Decisions:
    """One case per reading."""
    readers = np.repeat(np.arange(len(load)), load)
    return Decisions(readers[:, None], np.ones(len(readers), int))


def printed(table: str, cohort: str = "all") -> pd.DataFrame:
    rows = published(table)
    return rows[rows["cohort"] == cohort].pivot(index="method", columns="metric", values="value")


# ---------------------------------------------------------------------------------- metrics


labels = hnp.arrays(np.int64, st.integers(1, 12), elements=st.integers(0, 1))


@settings(max_examples=40)
@given(st.data(), labels)
def test_scores_are_those_of_scikit_learn(data: st.DataObject, truth: np.ndarray) -> None:
    label = data.draw(hnp.arrays(np.int64, len(truth), elements=st.integers(0, 1)))
    counts = [((label == a) & (truth == b)).sum() for a, b in ((1, 1), (1, 0), (0, 1), (0, 0))]
    ours = dict(zip(COUNTED, metrics_of(np.array([*counts, 0, 0, 0, 0])), strict=True))
    with warnings.catch_warnings(action="ignore"):
        theirs = {
            "Acc": sk.accuracy_score(truth, label),
            "Prec": sk.precision_score(truth, label, zero_division=0),
            "F1": sk.f1_score(truth, label, zero_division=0),
            "MCC": sk.matthews_corrcoef(truth, label),
            "Sens": sk.recall_score(truth, label, zero_division=np.nan),
            "Spec": sk.recall_score(truth, label, pos_label=0, zero_division=np.nan),
        }
    assert {name: ours[name] for name in theirs} == pytest.approx(theirs, nan_ok=True)


def test_without_any_case_no_metric_exists() -> None:
    assert np.isnan(metrics_of(np.zeros(8))).all()


def test_costs_are_counted_from_errors_and_from_every_reader_asked(small_cohort: Cohort) -> None:
    cohort = small_cohort.rows(np.arange(4))
    cohort = replace(cohort, truth=np.array([1, 0, 1, 0]))
    costs = Costs(2.0, 1.5, tuple(0.1 * (j + 1) for j in range(cohort.readers)))
    decisions = Decisions(np.array([[0, 2], [1, NOBODY], [NOBODY, NOBODY], [NOBODY, NOBODY]]), np.array([0, 1, 1, 0]))
    row = evaluate(cohort, decisions, costs).iloc[0]
    assert row["ClinicalCost"] == pytest.approx((2.0 + 1.5) / 4)
    assert row["ExpertCost"] == pytest.approx((0.1 + 0.3 + 0.2) / 4)
    assert row["TotalCost"] == pytest.approx(row["ClinicalCost"] + row["ExpertCost"])
    assert (row["Defer"], row["Consults"]) == (0.5, 0.75)


@settings(max_examples=20)
@given(st.data(), cohorts())
def test_a_population_is_counted_as_each_of_its_members(data: st.DataObject, cohort: Cohort) -> None:
    members = [route(data.draw(policies(cohort)), cohort) for _ in range(2)]
    both = Decisions(np.stack([one.consulted for one in members]), np.stack([one.label for one in members]))
    rows = evaluate(cohort, both, costs_of(cohort))
    alone = pd.concat([evaluate(cohort, one, costs_of(cohort)) for one in members], ignore_index=True)
    assert rows["member"].tolist() == [0, 1]
    pd.testing.assert_frame_equal(rows.drop(columns="member"), alone)


def test_methods_and_members_become_the_first_columns(small_cohort: Cohort) -> None:
    one = random_decisions(small_cohort, 6)
    grid = Decisions(one.consulted.reshape(2, 3, *one.consulted.shape[1:]), one.label.reshape(2, 3, -1))
    rows = evaluate(small_cohort, grid, costs_of(small_cohort))
    flat = evaluate(small_cohort, one, costs_of(small_cohort))
    assert rows[["method", "member"]].to_numpy().tolist() == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    pd.testing.assert_frame_equal(rows[["n", *COUNTED]], flat[["n", *COUNTED]])


def test_no_case_at_all_has_no_metric(small_cohort: Cohort) -> None:
    empty = small_cohort.rows(np.array([], int))
    row = evaluate(empty, ai_only(empty), costs_of(empty)).iloc[0]
    assert row["n"] == 0
    assert row[list(COUNTED)].isna().all()


def test_a_truth_nobody_knows_is_an_error_that_names_the_case(small_cohort: Cohort) -> None:
    truth = small_cohort.truth.copy()
    truth[3] = UNKNOWN
    with pytest.raises(UserError, match=f"truth: not known for 1 of 54 cases \\({small_cohort.ids[3]}\\)"):
        tally(replace(small_cohort, truth=truth), ai_only(small_cohort), costs_of(small_cohort))


def test_a_label_nobody_knows_is_an_error_that_names_the_cases(small_cohort: Cohort) -> None:
    decisions = replace(ai_only(small_cohort), label=np.full((2, len(small_cohort)), UNKNOWN))
    with pytest.raises(UserError, match=r"label: not known for 54 of 54 cases .*…"):
        tally(small_cohort, decisions, costs_of(small_cohort))


def test_decisions_for_other_cases_are_refused(small_cohort: Cohort) -> None:
    with pytest.raises(UserError, match="found 54 cases, expected the cohort's 5"):
        tally(small_cohort.rows(np.arange(5)), ai_only(small_cohort), costs_of(small_cohort))


# ---------------------------------------------------------------------------------- the paper's rows


def test_the_ai_alone_has_the_published_figures(held_out: Cohort) -> None:
    row = evaluate(held_out, ai_only(held_out), costs_of(held_out)).iloc[0]
    paper = printed("overall").loc["AI-Only"]
    assert row[paper.index].to_numpy(float) == pytest.approx(paper.to_numpy(), abs=PRINTED)


# ---------------------------------------------------------------------------------- the best oracle


def test_the_best_oracle_misses_only_what_every_reader_misses(small_cohort: Cohort) -> None:
    truth = small_cohort.truth
    wrong = np.where(small_cohort.available, 1 - truth[:, None], UNKNOWN)
    words = np.where(np.arange(len(truth))[:, None] < 5, wrong, small_cohort.decisions)
    cohort = replace(small_cohort, decisions=words)
    alone, theirs = readers_alone(cohort, costs_of(cohort))
    oracle = dict(zip(COUNTS, alone.cases[-1, theirs[-1]].sum(0), strict=True))
    hit = (small_cohort.available & (words == truth[:, None])).any(-1)
    assert theirs[-1].sum() == small_cohort.available.any(-1).sum()
    assert oracle["FN"] + oracle["FP"] == (~hit).sum() >= 5


# ---------------------------------------------------------------------------------- load


@pytest.mark.parametrize("method", PUBLISHED_LOADS)
def test_the_collapse_formulas_are_those_of_the_published_row(method: str) -> None:
    load = PUBLISHED_LOADS[method]
    row = collapse(asked(load), len(load)).iloc[0]
    paper = printed("expert_collapse").loc[method]
    assert row[paper.index].to_numpy(float) == pytest.approx(paper.to_numpy(), abs=PRINTED)


@settings(max_examples=40)
@given(hnp.arrays(np.int64, st.integers(2, 8), elements=st.integers(0, 9)).filter(lambda load: load.any()))
def test_concentration_lies_between_an_even_load_and_a_single_reader(load: np.ndarray) -> None:
    row = collapse(asked(tuple(load)), len(load)).iloc[0]
    assert -1e-9 <= row["EntropyCollapse"] <= 1 + 1e-9
    assert -1e-9 <= row["Gini"] <= 1 + 1e-9
    assert 1 - 1e-9 <= row["NEff"] <= len(load) + 1e-9
    assert load_of(asked(tuple(load)), len(load)).tolist() == load.tolist()


def test_one_busy_reader_is_full_collapse_and_an_even_load_is_none() -> None:
    one = collapse(asked((7, 0, 0, 0)), 4).iloc[0]
    even = collapse(asked((3, 3, 3, 3)), 4).iloc[0]
    names = ["Top1", "EntropyCollapse", "NEff", "Gini"]
    assert one[names].tolist() == pytest.approx([1, 1, 1, 1])
    assert even[names].tolist() == pytest.approx([0.25, 0, 4, 0])


def test_every_reader_asked_about_a_case_carries_load() -> None:
    decisions = Decisions(np.array([[0, 2], [2, NOBODY], [NOBODY, NOBODY]]), np.array([1, 0, 1]))
    assert load_of(decisions, 3).tolist() == [1, 0, 2]
    assert collapse(decisions, 3)["Routed"].item() == 2


def test_load_nobody_carries_and_a_single_reader_have_no_concentration() -> None:
    idle = collapse(Decisions(np.full((5, 1), NOBODY), np.ones(5, int)), 4).iloc[0]
    single = collapse(asked((3,)), 1).iloc[0]
    assert idle["Routed"] == 0
    assert idle.drop("Routed").isna().all()
    assert single[["EntropyCollapse", "Gini"]].isna().all()


def test_soft_load_weighs_each_allocation_by_its_deferral() -> None:
    available = np.ones((2, 4), bool)
    policy = Policy(np.array([0.9, 0.3]), np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0]]), available)
    row = soft_load(policy).iloc[0]
    share = np.array([0.75, 0.25, 0, 0])
    entropy = -(share[:2] * np.log(share[:2])).sum()
    assert row["DeferSoft"] == pytest.approx(0.6)
    assert row["HHI"] == pytest.approx(((share**2).sum() - 1 / 4) / (1 - 1 / 4))
    assert row["LoadCV"] == pytest.approx(share.std() / share.mean())
    assert row["DeadFrac"] == 0.5
    assert row["EffExp"] == pytest.approx(np.exp(entropy))
    assert row["Entropy"] == pytest.approx(entropy / np.log(4))


def test_soft_load_of_a_population_has_a_row_for_every_member(small_cohort: Cohort) -> None:
    scores = np.random.default_rng(0).normal(size=(3, len(small_cohort), 1 + small_cohort.readers))
    policy = Policy.from_scores(scores, small_cohort.available)
    rows = soft_load(policy)
    assert rows["member"].tolist() == [0, 1, 2]
    alone = soft_load(policy.member(2)).iloc[0]
    assert rows.iloc[2][alone.index].to_numpy(float) == pytest.approx(alone.to_numpy(float))


def test_a_policy_that_never_defers_has_no_soft_load() -> None:
    row = soft_load(Policy(np.zeros(3), np.full((3, 2), 0.5), np.ones((3, 2), bool))).iloc[0]
    assert row["DeferSoft"] == 0
    assert row.drop("DeferSoft").isna().all()


def test_the_published_soft_loads_obey_the_same_formulas() -> None:
    paper = printed("ablation_regularisation")
    readers = len(PUBLISHED_LOADS["MPD²-Router"])
    assert np.sqrt((readers - 1) * paper["HHI"].to_numpy()) == pytest.approx(paper["LoadCV"].to_numpy(), rel=0.01)
    assert readers ** paper["Entropy"].to_numpy() == pytest.approx(paper["EffExp"].to_numpy(), rel=0.01)
