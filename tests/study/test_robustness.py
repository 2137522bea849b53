"""Figures over resplits, on findings small enough to count by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tiny_study import PLAN, tiny_study

from mpd2.core.errors import UserError
from mpd2.evaluation.metrics import COUNTED
from mpd2.study import robustness
from mpd2.study.experiments import MEASURES, Experiment, ExperimentCache, Resplit

COST = "TotalCost"
SPENT = {
    ("studio", 0): 0.20, ("studio", 1): 0.30, ("studio", 2): 0.10,
    ("ai", 0): 0.50, ("ai", 1): 0.30, ("ai", 2): 0.05,
    ("mao", 0): 0.40, ("mao", 1): 0.50, ("mao", 2): 0.30,
}  # fmt: skip


@pytest.fixture
def cache(tmp_path: Path) -> ExperimentCache:
    """A cache with three methods in three resplits, all at the costs above whatever the cohort."""
    study = tiny_study(tmp_path / "data")
    plan = replace(PLAN, resplits=(0, 1, 2), recalibrated=("mao", "ai"))
    contenders = {name: study.contenders[name] for name in ("studio", "ai", "mao")}
    cache = ExperimentCache(replace(study, plan=plan, contenders=contenders), (42,))
    for (method, number), cost in SPENT.items():
        write(cache, Experiment(method, Resplit(number)), cost)
    return cache


def write(cache: ExperimentCache, one: Experiment, cost: float) -> None:
    """Findings with one cost, everything else at 0."""
    keys = ["all", one.resplit.new_cohort] if one.resplit.new_cohort else ["all", "refuge", "origa", "chaksu"]
    figures = dict.fromkeys(MEASURES, 0.0) | {COST: cost, "F1": 1 - cost}
    rows = [{"floor": "", "cohort": key, "member": 0, **figures} for key in keys]
    path = cache.path(one)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"columns": list(rows[0]), "data": [list(row.values()) for row in rows]}))


def cell(rows: pd.DataFrame, **where: object) -> pd.Series:
    """The one row with these values."""
    for column, value in where.items():
        rows = rows[rows[column] == value]
    assert len(rows) == 1
    return rows.iloc[0]


def test_mean_and_spread_are_over_resplits(cache: ExperimentCache) -> None:
    row = cell(robustness.resplits(cache), method="studio", cohort="all", metric=COST)
    assert (row["value"], row["sd"], row["n"]) == (pytest.approx(0.2), pytest.approx(0.1), 3)


def test_paired_differences_are_taken_resplit_by_resplit(cache: ExperimentCache) -> None:
    rows = robustness.rivals(cache, "studio")
    ai, mao = (cell(rows, method=name, metric=COST) for name in ("ai", "mao"))
    assert ai["difference"] == pytest.approx((0.3 + 0.0 - 0.05) / 3)
    assert ai["sd"] == pytest.approx(np.std([0.3, 0.0, -0.05], ddof=1))
    assert ai["won"] == pytest.approx((1 + 0.5 + 0) / 3)
    assert (mao["difference"], mao["sd"], mao["won"]) == (pytest.approx(0.2), pytest.approx(0), 1)
    assert cell(rows, method="mao", metric="F1")["won"] == 1  # more of it is better


def test_intervals_allow_for_the_cases_resplits_share(cache: ExperimentCache) -> None:
    ai = cell(robustness.rivals(cache, "studio"), method="ai", metric=COST)
    half = stats.t.ppf(0.975, 2) * ai["sd"] * np.sqrt(1 / 3 + 24 / 48)
    assert (ai["low"], ai["high"]) == (pytest.approx(ai["difference"] - half), pytest.approx(ai["difference"] + half))


def test_one_resplit_has_no_spread(cache: ExperimentCache) -> None:
    single = replace(cache, study=replace(cache.study, plan=replace(cache.study.plan, resplits=(1,))))
    row = cell(robustness.resplits(single), method="mao", cohort="all", metric=COST)
    assert row["value"] == 0.5
    assert np.isnan([row["sd"], row["low"], row["high"]]).all()


def test_a_new_cohort_is_set_against_the_same_cases_when_known(cache: ExperimentCache) -> None:
    for one in robustness.transfer_experiments(cache.study):
        if one.resplit.new_cohort:
            write(cache, one, SPENT[one.method, one.resplit.number] + 0.25)
    row = cell(robustness.transfer(cache), method="mao", cohort="origa", metric=COST)
    assert row["value"] == pytest.approx(0.45 + 0.25)
    assert (row["known"], row["change"]) == (pytest.approx(0.45), pytest.approx(0.25))
    assert row["change_low"] == pytest.approx(0.25)


def test_local_cases_are_weighed_against_none_and_against_the_ai(cache: ExperimentCache) -> None:
    for one in robustness.recalibration_experiments(cache.study):
        if one.resplit.new_cohort:
            spent = 0.6 if one.method == "ai" else 0.5 - 0.1 * (one.resplit.local_cases > 0)
            write(cache, one, spent)
    rows = robustness.recalibration(cache)
    assert sorted(rows.loc[rows["cohort"] == "refuge", "local"].unique()) == [0, 3, 16]
    some = cell(rows, method="mao", cohort="refuge", local=3)
    assert (some["less_none"], some["less_ai"]) == (pytest.approx(-0.1), pytest.approx(-0.2))
    every = cell(rows, method="mao", cohort="refuge", local=16)
    assert every["value"] == pytest.approx(0.45)


def test_every_reported_metric_is_counted() -> None:
    assert set(robustness.REPORTED) <= set(COUNTED)


def test_a_reference_nobody_knows_is_refused(cache: ExperimentCache) -> None:
    with pytest.raises(UserError, match="comparison: found 'oracle', expected one of studio, ai, mao"):
        robustness.rivals(cache, "oracle")


def test_a_comparison_needs_somebody_else(cache: ExperimentCache) -> None:
    alone = replace(cache, study=replace(cache.study, contenders={"ai": cache.study.contenders["ai"]}))
    with pytest.raises(UserError, match="found no other method"):
        robustness.rivals(alone, "ai")


def test_a_new_cohort_is_given_no_more_local_cases_than_it_has_in_every_draw(tmp_path: Path) -> None:
    study = tiny_study(tmp_path / "data")
    cases = study.cohort
    manifest = cases.manifest.but(groups={"column": "case_id", "word": "patient"})
    strata = pd.DataFrame({"of": cases.source, "in": cases.split})
    place = strata.assign(truth=cases.truth).groupby(["of", "in", "truth"]).cumcount().to_numpy()
    patient = np.where(cases.truth == 1, place, np.minimum(place + 1, 2))  # of one, two and five cases, one positive
    grouped = replace(cases, manifest=manifest, cluster=10 * strata.groupby(["of", "in"]).ngroup().to_numpy() + patient)
    least = {key: size.learned for key, size in robustness.cohort_sizes(replace(study, cohort=grouped)).items()}
    plan = replace(PLAN, local=tuple(range(1, max(least.values()) + 1)), local_draws=tuple(range(6)))
    asked = robustness.recalibration_experiments(replace(study, cohort=grouped, plan=plan))
    given = {key: max(one.resplit.local_cases for one in asked if one.resplit.new_cohort == key) for key in least}
    assert any(given[key] < learned for key, learned in least.items())
    for one in asked:
        assert len(one.resplit.of(grouped))  # nothing is refused
