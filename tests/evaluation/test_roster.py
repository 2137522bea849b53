"""The readers: sheet, load and availability."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mpd2.core.cohort import Cohort
from mpd2.core.policy import NOBODY, Decisions, Policy, route
from mpd2.evaluation import roster, tables
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import resample_weights


@pytest.fixture(scope="module")
def evidence(val: Cohort) -> Evidence:
    """The AI alone, and two members that ask everybody available alike: one always, one never."""
    shares = val.available / np.maximum(val.available.sum(-1, keepdims=True), 1)
    policy = Policy(np.array([np.ones(len(val)), np.zeros(len(val))]), np.stack([shares] * 2), val.available)
    ai = Decisions(np.full((1, len(val), 1), NOBODY), val.ai_label[None])
    outcomes = {
        "even": Outcome("Even", None, route(policy, val, "staged"), policy, "staged"),
        "ai": Outcome("AI only", None, ai),
    }
    return Evidence(val, val.manifest.default_costs(), outcomes)


@pytest.fixture(scope="module")
def weights(val: Cohort) -> np.ndarray:
    return resample_weights(val, 40)


def test_load_is_the_mean_over_members(evidence: Evidence, weights: np.ndarray) -> None:
    rows = roster.load(evidence.outcomes["even"], evidence.cohort, weights)
    first = evidence.cohort.available.argmax(-1)
    hard, soft = (rows.loc[rows["kind"] == kind, "cases"].to_numpy() for kind in ("hard", "soft"))
    np.testing.assert_allclose(hard, np.bincount(first, minlength=12) / 2)
    assert soft.sum() == pytest.approx(len(evidence.cohort) / 2)
    assert (rows["low"] <= rows["cases"] + 1e-9).all()
    assert (rows["high"] >= rows["cases"] - 1e-9).all()


def test_a_method_without_a_policy_has_hard_load_only(evidence: Evidence, weights: np.ndarray) -> None:
    rows = roster.load(evidence.outcomes["ai"], evidence.cohort, weights)
    assert set(rows["kind"]) == {"hard"}
    assert rows["cases"].eq(0).all()
    assert roster.busiest(rows) == "No reader is asked: the AI decides every case."


def test_the_busiest_reader_the_idle_and_the_overloaded_are_named() -> None:
    rows = pd.DataFrame({"kind": "hard", "title": ["A", "B", "C"], "cases": [10.0, 50.0, 0.0]})
    assert roster.busiest(rows) == "B is asked most often: 50 of 60 readings. Never asked: C."
    assert roster.busiest(rows, 30).endswith("Above 30 cases: B; 20 cases would have to go elsewhere.")
    assert roster.busiest(rows, 50).endswith("Nobody is asked about more than 50 cases.")


def test_availability_is_the_share_of_each_cohorts_cases(val: Cohort) -> None:
    rows = roster.availability(val).set_index(["reader", "cohort"])
    here = val.sources == "origa"
    assert rows.loc[("refuge_expert_4", "origa"), "cases"] == val.available[here, 3].sum()
    assert rows.loc[("refuge_expert_1", "chaksu"), "share"] == 0
    assert rows.loc[("chaksu_expert_1", "chaksu"), "share"] == 1


def test_availability_leaves_out_a_cohort_without_cases(val: Cohort) -> None:
    assert set(roster.availability(val.subset(cohorts=["origa"]))["cohort"]) == {"origa"}


def test_the_sheet_has_every_reader_with_the_method_on_the_same_cases(evidence: Evidence, weights: np.ndarray) -> None:
    matched, gaps = tables.readers(evidence, weights), tables.reader_gaps(evidence, "ai", weights)
    sheet = roster.sheet(matched, gaps, evidence.cohort)
    assert len(sheet) == evidence.cohort.readers
    assert sheet["difference"].is_monotonic_decreasing
    np.testing.assert_allclose(sheet["method_f1"] - sheet["F1"], sheet["difference"])
    fees = {reader.column: reader.fee for reader in evidence.cohort.manifest.readers}
    assert dict(zip(sheet["reader"], sheet["fee"], strict=True)) == fees


def test_the_sheet_leaves_out_readers_who_read_nothing(val: Cohort, evidence: Evidence) -> None:
    rows = val.sources == "chaksu"
    cases = val.rows(rows)
    ai = Decisions(np.full((1, len(cases), 1), NOBODY), cases.ai_label[None])
    part = Evidence(cases, evidence.costs, {"ai": Outcome("AI only", None, ai)})
    drawn = resample_weights(cases, 20)
    sheet = roster.sheet(tables.readers(part, drawn), tables.reader_gaps(part, "ai", drawn), cases)
    assert set(sheet["title"].str[:6]) == {"Chákṣu"}


def test_operating_points_are_readers_ai_and_the_run_each_once(evidence: Evidence, weights: np.ndarray) -> None:
    matched, overall = tables.readers(evidence, weights), tables.overall(evidence, weights)
    points = roster.operating_points(matched, overall, "even")
    assert points["kind"].value_counts().to_dict() == {"reader": 12, "run": 1, "ai": 1}
    assert points.loc[points["kind"] == "ai", "n"].item() == len(evidence.cohort)
    alone = roster.operating_points(matched, overall, "ai")
    assert alone["kind"].value_counts().to_dict() == {"reader": 12, "run": 1}


def test_the_sentence_counts_wins_and_tells_how_sure_that_is() -> None:
    row = pd.Series({"title": "Router", "wins": 11, "n": 12, "low": 9.0, "high": 12.0})
    assert roster.beaten(row).startswith("Router has a higher F1 than 11 of 12 readers")
    assert "(95\xa0% interval 9 to 12)" in roster.beaten(row)
    assert "(95\xa0% interval 12)" in roster.beaten(row.replace(9.0, 12.0))
