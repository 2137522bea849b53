"""Every table can be read."""

from __future__ import annotations

import pandas as pd
import pytest
from tiny_study import EVERY_TABLE, few_cases, tiny_tables

from mpd2.core.text import NOTHING, brief
from mpd2.study.catalogue import TABLES
from mpd2.study.definition import ROUTERS
from mpd2.study.readable_tables import PRINTED, VIEWS, view
from mpd2.study.tables import StudyTables


def tables(*names: str) -> StudyTables:
    frames = tiny_tables()
    return StudyTables({name: frames[name] for name in names or frames}, few_cases().manifest)


@pytest.mark.parametrize("name", EVERY_TABLE)
def test_a_view_needs_its_own_table_alone_and_is_a_rectangle(name: str) -> None:
    rows = view(name, tables(name))
    assert rows == view(name, tables())
    assert len(rows) > 1
    assert {len(row) for row in rows} == {len(rows[0])}
    assert all(cell and "nan" not in cell for row in rows for cell in row)


def test_every_table_has_a_view() -> None:
    assert list(VIEWS) == list(TABLES)


def test_ours_stands_above_what_the_paper_prints() -> None:
    rows = view("overall", tables())
    titles = [row[0] for row in rows]
    ours, printed = rows[titles.index("Mao two-stage")], rows[titles.index("Mao two-stage") + 1]
    assert printed[0] == PRINTED
    assert printed[rows[0].index("TotalCost")] == "0.211"
    told = tables().of("overall", metric="TotalCost")["mao"]
    assert ours[rows[0].index("TotalCost")].startswith(brief(told.value))
    assert titles[titles.index("Random reader") + 1] != PRINTED
    assert sum(title == PRINTED for title in titles) == 4


def test_a_router_is_not_compared_with_itself() -> None:
    rows = view("paired", tables())
    itself = {row[0]: row[1:] for row in rows[1:]}
    assert itself["MPD² (paper)"][:2] == [NOTHING, NOTHING]
    assert NOTHING not in itself["MPD² (paper)"][2:] + itself["AI only"]


def test_the_curve_begins_with_the_ai_unless_recalibrated_and_ends_where_all_are_deferred() -> None:
    rows = {row[0]: row for row in view("deferral", tables())}
    alone = tables().of("overall", metric="TotalCost")["ai"].value
    recalibrated = {rows.pop(title)[1] for title in ("MPD²+", "Recalibrated AI")}
    assert brief(alone) not in recalibrated
    assert len(recalibrated) == 1  # with nobody asked they are the same
    assert all(row[1] == brief(alone) for title, row in rows.items() if title != "method")
    always = tables()["deferral"].query("metric == 'TotalCost' and method == 'mao'")["value"].iloc[-1]
    assert rows["Mao two-stage"][-2] == brief(always)


def test_wins_are_counted_resampled_and_told_how_often_all_are_won() -> None:
    rows = pd.DataFrame([{"title": "Mao", "wins": 3, "n": 4, "low": 1.0, "high": 4.0, "wins_all": 0.25}])
    assert view("wins", StudyTables({"wins": rows}, few_cases().manifest))[1] == ["Mao", "3 of 4", "1 to 4", "25%"]


def test_a_gap_has_the_f1_of_both_and_both_ends_of_their_difference() -> None:
    reader = {"reader_title": "R1", "n": 40, "reader_f1": 0.5, "low": -0.1, "high": 0.4}
    rows = [
        reader | {"method": router, "title": router, "method_f1": 0.5 + gap, "difference": gap}
        for router, gap in zip(ROUTERS, (0.25, -0.05), strict=True)
    ]
    shown = view("gaps", StudyTables({"gaps": pd.DataFrame(rows)}, few_cases().manifest))
    gaps = ["0.750", "+0.250 [-0.100, +0.400]", "0.450", "-0.050 [-0.100, +0.400]"]
    assert shown[1] == ["R1", "40", "0.500", *gaps]
