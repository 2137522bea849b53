"""Results per 1,000 screened: people are conserved, and counts agree with the metrics."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY, Decisions, Policy, deciders, route
from mpd2.evaluation.clinical.per_thousand import (
    OUTCOMES,
    PEOPLE,
    QUANTITIES,
    Programme,
    apportioned,
    cells,
    per_thousand,
    prevalence_of,
)
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import paired_difference, resample_weights, summary
from mpd2.evaluation.metrics import tally

RESAMPLES = 300


def by_lot(cohort: Cohort, seed: int = 0) -> Decisions:
    """Three members that ask at random, and overrule the AI in some cases they ask nobody about."""
    random = np.random.default_rng(seed)
    scores = random.normal(size=(3, len(cohort), 1 + cohort.readers))
    drawn = route(Policy.from_scores(scores, cohort.available), cohort)
    overruled = ~drawn.deferred & (random.random(drawn.label.shape) < 0.3)
    return Decisions(drawn.consulted, np.where(overruled, 1 - drawn.label, drawn.label))


def alone(cohort: Cohort) -> Decisions:
    return Decisions(np.full((1, len(cohort), 1), NOBODY), cohort.ai_label[None])


@pytest.fixture(scope="module")
def evidence(held_out: Cohort) -> Evidence:
    outcomes = {"ai": Outcome("AI", None, alone(held_out)), "lot": Outcome("By lot", None, by_lot(held_out))}
    return Evidence(held_out, held_out.manifest.default_costs(), outcomes)


@pytest.fixture(scope="module")
def weights(held_out: Cohort) -> np.ndarray:
    return resample_weights(held_out, resamples=RESAMPLES)


def of(rows: pd.DataFrame, method: str = "lot") -> pd.DataFrame:
    return rows[rows["method"] == method].set_index("quantity")


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12).filter(lambda parts: sum(parts) > 1e-6), st.integers(0, 5000))
def test_whole_people_add_up_and_nobody_is_further_off_than_one(parts: list[float], total: int) -> None:
    shares = np.array(parts)
    whole = apportioned(shares, total)
    assert whole.sum() == total
    assert (np.abs(whole - total * shares / shares.sum()) < 1 + 1e-6).all()


@given(st.floats(0.001, 0.999), st.integers(0, 50), st.sampled_from([1000, 25_000]))
def test_no_person_is_lost_at_any_prevalence(small_cohort: Cohort, prevalence: float, seed: int, screened: int) -> None:
    rows = [cells(small_cohort, decisions, Programme(prevalence), screened)
            for decisions in (by_lot(small_cohort, seed), alone(small_cohort))]  # fmt: skip
    sick = [part[part["outcome"].isin(["found", "missed"])]["people"].sum() for part in rows]
    assert all(part["people"].sum() == screened for part in rows)
    assert sick[0] == sick[1] == pytest.approx(prevalence * screened, abs=0.5 + 1e-6)


def test_the_outcomes_and_the_deciders_each_add_up_to_everybody(evidence: Evidence, weights: np.ndarray) -> None:
    rows = of(per_thousand(evidence, Programme(), weights))
    for column in ("value", "whole"):
        assert rows.loc[list(OUTCOMES), column].sum() == pytest.approx(1000)
        assert rows.loc[["by_ai", "by_rule", "read"], column].sum() == pytest.approx(1000)
    assert (np.abs(rows["whole"] - rows["value"])[list(PEOPLE)] < 2).all()


def test_counts_intervals_and_differences_are_those_of_the_metrics(evidence: Evidence, weights: np.ndarray) -> None:
    """Errors a thousand are clinical costs at one a miss or one a false alarm, which the tables know already."""
    rows = of(per_thousand(evidence, Programme(), weights))
    cohort = evidence.cohort
    costs = cohort.manifest.default_costs()
    for quantity, miss, alarm in (("missed", 1000.0, 0.0), ("alarm", 0.0, 1000.0)):
        only = type(costs)(miss, alarm, (0.0,) * cohort.readers)
        tallies = {name: tally(cohort, outcome.decisions, only) for name, outcome in evidence.outcomes.items()}
        known = summary(tallies, weights).query("method == 'lot' and metric == 'TotalCost'").iloc[0]
        apart = paired_difference(tallies["lot"], tallies["ai"], weights).query("metric == 'TotalCost'").iloc[0]
        row = rows.loc[quantity]
        assert row[["value", "low", "high"]].tolist() == pytest.approx(known[["value", "low", "high"]].tolist())
        found = row[["difference", "difference_low", "difference_high"]].tolist()
        assert found == pytest.approx(apart[["difference", "low", "high"]].tolist())


@pytest.mark.parametrize("prevalence", [None, 0.03])
def test_rates_are_those_of_the_metrics_at_any_prevalence(
    evidence: Evidence, weights: np.ndarray, prevalence: float | None
) -> None:
    rows = of(per_thousand(evidence, Programme(prevalence), weights))
    known = summary(evidence.tallies, weights).query("method == 'lot'").set_index("metric")
    apart = paired_difference(evidence.tallies["lot"], evidence.tallies["ai"], weights).set_index("metric")
    for name in ("Sens", "Spec"):
        assert rows.loc[name, ["value", "low", "high"]].tolist() == pytest.approx(
            known.loc[name, ["value", "low", "high"]]
        )
        found = rows.loc[name, ["difference", "difference_low", "difference_high"]].tolist()
        assert found == pytest.approx(apart.loc[name, ["difference", "low", "high"]].tolist())


def test_who_decided_is_counted_as_decisions_say(evidence: Evidence, weights: np.ndarray) -> None:
    rows, decisions = of(per_thousand(evidence, Programme(), weights)), evidence.outcomes["lot"].decisions
    who = deciders(decisions, evidence.cohort)
    shares = [1000 * (who == position).mean() for position in range(3)]
    assert rows.loc[["by_ai", "by_rule", "read"], "value"].tolist() == pytest.approx(shares)
    assert min(shares) > 0
    assert rows.at["readings", "value"] == pytest.approx(1000 * (decisions.consulted != NOBODY).sum(-1).mean())


def test_another_prevalence_is_as_if_that_many_sick_had_come(evidence: Evidence) -> None:
    """Every healthy case four times over is the same table at another prevalence."""
    cohort = evidence.cohort
    rows = np.concatenate([np.arange(len(cohort)), np.repeat(np.flatnonzero(cohort.truth == 0), 3)])
    more = cohort.rows(rows)
    outcomes = {name: Outcome(one.title, None, one.decisions.rows(rows)) for name, one in evidence.outcomes.items()}
    whole = np.ones((1, len(more)))
    known = of(per_thousand(Evidence(more, evidence.costs, outcomes), Programme(), whole))["value"]
    weighted = of(per_thousand(evidence, Programme(prevalence_of(more)), np.ones((1, len(cohort)))))["value"]
    np.testing.assert_allclose(weighted, known)
    assert (
        abs(known["missed"] - of(per_thousand(evidence, Programme(), whole[:, : len(cohort)]))["value"]["missed"]) > 1
    )


def test_hours_and_money_follow_from_readings_and_false_alarms(evidence: Evidence, weights: np.ndarray) -> None:
    rows = of(per_thousand(evidence, Programme(minutes=12, price=30, work_up=200), weights))["value"]
    assert rows["hours"] == pytest.approx(rows["readings"] * 12 / 60)
    assert rows["money"] == pytest.approx(30 * rows["readings"] + 200 * rows["alarm"])


def test_a_year_is_a_thousand_many_times_over(evidence: Evidence, weights: np.ndarray) -> None:
    once, year = (of(per_thousand(evidence, Programme(), weights, screened=n)) for n in (1000, 20_000))
    ends, rates = ["value", "low", "high"], ["Sens", "Spec"]
    np.testing.assert_allclose(year.drop(rates)[ends], 20 * once.drop(rates)[ends])
    pd.testing.assert_frame_equal(year.loc[rates], once.loc[rates])
    assert year.loc[list(OUTCOMES), "whole"].sum() == 20_000


def test_the_ai_alone_reads_nothing_and_differs_by_nothing_from_itself(evidence: Evidence, weights: np.ndarray) -> None:
    rows = of(per_thousand(evidence, Programme(0.05), weights), "ai")
    assert rows.loc[["read", "readings", "hours", "by_rule"], "value"].tolist() == [0, 0, 0, 0]
    assert not rows[["difference", "difference_low", "difference_high"]].to_numpy().any()
    assert list(rows.index) == list(QUANTITIES)


@pytest.mark.parametrize("truth", [0, 1])
def test_a_slice_of_one_kind_is_counted_as_it_is_but_at_no_other_prevalence(held_out: Cohort, truth: int) -> None:
    cohort = held_out.rows(held_out.truth == truth)
    evidence = Evidence(cohort, cohort.manifest.default_costs(), {"ai": Outcome("AI", None, alone(cohort))})
    rows = of(per_thousand(evidence, Programme(), np.ones((2, len(cohort)))), "ai")
    assert rows.loc[["found", "missed"], "whole"].sum() == 1000 * truth
    with pytest.raises(UserError, match=f"no {'negative' if truth else 'positive'} case"):
        per_thousand(evidence, Programme(0.1), np.ones((2, len(cohort))))


@pytest.mark.parametrize("wrong", [{"prevalence": 0.0}, {"prevalence": 1.0}, {"minutes": -1}, {"price": np.nan}])
def test_a_programme_that_cannot_be_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UserError, match="expected"):
        Programme(**wrong)
