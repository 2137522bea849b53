"""A trained run moved to any rate."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from strategies import made_up_manifest

from mpd2.core.policy import Policy, route
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import resample_weights
from mpd2.study.analyses.moved_budgets import RATES, READ, SHOWN, live_budgets, live_rows, live_words
from mpd2.study.tables import StudyTables


@pytest.fixture(scope="module")
def evidence(small_cohort) -> Evidence:
    scores = np.random.default_rng(0).normal(size=(2, len(small_cohort), 1 + small_cohort.readers))
    policy = Policy.from_scores(scores, small_cohort.available)
    outcome = Outcome("Made up", None, route(policy, small_cohort), policy)
    return Evidence(small_cohort, small_cohort.manifest.default_costs(), {"made-up": outcome})


def test_every_rate_is_met_and_every_figure_has_its_interval(evidence):
    saving = np.random.default_rng(1).normal(size=evidence.cohort.available.shape)
    rows = live_budgets(evidence, {"made-up": saving}, resample_weights(evidence.cohort, 50))
    assert len(rows) == len(RATES) * len(SHOWN)
    sent = rows[rows["metric"] == "Defer"]
    np.testing.assert_allclose(sent["value"], sent["deferral"], atol=0.5 / len(evidence.cohort) + 1e-9)
    assert (rows["low"] <= rows["value"]).all()
    assert (rows["value"] <= rows["high"]).all()


def test_it_is_told_beside_routers_trained_for_a_budget():
    live = pd.DataFrame(
        [
            {"method": "mine", "title": "Mine", "deferral": rate, "metric": metric, "value": cost}
            for metric, level in (("ClinicalCost", 0.2), ("TotalCost", 0.3))
            for rate, cost in ((0.2, level), (0.6, level - 0.1))
        ]
    )
    budget = pd.DataFrame(
        [
            {"method": name, "title": name, "metric": metric, "value": value, "low": value, "high": value}
            for name, rate, clinical, total in (("al30", 0.3, 0.18, 0.27), ("al50", 0.5, 0.1, 0.3))
            for metric, value in (("DeferHard", rate), ("ClinicalCost", clinical), ("TotalCost", total))
        ]
    )
    tables = StudyTables({"live": live, "budget": budget}, made_up_manifest(2))
    heads, clinical, total = live_rows(tables)
    assert heads == ["run", "cost", *(f"{rate:.0%} sent" for rate in READ)]
    assert clinical[:2] == ["Mine", "clinical"]
    assert clinical[2 + READ.index(0.4)] == "0.150"
    assert total[2 + READ.index(0.4)] == "0.250"
    words = live_words(tables)
    assert "no higher clinical cost than 1 of them and no higher total cost than 1" in words
    assert "al30 at 30.0% 0.175 against 0.180, al50 at 50.0% 0.125 against 0.100" in words
    assert "its clinical cost is 0.141, against 0.125 of routers trained for it" in words
