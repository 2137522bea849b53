"""Reporting checklists hold nothing but what the run and the table say."""

from __future__ import annotations

import re
from itertools import product
from string import Formatter

import pandas as pd
import pytest
from places import DATA

from mpd2.core.runs import load_run
from mpd2.core.table_file import load_cohort
from mpd2.present.documents.checklist_items import (
    CHECKLISTS,
    CONDITIONS,
    DONE,
    GROUPED,
    NOT_ASKED,
    NOT_DONE,
    OWN,
    PARTLY,
    PUBLISHED,
    SINGLE,
    STATES,
)
from mpd2.present.documents.checklists import COLUMNS, conditions, facts, filled, tally, to_html
from mpd2.study.definition import CONTENDERS, Study
from mpd2.study.tables import read_table

HOLDS = frozenset((PUBLISHED, SINGLE))
ITEMS = [item for _, items in CHECKLISTS.values() for item in items]
ACTIVE = "studio"


@pytest.fixture(scope="module")
def study() -> Study:
    cohort = load_cohort(DATA / "glaucoma.csv")
    return Study(cohort, DATA, contenders={name: CONTENDERS[name] for name in (ACTIVE, "ai")})


@pytest.fixture(scope="module")
def known(study) -> dict[str, str]:
    run = load_run(DATA / "runs" / ACTIVE)
    overall = read_table(DATA, "overall")
    return facts(
        run, study.cohort, study.evidence(), overall, ACTIVE, "test cases of all cohorts", "as cheap as can be"
    )


def named(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.number} {item.asks[:30]}")
def test_an_item_types_in_no_number_and_says_what_is_missing(item):
    assert item.state in STATES
    assert bool(item.missing) == (item.state in (PARTLY, NOT_DONE))
    assert bool(item.answer) or item.state == NOT_DONE
    assert bool(item.place) or item.state in (NOT_DONE, NOT_ASKED)
    for text in (item.asks, item.answer, item.missing):
        fixed = "".join(part for part, *_ in Formatter().parse(text)).replace("mpd2", "")
        assert not re.search(r"\d", fixed)


@pytest.mark.parametrize("holds", list(product((PUBLISHED, OWN), (GROUPED, SINGLE))))
def test_the_numbers_of_the_items_are_those_of_the_lists(holds):
    assert {item.only for item in ITEMS} == {"", *CONDITIONS}
    tripod, stard = (
        [item.number for item in items if not item.only or item.only in holds] for _, items in CHECKLISTS.values()
    )
    assert len(tripod) == len(set(tripod)) == 52
    assert sorted({int(re.match(r"\d+", number)[0]) for number in tripod}) == list(range(1, 28))
    stard = [number for number in stard if number != "AI"]
    assert len(stard) == len(set(stard)) == 34
    assert sorted({int(re.match(r"\d+", number)[0]) for number in stard}) == list(range(1, 31))


def test_every_fact_that_an_item_names_is_known_and_every_known_one_is_named(known):
    asked = {name for item in ITEMS for text in (item.answer, item.missing) for name in named(text)}
    assert asked == set(known)


def test_facts_are_those_of_the_table_and_the_run(known, study):
    test = study.cohort.subset(split="test")
    assert known["splits"] == "1,411 train, 885 val, 899 test"
    assert known["n"] == str(len(test))
    assert int(known["with_it"].split()[0]) == (test.truth == 1).sum()
    counts = {name: int(known[name]) for name in ("tp", "fn", "fp", "tn")}
    assert sum(counts.values()) == pytest.approx(len(test), abs=2)  # means over members, rounded
    rows = read_table(DATA, "overall")
    sens = rows[(rows["method"] == ACTIVE) & (rows["metric"] == "Sens")]["value"].item()
    assert known["sens"].startswith(f"{100 * sens:.1f}")
    assert counts["tp"] / int(known["with_it"].split()[0]) == pytest.approx(sens, abs=0.005)
    assert len(known["seeds"].split(", ")) == int(known["models"]) == load_run(DATA / "runs" / ACTIVE).members
    for entry in study.cohort.manifest.cohorts:
        assert f"in {entry.name}" in known["prevalence"]
        assert (entry.name in known["blind"]) == (entry.readings != "real")


@pytest.mark.parametrize("key", CHECKLISTS)
@pytest.mark.parametrize("holds", list(product((PUBLISHED, OWN), (GROUPED, SINGLE))))
def test_a_filled_checklist_has_a_row_for_each_item_and_no_gap(key, known, holds):
    rows = filled(key, known, holds)
    assert tuple(rows.columns) == COLUMNS
    assert len(rows) == sum(not item.only or item.only in holds for item in CHECKLISTS[key][1])
    assert not rows.apply(lambda column: column.str.contains(r"[{}]")).any(axis=None)
    counted = {state: int(n) for n, state in re.findall(r"(\d+) ([a-z ]+)[,.]", tally(rows))}
    assert sum(counted.values()) == len(rows)
    assert counted[DONE] == (rows["State"] == DONE).sum()


def test_as_a_page_it_escapes_what_people_typed(known):
    rows = filled("stard", known | {"run": "<script>alert(1)</script>"}, HOLDS)
    page = to_html("stard", rows, 'a stamp of "<b>mine</b>"').decode()
    assert "<script>" not in page
    assert "<b>mine" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert page.count("<tr>") == len(rows) + 1
    assert not re.search(r"https?://", page)


def test_what_is_said_depends_on_the_table(study):
    manifest = study.cohort.manifest
    assert conditions(manifest, published=True) == {PUBLISHED, SINGLE}
    grouped = manifest.but(groups={"column": "patient"})
    assert conditions(grouped, published=False) == {OWN, GROUPED}


def test_nothing_of_the_paper_is_said_of_another_table(known):
    rows = pd.concat([filled(key, known, (OWN, SINGLE)) for key in CHECKLISTS])
    assert not rows.apply(lambda column: column.str.contains("paper|publish", case=False)).any(axis=None)
