"""The results of any table say what it can bear, and nothing of a paper that is not about it."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from small_workspace import MANIFEST, nights, table_of

from mpd2.core.cohort import Cohort
from mpd2.evaluation.intervals import Estimate
from mpd2.study.analyses import own_results
from mpd2.study.analyses.own_results import known_to, main_rows, paired_words
from mpd2.study.build import BuildSize, build, study_in
from mpd2.study.catalogue import tables_of
from mpd2.study.reproduce import part_of_results
from mpd2.study.tables import StudyTables, read_table

SIZE = BuildSize(seeds=2, methods=("ai", "recalibrated-score", "mpd2-plus", "random-reader", "oracle"), until="tables")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with its tables, but for resplits."""
    place = tmp_path_factory.mktemp("own") / "nights"
    place.mkdir()
    (place / "nights.csv").write_bytes(table_of(nights()))
    (place / "manifest.toml").write_text(MANIFEST)
    build(place, SIZE, lambda standing: None, lambda words: None)
    return place


@pytest.fixture(scope="module")
def cohort(folder: Path) -> Cohort:
    return study_in(folder).cohort


@pytest.fixture(scope="module")
def tables(folder: Path, cohort: Cohort) -> StudyTables:
    there = [name for name in tables_of(study_in(folder)) if (folder / "tables" / f"{name}.csv").is_file()]
    return StudyTables({name: read_table(folder, name) for name in there}, cohort.manifest)


def test_the_document_is_about_its_own_table_and_no_paper(folder: Path) -> None:
    text = part_of_results(study_in(folder))
    assert text.startswith("# Apnoea in nights of sleep\n")
    assert "180 rows of 60 patients" in text
    assert not re.search(r"glaucoma|REFUGE|in the paper|the paper\'s|\bnan\b|\binf\b", text)
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({line.count("|") for line in block.splitlines()}) == 1


def test_what_is_small_is_said_to_be_unknown(folder: Path, cohort: Cohort) -> None:
    text = part_of_results(study_in(folder))
    sick = int((cohort.subset(split="test").truth == 1).sum())
    assert known_to(sick, "apnoeas", "sensitivity") in text
    assert "a sensitivity is as good as unknown" in text
    assert known_to(0, "findings", "sensitivity") == "No findings in test: sensitivity cannot be known."
    assert known_to(34, "findings", "sensitivity").endswith("known to ±12 points.")
    assert known_to(3400, "findings", "sensitivity").endswith("known to ±1 points.")


def test_methods_stand_from_the_cheapest_on_and_misses_are_counted(tables: StudyTables, cohort: Cohort) -> None:
    head, *body = main_rows(tables, cohort)
    sick = int((cohort.subset(split="test").truth == 1).sum())
    assert head[:2] == ["method", f"missed of {sick}"]
    costs = [float(row[-1].split()[0]) for row in body]
    assert costs == sorted(costs)
    ai = next(row for row in body if row[0] == "AI only")
    alone = cohort.subset(split="test")
    assert float(ai[1]) == ((alone.ai_label == 0) & (alone.truth == 1)).sum()


def test_where_nothing_was_missed_the_interval_does_not_end_at_one() -> None:
    shown = own_results._cell(Estimate(1.0, 1.0, 1.0), 34)
    assert shown == "1.000 (0.898 to 1.000)"
    assert own_results._cell(Estimate(1.0, 0.9, 1.0), 34) == "1.000 (0.900 to 1.000)"


def test_who_differs_beyond_chance_is_named() -> None:
    rows = pd.DataFrame(
        [("a", "A", 0.1, 0.05, 0.2), ("b", "B", -0.1, -0.2, -0.05), ("c", "C", 0.0, -0.1, 0.1)],
        columns=["method", "title", "difference", "low", "high"],
    ).assign(reference="a-reference", metric="TotalCost")
    named = pd.DataFrame({"method": ["a-reference"], "title": ["R"]})
    found = paired_words(StudyTables({"paired": rows, "overall": named}, study_manifest()))
    assert found == "A is dearer than R; B is cheaper than R; C is not known to differ from R."


def study_manifest():
    from mpd2.core.manifest import parse_manifest

    return parse_manifest(MANIFEST)
