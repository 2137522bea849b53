"""What moves between two ways of routing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import cohorts, policies

from mpd2.core.cohort import UNKNOWN
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY, Decisions, apply_actions, route
from mpd2.evaluation.metrics import COUNTS, tally
from mpd2.planning.moved_cases import GAINED, LOST, in_short, in_words, load_change, moved, moved_summary


@settings(max_examples=60)
@given(st.data(), cohorts())
def test_the_moves_add_up_to_the_difference_of_all_counts(data, cohort):
    costs = cohort.manifest.default_costs()
    before, after = (route(data.draw(policies(cohort)), cohort, "staged") for _ in range(2))
    rows = moved(cohort, costs, before, after)
    change = tally(cohort, after, costs).counts - tally(cohort, before, costs).counts
    named = dict(zip(COUNTS, change, strict=True))
    assert rows["fees"].sum() == pytest.approx(named["fees"])
    assert rows["clinical"].sum() == pytest.approx(named["clinical"])
    errors = (rows["error"] == GAINED).sum() - (rows["error"] == LOST).sum()
    assert errors == pytest.approx(named["FN"] + named["FP"])
    assert load_change(cohort, before, after)["change"].sum() == pytest.approx(named["consults"])
    counted = moved_summary(rows)
    assert counted["cases"].sum() == len(rows)
    assert counted["gained"].sum() - counted["lost"].sum() == errors
    assert in_short(cohort, costs, before, after) == in_words(rows)


def test_each_kind_of_move_by_example(small_cohort):
    cases = small_cohort.rows(np.flatnonzero(small_cohort.available[:, :2].all(1))[:4])
    before = apply_actions(np.array([0, 1, 1, 1]), cases)
    after = apply_actions(np.array([1, 0, 2, 1]), cases)
    rows = moved(cases, cases.manifest.default_costs(), before, after)
    first, second = (reader.name for reader in cases.manifest.readers[:2])
    assert rows["kind"].tolist() == ["now sent", "no longer sent", "another reader"]
    assert rows["from"].tolist() == ["AI", first, first]
    assert rows["to"].tolist() == [first, "AI", second]
    assert "1 case now sent, 1 case no longer sent, 1 case another reader" in in_words(rows)


def test_an_ai_that_is_overruled_unread_has_not_decided(small_cohort):
    case = small_cohort.rows(np.array([0]))
    own, against = (Decisions(np.array([[NOBODY]]), label) for label in (case.ai_label, 1 - case.ai_label))
    row = moved(case, case.manifest.default_costs(), own, against).iloc[0]
    assert (row["from"], row["to"], row["kind"]) == ("AI", "rule", "another answer")


def test_a_second_opinion_and_another_answer_are_moves_too(small_cohort):
    case = small_cohort.rows(np.flatnonzero(small_cohort.available[:, :2].all(1))[:1])
    one = Decisions(np.array([[0, NOBODY]]), np.array([0]))
    two = Decisions(np.array([[0, 1]]), np.array([0]))
    other = Decisions(np.array([[0, NOBODY]]), np.array([1]))
    costs = case.manifest.default_costs()
    asked = moved(case, costs, one, two).iloc[0]
    assert asked["to"] == ", ".join(reader.name for reader in case.manifest.readers[:2])
    assert asked["fees"] == pytest.approx(costs.fees[1])
    assert moved(case, costs, one, other)["kind"].tolist() == ["another answer"]
    assert moved(case, costs, one, one).empty


def test_without_the_truth_nothing_is_said_of_errors(small_cohort):
    case = replace(small_cohort.rows(np.flatnonzero(small_cohort.available[:, 0])[:1]), truth=np.array([UNKNOWN]))
    rows = moved(
        case, case.manifest.default_costs(), apply_actions(np.array([0]), case), apply_actions(np.array([1]), case)
    )
    assert rows["error"].tolist() == ["not known"]
    assert rows["clinical"].isna().all()


def test_decisions_of_a_population_are_refused(small_cohort):
    many = apply_actions(np.zeros((2, len(small_cohort)), int), small_cohort)
    with pytest.raises(UserError, match="expected one a case"):
        moved(small_cohort, small_cohort.manifest.default_costs(), many, many)
