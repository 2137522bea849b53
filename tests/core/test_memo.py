"""Results are kept by what they were made from."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpd2.core.memo import fingerprint, remembered
from mpd2.present.words.side_by_side import SideBySide

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.frozensets(st.text())
)


@pytest.fixture
def table() -> pd.DataFrame:
    kinds = pd.Categorical(["a", "b", "a"], ["a", "b", "c"])
    return pd.DataFrame({"name": ["x", "y", "z"], "value": [1.0, float("nan"), 3.0], "kind": kinds})


@given(VALUES, VALUES)
def test_only_what_reads_the_same_has_the_same_fingerprint(one: object, other: object) -> None:
    assert (fingerprint(one) == fingerprint(other)) == (repr(one) == repr(other) or _same_set(one, other))


def _same_set(one: object, other: object) -> bool:
    return isinstance(one, frozenset) and isinstance(other, frozenset) and one == other


def test_a_copy_of_a_table_is_the_same_and_any_change_is_another(table: pd.DataFrame) -> None:
    changed = [
        table.assign(value=[1.0, 2.0, 3.0]),
        table.rename(columns={"value": "amount"}),
        table.astype({"value": "float32"}),
        table.iloc[::-1],
        table.set_index("name"),
        table.assign(kind=table["kind"].cat.remove_unused_categories()),
        table.iloc[:2],
    ]
    assert fingerprint(table.copy()) == fingerprint(table)
    assert len({fingerprint(each) for each in [table, *changed]}) == 1 + len(changed)


def test_a_table_is_the_same_however_it_was_cut_out() -> None:
    whole = pd.DataFrame({"name": list("abcd"), "cost": [1, 1, 2, 2], "score": [1, 2, 1, 2]})
    at_once, in_steps = whole[(whole["cost"] == 2) & (whole["score"] == 1)], whole[whole["cost"] == 2]
    assert fingerprint(in_steps[in_steps["score"] == 1]) == fingerprint(at_once)
    assert fingerprint(pd.concat([whole[:1], whole[1:]])) == fingerprint(whole)


def test_an_object_is_what_its_parts_are(table: pd.DataFrame) -> None:
    def sheet(**changes: object) -> SideBySide:
        parts = {"titles": table["name"], "values": table, "cells": table, "best": table}
        return SideBySide(**{**parts, **changes})

    others = [sheet(titles=table["name"].rename("who")), sheet(titles=table["name"].iloc[::-1]), sheet(best=table[:1])]
    assert fingerprint(sheet()) == fingerprint(sheet(values=table.copy()))
    assert len({fingerprint(each) for each in [sheet(), *others]}) == 4


def test_what_was_made_once_is_not_made_again(table: pd.DataFrame) -> None:
    made = []

    @remembered(2)
    def total(rows: pd.DataFrame, times: int = 1) -> float:
        made.append(times)
        return float(rows["value"].sum()) * times

    assert [total(table), total(table.copy()), total(table, times=2), total(table)] == [4.0, 4.0, 8.0, 4.0]
    assert made == [1, 2]
    total(table, times=3)
    total(table, times=2)
    assert made == [1, 2, 3, 2], "only the last two are kept"


def test_nothing_is_kept_by_what_has_no_content() -> None:
    with pytest.raises(TypeError, match="object"):
        fingerprint([object()])
