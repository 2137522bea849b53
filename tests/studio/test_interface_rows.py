"""Rows of a request become cells; what nobody knows, or says a thing in another kind, is refused by itself."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_workspace import MANIFEST

from mpd2.clinic.shadow.columns import FIRST
from mpd2.core.manifest import parse_manifest
from mpd2.studio.server.interface.fields import Field, case_fields
from mpd2.studio.server.interface.rows import EXACT, LONGEST, checked, number_of

FIELDS = (
    Field("case", "words", "id"),
    Field("time", "time", "when"),
    Field("score", "number", "score"),
    Field("says", "bit", "answer", required=False),
)
GOOD = {"case": "a", "time": "2024-11-18T08:00:00Z", "score": 0.5}
ANY = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=3,
)
NAMES = st.sampled_from([each.name for each in FIELDS]) | st.text(max_size=5)


def expected_of(row: dict[str, Any]) -> list[str]:
    """What is asked for instead of what a row of its own says."""
    return [each.expected for each in checked([row], FIELDS).problems.get(FIRST, [])]


@given(st.lists(st.dictionaries(NAMES, ANY, max_size=5) | st.just(GOOD), min_size=1, max_size=10))
def test_every_row_is_either_handed_on_as_text_or_refused_with_a_reason(rows: list[dict[str, Any]]) -> None:
    found = checked(rows, FIELDS)
    assert sorted([*found.cells.index, *found.problems]) == list(range(FIRST, FIRST + len(rows)))
    assert set(found.cells) <= {each.name for each in FIELDS}
    assert all(isinstance(cell, str) for cell in found.cells.to_numpy().ravel())
    assert all(problem.row == at for at, each in found.problems.items() for problem in each)
    assert all(problem.sentence("cases") for each in found.problems.values() for problem in each)
    for at, row in enumerate(rows, FIRST):
        alone = checked([row], FIELDS)
        assert bool(alone.problems) == (at in found.problems)


@given(st.floats(-1e6, 1e6) | st.integers(-(10**6), 10**6))
def test_a_number_is_the_same_number_in_its_cell(number: float) -> None:
    cell = checked([GOOD | {"score": number}], FIELDS).cells.loc[FIRST, "score"]
    assert float(cell) == number


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"score": "0.5"}, "a number without quotation marks"),
        ({"score": True}, "a number"),
        ({"score": [1]}, "a number"),
        ({"score": None}, "a number"),
        ({"score": EXACT + 2}, "a number from"),
        ({"score": -1e300}, "a number from"),
        ({"case": 17}, "words between quotation marks"),
        ({"case": "a\0"}, "words without"),
        ({"case": "a\nb"}, "words without"),
        ({"case": "a" * (LONGEST + 1)}, "at most 1,000"),
        ({"case": {"id": "a"}}, "words between quotation marks"),
        ({"time": 1763452800}, "a time with its offset"),
        ({"time": "2024-11-18"}, "a time with its offset"),
        ({"time": "2024-11-18T08:30:00"}, "a time with its offset"),
        ({"time": "２０２６-11-18T08:30:00Z"}, "a time with its offset"),
        ({"says": "1"}, "0 or 1 without quotation marks"),
        ({"says": False}, "0 or 1"),
        ({"more": 1}, "those that openapi.json names"),
    ],
)
def test_a_value_of_another_kind_is_refused_with_the_one_that_is_expected(
    change: dict[str, Any], expected: str
) -> None:
    assert [each for each in expected_of(GOOD | change) if each.startswith(expected)]


def test_what_may_be_missing_may_also_be_null() -> None:
    assert expected_of(GOOD | {"says": None}) == []
    assert expected_of({name: value for name, value in GOOD.items() if name != "case"})


def test_rows_of_thousands_of_names_nobody_knows_make_no_wide_table() -> None:
    rows = [{f"{at}-{each}": 0 for each in range(100)} for at in range(1000)]
    found = checked([GOOD, *rows], FIELDS)
    assert found.cells.shape == (1, 3)
    assert "99 more" in found.problems[FIRST + 1][0].found
    assert number_of(FIRST) == 1


def test_a_manifest_names_every_entry_of_a_case() -> None:
    fields = {each.name: each for each in case_fields(parse_manifest(MANIFEST))}
    assert set(fields) == {
        "case", "time", "site", "patient", "score", "snoring", "age", "ann_available", "bob_available"
    }  # fmt: skip
    assert fields["score"].schema()["maximum"] == 1
    assert fields["age"].schema()["type"] == ["number", "null"]
    assert "years" in fields["age"].schema()["description"]
    assert fields["ann_available"].schema()["enum"] == [0, 1, None]
