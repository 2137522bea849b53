"""Wide tables: what is best, what ties with it, and where the paper's numbers stand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mpd2.present.words.side_by_side import IN_PAPER, side_by_side, with_difference

COLUMNS = {("all", "TotalCost"): "Total", ("all", "F1"): "F1", ("all", "Defer"): "Sent"}
VALUES = {
    "ai": (0.40, 0.50, 0.0),
    "oracle": (0.04, 1.0, 0.2),
    "mao": (0.21, 0.80, 0.4),
    "studio": (0.20, 0.70, 0.3),
}


@pytest.fixture
def rows() -> pd.DataFrame:
    """Four methods; every interval reaches 0.02 to either side, and the paper has two of the methods."""
    flat = [
        (name, cohort, metric, value)
        for name, values in VALUES.items()
        for (cohort, metric), value in zip(COLUMNS, values, strict=True)
    ]
    table = pd.DataFrame(flat, columns=["method", "cohort", "metric", "value"])
    printed = table["value"].where(table["method"].isin(["ai", "mao"]), np.nan) + 0.1
    table = table.assign(title=table["method"].str.upper(), published=printed)
    return table.assign(low=table["value"] - 0.02, high=table["value"] + 0.02)


STANDING = pd.DataFrame(
    [("studio", "TotalCost", True, False), ("mao", "TotalCost", False, True), ("ai", "TotalCost", False, False),
     ("mao", "F1", True, False), ("studio", "F1", False, False)],
    columns=["method", "metric", "best", "tied"],
).assign(cohort="all")  # fmt: skip
"""Who is best and who ties, whatever the intervals of the numbers themselves are."""


def test_the_active_run_is_first_and_what_cannot_be_deployed_last(rows: pd.DataFrame) -> None:
    table = side_by_side(rows, COLUMNS, first="studio", last=["oracle"])
    assert list(table.values.index) == ["studio", "ai", "mao", "oracle"]
    assert table.titles["mao"] == "MAO"


def test_the_best_and_ties_are_those_of_the_paired_test(rows: pd.DataFrame) -> None:
    table = side_by_side(rows, COLUMNS, first="studio", last=["oracle"], standing=STANDING)
    assert table.best["Total"].to_dict() == {"studio": True, "ai": False, "mao": False, "oracle": False}
    assert table.cells["Total"].to_dict() == {"studio": "0.200 ★", "ai": "0.400", "mao": "0.210 ≈", "oracle": "0.040"}
    assert table.cells["F1"].to_dict() == {"studio": "0.700", "ai": "0.500", "mao": "0.800 ★", "oracle": "1.000"}
    assert not table.best["Sent"].any()


def test_nothing_is_best_unless_somebody_says_so(rows: pd.DataFrame) -> None:
    table = side_by_side(rows, COLUMNS, first="studio")
    assert not table.best.to_numpy().any()
    assert table.cells["Total"].tolist() == ["0.200", "0.400", "0.040", "0.210"]


def test_a_number_is_in_its_own_unit(rows: pd.DataFrame) -> None:
    table = side_by_side(rows, COLUMNS, first="studio", intervals=True)
    assert table.cells.loc["studio", "Sent"] == "30.0\xa0% (28.0 to 32.0\xa0%)"
    assert table.values.loc["studio", "Sent"] == 0.3


def test_intervals_stand_beside_the_number_and_not_in_what_is_sorted(rows: pd.DataFrame) -> None:
    table = side_by_side(rows, COLUMNS, first="studio", intervals=True)
    assert table.cells.loc["ai", "Total"] == "0.400 (0.380 to 0.420)"
    assert table.values.loc["ai", "Total"] == 0.4


def test_an_interval_without_width_is_not_shown(rows: pd.DataFrame) -> None:
    sure = rows.assign(low=rows["value"], high=rows["value"])
    assert side_by_side(sure, COLUMNS, first="studio", intervals=True).cells.loc["ai", "Total"] == "0.400"


def test_what_the_paper_prints_stands_below_its_method(rows: pd.DataFrame) -> None:
    table = side_by_side(rows, COLUMNS, first="studio", last=["oracle"], standing=STANDING, printed=True)
    assert table.titles.tolist() == ["STUDIO", "AI", IN_PAPER, "MAO", IN_PAPER, "ORACLE"]
    assert table.cells["Total"].tolist() == ["0.200 ★", "0.400", "0.500", "0.210 ≈", "0.310", "0.040"]
    assert not table.best.iloc[2].any()


def test_a_method_with_a_note_has_its_mark(rows: pd.DataFrame) -> None:
    table = side_by_side(rows, COLUMNS, first="studio", noted=["mao", "nobody"])
    assert table.titles.to_dict() == {"studio": "STUDIO", "ai": "AI", "oracle": "ORACLE", "mao": "MAO †"}


def test_a_number_that_does_not_exist_is_a_dash(rows: pd.DataFrame) -> None:
    gone = rows.assign(value=rows["value"].mask((rows["method"] == "studio") & (rows["metric"] == "TotalCost")))
    assert side_by_side(gone, COLUMNS, first="studio").cells.loc["studio", "Total"] == "–"


@pytest.mark.parametrize(("intervals", "cell"), [(False, "−0.010"), (True, "−0.010 (−0.030 to +0.020)")])
def test_a_difference_to_the_active_run_stands_beside_its_metric(
    rows: pd.DataFrame, intervals: bool, cell: str
) -> None:
    table = side_by_side(rows, COLUMNS, first="studio", printed=True)
    paired = pd.DataFrame({
        "method": ["mao", "ai", "oracle"], "difference": [-0.01, 0.2, -0.16], "low": [-0.03, 0.1, -0.2],
        "high": [0.02, 0.3, -0.1],
    })  # fmt: skip
    for beside in COLUMNS.values():
        wider = with_difference(table, paired, "Δ", beside, intervals)
        heads = [list(frame) for frame in (wider.values, wider.cells, wider.best)]
        assert all(head.index("Δ") == head.index(beside) + 1 for head in heads)
    assert wider.cells.loc["mao", "Δ"] == cell
    assert wider.values.loc["ai", "Δ"] == 0.2
    assert not wider.best["Δ"].any()
    for none in ("studio", "printed:mao"):
        assert wider.cells.loc[none, "Δ"] == "–"
    assert list(table.values) == list(COLUMNS.values())  # the table given is as it was
