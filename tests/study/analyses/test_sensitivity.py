"""Every method at the same sensitivity, and promises counted by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tiny_study import few_cases, tiny_tables

from mpd2.methods.registry import METHODS
from mpd2.planning.floors import CONFIDENCE, Floor
from mpd2.study.analyses.sensitivity import broken_promises, claim_rows, floor_words, promise_words, sensitivity_rows
from mpd2.study.tables import StudyTables


def test_a_promise_that_is_never_given_is_never_broken():
    right = np.zeros((3, 40), bool)
    drawn = np.ones((5, 40), bool)
    assert broken_promises(Floor(0.9, sure=True), right, right[0], drawn) == {"found": 0.0, "broken": 0.0}


def test_a_promise_is_broken_where_the_calibration_cases_were_lucky():
    right = np.zeros((1, 100), bool)
    right[0, :80] = True  # 80 % are found, 90 % are promised
    lucky, fair = np.zeros((2, 100), bool)
    lucky[:40], fair[::2] = True, True
    assert broken_promises(Floor(0.9, sure=True), right, right[0], np.array([lucky, fair])) == {
        "found": 0.5,
        "broken": 0.5,
    }


def test_testing_stops_at_the_first_weight_that_cannot_be_promised():
    right = np.ones((3, 60), bool)
    right[1, :30] = False  # the second fails, so the third, though it finds everything, is never tried
    right[0, 0] = False
    checked = broken_promises(Floor(0.9, sure=True), right, right[0], np.ones((1, 60), bool))
    assert stats.binom.sf(58, 60, 0.9) <= 1 - CONFIDENCE
    assert checked == {"found": 1.0, "broken": 0.0}


def test_against_the_ai_the_cases_they_differ_on_decide():
    ai = np.array([True] * 50 + [False] * 10)
    same, better = ai.copy(), np.ones(60, bool)
    drawn = np.ones((1, 60), bool)
    assert broken_promises(Floor(sure=True), same[None], ai, drawn)["found"] == 0
    assert broken_promises(Floor(sure=True), better[None], ai, drawn)["found"] == 1


@pytest.fixture(scope="module")
def tables():
    return StudyTables(tiny_tables(), few_cases().manifest)


def test_the_words_follow_from_the_tables(tables):
    cells = tables["floors"].query("floor == 'ai' and metric == 'Spec'").set_index("method")
    assert f"(the AI {cells.loc['ai', 'value']:.3f})" in floor_words(tables)
    assert f"{tables['promises']['broken'].max():.1%}" in promise_words(tables)


NONE = "no method keeps the AI's own sensitivity with fewer false alarms; Mao"


@pytest.mark.parametrize(("ai", "mao", "said"), [(0.85, 0.8, "resplits Mao"), (0.85, 0.6, NONE), (0.95, 0.8, NONE)])
def test_the_ai_is_no_rival_of_its_own(ai, mao, said):
    found = {"ai": (0.7, ai), "mao": (mao, 0.9), "verma": (0.6, 0.8)}
    rows = [
        {"method": key, "title": METHODS[key].name, "floor": "ai", "metric": name, "value": value, "n": 5}
        for key, (sensitivity, specificity) in found.items()
        for name, value in (("Sens", sensitivity), ("Spec", specificity), ("Defer", 0.2))
    ]
    words = floor_words(StudyTables({"floors": pd.DataFrame(rows)}, few_cases().manifest))
    assert said in words
    assert "Mao two-stage raises the fewest" in words
    assert f"specificity 0.900 (the AI {ai:.3f}) at a sensitivity of {mao:.3f}" in words


def test_the_method_with_the_fewest_false_alarms_comes_first(tables):
    rows = tables["sensitivity"].query("floor == 'ai' and metric == 'Spec' and cohort == 'all'")
    assert sensitivity_rows(tables)[1][0] == rows.loc[rows["value"].idxmax(), "title"]


def test_every_claim_has_a_verdict_at_both_points(tables):
    heads, *body = claim_rows(tables)
    assert len(heads) == 5
    assert all(len(row) == 5 and all(row) for row in body)
