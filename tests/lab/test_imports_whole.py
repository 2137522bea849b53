"""The whole way from a file to cases: any table ends as cases or in a sentence, never in a crash."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pandas as pd
from foreign_tables import as_csv, clinic, in_long_form
from hypothesis import given, settings
from hypothesis import strategies as st

from mpd2.core.errors import UserError
from mpd2.core.manifest import parse_manifest
from mpd2.core.table_file import cohort_from_frame, read_cohort, table_bytes
from mpd2.lab.imports.checks import check, known
from mpd2.lab.imports.drafting import answer_words, draft, suggest, to_toml
from mpd2.lab.imports.files import RawTable, read_table
from mpd2.lab.imports.matching import USES, changed, lacking, propose
from mpd2.lab.imports.normalise import Normalised, normalise
from mpd2.lab.imports.splitting import split_at_random, split_by_date

ROWS = 24
CELLS = st.one_of(
    st.sampled_from(["", "0", "1", "yes", "no", "NA", "-", "+", "a", "b", "0.5", "0,5", "50%", "train", "test", "val"]),
    st.sampled_from(
        ["2024-01-02", "31.12.2024", "1e400", "-1", "inf", "M", "F", "99999999999999999999", "١", "²", "½"]
    ),
    st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=3),
)
COLUMNS = st.one_of(
    st.lists(CELLS, min_size=1, max_size=4).map(lambda some: (some * ROWS)[:ROWS]),
    st.lists(CELLS, min_size=ROWS, max_size=ROWS),
    st.just([f"{n / ROWS:.3f}" for n in range(ROWS)]),
    st.just([f"{n // 3}" for n in range(ROWS)]),
)
NAMES = ["id", "label", "ai", "score", "logit", "Dr A", "split", "sex", "quality", "y", "1", "-", "Émile", "a b", "*"]


@st.composite
def tables(draw: st.DrawFn) -> pd.DataFrame:
    """A good table with columns added, put in the place of others or left out."""
    frame = clinic(ROWS, draw(st.integers(0, 50)))
    for name in draw(st.lists(st.sampled_from([*NAMES, *frame]), max_size=3, unique=True)):
        frame[name] = draw(COLUMNS)
    left_out = draw(
        st.sets(st.sampled_from(["case_id", "patient", "site", "visit_date", "age", "reader_3"]), max_size=3)
    )
    return frame.drop(columns=list(left_out))


@st.composite
def long_tables(draw: st.DrawFn) -> pd.DataFrame:
    """Readings that mostly are of these cases, some of them by strangers or in strange words."""
    _, long = in_long_form(clinic(ROWS, draw(st.integers(0, 50))))
    for name in draw(st.lists(st.sampled_from(list(long)), max_size=2)):
        rows = draw(st.lists(st.integers(0, len(long) - 1), max_size=5))
        long.iloc[rows, list(long).index(name)] = draw(CELLS)
    return long


def through(cases: RawTable, readings: RawTable | None, uses: dict[str, str]) -> Normalised:
    proposals = changed(propose(cases, readings), uses)
    assert {(each.file, each.column) for each in proposals} >= {("cases", column) for column in cases.cells}
    assert all(each.reason for each in proposals)
    lacking(proposals)
    manifest = draft(proposals, suggest(proposals, cases.name))
    assert parse_manifest(to_toml(manifest)) == manifest
    return normalise(cases, readings, manifest, answer_words(proposals))


@settings(max_examples=100)
@given(tables(), st.one_of(st.none(), long_tables()), st.data())
def test_any_table_with_any_uses_ends_as_cases_or_in_a_sentence(
    cases: pd.DataFrame, readings: pd.DataFrame | None, data: st.DataObject
) -> None:
    with suppress(UserError):
        table = read_table(as_csv(cases), "cases.csv")
        second = None if readings is None else read_table(as_csv(readings), "readings.csv")
        columns, uses = st.sampled_from(list(table.cells)), st.sampled_from(USES["cases"])
        kept = through(table, second, data.draw(st.dictionaries(columns, uses, max_size=2)))
        for split in (split_at_random, split_by_date):
            with suppress(UserError):
                made = kept if kept.has_split else split(kept)
                cohort = cohort_from_frame(made.frame, made.manifest)
                check(cohort, made.frame.index.tolist())
                assert known(cohort)
                again = read_cohort(table_bytes(made.frame), "t.csv", made.manifest)
                np.testing.assert_array_equal(again.state, cohort.state)
                np.testing.assert_array_equal(again.cluster, cohort.cluster)


@settings(max_examples=20)
@given(
    st.integers(1, 60),
    st.integers(0, 20),
    st.integers(1, 5),
    st.integers(0, 2**32 - 1),
    st.floats(0, 0.6),
)
def test_tables_of_any_size_within_the_limits_become_cases(
    readers: int, inputs: int, cohorts: int, seed: int, absent: float
) -> None:
    random = np.random.default_rng(seed)
    n = 160
    truth = random.integers(0, 2, n)
    frame = pd.DataFrame({"case_id": [f"k{number}" for number in range(n)], "truth": truth})
    if cohorts > 1:
        frame["site"] = [f"site {number % cohorts}" for number in range(n)]
    frame["ai_probability"] = (0.5 * truth + 0.5 * random.random(n)).round(4)
    for number in range(inputs):
        frame[f"measure_{number}"] = random.normal(size=n).round(3)
    for number in range(readers):
        said = np.where(random.random(n) < 0.2, 1 - truth, truth).astype(object)
        said[random.random(n) < absent] = ""
        frame[f"reader_{number}"] = said
    made = split_at_random(through(read_table(as_csv(frame), "t.csv"), None, {}), seed=seed)
    cohort = cohort_from_frame(made.frame, made.manifest)
    assert (cohort.readers, len(made.manifest.inputs), len(made.manifest.cohorts)) == (readers, inputs, cohorts)
    np.testing.assert_array_equal(cohort.truth, truth)
    np.testing.assert_array_equal(cohort.available, (frame[list(made.manifest.columns)] != "").to_numpy())
    assert not [notice for notice in check(cohort) if notice.error]
