"""RESULTS.md says what the tables say, and what they can bear."""

from __future__ import annotations

import re

import pandas as pd
import pytest
from tiny_study import EVERY_TABLE, few_cases, tiny_tables

from mpd2.study.catalogue import TABLES
from mpd2.study.claims import OF_ROUTERS, OF_THE_OBJECTIVE
from mpd2.study.results import NOTES, SECTIONS, agreement, results
from mpd2.study.tables import StudyTables

MANIFEST = few_cases().manifest


@pytest.fixture(scope="module")
def text() -> str:
    return results(tiny_tables(), MANIFEST)


def changed(table: str, column: str, value: float, **where: object) -> dict[str, pd.DataFrame]:
    """The tables with one column changed in some rows."""
    tables = tiny_tables()
    there = pd.Series(True, tables[table].index)
    for name, wanted in where.items():
        there &= tables[table][name] == wanted
    assert there.any()
    return tables | {table: tables[table].assign(**{column: tables[table][column].mask(there, value)})}


def test_every_table_has_a_section(text: str) -> None:
    assert set(SECTIONS) == set(TABLES)
    assert set(NOTES) <= set(TABLES)
    headings = re.findall("^## (.*)$", text, re.MULTILINE)
    words = {"positive": MANIFEST.task.positive}
    assert headings[4:] == [SECTIONS[name].format(**words) for name in SECTIONS if name in EVERY_TABLE]


def test_tables_are_whole_and_nothing_is_not_a_number(text: str) -> None:
    blocks = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
    assert len(blocks) == len(EVERY_TABLE) + 4
    for block in blocks:
        assert len({line.count("|") for line in block.splitlines()}) == 1
    assert not re.search(r"\bnan\b|\binf\b", text)


def test_every_claim_has_its_verdict_and_its_figures(text: str) -> None:
    for claim in (*OF_ROUTERS, *OF_THE_OBJECTIVE):
        assert text.count(f"| {claim.statement} |") == (2 if claim in OF_ROUTERS else 1)  # at both points
        assert text.count(f"- {claim.statement}.") == 1


def test_the_origin_of_the_readings_is_stated(text: str) -> None:
    for cohort in MANIFEST.cohorts:
        assert f"those of {cohort.name} are {cohort.readings} (8 test cases)" in text
    assert "What is said of REFUGE and ORIGA is not said of people" in text
    assert "(not deployable) |" in text
    assert "At N = 24 the standard error" in text


def test_words_follow_the_figures() -> None:
    near_ten = changed("overall", "value", 0.223, method="paper", metric="TotalCost")
    near_one = changed("overall", "value", 0.182, method="paper", metric="TotalCost")
    for tables, is_near in ((near_ten, True), (near_one, False)):
        (found,) = re.findall(r"to the mean of ten in \d of 7 metrics(?: \((.*?)\))?,", results(tables, MANIFEST))
        assert ("TotalCost" in found) == is_near


def test_a_printed_figure_outside_what_seeds_explain_is_said_to_be() -> None:
    for printed, where in ((-5.0, "below"), (5.0, "above")):
        tables = changed("overall", "published", printed, method="paper", metric="TotalCost")
        assert f"the printed {printed:.3f} lies {where} that range" in results(tables, MANIFEST)


def table(*rows: tuple[str, str, float, float, float, float]) -> StudyTables:
    names = ["title", "metric", "value", "sd", "published", "published_sd"]
    frame = pd.DataFrame(rows, columns=names).assign(method="m", cohort="all", low=0.0, high=1.0)
    return StudyTables({"objective": frame.assign(n=10)}, MANIFEST)


NONE = float("nan")


@pytest.mark.parametrize(
    ("ours", "sd", "printed", "printed_sd", "agrees"),
    [
        (0.5, 0.0, 0.5004, NONE, True),  # printing hides as much
        (0.5, 0.0, 0.51, NONE, False),
        (0.5, 0.01, 0.52, NONE, True),  # another run may be so far off
        (0.5, 0.01, 0.53, NONE, False),
        (0.5, 0.01, 0.52, 0.01, False),  # the mean of ten may not
        (0.5, 0.01, 0.505, 0.01, True),
    ],
)
def test_figures_agree_as_far_as_seeds_can_tell(
    ours: float, sd: float, printed: float, printed_sd: float, agrees: bool
) -> None:
    told = agreement(table(("A", "F1", ours, sd, printed, printed_sd)), "objective")
    assert f"ours agree in {int(agrees)}," in told
    assert ("F1 0.500 against" in told) is not agrees


def test_the_furthest_departures_are_named_first_and_no_more_than_three() -> None:
    rows = [("A", f"metric{i}", 1.0, 0.0, 1.0 + i / 10, NONE) for i in range(6)]
    told = agreement(table(*rows, ("B", "Acc", 0.5, 0.0, 0.5, NONE), ("C", "Acc", NONE, 0.0, 0.5, NONE)), "objective")
    assert told.startswith("Of 7 figures the paper prints, ours agree in 2,")
    assert "A: 1 of 6 agree; furthest apart metric5 1.000 against 1.500, metric4 " in told
    assert "metric2" not in told
    assert "B:" not in told


def test_without_printed_figures_nothing_is_compared() -> None:
    assert agreement(table(("A", "F1", 0.5, 0.0, NONE, NONE)), "objective") == "The paper prints none of these figures."
