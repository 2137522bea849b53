"""Ours beside the paper's: every printed number once, and no reason that its cell does not bear out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
import pandas as pd
import pytest
from places import DATA, ROOT
from tiny_study import few_cases, tiny_tables

from mpd2.core.manifest import load_manifest
from mpd2.evaluation.published import published
from mpd2.study.definition import PAPER_RUN
from mpd2.study.reproduction import (
    COLUMNS,
    COMPARED,
    COSTS,
    LAST_DIGIT,
    NOT_KNOWN,
    ONE_RUN,
    OTHER_LOAD,
    REASONS,
    SAME,
    SEEDS,
    UNDEFINED,
    cells,
    furthest,
    reproduction,
)
from mpd2.study.results import results
from mpd2.study.tables import StudyTables, read_table

PRINTED = {
    "overall": "overall", "cohorts": "per_cohort", "collapse": "expert_collapse", "retention": "ai_retention",
    "readers": "per_expert", **{name: f"ablation_{name}" for name in ("objective", "regularisation")},
    "budget": "ablation_deferral",
}  # fmt: skip


def shipped(changes: Mapping[str, pd.DataFrame] | None = None) -> StudyTables:
    tables = {name: read_table(DATA, name) for name in COMPARED}
    return StudyTables(tables | dict(changes or {}), load_manifest(DATA / "manifest.toml"))


@cache
def whole() -> pd.DataFrame:
    return reproduction(shipped())


def of(reason: str) -> pd.DataFrame:
    rows = whole()
    found = rows[rows["reason"] == reason]
    assert len(found)
    return found


@pytest.mark.parametrize("table", COMPARED)
def test_every_printed_number_that_we_have_stands_there_once(table: str) -> None:
    rows = whole()[whole()["table"] == table]
    assert not rows.duplicated(["method", "cohort", "metric"]).any()
    ours = set(read_table(DATA, table)["metric"])
    assert len(rows) == published(PRINTED[table])["metric"].isin(ours).sum()


def test_a_difference_is_ours_less_the_papers() -> None:
    rows = whole()
    assert tuple(rows.columns) == COLUMNS
    assert rows["difference"].to_numpy() == pytest.approx((rows["value"] - rows["published"]).to_numpy())
    assert rows["published"].between(rows["low"] - LAST_DIGIT, rows["high"] + LAST_DIGIT).equals(rows["inside"])


def test_what_needs_no_training_is_the_same_to_the_last_digit() -> None:
    rows = whole()
    untrained = (rows["table"] == "readers") | (rows["method"] == "ai")
    assert (rows.loc[untrained, "reason"] == SAME.name).all()


def test_a_cell_has_one_of_the_reasons() -> None:
    assert set(whole()["reason"]) <= set(REASONS)


def test_luck_is_only_named_where_seeds_cover_the_difference() -> None:
    assert of(SEEDS.name)["by_seeds"].all()
    others = whole()[~whole()["reason"].isin([SAME.name, SEEDS.name])]
    assert not others["by_seeds"].any()


def test_one_run_is_only_named_where_the_mean_of_ten_is_nearer() -> None:
    rows, tables = of(ONE_RUN.name), shipped()
    assert set(rows["method"]) == {PAPER_RUN}
    for row in rows.to_dict("records"):
        parts = {"Defer": ["DeferHard"], "TotalCost": ["ClinicalCost", "ExpertCost"]}.get(
            row["metric"], [row["metric"]]
        )
        ten = sum(tables.of("objective", metric=metric)["full"].published for metric in parts)
        assert abs(row["value"] - ten) < abs(row["difference"])
        assert row["evidence"] == f"the paper's mean of ten: {ten:.3f}"


def test_costs_are_only_named_where_the_form_without_them_is_nearer() -> None:
    tables = shipped()
    for row in of(COSTS.name).to_dict("records"):
        plain = tables.of(row["table"], metric=row["metric"], cohort=row["cohort"])[f"{row['method']}-plain"]
        assert abs(plain.value - row["published"]) < abs(row["difference"])


def test_an_undefined_score_is_one_that_is_printed_as_nothing() -> None:
    rows = of(UNDEFINED.name)
    assert set(rows["metric"]) == {"MCC"}
    assert (rows["published"] == 0).all()


def test_another_load_is_proved_by_the_printed_row() -> None:
    printed = published("ablation_regularisation").pivot(index="method", columns="metric", values="value")
    readers = len(shipped().manifest.readers)
    first, second = printed["Top1"], printed["Top2"] - printed["Top1"]
    assert set(of(OTHER_LOAD.name)["metric"]) == {"Top1", "Top2"}
    proved = (first**2 + second**2 - 1 / readers) / (1 - 1 / readers) > printed["HHI"]
    assert of(OTHER_LOAD.name)["method"].nunique() <= proved.sum()


def test_a_reason_goes_when_the_numbers_no_longer_bear_it_out() -> None:
    rows = read_table(DATA, "overall")
    cell = (rows["method"] == "verma") & (rows["metric"] == "Defer")
    plain = (rows["method"] == "verma-plain") & (rows["metric"] == "Defer")
    ours = rows.loc[cell, "value"].item()
    moved = rows.assign(value=rows["value"].mask(plain, ours - 0.1))
    told = reproduction(shipped({"overall": moved}))
    there = (told["table"] == "overall") & (told["method"] == "verma") & (told["metric"] == "Defer")
    assert told.loc[there, "reason"].tolist() == [NOT_KNOWN.name]
    same = rows.assign(published=rows["published"].mask(cell, ours))
    told = reproduction(shipped({"overall": same}))
    assert told.loc[there, "reason"].tolist() == [SAME.name]


def test_a_cell_without_a_number_of_ours_is_left_out() -> None:
    rows = read_table(DATA, "overall")
    cell = (rows["method"] == "ai") & (rows["metric"] == "F1")
    gone = shipped({"overall": rows.assign(value=rows["value"].mask(cell, np.nan))})
    assert len(cells(gone, "overall")) == len(cells(shipped(), "overall")) - 1


def test_the_furthest_cell_of_a_table_is_named_and_counts_are_no_match_for_shares() -> None:
    far = furthest(whole()).set_index("table")
    assert list(far.index) == list(COMPARED)
    assert "Routed" not in set(far["metric"])
    rows = whole()[(whole()["table"] == "overall")]
    assert abs(far["difference"]["overall"]) == rows["difference"].abs().max()


def test_results_count_what_the_cells_say() -> None:
    manifest = few_cases().manifest
    told, rows = results(tiny_tables(), manifest), reproduction(StudyTables(tiny_tables(), manifest))
    assert f"Of {len(rows)} numbers the paper prints, {rows['inside'].sum()} lie in our interval" in told
    assert f"For {(rows['reason'] == NOT_KNOWN.name).sum()} the reason of the difference is not known" in told
    for table, count in rows["table"].value_counts().items():
        assert f"\n| {table} | {count} | " in told


@pytest.mark.parametrize("reason", [reason for reason in REASONS.values() if reason is not NOT_KNOWN])
def test_a_reason_names_where_it_can_be_looked_up(reason) -> None:
    assert reason.source
    for word in reason.source.replace(";", " ").replace(",", " ").split():
        if "/" in word or word.endswith(".md"):
            assert (ROOT / word).is_file()
