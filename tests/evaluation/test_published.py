"""The published figures agree with themselves and with each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mpd2.core.errors import UserError
from mpd2.evaluation.published import published, tables

SIZES = {"refuge": 400, "chaksu": 336, "origa": 163}  # test cases
TOTAL = sum(SIZES.values())
PRINTED = 0.0005 + 1e-9  # what printing three decimals can hide
COSTS = ["ClinicalCost", "ExpertCost", "TotalCost"]

ROWS = {
    "overall": (7, 10),
    "per_cohort": (21, 10),
    "expert_collapse": (6, 6),
    "ai_retention": (21, 4),
    "per_expert": (13, 9),
    "ablation_objective": (6, 9),
    "ablation_regularisation": (4, 10),
    "ablation_deferral": (7, 9),
}


def wide(table: str) -> pd.DataFrame:
    return published(table).pivot(index=["method", "cohort"], columns="metric", values="value")


def test_every_table_has_its_loader_and_its_shape() -> None:
    assert set(tables()) == set(ROWS)
    assert {table: wide(table).shape for table in tables()} == ROWS


@pytest.mark.parametrize("table", ROWS)
def test_no_figure_is_given_twice_and_every_one_is_a_number(table: str) -> None:
    rows = published(table)
    assert rows.columns.tolist() == ["method", "cohort", "metric", "value", "sd"]
    assert not rows.duplicated(["method", "cohort", "metric"]).any()
    assert np.isfinite(rows["value"]).all()


@pytest.mark.parametrize("table", [name for name in ROWS if name.startswith("ablation")])
def test_ablations_have_a_spread_and_other_tables_none(table: str) -> None:
    rows = published(table)
    assert rows.loc[rows["metric"] != "Target", "sd"].gt(0).all()
    assert published("overall")["sd"].isna().all()


@pytest.mark.parametrize("table", ["overall", "per_cohort"])
def test_clinical_and_expert_cost_make_up_the_total(table: str) -> None:
    rows = wide(table)
    assert (rows["ClinicalCost"] + rows["ExpertCost"]).to_numpy() == pytest.approx(
        rows["TotalCost"].to_numpy(), abs=3 * PRINTED
    )


@pytest.mark.parametrize("metric", ["Acc", "Defer", *COSTS])
def test_the_cohorts_average_to_the_overall_row(metric: str) -> None:
    parts = wide("per_cohort")[metric].unstack()
    average = sum(parts[key] * n for key, n in SIZES.items()) / TOTAL
    overall = wide("overall")[metric].droplevel("cohort")
    assert average.to_numpy() == pytest.approx(overall[average.index].to_numpy(), abs=2 * PRINTED)


def test_f1_follows_from_precision_and_sensitivity() -> None:
    for rows in (wide("overall"), wide("per_cohort")):
        f1 = 2 * rows["Prec"] * rows["Sens"] / (rows["Prec"] + rows["Sens"])
        assert f1.to_numpy() == pytest.approx(rows["F1"].to_numpy(), abs=2 * PRINTED)


def test_what_is_retained_is_what_is_not_deferred() -> None:
    kept, deferred = wide("ai_retention")["Share"], wide("per_cohort")["Defer"]
    assert kept.to_numpy() == pytest.approx(1 - deferred[kept.index].to_numpy(), abs=2 * PRINTED)


def test_routed_cases_are_the_deferred_ones() -> None:
    routed = wide("expert_collapse")["Routed"]
    assert (routed / TOTAL).to_numpy() == pytest.approx(wide("overall")["Defer"][routed.index].to_numpy(), abs=PRINTED)


def test_reader_accuracy_and_cost_follow_from_their_errors() -> None:
    rows = wide("per_expert")
    accuracy = 1 - (rows["FN"] + rows["FP"]) / rows["n"]
    cost = (2.0 * rows["FN"] + 1.5 * rows["FP"]) / rows["n"]
    assert accuracy.to_numpy() == pytest.approx(rows["Acc"].to_numpy(), abs=PRINTED)
    assert cost.to_numpy() == pytest.approx(rows["ClinicalCost"].to_numpy(), abs=PRINTED)


@pytest.mark.parametrize("kind", ["Soft", "Hard"])
def test_the_gap_is_the_deferral_beyond_its_target(kind: str) -> None:
    rows = wide("ablation_deferral").dropna()
    gap = rows[f"Defer{kind}"] - rows["Target"]
    assert gap.to_numpy() == pytest.approx(rows[f"Gap{kind}"].to_numpy(), abs=2 * PRINTED)
    assert len(rows) == 6


def test_the_full_objective_is_the_same_run_in_all_three_ablations() -> None:
    names = ["ClinicalCost", "DeferSoft", "DeferHard"]
    rows = published("ablation_objective")
    full = rows[rows["method"] == "Full objective"]
    for table, method in (("ablation_regularisation", "Full regularisation"), ("ablation_deferral", "AL70")):
        rows = published(table)
        same = rows[rows["method"] == method]
        left, right = (run.set_index("metric").loc[names, ["value", "sd"]] for run in (full, same))
        assert (left == right).all(axis=None)


def test_an_unknown_table_is_named_with_those_there_are() -> None:
    with pytest.raises(UserError, match=r"found 'table 9', expected one of ablation_deferral, .* per_expert"):
        published("table 9")
