"""The worklist says what a population does together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import cohorts, policies

from mpd2.core.cohort import Cohort
from mpd2.core.error_rates import Expectations, error_rates, expectations
from mpd2.core.errors import UserError
from mpd2.core.policy import Continuations, Policy, mean_policy
from mpd2.planning.ranked_cases import RankedCases, rank_cases
from mpd2.planning.roster_and_limits import Limits
from mpd2.planning.worklist import FILLS, NO_ROOM, ORDERS, OVERRULED, decisions_frame, ordered, reasons, worklist


@given(st.data())
@settings(max_examples=30)
def test_the_mean_policy_has_the_mean_of_every_action(data: st.DataObject) -> None:
    cohort: Cohort = data.draw(cohorts())
    members = [data.draw(policies(cohort)) for _ in range(3)]
    together = Policy(np.stack([m.defer for m in members]), np.stack([m.allocation for m in members]), cohort.available)
    mean = mean_policy(together)
    np.testing.assert_allclose(mean.actions, together.actions.mean(0), atol=1e-12)
    np.testing.assert_allclose(mean.allocation.sum(-1), cohort.available.any(-1), atol=1e-9)


def test_votes_count_the_routers_who_would_act_like_all_of_them_together(small_cohort: Cohort) -> None:
    case = small_cohort.rows(np.flatnonzero(small_cohort.available[:, :2].all(1))[:1])
    first = np.eye(case.readers)[[0]]
    policy = Policy(np.array([[0.9], [0.9], [0.1]]), np.stack([first] * 3), case.available)  # two ask the first reader
    row = decisions_frame(policy, case, "staged").iloc[0]
    assert row["action"] == case.manifest.columns[0]
    assert row["votes"] == 2
    assert row["label"] == case.decisions[0, 0]
    assert np.isclose(row["defer"], 1.9 / 3)


@pytest.fixture(scope="module")
def cases(benchmark: Cohort) -> Cohort:
    return benchmark.subset(split="val").rows(np.arange(0, 885, 5))


@pytest.fixture(scope="module")
def expected(benchmark: Cohort, cases: Cohort) -> Expectations:
    return expectations(error_rates(benchmark).predict(cases), cases, cases.manifest.default_costs())


@pytest.fixture(scope="module")
def ranked(cases: Cohort, expected: Expectations) -> RankedCases:
    """Cases routed by what they are expected to save, with some of the luck of the draw."""
    saving = np.where(cases.available, expected.cost[:, :1] - expected.cost[:, 1:], 0.0)
    scores = np.concatenate([np.zeros((len(cases), 1)), 8 * saving], axis=1)
    scores += np.random.default_rng(0).normal(size=scores.shape)
    return rank_cases(Policy.from_scores(scores, cases.available), cases, "joint", np.ones(cases.readers, bool))


def test_the_worklist_has_every_case_once_with_the_ais_answer_and_no_truth(
    ranked: RankedCases, cases: Cohort, expected: Expectations
) -> None:
    plan = ranked.plan(Limits(budget=0.25))
    rows = worklist(ranked, plan, expected)
    assert rows["case_id"].tolist() == cases.ids.tolist()
    assert not {"truth", "label"} & set(rows)
    assert (rows["reader"] != "AI").tolist() == (plan.action > 0).tolist()  # nobody overrules the AI unread
    assert rows["decided_by"].tolist() == np.where(plan.action > 0, "reader", "AI").tolist()
    assert rows["ai_answer"].tolist() == [cases.manifest.task.answers[label] for label in cases.ai_label]
    assert rows["expected_cost"].tolist() == expected.cost[np.arange(len(cases)), plan.action].tolist()
    assert rows["kept_cost"].tolist() == expected.cost[:, 0].tolist()
    kept = (plan.action == 0).tolist()
    assert rows["answer"].notna().tolist() == kept
    assert rows["answer"][kept].tolist() == rows["ai_answer"][kept].tolist()


def test_a_kept_case_that_ends_against_the_ai_is_the_rules(
    ranked: RankedCases, cases: Cohort, expected: Expectations
) -> None:
    against = np.arange(len(cases)) % 3 == 0
    shape = cases.available.shape
    ends = Continuations(
        kept=np.where(against, 1 - cases.ai_label, cases.ai_label),
        label=np.zeros(shape, np.int64),
        consulted=np.broadcast_to(np.arange(cases.readers), shape)[..., None],
    )
    plan = ranked.plan(Limits())
    kept = plan.action == 0
    rows = worklist(replace(ranked, continuations=ends), plan, expected)
    who = np.where(kept, np.where(against, "rule", "AI"), "reader")
    assert 0 < (who == "rule").sum() < kept.sum() < len(cases)
    assert rows["decided_by"].tolist() == who.tolist()
    assert rows["reader"][kept].tolist() == who[kept].tolist()
    assert rows["reason"].str.startswith(f"{OVERRULED}: of 100 such cases").tolist() == (who == "rule").tolist()
    assert (rows["answer"] != rows["ai_answer"])[kept].tolist() == (who == "rule")[kept].tolist()


def test_a_case_of_the_kth_place_is_sent_from_k_cases_on(ranked: RankedCases, cases: Cohort) -> None:
    place = worklist(ranked, ranked.plan(Limits()))["place"].to_numpy()
    assert sorted(place[place > 0]) == list(range(1, 1 + cases.available.any(-1).sum()))
    for k in (0, 1, 20, len(cases)):
        sent = ranked.plan(Limits(budget=k / len(cases))).action > 0
        assert sent.tolist() == ((place > 0) & (place <= k)).tolist()


def test_nobody_who_could_read_it_is_no_place_and_said(cases: Cohort, expected: Expectations) -> None:
    nobody = np.zeros(cases.readers, bool)
    policy = Policy.from_scores(np.zeros((len(cases), 1 + cases.readers)), cases.available)
    alone = rank_cases(policy, cases, "joint", nobody)
    rows = worklist(alone, alone.plan(Limits(budget=1.0)), expected)
    assert (rows["place"] == 0).all()
    assert rows["reason"].str.endswith("No reader can be asked.").all()


def test_a_reason_counts_out_of_a_hundred_and_weighs_the_reader_who_is_asked(
    ranked: RankedCases, cases: Cohort, expected: Expectations
) -> None:
    plan = ranked.plan(Limits())
    for row, action, reason in zip(range(len(cases)), plan.action, reasons(ranked, plan.action, expected), strict=True):
        if action:
            name = cases.manifest.readers[action - 1].name
            gain = expected.cost[row, 0] - expected.cost[row, action]
            saves = f"save {gain:.2f} after fees" if gain > 0 else f"cost {-gain:.2f} more than it saves"
            assert f"Asking {name} is expected to {saves}." in reason
            assert f"that of {name} in" in reason
        elif "yet the run keeps it" in reason:
            assert expected.cost[row, 1:].min() < expected.cost[row, 0]
        else:
            assert reason.endswith("Asking is not expected to save its fee.")


def test_a_reason_tells_of_places(ranked: RankedCases, expected: Expectations) -> None:
    wanted = ranked.plan(Limits()).action > 0
    few, many = ranked.plan(Limits(budget=0.0)).action, ranked.plan(Limits(budget=1.0)).action
    kept = [reason.endswith(NO_ROOM) for reason in reasons(ranked, few, expected)]
    filled = [reason.endswith(FILLS) for reason in reasons(ranked, many, expected)]
    assert 0 < sum(kept) <= wanted.sum()
    assert filled == (~wanted & (many > 0)).tolist()
    saves = expected.cost[:, 1:].min(-1) < expected.cost[:, 0]
    assert kept == (wanted & saves).tolist()


def test_each_order_puts_its_most_urgent_case_first_and_loses_none() -> None:
    rows = pd.DataFrame({
        "case_id": ["dear", "close", "disputed"], "expected_cost": [0.9, 0.1, 0.2], "margin": [5.0, -0.1, 4.0],
        "votes": [10, 10, 4], "members": 10,
    })  # fmt: skip
    assert {order: ordered(rows, order)["case_id"].iloc[0] for order in ORDERS} == {
        "costly": "dear", "close": "close", "disputed": "disputed",
    }  # fmt: skip
    assert ordered(rows, "disputed")["case_id"].tolist() == ["disputed", "dear", "close"]  # ties by cost
    with pytest.raises(UserError, match=r"found 'loud', expected one of costly, close, disputed"):
        ordered(rows, "loud")
