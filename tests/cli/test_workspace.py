"""`workspace`: what it does, what it asks and what it refuses."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pandas as pd
import pytest
from small_workspace import nights, small_workspace

from mpd2.cli import main
from mpd2.clinic.access.actor import LOCAL
from mpd2.core.workspace import DEFAULT
from mpd2.evaluation.reports import publish_run
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces.archive import exported
from mpd2.lab.workspaces.shelf import find, own_workspaces
from mpd2.methods.registry import METHODS


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """An empty workshop, and an empty folder to work in."""
    monkeypatch.setenv("MPD2_WORKSHOP", str(tmp_path / "workshop"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return Workshop.here()


def answering(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    """Somebody sits at the terminal."""
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda: answer)


def test_list_names_the_shipped_and_your_own_and_says_what_is_damaged(
    place: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    small_workspace(place)
    small_workspace(place, "broken").table.unlink()
    assert main(["workspace", "list", "--json"]) == 0
    found = {each["name"]: each for each in json.loads(capsys.readouterr().out)}
    assert next(iter(found)) == DEFAULT
    assert (found["nights"]["cases"], found["nights"]["readers"], found["nights"]["runs"]) == (180, 2, ["ai"])
    assert found[DEFAULT]["kind"] == "shipped"
    assert "cannot be read" in found["broken"]["problem"]
    assert main(["workspace", "list"]) == 0
    assert "Apnoea in nights of sleep" in capsys.readouterr().out


def test_a_workspace_is_exported_removed_and_opened_again(place: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    before = exported(small_workspace(place), by=LOCAL)
    assert main(["workspace", "export", "nights"]) == 0
    file = Path("nights.workspace.zip")
    assert file.read_bytes() == before
    assert main(["workspace", "export", "nights"]) == 1
    assert "is already there" in capsys.readouterr().err
    assert main(["workspace", "export", "nights", "--force"]) == 0
    assert main(["workspace", "import", str(file)]) == 1
    assert "'nights' is taken" in capsys.readouterr().err
    assert main(["workspace", "remove", "nights", "--yes"]) == 0
    assert own_workspaces(place) == []
    assert main(["workspace", "import", str(file), "--name", "again"]) == 0
    assert "again: Apnoea in nights of sleep; cases: 180, readers: 2, runs: 1" in capsys.readouterr().out
    assert [each.name for each in own_workspaces(place)] == ["again"]


def test_a_file_that_is_none_is_refused_in_words(place: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    Path("no.zip").write_bytes(b"no zip")
    assert main(["workspace", "import", "no.zip"]) == 1
    assert "not a file that a workspace was exported to" in capsys.readouterr().err
    assert main(["workspace", "import", "gone.zip"]) == 1
    assert "gone.zip: cannot be read" in capsys.readouterr().err
    assert not place.workspaces.exists()


@pytest.mark.parametrize(("answer", "left"), [("", 1), ("no", 1), ("y", 0), ("Yes", 0)])
def test_remove_asks_first(
    answer: str, left: int, place: Workshop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small_workspace(place)
    answering(monkeypatch, answer)
    assert main(["workspace", "remove", "nights"]) == left
    assert "this removes its table, manifest, runs, tables and map" in capsys.readouterr().err
    assert len(own_workspaces(place)) == left


def test_where_nobody_can_answer_nothing_is_removed(place: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    small_workspace(place)
    assert main(["workspace", "remove", "nights"]) == 1
    assert "give --yes" in capsys.readouterr().err
    assert main(["workspace", "remove", DEFAULT, "--yes"]) == 1
    assert "is shipped" in capsys.readouterr().err
    assert len(own_workspaces(place)) == 1


def test_a_copy_without_ids_has_a_key_if_asked_for(place: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    before = small_workspace(place).cohort()
    assert main(["workspace", "copy", "nights", "given", "--key", "key.csv"]) == 0
    assert "each id is a random one" in capsys.readouterr().out
    key = pd.read_csv("key.csv")
    assert sorted(key["before"]) == sorted(before.ids)
    assert set(key["id"]) == set(find("given", place).cohort().ids)
    assert main(["workspace", "copy", "nights", "numbered", "--ids", "none", "--key", "other.csv"]) == 1
    assert "only random ids have one" in capsys.readouterr().err
    assert main(["workspace", "copy", DEFAULT, "mine", "--ids", "keep"]) == 0
    assert (find("mine", place).runs / "mpd2-plus" / "config.json").is_file()


# new, check and add


@pytest.fixture
def raw(place: Workshop) -> Path:
    """A table as somebody has it: without a split, truth and readers in words."""
    cells = nights().drop(columns=["part", "note"])
    words = {"0": "no", "1": "yes", "": ""}
    cells = cells.assign(**{name: cells[name].map(words) for name in ("truth", "ann", "bob")})
    cells.rename(columns={"ann": "reader_ann", "bob": "reader_bob"}).to_csv("raw.csv", index=False)
    return Path("raw.csv")


def test_a_table_becomes_a_workspace_with_its_columns_as_they_are(
    raw: Path, place: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["workspace", "new", "mine", "--cases", str(raw), "--yes"]) == 0
    printed = capsys.readouterr()
    lines = [line.split() for line in printed.err.splitlines()]
    assert next(line for line in lines if line[:1] == ["reader_ann"])[3:4] == ["reader"]
    assert "is known to ±" in printed.err
    assert "workspace build mine" in printed.out
    made = find("mine", place).cohort()
    assert (len(made), made.manifest.columns) == (180, ("reader_ann", "reader_bob"))
    assert made.manifest.groups is not None
    assert set(made.split) == {"train", "val", "test"}
    assert all(len(set(made.split[made.cluster == one])) == 1 for one in set(made.cluster.tolist()))


@pytest.mark.parametrize("answer", ["", "y"])
def test_new_asks_before_anything_is_kept(
    answer: str, raw: Path, place: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(monkeypatch, answer)
    assert main(["workspace", "new", "mine", "--cases", str(raw)]) == (0 if answer else 1)
    assert len(own_workspaces(place)) == bool(answer)
    assert answer or not place.workspaces.exists()


def test_a_draft_can_be_changed_and_given_back(raw: Path, place: Workshop) -> None:
    assert main(["workspace", "new", "mine", "--cases", str(raw), "--draft", "mine.toml"]) == 0
    assert own_workspaces(place) == []
    text = Path("mine.toml").read_text()
    Path("mine.toml").write_text(text.replace('title = "Raw"', 'title = "Nights"').replace("fee = 0.1", "fee = 0.25"))
    assert main(["workspace", "new", "mine", "--cases", str(raw), "--manifest", "mine.toml", "--yes"]) == 0
    manifest = find("mine", place).manifest()
    assert (manifest.title, manifest.fees.tolist()) == ("Nights", [0.25, 0.25])


def test_readings_may_stand_in_a_second_file(raw: Path, place: Workshop) -> None:
    cells = pd.read_csv(raw, dtype=str, keep_default_na=False)
    readers = ["reader_ann", "reader_bob"]
    long = cells.melt("epoch", readers, var_name="reader", value_name="answer")
    long[long["answer"] != ""].to_csv("readings.csv", index=False)
    cells.drop(columns=readers).to_csv("cases.csv", index=False)
    line = ["workspace", "new", "mine", "--cases", "cases.csv", "--readings", "readings.csv", "--yes"]
    assert main(line) == 0
    made = find("mine", place).cohort()
    assert (made.available.sum(0) == (cells[readers] != "").sum()).all()
    more = nights(2, first=60)
    more.drop(columns=["ann", "bob", "part", "note"]).to_csv("more.csv", index=False)
    said = pd.DataFrame({"epoch": more["epoch"], "reader": "reader_ann", "answer": more["ann"]})
    said.to_csv("more_readings.csv", index=False)
    assert main(["workspace", "add", "mine", "more.csv", "--readings", "more_readings.csv", "--yes"]) == 0
    after = find("mine", place).cohort()
    assert after.available[180:].sum(0).tolist() == [6, 0]


def test_what_cannot_be_used_is_said_and_not_kept(
    raw: Path, place: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = pd.read_csv(raw, dtype=str, keep_default_na=False)
    cells.drop(columns="truth").to_csv("blind.csv", index=False)
    assert main(["workspace", "new", "mine", "--cases", "blind.csv", "--yes"]) == 1
    assert "No column is the truth" in capsys.readouterr().err
    cells.head(90).to_csv("few.csv", index=False)
    assert main(["workspace", "new", "mine", "--cases", "few.csv", "--yes"]) == 1
    error = capsys.readouterr().err
    assert "error: The table has 90 rows; at least 150 are needed." in error
    assert "few.csv: cannot be used as it is" in error
    assert main(["workspace", "new", DEFAULT, "--cases", str(raw), "--yes"]) == 1
    assert "is taken" in capsys.readouterr().err
    assert not place.workspaces.exists()


def test_check_looks_at_workspaces_tables_and_exported_files(
    raw: Path, place: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    small_workspace(place)
    assert main(["workspace", "export", "nights"]) == 0
    capsys.readouterr()
    found = {}
    for what in ("nights", "nights.workspace.zip", str(raw)):
        assert main(["workspace", "check", what, "--json"]) == 0
        found[what] = json.loads(capsys.readouterr().out)
    assert found["nights"] | {"what": ""} == found["nights.workspace.zip"] | {"what": ""}
    assert {each["column"]: each["is"] for each in found[str(raw)]["columns"]}["score"] == "AI, probability"
    assert all(each["cases"] == 180 and len(each["known"]) == 3 for each in found.values())
    assert main(["workspace", "check", str(raw)]) == 0
    assert "first values" in capsys.readouterr().out
    assert main(["workspace", "check", "days"]) == 1
    assert "neither a file nor a workspace of this name; there are glaucoma" in capsys.readouterr().err


def test_check_names_bad_rows(raw: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = pd.read_csv(raw, dtype=str, keep_default_na=False)
    cells.loc[3, "truth"] = "perhaps"
    cells.to_csv(raw, index=False)
    assert main(["workspace", "check", str(raw), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [(each["row"], each["column"], each["found"]) for each in found["problems"]] == [(5, "truth", "perhaps")]


def test_rows_are_added_as_they_were_first_read(raw: Path, place: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["workspace", "new", "mine", "--cases", str(raw), "--yes"]) == 0
    before = find("mine", place).cohort()
    more = nights(3, first=60).drop(columns=["part", "bob"]).rename(columns={"ann": "reader_ann"})
    more = more.assign(truth=more["truth"].map({"0": "no", "1": "yes"}), score=more["score"].str.replace(".", ","))
    more.loc[3:5, "patient"] = "p001"
    more.to_csv("more.csv", index=False, sep=";")
    assert main(["workspace", "add", "mine", "more.csv", "--yes"]) == 0
    printed = capsys.readouterr()
    assert "9 rows more" in printed.err
    assert "3 with others of theirs, 6 dealt at random" in printed.err
    assert "189 cases now" in printed.out
    after = find("mine", place).cohort()
    assert after.split[:180].tolist() == before.split.tolist()
    assert set(after.split[183:186]) == set(before.split[3:6])
    assert main(["workspace", "add", "mine", "more.csv", "--yes"]) == 1
    assert "an id that no row of the workspace has" in capsys.readouterr().err
    assert main(["workspace", "add", DEFAULT, "more.csv", "--yes"]) == 1
    assert "is shipped" in capsys.readouterr().err
    assert find("mine", place).cohort().fingerprint == after.fingerprint


def test_runs_say_that_they_were_made_before(place: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    workspace = small_workspace(place)
    cohort = workspace.cohort()
    run = METHODS["ai"].fit(cohort, cohort.manifest.default_costs(), (42,))
    publish_run(run, cohort, workspace.runs / "ai")
    nights(2, first=60).to_csv("more.csv", index=False)
    assert main(["workspace", "add", "nights", "more.csv", "--yes"]) == 0
    assert main(["workspace", "list"]) == 0
    assert "your own; runs made before 6 rows were added" in capsys.readouterr().out
    assert main(["evaluate", "ai", "--workspace", "nights"]) == 0
    assert "made before 6 rows were added, applied anew to those of today" in capsys.readouterr().out


def test_cases_without_ids_are_named_after_their_file_so_that_none_is_added_twice(
    raw: Path, place: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = pd.read_csv(raw, dtype=str, keep_default_na=False).drop(columns="epoch")
    cells.to_csv("nameless.csv", index=False)
    assert main(["workspace", "new", "mine", "--cases", "nameless.csv", "--yes"]) == 0
    cells.head(6).assign(patient="somebody").to_csv("february.csv", index=False)
    assert main(["workspace", "add", "mine", "february.csv", "--yes"]) == 0
    assert find("mine", place).cohort().ids[180] == "february.csv row 2"
    assert main(["workspace", "add", "mine", "february.csv", "--yes"]) == 1
    assert "found february.csv row 2" in capsys.readouterr().err
