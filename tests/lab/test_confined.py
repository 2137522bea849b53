"""What somebody sent is read apart: it may end the process that reads it, never the one that serves."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hostile_tables import EXAMPLE, ROWS, ended_by_returns, example, parquet, with_bytes, with_lists, with_long_text
from hypothesis import given
from hypothesis import strategies as st

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.cohort import Cohort
from mpd2.core.errors import TableError, UserError
from mpd2.core.table_file import cohort_from_frame, read_cohort
from mpd2.lab import uploads
from mpd2.lab.confined import process
from mpd2.lab.confined.messages import cells_from_bytes, cells_to_bytes, packed, unpacked
from mpd2.lab.confined.reading import read_table
from mpd2.lab.imports import files

MARKER = "ZEBRA-7431"
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(st.integers(1, 4).flatmap(lambda width: st.lists(st.lists(texts, min_size=width, max_size=width), min_size=1)))
def test_a_table_of_text_comes_back_as_it_was(rows: list[list[str]]) -> None:
    cells = pd.DataFrame(rows, index=range(2, len(rows) + 2), columns=["a"] * len(rows[0]), dtype=object)
    back = cells_from_bytes(cells_to_bytes(cells))
    assert back.to_numpy().tolist() == rows
    assert back.index.tolist() == cells.index.tolist()
    assert back.columns.tolist() == cells.columns.tolist()


@given(st.dictionaries(texts, texts), st.lists(st.binary()))
def test_a_message_comes_back_whole_or_not_at_all(about: dict[str, str], parts: list[bytes]) -> None:
    message = packed({"about": about}, parts)
    told, found = unpacked(message)
    assert (told["about"], found) == (about, parts)
    with pytest.raises(ValueError, match=r"half a message|Expecting|Unterminated|delimiter"):
        unpacked(message[:-1])


def test_a_good_table_is_read_the_same_apart_and_here(benchmark: Cohort) -> None:
    apart = uploads.read_own(EXAMPLE.encode(), "a.csv", benchmark.manifest, by=LOCAL)
    here = read_cohort(EXAMPLE.encode(), "a.csv", benchmark.manifest, "routing")
    assert apart.fingerprint == here.fingerprint
    assert apart.ids.tolist() == here.ids.tolist()
    np.testing.assert_array_equal(apart.state, here.state)
    np.testing.assert_array_equal(apart.decisions, here.decisions)


def test_any_table_is_read_the_same_apart_and_here() -> None:
    data = EXAMPLE.replace(",", ";").encode("utf-16")
    apart, here = read_table(data, "a.csv"), files.read_table(data, "a.csv")
    pd.testing.assert_frame_equal(apart.cells, here.cells)
    assert (apart.notes, apart.sheets, apart.sheet) == (here.notes, here.sheets, here.sheet)


def test_problems_come_back_one_by_one(benchmark: Cohort) -> None:
    with pytest.raises(TableError) as refused:
        read_table(b"a,b\n1,2\n1\n1,2,3\n1\n", "a.csv")
    assert [(problem.row, problem.also) for problem in refused.value.problems] == [(3, (5,)), (4, ())]


def test_a_list_in_a_cell_is_never_unpacked(benchmark: Cohort) -> None:
    data = with_lists(300_000)
    assert len(data) < 2**16
    assert len(uploads.read_own(data, "a.parquet", benchmark.manifest, by=LOCAL)) == ROWS  # nobody needs that column
    with pytest.raises(UserError, match="column extra: found cells of the kind list"):
        read_table(data, "a.parquet")
    known = example()
    place = known.column_names.index("vCDR")
    nested = parquet(known.set_column(place, "vCDR", pa.array([[0.5]] * ROWS)))
    with pytest.raises(UserError, match="column vCDR: found cells of the kind list"):
        uploads.read_own(nested, "a.parquet", benchmark.manifest, by=LOCAL)


def test_a_text_longer_than_a_spreadsheet_holds_is_refused_before_it_is_copied(benchmark: Cohort) -> None:
    assert len(uploads.read_own(with_long_text(2**20), "a.parquet", benchmark.manifest, by=LOCAL)) == ROWS
    for read in (read_table, lambda data, name: uploads.read_own(data, name, benchmark.manifest, by=LOCAL)):
        with pytest.raises(UserError, match="column case_id: found a text of 1048576 bytes, expected at most 32767"):
            read(with_long_text(2**20, "case_id"), "a.parquet")
        with pytest.raises(UserError, match="field larger than field limit"):
            read(EXAMPLE.replace("\n", "\n" + "0" * 40_000, 1).encode(), "a.csv")


def test_a_file_of_commas_is_refused_by_its_first_row(benchmark: Cohort) -> None:
    begun = time.monotonic()
    for read in (read_table, lambda data, name: uploads.read_own(data, name, benchmark.manifest, by=LOCAL)):
        with pytest.raises(UserError, match=r"1,?500,?001 (cells|columns), expected at most 2,?000"):
            read(b"," * 1_500_000, "a.csv")
    assert time.monotonic() - begun < 30


def test_rows_are_counted_whatever_ends_them(benchmark: Cohort) -> None:
    with pytest.raises(UserError, match="found 20001 rows, expected at most 20000"):
        uploads.read_own(ended_by_returns(20_001), "a.csv", benchmark.manifest, by=LOCAL)


@pytest.mark.parametrize("kind", [pa.string(), pa.binary()], ids=str)
def test_bytes_that_are_no_text_are_refused_and_never_printed(
    benchmark: Cohort, kind: pa.DataType, capfd: pytest.CaptureFixture[str]
) -> None:
    data = with_bytes(f"café {MARKER}".encode("latin-1"), "case_id", kind)
    for read in (read_table, lambda data, name: uploads.read_own(data, name, benchmark.manifest, by=LOCAL)):
        with pytest.raises(TableError):
            read(data, "a.parquet")
    assert MARKER not in "".join(capfd.readouterr())


def numbered(rows: int, columns: int) -> bytes:
    """Cells of which no two are alike."""
    header = ",".join(f"x{place}" for place in range(columns))
    lines = (",".join(map(str, range(row * columns, (row + 1) * columns))) for row in range(rows))
    return "\n".join([header, *lines]).encode()


def test_one_that_needs_too_much_memory_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "MEMORY", 300 * 2**20)
    with pytest.raises(UserError, match=r"a\.csv: (needs more memory|cannot be read: reading it broke off)"):
        read_table(numbered(rows=4_000, columns=1_000), "a.csv")


def test_one_that_takes_too_long_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "PATIENCE", 0.01)
    with pytest.raises(UserError, match=r"a\.csv: takes too long to read here"):
        read_table(EXAMPLE.encode(), "a.csv")
    monkeypatch.undo()
    monkeypatch.setattr(process, "SECONDS", 1)
    with pytest.raises(UserError, match=r"a\.csv: takes too long to read here"):
        read_table(b"a,b\n" + b"1,2\n" * 5_000_000, "a.csv")


def test_a_process_that_dies_is_a_sentence(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(process, "MODULE", "mpd2.lab.confined.nowhere")
    with pytest.raises(UserError, match=r"a\.csv: cannot be read: reading it broke off"):
        read_table(EXAMPLE.encode(), "a.csv")
    assert not "".join(capfd.readouterr())


def test_one_process_waits_and_is_replaced_and_none_is_left(tmp_path: Path) -> None:
    with process.kept_ready():
        first = process._spare
        assert first is not None
        assert len(read_table(EXAMPLE.encode(), "a.csv")) == ROWS
        second = process._spare
        assert second is not None
        assert second.pid != first.pid
        assert first.returncode == 0
        second.kill()
        second.wait()
        assert len(read_table(EXAMPLE.encode(), "a.csv")) == ROWS  # a dead one is passed over
        last = process._spare
        assert last is not None
    assert process._spare is None
    with pytest.raises(ProcessLookupError):
        os.kill(last.pid, 0)


def test_it_is_told_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOMEBODYS_TOKEN", MARKER)
    with process.kept_ready():
        spare = process._spare
        assert spare is not None
        assert MARKER.encode() not in Path(f"/proc/{spare.pid}/environ").read_bytes()


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.binary(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
def test_an_id_is_never_taken_for_another_that_ends_in_a_nul(benchmark: Cohort, kind: pa.DataType) -> None:
    table = example()
    ids = [f"c{number}" for number in range(ROWS)]
    ids[1] = ids[0] + "\0"
    place = table.column_names.index("case_id")
    data = parquet(table.set_column(place, "case_id", pa.array(ids).cast(kind)))
    with pytest.raises(TableError, match="row 3, column case_id"):
        uploads.read_own(data, "a.parquet", benchmark.manifest, by=LOCAL)
    with pytest.raises(TableError, match="row 3, column case_id"):
        cohort_from_frame(table.to_pandas().assign(case_id=ids), benchmark.manifest)
    frame = table.to_pandas().assign(case_id=ids).to_csv(index=False).encode()
    with pytest.raises(TableError, match="row 3"):
        uploads.read_own(frame, "a.csv", benchmark.manifest, by=LOCAL)
