"""The readers: sheet, load and availability, and their agreement with each other and with the AI."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from strategies import cohorts

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.policy import DECIDERS, NOBODY, Decisions, Policy, route
from mpd2.evaluation import readers, tables
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
    rows = readers.load(evidence.outcomes["even"], evidence.cohort, weights)
    first = evidence.cohort.available.argmax(-1)
    hard, soft = (rows.loc[rows["kind"] == kind, "cases"].to_numpy() for kind in ("hard", "soft"))
    np.testing.assert_allclose(hard, np.bincount(first, minlength=12) / 2)
    assert soft.sum() == pytest.approx(len(evidence.cohort) / 2)
    assert (rows["low"] <= rows["cases"] + 1e-9).all()
    assert (rows["high"] >= rows["cases"] - 1e-9).all()


def test_who_decides_is_counted_in_all_cases_and_in_each_cohort(benchmark: Cohort) -> None:
    cases = benchmark.subset(split="val").rows(np.arange(0, 885, 10))
    consulted = np.where(np.arange(len(cases)) % 3 == 0, 0, NOBODY)[None, :, None]
    label = np.where(np.arange(len(cases)) % 3 == 1, 1 - cases.ai_label, cases.ai_label)[None]
    rows = readers.who_decides(Decisions(consulted, label), cases)
    whole = rows[rows["part"] == readers.EVERYTHING]
    assert whole["who"].tolist() == list(DECIDERS)
    assert whole["cases"].tolist() == [(np.arange(len(cases)) % 3 == rest).sum() for rest in (2, 1, 0)]
    parts = rows[rows["part"] != readers.EVERYTHING]
    assert parts.groupby("who")["cases"].sum().to_dict() == whole.set_index("who")["cases"].to_dict()
    assert rows.groupby("part")["share"].sum().to_numpy() == pytest.approx(1)
    alone = readers.who_decides(Decisions(consulted, label).rows(cases.source == 0), cases.rows(cases.source == 0))
    assert set(alone["part"]) == {readers.EVERYTHING}  # one cohort is all there is


def test_a_method_without_a_policy_has_hard_load_only(evidence: Evidence, weights: np.ndarray) -> None:
    rows = readers.load(evidence.outcomes["ai"], evidence.cohort, weights)
    assert set(rows["kind"]) == {"hard"}
    assert rows["cases"].eq(0).all()
    assert readers.busiest(rows) == "No reader is asked: every case is kept."


def test_the_busiest_reader_the_idle_and_the_overloaded_are_named() -> None:
    rows = pd.DataFrame({"kind": "hard", "title": ["A", "B", "C"], "cases": [10.0, 50.0, 0.0]})
    assert readers.busiest(rows) == "B is asked most often: 50 of 60 readings. Never asked: C."
    assert readers.busiest(rows, 30).endswith("Above 30 cases: B; 20 cases would have to go elsewhere.")
    assert readers.busiest(rows, 50).endswith("Nobody is asked about more than 50 cases.")


def test_availability_is_the_share_of_each_cohorts_cases(val: Cohort) -> None:
    rows = readers.availability(val).set_index(["reader", "cohort"])
    here = val.sources == "origa"
    assert rows.loc[("refuge_expert_4", "origa"), "cases"] == val.available[here, 3].sum()
    assert rows.loc[("refuge_expert_1", "chaksu"), "share"] == 0
    assert rows.loc[("chaksu_expert_1", "chaksu"), "share"] == 1


def test_availability_leaves_out_a_cohort_without_cases(val: Cohort) -> None:
    assert set(readers.availability(val.subset(cohorts=["origa"]))["cohort"]) == {"origa"}


def test_the_sheet_has_every_reader_with_the_method_on_the_same_cases(evidence: Evidence, weights: np.ndarray) -> None:
    matched, gaps = tables.readers(evidence, weights), tables.reader_gaps(evidence, "ai", weights)
    sheet = readers.sheet(matched, gaps, evidence.cohort)
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
    sheet = readers.sheet(tables.readers(part, drawn), tables.reader_gaps(part, "ai", drawn), cases)
    assert set(sheet["title"].str[:6]) == {"Chákṣu"}


def test_operating_points_are_readers_ai_and_the_run_each_once(evidence: Evidence, weights: np.ndarray) -> None:
    matched, overall = tables.readers(evidence, weights), tables.overall(evidence, weights)
    points = readers.operating_points(matched, overall, "even")
    assert points["kind"].value_counts().to_dict() == {"reader": 12, "run": 1, "ai": 1}
    assert points.loc[points["kind"] == "ai", "n"].item() == len(evidence.cohort)
    alone = readers.operating_points(matched, overall, "ai")
    assert alone["kind"].value_counts().to_dict() == {"reader": 12, "run": 1}


def test_the_sentence_counts_wins_and_tells_how_sure_that_is() -> None:
    row = pd.Series({"title": "Router", "wins": 11, "n": 12, "low": 9.0, "high": 12.0})
    assert readers.beaten(row).startswith("Router has a higher F1 than 11 of 12 readers")
    assert "(95\xa0% interval 9 to 12)" in readers.beaten(row)
    assert "(95\xa0% interval 12)" in readers.beaten(row.replace(9.0, 12.0))


# ---------------------------------------------------------------------------------- agreement


def pair(rows, first, second):
    return rows[(rows["first"] == first) & (rows["second"] == second)].iloc[0]


def test_kappa_is_that_of_scikit_learn_on_the_common_cases(val: Cohort) -> None:
    rows = readers.agreement(val, resample_weights(val, 50))
    common = (val.decisions[:, 7] != UNKNOWN) & (val.decisions[:, 8] != UNKNOWN)
    found = pair(rows, val.manifest.columns[7], val.manifest.columns[8])
    assert found["n"] == common.sum()
    assert found["kappa"] == pytest.approx(cohen_kappa_score(val.decisions[common, 7], val.decisions[common, 8]))
    assert found["low"] <= found["kappa"] <= found["high"]


def test_every_reader_is_compared_with_the_ai_on_the_cases_they_read(val: Cohort) -> None:
    rows = readers.agreement(val, resample_weights(val, 2))
    with_ai = rows[rows["first"] == readers.AI]
    assert with_ai["second"].tolist() == list(val.manifest.columns)
    assert with_ai["n"].tolist() == (val.decisions != UNKNOWN).sum(0).tolist()


def test_every_two_are_compared_once(val: Cohort) -> None:
    rows = readers.agreement(val, resample_weights(val, 2))
    assert len(rows) == 13 * 12 / 2
    assert not rows.duplicated(["first", "second"]).any()


def test_two_who_share_too_few_cases_are_not_compared(val: Cohort) -> None:
    few = val.rows(np.flatnonzero(val.available[:, 7] & val.available[:, 8])[: readers.FEWEST - 1])
    found = pair(readers.agreement(few, resample_weights(few, 5)), val.manifest.columns[7], val.manifest.columns[8])
    assert found["n"] == readers.FEWEST - 1
    assert np.isnan(found[["kappa", "low", "high"]].astype(float)).all()
    assert 0 <= found["agree"] <= 1


def test_a_twin_agrees_fully(val: Cohort) -> None:
    words = val.decisions.copy()
    words[:, 8] = words[:, 7]
    twins = replace(val, decisions=words, available=words != UNKNOWN)
    found = pair(readers.agreement(twins, resample_weights(twins, 5)), val.manifest.columns[7], val.manifest.columns[8])
    assert found["kappa"] == found["agree"] == 1


@given(st.lists(st.integers(0, 30), min_size=4, max_size=4))
@settings(max_examples=60)
def test_kappa_does_not_depend_on_who_is_first(cells: list[int]) -> None:
    both, first, second, neither = cells
    n = sum(cells)
    one = readers.kappa(np.array([n, both + neither, both + first, both + second]))
    other = readers.kappa(np.array([n, both + neither, both + second, both + first]))
    np.testing.assert_array_equal(one, other)
    assert np.isnan(one) or -1 <= one <= 1


@given(cohorts())
@settings(max_examples=30)
def test_where_reader_and_ai_differ_exactly_one_is_right(cohort: Cohort) -> None:
    rows = readers.against_ai(cohort)
    differing = ((cohort.decisions != cohort.ai_label[:, None]) & cohort.available).sum(0)
    assert (rows["reader_right"] + rows["ai_right"]).tolist() == differing.tolist()
    read = rows[rows["n"] > 0]
    np.testing.assert_allclose(read["differ"] * read["n"], read["reader_right"] + read["ai_right"])


def test_a_reader_who_knows_the_truth_is_always_right_against_the_ai(val: Cohort) -> None:
    words = np.where(val.available, val.truth[:, None], UNKNOWN)
    rows = readers.against_ai(replace(val, decisions=words))
    assert rows["reader_right_share"].eq(1).all()
    wrong = ((val.ai_label != val.truth)[:, None] & val.available).sum(0)
    assert rows["reader_right"].tolist() == wrong.tolist()
    assert rows["ai_right"].eq(0).all()


def test_cases_without_a_truth_do_not_count(val: Cohort) -> None:
    truth = val.truth.copy()
    truth[:100] = UNKNOWN
    assert readers.against_ai(replace(val, truth=truth))["n"].tolist() == val.available[100:].sum(0).tolist()


def test_a_method_has_nobody_to_ask_where_none_of_its_readers_has_read_a_case(evidence: Evidence) -> None:
    val = evidence.cohort
    place = val.manifest.columns.index("chaksu_expert_4")
    asked = np.where(val.available[:, place], place, NOBODY)[None, :, None]
    only = Outcome("Chákṣu 4 alone", None, Decisions(asked, val.ai_label[None]))
    rows = readers.never_available(Evidence(val, evidence.costs, {**evidence.outcomes, "only": only}))
    assert rows.to_dict("records") == [
        {"method": "only", "title": "Chákṣu 4 alone", "readers": "Chákṣu 4", "cohort": "refuge",
         "cohort_title": "REFUGE"},
    ]  # fmt: skip
