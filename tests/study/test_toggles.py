"""What the regularisers buy, in words."""

import pandas as pd
import pytest
from places import DATA

from mpd2.study.tables import StudyTables, read_table
from mpd2.study.toggles import WITHOUT, regularisers_buy


@pytest.fixture
def tables() -> dict[str, pd.DataFrame]:
    return {name: read_table(DATA, name) for name in ("objective", "effects")}


def test_the_sentence_follows_from_the_shipped_tables(tables, benchmark):
    told = regularisers_buy(StudyTables(tables, benchmark.manifest))
    effects = tables["effects"]
    (top,) = effects[(effects["first"] == WITHOUT) & (effects["metric"] == "Top1") & (effects["second"] == "full")][
        "difference"
    ]
    assert f"busiest reader's share rises by {100 * top:.1f} points" in told
    assert "effective readers falls by" in told
    assert "10 seeds" in told


def test_other_figures_give_other_words(tables, benchmark):
    effects = tables["effects"]
    figures = ["difference", "low", "high"]
    effects.loc[effects["first"] == WITHOUT, figures] = [-0.001, -0.01, 0.01]
    told = regularisers_buy(StudyTables(tables, benchmark.manifest))
    assert "busiest reader's share falls, within chance, by 0.1 points" in told
    assert "within that of routers with both" in told
