"""Local cases are dealt once and for ever, joined without a seam, and refused in words."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_workspace import MANIFEST, nights

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.errors import TableError, UserError
from mpd2.core.manifest import parse_manifest
from mpd2.core.table_file import cohort_from_frame
from mpd2.study.local.cases import CHOOSE, FEWEST, LEARN, as_frame, dealt, held_out, joined, local_cases

NIGHTS = parse_manifest(MANIFEST)


@pytest.fixture(scope="module")
def learned() -> Cohort:
    return cohort_from_frame(nights(60), NIGHTS)


@pytest.fixture
def rows() -> pd.DataFrame:
    return nights(100, seed=1, first=60).drop(columns="part")


@given(st.lists(st.text(min_size=1, max_size=8), unique=True, max_size=30), st.lists(st.text(max_size=8), max_size=30))
def test_later_cases_leave_the_earlier_ones_where_they_are(keys, later):
    assert dealt([*keys, *later])[: len(keys)].tolist() == dealt(keys).tolist()
    assert dealt(keys[::-1]).tolist() == dealt(keys)[::-1].tolist()


def test_each_kind_of_case_is_divided_in_the_same_shares_but_for_chance():
    n = 20_000
    split, truth = dealt([f"p{i}" for i in range(n)]), np.arange(n) % 5 == 0
    for kind in (truth, ~truth):
        for name, share in {"train": LEARN, "val": CHOOSE, "test": 1 - LEARN - CHOOSE}.items():
            spread = np.sqrt(share * (1 - share) / kind.sum())
            assert abs((split[kind] == name).mean() - share) < 4 * spread


def test_rows_of_one_patient_stay_together_and_a_known_patient_where_they_were(learned, rows):
    rows["patient"] = np.where(np.arange(len(rows)) < 3, "p003", rows["patient"])  # p003 was held out
    local = local_cases(rows, learned, "new.csv", {"p003": "test"}).cohort
    for patient in rows["patient"].unique():
        assert len(set(local.split[rows["patient"] == patient])) == 1
    assert set(local.split[rows["patient"] == "p003"]) == {"test"}


def test_rows_without_an_outcome_wait(learned, rows):
    rows.loc[:9, "truth"] = ""
    found = local_cases(rows, learned, "new.csv")
    assert (len(found.cohort), found.waiting) == (len(rows) - 10, 10)
    assert (found.cohort.truth != UNKNOWN).all()


def test_a_case_that_was_learned_from_is_refused_by_its_row(learned, rows):
    rows.loc[4, "epoch"] = "e0001"
    with pytest.raises(TableError, match=r"new\.csv, row 6, column epoch: found e0001, expected an id that the table"):
        local_cases(rows, learned, "new.csv")


def test_a_cell_that_is_wrong_is_told_by_the_row_of_the_file_though_others_wait(learned, rows):
    rows.loc[:9, "truth"] = ""
    rows.loc[20, "ann"] = "2"
    with pytest.raises(TableError, match="row 22, column ann: found 2"):
        local_cases(rows, learned, "new.csv")


def test_too_few_outcomes_and_missing_columns_are_refused(learned, rows):
    with pytest.raises(UserError, match=rf"found {FEWEST - 1} cases with an outcome, expected at least {FEWEST}"):
        local_cases(rows.head(FEWEST - 1), learned, "new.csv")
    with pytest.raises(TableError, match="column truth: found no such column"):
        local_cases(rows.drop(columns="truth"), learned, "new.csv")


def test_nothing_held_out_is_joined_and_groups_do_not_run_together(learned, rows):
    local = local_cases(rows, learned, "new.csv").cohort
    whole = joined(learned, local)
    kept = int((learned.split != "test").sum()), int((local.split != "test").sum())
    assert len(whole) == sum(kept)
    assert not set(whole.cluster[: kept[0]]) & set(whole.cluster[kept[0] :])
    assert not {*held_out(local).ids} & {*whole.ids}
    assert whole.fingerprint not in (learned.fingerprint, local.fingerprint)
    fill = whole.train_fills()["age"]
    place = whole.layout.position("age")
    assert (whole.state[whole.absent[:, place], place] == fill).all()


def test_a_place_nobody_learned_from_keeps_its_name(learned, rows):
    local = local_cases(rows.assign(site=np.where(rows["site"] == "hill", "hill", "sea")), learned, "new.csv").cohort
    whole = joined(learned, local)
    assert {entry.key for entry in whole.manifest.cohorts} == {"hill", "lake", "other"}
    assert {*whole.sources[-5:]} <= {"hill", "other"}


def test_other_readers_are_refused(learned, rows):
    local = local_cases(rows, learned, "new.csv").cohort
    others = learned.manifest.but(readers=[reader.model_dump() for reader in learned.manifest.readers[:1]])
    with pytest.raises(UserError, match="other readers or inputs"):
        joined(learned, replace(local, manifest=others))


def test_only_those_whose_answer_is_known_can_be_asked_of_a_held_out_case(learned, rows):
    local = local_cases(rows.assign(bob_available="1"), learned, "new.csv").cohort
    assert (held_out(local).available == (held_out(local).decisions != UNKNOWN)).all()


def test_a_cohort_written_as_a_table_is_read_back_as_it_was(learned, benchmark):
    for cohort, other in ((learned, nights(2, first=900)), (benchmark.rows(np.arange(0, 2000, 20)), None)):
        strangers = (
            learned if other is not None else replace(benchmark, ids=np.array([f"x{i}" for i in range(len(benchmark))]))
        )
        frame = as_frame(replace(cohort, ids=np.array([f"new {each}" for each in cohort.ids])))
        back = local_cases(frame, strangers, "back.parquet").cohort
        for name in ("state", "absent", "truth", "decisions", "available"):
            there = ~cohort.absent if name == "state" else np.ones(getattr(cohort, name).shape, bool)
            np.testing.assert_allclose(getattr(back, name)[there], getattr(cohort, name)[there], rtol=1e-12)
        assert back.sources.tolist() == cohort.sources.tolist()
        assert (
            np.unique(back.cluster, return_inverse=True)[1] == np.unique(cohort.cluster, return_inverse=True)[1]
        ).all()
