"""A table in parts: the same decisions as from the whole, and problems told by the rows of the whole."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import DATA

from mpd2.cli.route import write_frames
from mpd2.core.errors import TableError, UserError
from mpd2.core.manifest import load_manifest
from mpd2.core.runs import load_run
from mpd2.core.table_file import load_cohort
from mpd2.lab.cluster import Here
from mpd2.lab.large_tables import RouteRequest, UniqueIds, parts_of, read_part, route_part
from mpd2.methods.registry import policy_of
from mpd2.planning.worklist import decisions_frame
from mpd2.training.population import CHUNK

MANIFEST = load_manifest(DATA / "manifest.toml")


@pytest.fixture(scope="module")
def order() -> RouteRequest:
    """Two routers of the shipped run."""
    run = load_run(DATA / "runs/studio")
    arrays = {name: array[:2] for name, array in run.arrays.items()}
    return RouteRequest(dataclasses.replace(run, settings=run.settings[:2], arrays=arrays), MANIFEST)


@pytest.fixture(scope="module")
def cases() -> pd.DataFrame:
    """The shipped table three times over, every case with an id of its own: more than two chunks of a router."""
    rows = pd.read_csv(DATA / "glaucoma.csv", dtype=str, keep_default_na=False)
    return pd.concat([rows.assign(case_id=rows["case_id"] + f"/{copy}") for copy in range(3)], ignore_index=True)


def written(cases: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".csv":
        cases.to_csv(path, index=False)
    else:
        cases.to_parquet(path, index=False, row_group_size=1000)
    return path


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_parts_are_decided_as_the_whole_to_the_last_bit(cases, order, tmp_path, suffix):
    table = written(cases, tmp_path / f"large{suffix}")
    whole = load_cohort(table, MANIFEST, "routing")
    expected = decisions_frame(policy_of(order.run, whole), whole, order.run.rule)
    parts = list(parts_of(table, rows=CHUNK))
    assert len(parts) == 3
    frames = list(Here().in_order(route_part, order, parts))
    pd.testing.assert_frame_equal(pd.concat(frames, ignore_index=True), expected)
    for ending in (".csv", ".parquet"):
        out = tmp_path / f"out{ending}"
        asked = int((expected["action"] != "ai").sum())
        assert write_frames(frames, out, table).tolist() == [len(cases) - asked, 0, asked]
        found = pd.read_csv(out) if ending == ".csv" else pd.read_parquet(out)
        assert found["case_id"].tolist() == expected["case_id"].tolist()
        np.testing.assert_allclose(found["defer"], expected["defer"], rtol=1e-5)


CELLS = st.text(st.sampled_from('a"\n, \r'), max_size=4)


@settings(max_examples=50)
@given(st.lists(CELLS, min_size=1, max_size=12), st.integers(1, 5))
def test_a_csv_table_is_cut_between_rows_whatever_its_cells_hold(tmp_path_factory, cells, rows):
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    table = pd.DataFrame({"id": range(len(cells)), "text": cells})
    table.to_csv(path, index=False, quoting=1)
    parts = list(parts_of(path, rows))
    header = b'"id","text"\n'
    assert all(part.data.startswith(header) for part in parts)
    assert header + b"".join(part.data.removeprefix(header) for part in parts) == path.read_bytes()
    assert [part.above for part in parts] == list(range(0, len(cells), rows))


def test_a_problem_is_told_by_its_row_in_the_whole_table(cases, tmp_path):
    rows = cases.head(10).copy()
    rows.loc[[7, 8], "vCDR"] = "2"
    parts = list(parts_of(written(rows, tmp_path / "bad.csv"), rows=4))
    read_part(parts[0], MANIFEST)
    message = r"bad\.csv, row 9, column vCDR: found 2, expected a number from 0 to 1\.$"
    with pytest.raises(TableError, match=message):
        read_part(parts[1], MANIFEST)


def test_an_id_that_comes_again_in_a_later_part_leaves_nothing_written(cases, order, tmp_path):
    table = written(pd.concat([cases.head(9), cases.head(1)]), tmp_path / "twice.csv")
    frames = (route_part(order, part) for part in parts_of(table, rows=4))
    with pytest.raises(TableError, match=r"twice\.csv, row 11, column case_id: found an id once more"):
        write_frames(frames, tmp_path / "out.csv", table)
    assert not (tmp_path / "out.csv").exists()


def test_different_ids_pass(cases):
    ids = UniqueIds("table.csv")
    ids.add(cases["case_id"].head(100))
    ids.add(cases["case_id"].tail(100))
    ids.check()


def test_blank_lines_after_the_last_full_part_are_no_rows(cases, tmp_path):
    path = written(cases.head(4), tmp_path / "table.csv")
    path.write_bytes(path.read_bytes() + b"\n\r\n")
    assert len(list(parts_of(path, rows=4))) == 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("table.csv", b"", "found an empty file"),
        ("table.csv", b"case_id,cohort\n", "found a header and no rows"),
        ("table.parquet", b"PAR1 but not really", "found a file that cannot be read"),
        ("table.xlsx", b"PK", "found a file ending in .xlsx, expected .csv or .parquet"),
    ],
)
def test_what_is_no_table_is_refused_as_ever(tmp_path, order, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=message):
        list(Here().in_order(route_part, order, parts_of(tmp_path / name)))
