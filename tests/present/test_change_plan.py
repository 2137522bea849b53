"""A change plan says what changed, how and with what effect, in words that hold for any table."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest
from toy import toy_problem

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.runs import Run
from mpd2.methods.plus.method import Plus
from mpd2.present.documents.change_plan import to_html, to_markdown
from mpd2.present.words.change_plan import (
    IMPACT,
    PROTOCOL,
    WHAT,
    ChangePlan,
    accepted_in_words,
    change_plan,
    in_words,
    needed_in_words,
)
from mpd2.study.local.change import NOTE, RULE, Change, Counts, change_of, compared_rows
from mpd2.study.local.recalibration import Verdict, recalibrate

LEARNED: Cohort = toy_problem(300).cohort
READER = LEARNED.manifest.readers[0].name
BETTER = Verdict(-0.05, -0.08, -0.02, (-10.0, -20.0, 5.0), 300, 120)


@pytest.fixture(scope="module")
def runs() -> tuple[Run, Run, Change]:
    """An old run, the new one, and what it says of itself."""
    cases = toy_problem(600, seed=1).cohort
    local = replace(cases, ids=np.array([f"here {i}" for i in range(len(cases))]), fingerprint="here")
    old = Plus(draws=2).fit(LEARNED, LEARNED.manifest.default_costs(), (1, 2))
    made = recalibrate(old, LEARNED, local)
    change = Change(
        run="place/old",
        title="The <old> one",
        digest="0" * 16,
        table=LEARNED.fingerprint,
        table_before=LEARNED.fingerprint,
        cases="c" * 64,
        learned=Counts.of(LEARNED.rows(LEARNED.split != "test")),
        local={split: Counts.of(local.subset(split=split)) for split in ("train", "val", "test")},
        waiting=3,
        rule=RULE,
        asked=datetime(2026, 3, 4, 5, 6, tzinfo=UTC),
        resamples=2000,
        rows=compared_rows(made.rows),
    )
    return old, replace(made.run, notes={**made.run.notes, "title": "Ours"}), change


@pytest.fixture
def plan(runs: tuple[Run, Run, Change]) -> ChangePlan:
    old, new, change = runs
    return change_plan(new, "1" * 16, change, LEARNED.manifest, old)


def test_what_a_run_says_of_itself_is_read_back_as_it_was_written(runs: tuple[Run, Run, Change]) -> None:
    change = runs[2]
    assert change_of({NOTE: change.model_dump(mode="json")}) == change
    assert change_of({}) is None


@pytest.mark.parametrize(
    "damage",
    [
        {"rows": []},
        {"rows": [{"kind": "all"}]},
        {"local": {}},
        {"cases": ""},
        {"asked": "yesterday"},
    ],
    ids=lambda damage: next(iter(damage)),
)
def test_what_was_damaged_is_refused_in_words(damage: dict, runs: tuple[Run, Run, Change]) -> None:
    with pytest.raises(UserError, match="recalibration: not a change this version can read"):
        change_of({NOTE: runs[2].model_dump(mode="json") | damage})


@pytest.mark.parametrize("write", [to_html, to_markdown])
def test_the_three_headings_stand_in_their_order_with_the_runs_own_facts(
    plan: ChangePlan, write: Callable[[ChangePlan], bytes]
) -> None:
    text = write(plan).decode()
    places = [text.index(heading) for heading in (WHAT, PROTOCOL, IMPACT)]
    assert places == sorted(places)
    for fact in ("0" * 16, "1" * 16, "c" * 64, "2026-03-04 05:06 UTC", "2,000 times", "3 rows of the file", READER):
        assert fact in text, fact


def test_nothing_of_a_title_becomes_part_of_the_page(plan: ChangePlan) -> None:
    assert "<old>" not in to_html(plan).decode()
    assert "&lt;old&gt;" in to_html(plan).decode()


def test_the_figures_are_those_of_the_comparison(plan: ChangePlan, runs: tuple[Run, Run, Change]) -> None:
    rows = runs[2].frame
    cost = rows[(rows["kind"] == "all") & (rows["metric"] == "cost") & (rows["against"] == "old")].iloc[0]
    shown = plan.overall.iloc[0]
    assert (shown["Old run"], shown["New run"]) == (f"{cost['other']:.3f}", f"{cost['new']:.3f}")
    assert len(plan.readers) == LEARNED.readers
    assert set(plan.cohorts["Where"]) == {"North"}


def test_an_old_run_that_is_gone_leaves_its_side_empty(runs: tuple[Run, Run, Change]) -> None:
    _, new, change = runs
    rows: pd.DataFrame = change_plan(new, "1" * 16, change, LEARNED.manifest, None).changes.set_index("What")
    assert rows.loc["Method", "Before"] == "not there any more"
    assert rows.loc["Digest of its files", "Before"] == change.digest


def test_what_the_old_run_had_learned_of_the_place_stands_beside(runs: tuple[Run, Run, Change]) -> None:
    old, new, change = runs
    already = replace(
        old, notes={**old.notes, NOTE: change.model_copy(update={"cases": "d" * 64}).model_dump(mode="json")}
    )
    rows: pd.DataFrame = change_plan(new, "1" * 16, change, LEARNED.manifest, already).changes.set_index("What")
    assert rows.loc["Digest of the local cases' file"].tolist() == ["d" * 64, "c" * 64]
    row = rows.loc["Local cases to learn from"]
    assert row["Before"] == row["After"]
    fresh: pd.DataFrame = change_plan(new, "1" * 16, change, LEARNED.manifest, old).changes.set_index("What")
    assert fresh.loc["Local cases to learn from", "Before"] == "none"


def test_a_table_that_had_other_rows_is_told(runs: tuple[Run, Run, Change]) -> None:
    old, new, change = runs
    other = change.model_copy(update={"table_before": "another"})
    rows: pd.DataFrame = change_plan(new, "1" * 16, other, LEARNED.manifest, old).changes.set_index("What")
    assert "with other rows: table another" in str(rows.loc["Cases of the table", "Before"])


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (BETTER, "can be taken"),
        (replace(BETTER, high=0.01), "not taken: it is not cheaper beyond chance"),
        (replace(BETTER, missed=(10.0, 2.0, 20.0)), "not taken: it misses more beyond chance"),
        (Verdict(0.05, 0.02, 0.08, (0.0, -3.0, 3.0), 300, None), "not taken: it costs more beyond chance"),
    ],
)
def test_the_rule_is_applied_as_it_is_stated(verdict: Verdict, said: str) -> None:
    assert said in accepted_in_words(verdict)
    assert verdict.wins is ("can be taken" in said)


def test_a_sentence_says_which_way_and_whether_it_may_be_chance() -> None:
    manifest = LEARNED.manifest
    assert "0.050 less a case than the old one" in in_words(BETTER, manifest).replace("\xa0", " ")
    assert "may be chance" not in in_words(BETTER, manifest)
    unclear = in_words(replace(BETTER, difference=0.01, low=-0.02, high=0.04), manifest)
    assert "more a case" in unclear.replace("\xa0", " ")
    assert "which includes 0: this may be chance" in unclear
    same = in_words(Verdict(0.0, -0.01, 0.01, (0.0, -3.0, 3.0), 300, None), manifest)
    assert "as much a case as the old one" in same
    assert "as many" in same


def test_how_many_more_are_needed_is_said_only_where_it_helps() -> None:
    assert needed_in_words(BETTER) == ""
    assert needed_in_words(Verdict(0.01, -0.01, 0.03, (0, 0, 0), 300, None)) == ""
    said = needed_in_words(replace(BETTER, high=0.01, needed=500))
    assert re.search(r"500 held-out cases .* about 1,500 local outcomes", said)
