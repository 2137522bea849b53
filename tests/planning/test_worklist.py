"""The worklist says what a population does together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import cohorts, policies

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.errors import UserError
from mpd2.core.policy import Policy, mean_policy
from mpd2.planning.worklist import ORDERS, decisions_frame, ordered, worklist


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


def test_the_worklist_tells_what_the_chosen_action_costs_and_how_it_ends(small_cohort: Cohort) -> None:
    cases = small_cohort.rows(np.arange(10))
    keeps = Policy(np.zeros((2, 10)), np.zeros((2, *cases.available.shape)), cases.available)
    expected = np.random.default_rng(0).random((10, 1 + cases.readers))
    rows = worklist(keeps, cases, "joint", expected)
    assert (rows["reader"] == "AI").all()
    np.testing.assert_array_equal(rows["expected_cost"], expected[:, 0])
    np.testing.assert_array_equal(rows["ending"] == "right", cases.ai_label == cases.truth)
    unknown = worklist(keeps, replace(cases, truth=np.full(10, UNKNOWN)), "joint", expected)
    assert (unknown["ending"] == "not known").all()


def test_each_order_puts_its_most_urgent_case_first_and_loses_none() -> None:
    rows = pd.DataFrame({
        "case_id": ["dear", "close", "disputed"], "expected_cost": [0.9, 0.1, 0.2], "log_odds": [5.0, -0.1, 4.0],
        "votes": [10, 10, 4], "members": 10,
    })  # fmt: skip
    assert {order: ordered(rows, order)["case_id"].iloc[0] for order in ORDERS} == {
        "costly": "dear", "close": "close", "disputed": "disputed",
    }  # fmt: skip
    assert ordered(rows, "disputed")["case_id"].tolist() == ["disputed", "dear", "close"]  # ties by cost
    with pytest.raises(UserError, match=r"found 'loud', expected one of costly, close, disputed"):
        ordered(rows, "loud")
