"""`audit` does what its help says, on a record of its own."""

from __future__ import annotations

import json

import pytest
from records import READER, act

from mpd2.cli import main
from mpd2.clinic.access.actions import Action
from mpd2.clinic.installation import kept_record
from mpd2.clinic.record.search import Search
from mpd2.clinic.settings import SETTINGS


@pytest.fixture
def record(tmp_path, monkeypatch):
    (tmp_path / "settings.toml").write_text(
        '[record]\nfolder = "record"\nsecond_place = "second"\ncheckpoint_every = 5\nretention_days = 30\n'
    )
    monkeypatch.setenv(SETTINGS, str(tmp_path / "settings.toml"))
    kept = kept_record()
    act(kept, 7, READER, Action.SEE_CASE)
    yield kept
    kept.close()


def ran(capsys, *words: str) -> tuple[int, str, str]:
    code = main(["audit", *words])
    return code, *capsys.readouterr()


def test_a_whole_record_is_said_to_be_whole_and_the_verification_is_an_entry(record, capsys):
    code, out, _ = ran(capsys, "verify")
    assert code == 0
    assert out.startswith("The record is whole: 7 entries, each tied to the one before.")
    [entry] = record.search(Search(action=Action.VERIFY_RECORD))
    assert entry.about == {"last": 7, "whole": True}
    assert entry.visit.startswith("command line of ")


def test_a_broken_record_ends_in_1_and_names_the_first_broken_entry(record, tmp_path, capsys):
    lines = (tmp_path / "second" / "checkpoints.jsonl").read_text()
    record.close()
    (tmp_path / "record" / "record.db").unlink()
    assert ran(capsys, "verify")[0] == 1
    (tmp_path / "second" / "checkpoints.jsonl").write_text(lines.replace('"number":5', '"number":4'))
    assert ran(capsys, "verify", "--json")[0] == 1


def test_json_says_what_is_broken(record, tmp_path, capsys):
    path = tmp_path / "second" / "checkpoints.jsonl"
    path.write_text(path.read_text().replace('"number":5', '"number":4'))
    code, out, _ = ran(capsys, "verify", "--json")
    said = json.loads(out)
    assert (code, said["whole"], said["first_broken"], said["problems"][0]["what"]) == (1, False, 4, "checkpoint")


def test_entries_are_shown_as_they_are_searched_for(record, capsys):
    code, out, _ = ran(capsys, "show", "--person", "rhea", "--case", "case-1", "--json")
    assert (code, [entry["number"] for entry in json.loads(out)]) == (0, [7, 2])
    code, out, _ = ran(capsys, "show", "--action", "see a case", "--limit", "3")
    assert (code, len(out.splitlines())) == (0, 4)
    assert json.loads(ran(capsys, "show", "--until", "2020-01-01", "--json")[1]) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["show", "--action", "bake"], "--action: found 'bake', expected one of: "),
        (["show", "--since", "yesterday"], "time: found 'yesterday', expected one such as 2026-03-01"),
        (["verify", "--file", "nowhere.jsonl"], "nowhere.jsonl: cannot be read"),
        (["restore", "nowhere.zip"], "nowhere.zip: cannot be read"),
        (["erase", "--case", "nobody", "--yes"], "nothing was written about this case"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(record, capsys, words, said):
    code, _, err = ran(capsys, *words)
    assert code == 1
    assert said in err


def test_an_export_and_a_backup_are_verified_and_the_backup_is_restored(record, tmp_path, capsys):
    assert ran(capsys, "export", "--out", str(tmp_path / "e.jsonl"))[0] == 0
    assert ran(capsys, "backup", "--out", str(tmp_path / "b.zip"))[0] == 0
    for name in ("e.jsonl", "b.zip"):
        code, out, _ = ran(capsys, "verify", "--file", str(tmp_path / name))
        assert (code, out.startswith("The record is whole")) == (0, True)
    assert "already there" in ran(capsys, "export", "--out", str(tmp_path / "e.jsonl"))[2]
    assert "--replace sets it aside" in ran(capsys, "restore", str(tmp_path / "b.zip"))[2]
    assert ran(capsys, "restore", str(tmp_path / "b.zip"), "--replace")[0] == 0
    assert ran(capsys, "verify")[0] == 0


def test_erasing_asks_first_and_says_what_was_erased(record, capsys):
    assert ran(capsys, "erase")[1] == "no entry is past its time\n"
    assert "give --yes to go on" in ran(capsys, "erase", "--case", "case-1")[2]
    assert ran(capsys, "erase", "--case", "case-1", "--reason", "asked for", "--yes")[0] == 0
    assert record.search(Search(case="case-1")) == []


@pytest.mark.parametrize("words", [["verify"], ["show"], ["export", "--out", "x"], ["erase"], ["backup", "--out", "x"]])
def test_without_a_record_every_deed_says_how_to_turn_it_on(capsys, monkeypatch, tmp_path, words):
    monkeypatch.delenv(SETTINGS, raising=False)
    monkeypatch.chdir(tmp_path)
    code, _, err = ran(capsys, *words)
    assert (code, list(tmp_path.iterdir())) == (1, [])
    assert "record: none is kept here; [record] in the settings" in err
