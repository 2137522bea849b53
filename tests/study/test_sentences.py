"""What resplits, new cohorts and promises come to in words: only what the tables say."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from places import DATA
from tiny_study import few_cases, tiny_tables

from mpd2.evaluation.guarantee import HOLDS
from mpd2.study import sentences
from mpd2.study.tables import StudyTables, read_table


@pytest.fixture
def tables() -> StudyTables:
    return StudyTables({name: rows.copy() for name, rows in tiny_tables().items()}, few_cases().manifest)


def changed(tables: StudyTables, table: str, rows: pd.DataFrame) -> StudyTables:
    return replace(tables, tables={**tables.tables, table: rows})


def test_rows_are_as_wide_as_their_heads(tables: StudyTables) -> None:
    for rows in (
        sentences.resplit_rows(tables),
        sentences.rival_rows(tables),
        sentences.transfer_rows(tables),
        sentences.recalibration_rows(tables),
        sentences.guarantee_rows(tables),
    ):
        assert len(rows) > 1
        assert {len(row) for row in rows} == {len(rows[0])}


def test_the_cheapest_method_is_named_with_its_spread(tables: StudyTables) -> None:
    first = sentences.resplit_rows(tables)[1]
    assert f"Over 2 resplits {first[0]} costs the least: {first[2]}" in sentences.resplit_words(tables)


def test_a_difference_within_chance_beats_nobody(tables: StudyTables) -> None:
    rows = tables["rivals"].assign(low=-1.0, high=1.0)
    told = sentences.resplit_words(changed(tables, "rivals", rows))
    assert "Of 6 other methods 0 are dearer than MPD²+ beyond chance, and 0 cheaper." in told


def test_it_is_said_whether_anybody_was_sent_to_strangers(tables: StudyTables) -> None:
    rows = tables["transfer"]
    strangers = rows["metric"] == sentences.UNHEARD
    some = rows.assign(value=rows["value"].where(~strangers, 0.125))
    none = rows.assign(value=rows["value"].where(~strangers, 0.0))
    assert "Up to 12% of cases were sent to readers" in sentences.transfer_words(changed(tables, "transfer", some))
    assert "Every reader had been heard" in sentences.transfer_words(changed(tables, "transfer", none))


def test_local_cases_pay_from_where_every_later_interval_is_below_0() -> None:
    def curve(*highs: float) -> pd.DataFrame:
        return pd.DataFrame({"local": [0, 10, 20, 50], "less_ai_high": highs})

    assert sentences.pays_from(curve(0.1, -0.1, -0.1, -0.2), "less_ai") == "10"
    assert sentences.pays_from(curve(-0.1, 0.1, -0.1, -0.2), "less_ai") == "20"
    assert sentences.pays_from(curve(-0.1, -0.1, -0.1, 0.2), "less_ai") == "no number tried"


def test_a_broken_promise_is_counted(tables: StudyTables) -> None:
    rows = tables["guarantee"].copy()
    rows = rows.astype({"state": object, "rate": float})
    rows.loc[:2, "state"], rows.loc[:2, "rate"] = HOLDS, [0.0, 0.0, 0.9]
    told = sentences.guarantee_words(changed(tables, "guarantee", rows))
    assert "promises asked for, 3 can be given; 1 of these were broken on test cases." in told


# ---------------------------------------------------------------------------------- what the regularisers buy


@pytest.fixture
def ablations() -> dict[str, pd.DataFrame]:
    return {name: read_table(DATA, name) for name in ("objective", "effects")}


def test_the_sentence_follows_from_the_shipped_tables(ablations, benchmark):
    told = sentences.regularisers_buy(StudyTables(ablations, benchmark.manifest))
    effects = ablations["effects"]
    without = (effects["first"] == sentences.WITHOUT) & (effects["second"] == "full")
    (top,) = effects.loc[without & (effects["metric"] == "Top1"), "difference"]
    assert f"busiest reader's share rises by {100 * top:.1f} points" in told
    assert "effective readers falls by" in told
    assert "10 seeds" in told


def test_other_figures_give_other_words(ablations, benchmark):
    effects = ablations["effects"]
    effects.loc[effects["first"] == sentences.WITHOUT, ["difference", "low", "high"]] = [-0.001, -0.01, 0.01]
    told = sentences.regularisers_buy(StudyTables(ablations, benchmark.manifest))
    assert "busiest reader's share falls, within chance, by 0.1 points" in told
    assert "within that of routers with both" in told
