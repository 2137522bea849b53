"""What is past its time gives way to a tombstone, a case can be forgotten, and a backup brings everything back."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
from places import ROOT
from records import ADMIN, READER, act, checked, kept
from sqlalchemy import text

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.authorise import NotAllowed
from mpd2.clinic.record.backup import back_up, restore, verify_backup
from mpd2.clinic.record.copies import read_export, write_export
from mpd2.clinic.record.log import RecordLog
from mpd2.clinic.record.retention import erase_case, erase_expired, expired
from mpd2.clinic.record.search import Search
from mpd2.clinic.record.verify import verify
from mpd2.clinic.settings import RecordOptions
from mpd2.core.errors import UserError

LONG_AGO = "2020-05-01T10:00:00.000000Z"


@pytest.fixture
def aged(options, folder) -> RecordOptions:
    """Eight entries of long ago, and four of today."""
    settings = options(checkpoint_every=5, retention_days=30)
    old = RecordLog(settings, folder, lambda: LONG_AGO)
    act(old, 8)
    old.close()
    with kept(settings, folder) as record:
        act(record, 4)
    return settings


def export(record: RecordLog, path: Path) -> Path:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        write_export(record, file)
    return path


def test_what_is_past_its_time_gives_way_to_a_tombstone_and_the_chain_stays_whole(aged, folder):
    with kept(aged, folder) as record:
        assert expired(record) == (1, 8)
        assert erase_expired(record, ADMIN) == 8
        assert [entry.number for entry in record.search(Search())] == [13, 12, 11, 10, 9]
        [erasure] = record.search(Search(action=Action.ERASE_RECORD))
        assert (erasure.about["erased_from"], erasure.about["erased_to"], erasure.actor) == (1, 8, "ada")
        assert erase_expired(record, ADMIN) == 0
        act(record)
    verdict = checked(aged, folder)
    assert (verdict.whole, verdict.entries, verdict.erased) == (True, 6, 8)
    assert "8 entries were erased before them; signed tombstones stand in their place." in verdict.in_words()


def test_what_was_erased_is_in_no_file_any_more(tmp_path):
    settings = RecordOptions(retention_days=30)
    old = RecordLog(settings, tmp_path, lambda: LONG_AGO)
    old.append(ADMIN, Action.OVERRIDE, granted=True, case="x", reason="a sentence that must go", about={})
    old.close()
    with kept(settings, tmp_path) as record:
        act(record)
        assert any(b"a sentence that must go" in path.read_bytes() for path in tmp_path.glob("record.db*"))
        erase_expired(record, ADMIN)
        assert not any(b"a sentence that must go" in path.read_bytes() for path in tmp_path.glob("record.db*"))


def test_two_erasures_leave_two_tombstones_in_a_row(aged, folder):
    with kept(aged, folder) as record:
        erase_expired(record, ADMIN)
        assert erase_expired(record, ADMIN, days=0) == 5
        act(record, 2)
    verdict = checked(aged, folder)
    assert (verdict.whole, verdict.erased, verdict.entries) == (True, 13, 3)


def test_keys_of_cases_go_with_the_last_entry_about_them(aged, folder):
    with kept(aged, folder) as record:
        record.append(ADMIN, Action.NOTE, granted=True, case="of today", reason="", about={})
        erase_expired(record, ADMIN, days=0)
        with record.storage.reading() as connection:
            assert connection.execute(text("SELECT COUNT(*) FROM case_keys")).scalar() == 0


def test_who_may_not_erase_is_refused_and_that_is_written(aged, folder):
    with kept(aged, folder) as record:
        with pytest.raises(NotAllowed):
            erase_expired(record, READER)
        [attempt] = record.search(Search(refused=True))
        assert (attempt.actor, attempt.action, attempt.granted) == ("rhea", Action.ERASE_RECORD, False)
        assert record.length() == 13


def test_without_days_everything_is_kept(options, folder):
    with kept(options(), folder) as record, pytest.raises(UserError, match="kept for ever; retention_days in"):
        expired(record)


def test_a_case_whose_key_is_erased_is_found_no_more_and_the_others_are(options, folder):
    with kept(options(), folder) as record:
        act(record, 10)
        before = record.search(Search(case="case-3"))
        erase_case(record, ADMIN, "case-3", "asked for")
        assert record.search(Search(case="case-3")) == []
        assert len(record.search(Search(case="case-2"))) == 2
        act(record, 5)
        [again] = record.search(Search(case="case-3"))
        assert again.case != before[0].case
        with pytest.raises(UserError, match="nothing was written about this case"):
            erase_case(record, ADMIN, "nobody", "")
    assert checked(options(), folder).whole


def test_an_export_verifies_and_a_changed_one_does_not(aged, folder, tmp_path):
    with kept(aged, folder) as record:
        erase_expired(record, ADMIN)
        act(record, 6)
        path = export(record, tmp_path / "record.jsonl")
    lines = path.read_text(encoding="utf-8").splitlines()
    verdict = verify(read_export(lines, path.name))
    assert (verdict.whole, verdict.entries, verdict.erased) == (True, 11, 8)
    for at in range(1, len(lines)):
        for changed in (lines[:at] + lines[at + 1 :], [*lines[:at], lines[at].replace("1", "2", 1), *lines[at + 1 :]]):
            last = at == len(lines) - 1 or lines[at].startswith('{"checkpoint"')
            assert not verify(read_export(changed, path.name)).whole or last, lines[at]


def test_an_export_can_be_verified_with_nothing_but_what_the_documentation_says(aged, folder, tmp_path):
    with kept(aged, folder) as record:
        erase_expired(record, ADMIN)
        act(record, 6)
        path = export(record, tmp_path / "record.jsonl")
    [script] = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "record.md").read_text(encoding="utf-8"), re.S)
    command = [sys.executable, "-c", script, str(path)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "whole: 11 entries\n"
    path.write_text(path.read_text(encoding="utf-8").replace("ada", "eve", 1), encoding="utf-8")
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0


def test_the_hash_of_an_entry_is_that_of_the_text_between_two_marks(options, folder, tmp_path):
    with kept(options(), folder) as record:
        act(record, 3)
        path = export(record, tmp_path / "record.jsonl")
    line = path.read_text(encoding="utf-8").splitlines()[-1]
    text_, hash_ = re.fullmatch(r'\{"entry":(.*),"hash":"([0-9a-f]{64})"\}', line).groups()
    assert sha256(text_.encode()).hexdigest() == hash_
    assert len(base64.b64decode(json.loads(path.read_text().splitlines()[1])["signature"])) == 64


def test_a_backup_brings_everything_back_where_there_is_nothing(aged, folder, tmp_path):
    with kept(aged, folder) as record:
        erase_expired(record, ADMIN)
        assert back_up(record, ADMIN, tmp_path / "b.zip") == 6
        before = record.search(Search())
        name = record.search(Search(case="case-1"))[0].case
    assert (tmp_path / "b.zip").stat().st_mode & 0o077 == 0
    elsewhere = RecordOptions()
    assert restore(elsewhere, tmp_path / "new", tmp_path / "b.zip", ADMIN) == 6
    with kept(elsewhere, tmp_path / "new") as record:
        newest, *others = record.search(Search())
        assert others == before
        assert newest.action == Action.RESTORE_RECORD
        assert record.search(Search(case="case-1"))[0].case == name
    verdict = checked(elsewhere, tmp_path / "new")
    assert (verdict.whole, verdict.notes) == (True, [])


def test_a_backup_of_a_file_can_be_restored_into_postgresql(tmp_path, empty_database):
    with kept(RecordOptions(), tmp_path / "file") as record:
        act(record, 7)
        back_up(record, ADMIN, tmp_path / "b.zip")
    target = RecordOptions(storage=empty_database)
    assert restore(target, tmp_path / "new", tmp_path / "b.zip", ADMIN) == 8
    assert checked(target, tmp_path / "new").whole
    with pytest.raises(UserError, match="nothing is deleted from it; name an empty one"):
        restore(target, tmp_path / "new", tmp_path / "b.zip", ADMIN, replace=True)


def test_a_record_that_is_there_is_replaced_only_if_asked_for_and_then_kept_and_what_was_lost_is_said(tmp_path):
    settings, folder = RecordOptions(checkpoint_every=3, second_place=tmp_path / "second"), tmp_path / "record"
    with kept(settings, folder) as record:
        act(record, 4)
        back_up(record, ADMIN, tmp_path / "b.zip")
        act(record, 7)
    with pytest.raises(UserError, match="there is one already"):
        restore(settings, folder, tmp_path / "b.zip", ADMIN)
    assert checked(settings, folder).last == 12
    assert restore(settings, folder, tmp_path / "b.zip", ADMIN, replace=True) == 5
    [aside] = folder.glob("before-*")
    assert (aside / "record.db").is_file()
    verdict = checked(settings, folder)
    assert verdict.whole, verdict.in_words()
    assert any(
        "whose last entry was 5: what had been written by then, up to entry 12" in note for note in verdict.notes
    )
    with kept(settings, folder) as record:
        act(record, 9)
    assert checked(settings, folder).whole


@pytest.mark.parametrize("damage", ["an entry", "half a file", "no zip", "another zip"])
def test_a_damaged_backup_is_refused_and_nothing_is_changed(tmp_path, damage):
    settings, folder, path = RecordOptions(), tmp_path / "record", tmp_path / "b.zip"
    with kept(settings, folder) as record:
        act(record, 4)
        back_up(record, ADMIN, path)
    if damage == "an entry":
        with zipfile.ZipFile(path) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        parts["record.jsonl"] = parts["record.jsonl"].replace(b'"actor":"ada"', b'"actor":"eve"', 1)
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in parts.items():
                archive.writestr(name, content)
        assert verify_backup(path).first_broken == 1
    elif damage == "half a file":
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    elif damage == "no zip":
        path.write_text("nothing")
    else:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("../evil", "x")
    with pytest.raises(UserError, match=r"b\.zip: "):
        restore(settings, folder, path, ADMIN, replace=True)
    assert not list(folder.glob("before-*"))
    assert checked(settings, folder).whole
