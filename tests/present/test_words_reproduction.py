"""Ours beside the paper's, in words."""

from __future__ import annotations

import re

import pytest
from gallery import MANIFEST, shipped

from mpd2.present.words.reproduction import TABLES, metric_name, named, readable, reasons, summary
from mpd2.study.reproduction import COMPARED, NOT_KNOWN, REASONS, SAME, reproduction
from mpd2.study.tables import StudyTables


@pytest.fixture(scope="module")
def rows():
    return named(reproduction(StudyTables({name: shipped(name) for name in COMPARED}, MANIFEST)), MANIFEST)


def test_every_table_and_every_metric_has_a_name(rows):
    assert tuple(TABLES) == COMPARED
    assert all(metric_name(name) for name in rows["metric"].unique())


def test_a_title_names_the_cohort_where_it_is_one(rows):
    assert not rows.duplicated(["table", "metric", "title"]).any()
    assert "MPD² (paper), ORIGA" in set(rows["title"])


def test_the_summary_counts_each_number_once(rows):
    printed, same, inside, differ, *known = map(int, re.findall(r"\b\d+\b", summary(rows)))
    assert (printed, inside) == (len(rows), rows["inside"].sum())
    assert same == (rows["reason"] == SAME.name).sum()
    assert differ == printed - same == sum(known)
    assert known[-1] == (rows["reason"] == NOT_KNOWN.name).sum()


def test_a_cell_is_read_as_it_is(rows):
    shown = readable(rows)
    cell = (rows["table"] == "overall") & (rows["method"] == "verma") & (rows["metric"] == "Defer")
    (seen,) = shown[cell].to_dict("records")
    (row,) = rows[cell].to_dict("records")
    assert (seen["Who"], seen["Metric"]) == (row["title"], "Share sent")
    assert (float(seen["Ours"]), float(seen["Paper's"])) == (round(row["value"], 3), row["published"])
    assert seen["Known"] == REASONS[seen["Reason"]].known


def test_reasons_are_explained_the_most_frequent_first(rows):
    told = reasons(rows)
    assert told["Numbers"].is_monotonic_decreasing
    assert told["Numbers"].sum() == len(rows)
    assert not (told["What it is"] == "").any()
