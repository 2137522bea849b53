"""Workspaces are listed, found, made, copied and added to, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from disk import names
from hypothesis import given
from hypothesis import strategies as st
from small_workspace import MANIFEST, nights, small_workspace, table_of

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.errors import TableError, UserError
from mpd2.core.manifest import parse_manifest
from mpd2.core.table_file import cohort_from_frame, load_cohort
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces import adding, copying, earlier, shelf
from mpd2.lab.workspaces.cells import table_cells


@pytest.fixture
def place(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path / "jobs", tmp_path / "runs")


def rows_of(patients: int, first: int, **changes: object) -> pd.DataFrame:
    """New rows as they are read: text, counted from 2."""
    cells = nights(patients, seed=first, first=first).assign(**changes)
    return cells.set_axis(pd.RangeIndex(2, len(cells) + 2))


# Found by name


def test_the_workshop_keeps_workspaces_beside_its_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPD2_WORKSHOP", str(tmp_path))
    assert Workshop.here().workspaces == tmp_path / "workspaces"


def test_shipped_workspaces_come_first_then_own_ones_by_name(place: Workshop) -> None:
    shipped = [each.name for each in shelf.workspaces(place)]
    for name in ("nights", "dawn"):
        small_workspace(place, name)
    (place.workspaces / ".draft").mkdir()
    (place.workspaces / "empty").mkdir()
    assert [each.name for each in shelf.workspaces(place)] == [*shipped, "dawn", "nights"]
    assert not any(each.shipped for each in shelf.own_workspaces(place))


def test_a_name_that_is_not_there_is_answered_with_those_that_are(place: Workshop) -> None:
    small_workspace(place)
    with pytest.raises(UserError, match=r"found 'days', expected one of .*nights"):
        shelf.find("days", place)


@pytest.mark.parametrize("name", ["", "Nights", "../x", "-a", "a" * 41, "a_b", "a/b", "ä", "nights\n", "."])
def test_a_name_that_is_none_is_refused(name: str, place: Workshop) -> None:
    with pytest.raises(UserError, match="expected up to 40 of a to z"):
        shelf.create(name, table_of(nights()), MANIFEST, place, by=LOCAL)
    assert not place.workspaces.exists()


def test_a_taken_name_is_refused_and_the_workspace_left_alone(place: Workshop) -> None:
    before = small_workspace(place).table.read_bytes()
    with pytest.raises(UserError, match="'nights' is taken"):
        shelf.create("nights", table_of(nights(70)), MANIFEST, place, by=LOCAL)
    assert shelf.find("nights", place).table.read_bytes() == before
    assert shelf.suggested_name("Nights!", place) == "nights-2"
    assert shelf.suggested_name("ÜÖ", place) == "workspace"


def test_a_table_that_does_not_fit_is_refused_with_its_rows_and_nothing_is_written(place: Workshop) -> None:
    cells = nights()
    cells.loc[3, "truth"] = "perhaps"
    with pytest.raises(TableError, match="row 5, column truth: found perhaps"):
        shelf.create("nights", table_of(cells), MANIFEST, place, by=LOCAL)
    with pytest.raises(UserError, match=r"expected a name ending in \.csv or \.parquet"):
        shelf.create("nights", table_of(nights()), MANIFEST.replace("nights.csv", "README.md"), place, by=LOCAL)
    assert shelf.own_workspaces(place) == []
    assert not place.workspaces.exists() or not list(place.workspaces.iterdir())


def test_what_was_made_is_what_was_given(place: Workshop) -> None:
    made = shelf.create("nights", table_of(nights()), MANIFEST, place, "# Nights\r\n", by=LOCAL)
    assert names(made.folder) == ["README.md", "manifest.toml", "nights.csv", "owner.json"]
    assert made.manifest_path.read_bytes() == MANIFEST.encode()
    assert (made.folder / "README.md").read_bytes() == b"# Nights\r\n"
    assert len(made.cohort()) == 180


def test_a_table_is_checked_again_unless_it_is_the_one_that_was(
    place: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = cohort_from_frame(nights(), parse_manifest(MANIFEST))
    bad = nights()
    bad.loc[3, "truth"] = "perhaps"
    with pytest.raises(TableError, match="row 5, column truth"):
        shelf.create("bad", table_of(bad), MANIFEST, place, cohort=known, by=LOCAL)
    monkeypatch.setattr(shelf, "read_cohort", lambda *_: pytest.fail("read again"))
    assert shelf.create("good", table_of(nights()), MANIFEST, place, cohort=known, by=LOCAL).name == "good"


# Rows later


def test_new_rows_come_last_and_those_there_keep_their_splits(place: Workshop) -> None:
    before = small_workspace(place).cohort()
    added = adding.add_rows("nights", rows_of(20, 60).drop(columns=["part", "note", "bob"]), "new.csv", place, by=LOCAL)
    after = shelf.find("nights", place).cohort()
    assert (added.rows, added.given, added.joined, added.dealt) == (60, 0, 0, 60)
    assert after.fingerprint == added.after.fingerprint != before.fingerprint
    assert after.ids[:180].tolist() == before.ids.tolist()
    assert after.split[:180].tolist() == before.split.tolist()
    measured = ~before.absent  # what is filled in comes from all train rows, new ones too
    assert (after.state[:180] == before.state)[measured].all()
    assert sum(added.splits.values()) == 60
    assert "60 rows more" in added.in_words()


def test_runs_made_before_say_how_many_rows_were_added_since(place: Workshop) -> None:
    workspace = small_workspace(place)
    first = workspace.cohort()
    adding.add_rows("nights", rows_of(20, 60), "new.csv", place, by=LOCAL)
    second = workspace.cohort()
    adding.add_rows("nights", rows_of(1, 80).iloc[:1], "new.csv", place, by=LOCAL)
    now = workspace.cohort()
    assert earlier.rows_added_since(workspace, now, first.fingerprint) == 61
    assert earlier.made_before(workspace, now, first.fingerprint) == "made before 61 rows were added"
    assert earlier.made_before(workspace, now, second.fingerprint) == "made before 1 row was added"
    assert earlier.made_before(workspace, now, now.fingerprint) == ""
    assert earlier.made_before(workspace, now, "0" * 16) == "made from another table"
    assert earlier.fingerprints(workspace) == {each.fingerprint for each in (first, second, now)}


def test_a_patient_who_is_there_is_joined_and_a_split_that_is_given_is_taken(place: Workshop) -> None:
    workspace = small_workspace(place)
    cells = rows_of(3, 60, part="").reset_index(drop=True)
    cells.loc[0:2, "patient"] = "p002"  # of val
    cells.loc[3, "part"] = "test"
    cells.index += 2
    added = adding.add_rows("nights", cells, "new.csv", place, by=LOCAL)
    assert (added.given, added.joined, added.dealt) == (1, 5, 3)
    after = workspace.cohort()
    assert after.split[180:186].tolist() == ["val"] * 3 + ["test"] * 3
    assert len(set(after.split[186:])) == 1


def test_ids_that_are_there_and_bad_cells_are_refused_by_their_rows(place: Workshop) -> None:
    workspace = small_workspace(place)
    before = {path: path.read_bytes() for path in workspace.folder.rglob("*") if path.is_file()}
    cells = rows_of(3, 60)
    cells.loc[[4, 6], "epoch"] = ["e0001", "e0002"]
    cells.loc[5, "score"] = "7"
    with pytest.raises(TableError) as caught:
        adding.add_rows("nights", cells, "new.csv", place, by=LOCAL)
    said = str(caught.value)
    assert "new.csv, row 4, column epoch: found e0001, expected an id that no row of the workspace has." in said
    assert "1 more row has the same problem: 6" in said
    assert "new.csv, row 5, column score: found 7, expected a number from 0 to 1." in said
    moved = rows_of(1, 60, patient="p000", part="test")
    with pytest.raises(TableError, match=r"row 2, column part: found test, expected train, as other rows of this pat"):
        adding.add_rows("nights", moved, "new.csv", place, by=LOCAL)
    with pytest.raises(TableError, match="column snoring: found no such column"):
        adding.add_rows("nights", rows_of(1, 60).drop(columns="snoring"), "new.csv", place, by=LOCAL)
    assert {path: path.read_bytes() for path in workspace.folder.rglob("*") if path.is_file()} == before


def test_rows_can_be_added_to_a_parquet_table(place: Workshop, tmp_path: Path) -> None:
    nights().astype({"score": float, "snoring": float}).to_parquet(tmp_path / "nights.parquet", index=False)
    manifest = MANIFEST.replace("nights.csv", "nights.parquet")
    shelf.create("nights", (tmp_path / "nights.parquet").read_bytes(), manifest, place, by=LOCAL)
    before = shelf.find("nights", place).cohort()
    adding.add_rows("nights", rows_of(2, 60), "new.csv", place, by=LOCAL)
    after = shelf.find("nights", place).cohort()
    assert len(after) == 186
    assert (after.state[:180] == before.state)[~before.absent].all()


@given(
    patients=st.integers(1, 6),
    old=st.lists(st.integers(0, 59), max_size=4, unique=True),
    said=st.lists(st.sampled_from(["", "train", "val", "test"]), min_size=6, max_size=6),
)
def test_no_patient_is_ever_divided(patients: int, old: list[int], said: list[str], tmp_path_factory) -> None:
    folder = tmp_path_factory.mktemp("workshop")
    place = Workshop(folder / "jobs", folder / "runs")
    small_workspace(place)
    new = rows_of(patients, 60, part=np.repeat(said[:patients], 3))
    again = nights().groupby("patient").head(1).iloc[old]
    again = again.assign(epoch=[f"again{row}" for row in old], part="")
    cells = pd.concat([new, again])
    cells.index = pd.RangeIndex(2, len(cells) + 2)
    adding.add_rows("nights", cells, "new.csv", place, by=LOCAL)
    after = shelf.find("nights", place).cohort()
    assert len(after) == 180 + len(cells)
    assert all(len(set(after.split[after.cluster == one])) == 1 for one in np.unique(after.cluster))
    wanted = cells["part"].to_numpy()
    assert (after.split[180:] == wanted)[wanted != ""].all()


def test_many_new_patients_are_dealt_in_the_shares_of_those_there(place: Workshop) -> None:
    small_workspace(place)
    added = adding.add_rows("nights", rows_of(400, 60, part=""), "new.csv", place, by=LOCAL)
    assert added.splits == pytest.approx({"train": 600, "val": 300, "test": 300}, abs=30)


# Copies


@pytest.mark.parametrize("ids", ["random", "none"])
def test_a_copy_has_the_same_cases_under_other_ids_and_nothing_made_from_them(
    ids: copying.Ids, place: Workshop
) -> None:
    workspace = small_workspace(place)
    made = copying.copy("nights", "given-away", ids, place, by=LOCAL)
    before, after = workspace.cohort(), made.workspace.cohort()
    assert names(made.workspace.folder) == ["manifest.toml", "nights.csv", "owner.json"]
    assert made.dropped == ("recorded", "note")
    assert made.workspace.manifest() == workspace.manifest().but(
        row=workspace.manifest().row.model_dump() | {"date": ""}
    )
    cells = set(made.workspace.table.read_text().replace("\n", ",").split(","))
    assert not cells & {*before.ids, "p000", "p059", "2025-03-01", "seen"}
    order = np.lexsort(before.state.T), np.lexsort(after.state.T)
    for name in ("state", "truth", "split", "source", "decisions", "absent"):
        assert (getattr(before, name)[order[0]] == getattr(after, name)[order[1]]).all(), name
    pairs = set(zip(before.cluster[order[0]].tolist(), after.cluster[order[1]].tolist(), strict=True))
    assert len(pairs) == 60  # one to one
    assert after.ids.tolist() != before.ids.tolist()
    assert "may still know the person" in made.in_words()


def test_the_key_leads_back_from_random_ids_and_from_numbers_there_is_none(place: Workshop) -> None:
    before = small_workspace(place).cohort()
    made = copying.copy("nights", "random", "random", place, by=LOCAL)
    after = made.workspace.cohort()
    back = made.key.set_index("id")["before"]
    old = pd.Series(before.ai_probability, before.ids)
    assert (old[back[after.ids]].to_numpy() == after.ai_probability).all()
    plain = copying.copy("nights", "numbered", "none", place, by=LOCAL)
    assert plain.key is None
    assert plain.workspace.cohort().ids.tolist() == [str(number) for number in range(1, 181)]
    assert table_cells(plain.workspace.table.read_bytes(), plain.workspace.manifest())["patient"][2] == "1"


def test_a_whole_copy_has_everything_but_what_was_only_on_the_way(place: Workshop) -> None:
    workspace = small_workspace(place)
    made = copying.copy("nights", "twin", "keep", place, by=LOCAL).workspace
    assert made.cohort().fingerprint == workspace.cohort().fingerprint
    assert "build" not in names(made.folder)
    assert (made.folder / "runs" / "ai" / "config.json").read_text() == '{"method": "ai"}'
    assert load_cohort(made.table, made.manifest()).manifest.title == "Apnoea in nights of sleep"
