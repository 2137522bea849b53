"""Results are cached by what they were made from."""

from __future__ import annotations

import gc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from time import sleep
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpd2.core.cache import (
    CACHE,
    Cache,
    _digests,
    _stamp,
    cached,
    cached_by_content,
    depends_on,
    fingerprint,
    look_again,
    once_a_look,
    one_look,
    size_of,
)
from mpd2.core.errors import UserError
from mpd2.core.files import replacing
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

    @cached_by_content
    def total(rows: pd.DataFrame, times: int = 1) -> float:
        made.append(times)
        return float(rows["value"].sum()) * times

    assert [total(table), total(table.copy()), total(table, times=2), total(table)] == [4.0, 4.0, 8.0, 4.0]
    assert made == [1, 2]


def test_a_result_is_made_anew_when_a_file_it_depends_on_is_written_replaced_deleted_or_made(tmp_path: Path) -> None:
    path, made = tmp_path / "file", []

    @cached
    def content(name: str) -> str:
        made.append(name)
        depends_on(tmp_path / name)
        return (tmp_path / name).read_text() if (tmp_path / name).exists() else "nothing"

    @cached
    def shouted(name: str) -> str:
        return content(name).upper()

    for text in ("one", "two", None, "one"):
        if text is None:
            path.unlink()
        else:
            with replacing(path) as draft:
                draft.write_text(text)
        assert [shouted("file"), shouted("file")] == [(text or "nothing").upper()] * 2
    path.write_text("longer")
    assert shouted("file") == "LONGER"
    assert len(made) == 5, "once for each content"


def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    @cached
    def content() -> str:
        depends_on(path)
        text = path.read_text()
        path.write_text("newer")
        return text

    assert [content(), content()] == ["old", "newer"]


def test_all_results_together_stay_within_the_limit_and_the_least_recently_used_go_first() -> None:
    cache, made = Cache(limit=10_000), []

    def ask(key: str, size: int = 3_000) -> None:
        cache.get_or_make(key, lambda: made.append(key) or bytes(size))

    for key in ("a", "b", "c", "a", "d"):
        ask(key)
    assert made == ["a", "b", "c", "d"]
    assert 9_000 < cache.size <= 10_000
    ask("a")
    ask("b")
    assert made == ["a", "b", "c", "d", "b"], "of a, b and c the second was asked for longest ago"
    ask("too large", size=20_000)
    ask("b")
    assert made[-1] == "too large", "what can never be held evicts nothing"
    cache.clear()
    assert (cache.size, cache.values()) == (0, [])


def test_a_result_that_is_made_anew_counts_once(tmp_path: Path) -> None:
    cache, path = Cache(limit=10_000), tmp_path / "file"
    for text in ("a", "ab", "abc"):
        path.write_text(text)
        cache.get_or_make("key", lambda: depends_on(path) or bytes(3_000))
    assert 3_000 <= cache.size < 4_000


def test_of_many_who_ask_at_once_one_makes_the_result() -> None:
    made, everybody = [], Barrier(8)

    @cached
    def slow(key: str) -> int:
        made.append(key)
        sleep(0.05)
        return len(made)

    def ask(_: int) -> int:
        everybody.wait()
        return slow("key")

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(ask, range(8))) == [1] * 8
    assert made == ["key"]


def test_a_result_that_could_not_be_made_is_tried_again_by_the_next() -> None:
    attempts = []

    @cached
    def second_time() -> str:
        attempts.append(1)
        if len(attempts) == 1:
            raise UserError("not yet")
        return "made"

    with pytest.raises(UserError, match="not yet"):
        second_time()
    assert second_time() == "made"


def test_the_size_of_a_result_is_that_of_its_arrays_and_tables_wherever_they_are() -> None:
    rows = np.zeros((1000, 10))
    table = pd.DataFrame(rows)
    for value in (rows, rows[::2].repeat(2, 0), {"rows": [rows]}, table, (table, table), SimpleNamespace(rows=rows)):
        assert 80_000 <= size_of(value) < 85_000
    assert size_of("x" * 1000) >= 1000


def test_nothing_is_cached_by_what_has_no_content() -> None:
    with pytest.raises(TypeError, match="object"):
        fingerprint([object()])


@cached
def read(path: Path) -> str:
    depends_on(path)
    return path.read_text()


@once_a_look
def there(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@cached
def listed_in(folder: Path) -> tuple[str, ...]:
    return tuple(there(folder))


def write(path: Path, text: str) -> None:
    with replacing(path) as draft:
        draft.write_text(text)


def test_within_one_look_a_file_is_what_it_was_at_first_and_after_it_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write(path, "old")
    with one_look():
        assert read(path) == "old"
        write(path, "newer")
        assert read(path) == "old"
        assert there(tmp_path) == ["a"]
        write(tmp_path / "b", "")
        assert there(tmp_path) == ["a"]
    assert read(path) == "newer"
    assert there(tmp_path) == ["a", "b"]


def test_whoever_changes_files_within_one_look_sees_the_change(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write(path, "old")
    with one_look():
        assert (read(path), there(tmp_path)) == ("old", ["a"])
        look_again()
        write(path, "newer")
        write(tmp_path / "b", "")
        assert (read(path), there(tmp_path)) == ("newer", ["a", "b"])


def test_a_file_that_changes_between_the_look_and_the_reading_is_read_again_later(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with one_look():
        assert _stamp(str(path)) is None
        write(path, "new")
        assert read(path) == "new"
    write(path, "newer")
    assert read(path) == "newer"


def test_another_thread_looks_for_itself(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write(path, "old")
    with one_look(), ThreadPoolExecutor(1) as pool:
        assert read(path) == "old"
        write(path, "newer")
        assert pool.submit(read, path).result() == "newer"


def test_what_is_made_within_one_look_is_made_of_what_is_there(tmp_path: Path) -> None:
    with one_look():
        assert there(tmp_path) == []
        write(tmp_path / "a", "")
        assert listed_in(tmp_path) == ("a",)


@cached
def measured(n: int) -> pd.DataFrame:
    return pd.DataFrame({"value": range(n)})


def test_a_table_in_the_cache_is_digested_once_and_is_the_same_as_its_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    table = measured(7)
    first = fingerprint(table)
    assert first == fingerprint(table.copy())
    monkeypatch.setattr("mpd2.core.cache._as_bytes", lambda _: memoryview(b"another"))
    assert fingerprint(table) == first
    assert fingerprint(table.copy()) != first


def test_a_table_that_is_gone_leaves_no_digest() -> None:
    place = id(table := measured(8))
    fingerprint(table)
    assert place in _digests
    CACHE.clear()
    del table
    gc.collect()
    assert place not in _digests
