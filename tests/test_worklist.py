"""The worklist says what a population does together."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import cohorts, policies

from mpd2.cohort import Cohort
from mpd2.policy import Policy
from mpd2.worklist import decisions_frame, mean_policy


@given(st.data())
@settings(deadline=None, max_examples=30)
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
