"""The score of a trial: fixed references, honest metrics."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import average_precision_score
from strategies import cohorts, policies

from mpd2.core.cohort import learning_split
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY, Decisions, Policy, route
from mpd2.evaluation.metrics import evaluate
from mpd2.lab.tuning.score import AUGMENTATION, CRITERIA, WEIGHTS, Scale, appraise, final_auprc, scale_of

VALUES = hnp.arrays(float, 5, elements=st.floats(0, 1))
SCALE = Scale(np.array([0.0, 1.0, 1.0, 0.0, 0.0]), np.array([0.4, 0.5, 0.7, 0.2, 0.3]))


@pytest.fixture(scope="module")
def val(benchmark):
    return learning_split(benchmark, "val")


def kept_by_the_ai(cohort) -> Policy:
    nobody = np.zeros((1, len(cohort)))
    return Policy(nobody, np.zeros((1, *cohort.available.shape)), cohort.available)


def test_keeping_every_case_with_the_ai_is_the_reference(val):
    row = appraise(kept_by_the_ai(val), val, val.manifest.default_costs(), "staged", 0.7).iloc[0]
    assert row["Score"] == pytest.approx(WEIGHTS["ClinicalCost"] + 3 * AUGMENTATION)
    assert row["AUPRC"] == pytest.approx(average_precision_score(val.truth, val.ai_probability))


def test_deferring_everything_exceeds_the_budget_by_the_whole_reference(val):
    costs, everything = val.manifest.default_costs(), kept_by_the_ai(val)
    first = np.eye(val.readers)[val.available.argmax(-1)] * val.available
    everything = Policy(np.ones((1, len(val))), first[None], val.available)
    row = appraise(everything, val, costs, "staged", 0.7)
    gaps = scale_of(val, costs, 0.7).gaps(row[list(CRITERIA)].to_numpy(float))[0]
    assert gaps[CRITERIA.index("Violation")] == pytest.approx(1.0)
    assert appraise(everything, val, costs, "staged", None).loc[0, "Violation"] == 0


def test_the_metrics_are_those_of_the_decisions_made(val):
    costs = val.manifest.default_costs()
    random = np.random.default_rng(0)
    shares = random.random((2, *val.available.shape)) * val.available
    policy = Policy(random.random((2, len(val))), shares / shares.sum(-1, keepdims=True), val.available)
    rows, expected = appraise(policy, val, costs, "joint", 0.4), evaluate(val, route(policy, val, "joint"), costs)
    for name in ("ClinicalCost", "MCC", "ExpertCost", "TotalCost"):
        np.testing.assert_array_equal(rows[name], expected[name])
    np.testing.assert_allclose(rows["Violation"], policy.defer.mean(-1) - 0.4)


@given(VALUES, st.integers(0, 4), st.floats(0, 1))
def test_what_is_better_in_one_criterion_and_no_worse_in_another_scores_no_worse(values, criterion, share):
    better = values.copy()
    better[criterion] += share * (SCALE.ideal[criterion] - values[criterion])
    assert SCALE.score(better) <= SCALE.score(values) + 1e-12


def test_the_ideal_scores_zero_and_the_scale_of_a_faultless_ai_is_the_plain_unit():
    assert SCALE.score(SCALE.ideal) == 0
    faultless = Scale(SCALE.ideal, SCALE.ideal)
    np.testing.assert_allclose(faultless.gaps(np.array([0.2, 0.7, 1.0, 0.0, 0.1])), [0.2, 0.3, 0.0, 0.0, 0.1])


@settings(max_examples=50)
@given(st.data())
def test_readers_who_are_not_consulted_do_not_move_the_auprc(data):
    cohort = data.draw(cohorts())
    assume(0 < cohort.truth.sum() < len(cohort))
    policy = data.draw(policies(cohort))
    policy = Policy(policy.defer[None], policy.allocation[None], policy.available)
    decisions = route(policy, cohort, "staged")
    asked = np.zeros(cohort.decisions.shape, bool)
    sent = decisions.consulted[0, :, 0] != NOBODY
    asked[sent, decisions.consulted[0, sent, 0]] = True
    other = dataclasses.replace(
        cohort, decisions=np.where(cohort.available & ~asked, 1 - cohort.decisions, cohort.decisions)
    )
    assert final_auprc(route(policy, other, "staged"), other) == final_auprc(decisions, cohort)


def test_a_decision_that_is_always_right_has_all_the_area(small_cohort):
    right = Decisions(np.full((1, len(small_cohort), 1), NOBODY), small_cohort.truth[None])
    assert final_auprc(right, small_cohort).tolist() == [1.0]


def test_val_cases_all_of_one_kind_are_refused(small_cohort):
    healthy = small_cohort.rows(small_cohort.truth == 0)
    with pytest.raises(UserError, match="the val cases all have the same truth; expected positive and negative ones"):
        scale_of(healthy, healthy.manifest.default_costs(), 0.7)
