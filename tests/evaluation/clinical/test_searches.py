"""Preset searches find what they say, on hand-made cases and on the benchmark."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from strategies import STATE

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.policy import NOBODY, Decisions
from mpd2.evaluation.clinical.searches import DEAREST, SEARCHES, meanings, searches, titles


def five(held_out: Cohort) -> Cohort:
    """Five cases: AI sure and wrong, unsure and wrong, two glaucomas it misses, the first reader one, unknown truth."""
    cases = held_out.rows(np.arange(5))
    state = cases.state.copy()
    state[:, STATE.index("prob_1")] = [0.95, 0.6, 0.2, 0.2, 0.99]
    decisions = np.zeros_like(cases.decisions)
    decisions[3, 0] = 1
    return replace(cases, state=state, truth=np.array([0, 0, 1, 1, UNKNOWN]), decisions=decisions)


def kept(*labels: int) -> Decisions:
    return Decisions(np.full((len(labels), 1), NOBODY), np.array(labels))


def test_each_search_finds_what_it_says(held_out: Cohort) -> None:
    cases, costs = five(held_out), held_out.manifest.default_costs()
    asked = Decisions(np.array([[NOBODY], [NOBODY], [0], [0], [NOBODY]]), np.array([1, 0, 0, 0, 1]))
    found = searches(cases, asked, costs)
    assert list(found) == list(SEARCHES)
    task = held_out.manifest.task
    assert list(titles(task)) == list(SEARCHES)
    assert set(meanings(task)) == set(SEARCHES) - {"all"}
    assert {key: np.flatnonzero(rows).tolist() for key, rows in found.items()} == {
        "all": [0, 1, 2, 3, 4],
        "confident": [0],
        "overruled": [1],
        "missed": [2],
        "dearest": [0, 2, 3],
    }


def test_whatever_the_rule_saves_is_not_missed_and_a_reading_is_not_free(held_out: Cohort) -> None:
    cases, costs = five(held_out), held_out.manifest.default_costs()
    assert not searches(cases, kept(0, 0, 1, 1, 0), costs)["missed"].any()
    assert np.flatnonzero(searches(cases, kept(0, 0, 0, 0, 0), costs)["missed"]).tolist() == [2, 3]
    read = Decisions(np.array([[0], [NOBODY], [NOBODY], [NOBODY], [NOBODY]]), np.array([0, 0, 1, 1, 1]))
    assert np.flatnonzero(searches(cases, read, costs)["dearest"]).tolist() == [0]


def test_the_dearest_cost_at_least_as_much_as_any_other(held_out: Cohort) -> None:
    costs, nobody = held_out.manifest.default_costs(), np.full((len(held_out), 1), NOBODY)
    dearest = searches(held_out, Decisions(nobody, held_out.ai_label), costs)["dearest"]
    spent = costs.of_errors(held_out.ai_label, held_out.truth)
    assert dearest.sum() == DEAREST
    assert spent[dearest].min() >= spent[~dearest].max()
