"""Entries are appended, found and kept, in a file and in PostgreSQL alike."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from time import sleep

import pytest
import records
from places import HELPERS, ROOT
from records import ADMIN, READER, act, checked, kept
from sqlalchemy import text

from mpd2.clinic.access.actions import Action
from mpd2.clinic.record import log
from mpd2.clinic.record.entry import digest, written_time
from mpd2.clinic.record.log import RecordLog
from mpd2.clinic.record.search import Search
from mpd2.clinic.settings import RecordOptions
from mpd2.core.errors import UserError

KILLS = int(os.environ.get("MPD2_KILLS", "5"))  # `make soak` kills more often


def test_each_entry_is_tied_to_the_one_before_and_the_first_to_the_record(options, folder):
    with kept(options(), folder) as record:
        act(record, 12)
        entries = record.search(Search())[::-1]
        assert [entry.number for entry in entries] == list(range(1, 13))
        assert [entry.previous for entry in entries] == [record.id, *(entry.hash for entry in entries[:-1])]
        assert all(entry.hash == digest(entry.text()) for entry in entries)
    assert checked(options(), folder).whole


def test_it_goes_on_where_it_was_when_opened_again(options, folder):
    for _ in range(3):
        with kept(options(), folder) as record:
            act(record, 2)
    verdict = checked(options(), folder)
    assert (verdict.whole, verdict.entries) == (True, 6)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE entries SET reason = 'none' WHERE number = 2",
        "DELETE FROM entries WHERE number = 2",
        "DELETE FROM entries",
        "UPDATE identity SET id = 'other'",
        "DELETE FROM identity",
    ],
)
def test_the_tables_refuse_to_be_changed(options, folder, statement):
    with kept(options(), folder) as record:
        act(record, 3)
        with pytest.raises(UserError, match="the record is never changed"), record.storage.writing() as connection:
            connection.execute(text(statement))
    assert checked(options(), folder).entries == 3


def test_a_case_is_written_by_a_pseudonym_and_found_by_its_id(options, folder):
    with kept(options(), folder) as record:
        act(record, 10)
        found = record.search(Search(case="case-3"))
        assert [entry.number for entry in found] == [9, 4]
        assert len({entry.case for entry in found}) == 1
        assert "case-3" not in "".join(entry.text() for entry in record.search(Search()))
        assert record.search(Search(case=found[0].case)) == found
        assert record.search(Search(case="nobody")) == []


def test_a_search_narrows_by_person_action_time_and_refusal_a_page_at_a_time(options, folder):
    with kept(options(), folder) as record:
        act(record, 4)
        act(record, 3, READER, Action.SEE_CASE)
        record.append(READER, Action.OVERRIDE, granted=False, case="case-1", reason="", about={})
        whole = record.search(Search())
        assert {entry.number for entry in record.search(Search(person="rhea"))} == {5, 6, 7, 8}
        assert {entry.number for entry in record.search(Search(action=Action.SEE_CASE))} == {5, 6, 7}
        assert [entry.number for entry in record.search(Search(refused=True))] == [8]
        assert [entry.number for entry in record.search(Search(person="rhea", case="case-1"))] == [8, 6]
        since = whole[2].time
        assert record.search(Search(since=since)) == [entry for entry in whole if entry.time >= since]
        assert record.search(Search(until=since)) == [entry for entry in whole if entry.time < since]
        first = record.search(Search(), limit=3)
        assert first + record.search(Search(), before=first[-1].number, limit=10) == whole


def test_what_no_database_keeps_is_written_in_a_way_all_do(options, folder):
    with kept(options(), folder) as record:
        about = {"nul": "a\0b", "half": "\ud800", "none": None, "nan": float("nan"), "path": Path("x"), "é": [1, 2.5]}
        record.append(ADMIN, Action.NOTE, granted=True, case="a\0", reason="why\0", about=about)
        record.append(ADMIN, Action.NOTE, granted=True, case="a", reason="", about={})
        newest, oldest = record.search(Search())
        assert oldest.reason == "why\N{REPLACEMENT CHARACTER}"
        assert oldest.about["é"] == [1, 2.5]
        assert oldest.about["nan"] == "nan"
        assert newest.case != oldest.case
    assert checked(options(), folder).whole


def test_a_reason_that_is_too_long_is_refused_and_nothing_is_written(options, folder):
    with kept(options(), folder) as record:
        with pytest.raises(UserError, match=r"reason: found 9,000 characters, expected at most 2,000"):
            record.append(ADMIN, Action.OVERRIDE, granted=True, case=None, reason="x" * 9000, about={})
        assert record.length() == 0


def test_checkpoints_are_signed_at_the_first_entry_every_few_and_the_first_of_a_day(tmp_path):
    today = [1]

    def clock() -> str:
        return written_time(datetime(2026, 3, today[0], 12, tzinfo=UTC))

    record = RecordLog(RecordOptions(checkpoint_every=4), tmp_path, clock)
    for day in (1, 1, 1, 1, 1, 2, 2, 2, 2):
        today[0] = day
        act(record)
    [place] = record.checkpoints.places()
    record.close()
    assert [each.says["number"] for each in place.lines] == [1, 4, 6, 8]


def test_a_second_place_that_was_away_catches_up(tmp_path, options, folder):
    second = tmp_path / "second"
    second.write_text("a file where the folder should be")
    with kept(options(second_place=second, checkpoint_every=1), folder) as record:
        act(record, 2)
        second.unlink()
        act(record, 2)
        beside, away = record.checkpoints.places()
        assert [each.line for each in beside.lines] == [each.line for each in away.lines]
        assert len(away.lines) == 4


def test_a_second_place_that_never_got_anything_is_said_by_verifying(tmp_path, options, folder):
    settings = options(second_place=tmp_path / "second")
    with kept(options(), folder) as record:
        act(record)
    verdict = checked(settings, folder)
    assert verdict.whole
    assert verdict.notes == ["There is no checkpoint in the second place: see whether it can be written to."]


def test_a_clock_that_went_back_is_said_by_the_entry_itself_and_by_verifying(options, folder, monkeypatch):
    with kept(options(), folder) as record:
        act(record, 2)
        monkeypatch.setattr(record, "_clock", lambda: "2020-01-01T00:00:00.000000Z")
        act(record)
        assert record.search(Search(), limit=1)[0].about[log.CLOCK_BACK] > 10**8
    verdict = checked(options(), folder)
    assert verdict.whole
    assert any(note.startswith("At entry 3 the clock had gone back by") for note in verdict.notes)


def test_clocks_of_several_servers_may_differ_a_little(options, folder, monkeypatch):
    with kept(options(), folder) as record:
        act(record)
        [first] = record.search(Search())
        earlier = written_time(datetime.fromisoformat(first.time).replace(microsecond=0))
        monkeypatch.setattr(record, "_clock", lambda: earlier)
        act(record)
        assert record.search(Search(), limit=1)[0].time == first.time
    assert not checked(options(), folder).notes


def test_a_record_of_a_newer_version_is_refused_in_words(options, folder):
    with kept(options(), folder) as record, record.storage.writing() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(UserError, match=r"written by a newer version of MPD² \(its tables are at 9999"):
        RecordLog(options(), folder)


def test_threads_and_processes_that_write_at_once_leave_one_chain(options, folder):
    settings = options(checkpoint_every=7)
    command = [sys.executable, records.__file__, settings.storage, str(folder), "15"]
    paths = {"PYTHONPATH": f"{ROOT}{os.pathsep}{HELPERS}"}
    others = [subprocess.Popen(command, env=os.environ | paths, stdout=subprocess.DEVNULL) for _ in range(3)]
    with kept(settings, folder) as record, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: act(record), range(40)))
    assert [other.wait(120) for other in others] == [0, 0, 0]
    verdict = checked(settings, folder)
    assert (verdict.whole, verdict.entries) == (True, 85)


def test_a_writer_killed_at_any_moment_loses_nothing_acknowledged_and_leaves_nothing_half_written(options, folder):
    """Who is killed may have written one entry more than was acknowledged, and never one less."""
    settings, moments, acknowledged = options(), Random(7), 0
    paths = {"PYTHONPATH": f"{ROOT}{os.pathsep}{HELPERS}"}
    for _ in range(KILLS):
        command = [sys.executable, records.__file__, settings.storage, str(folder)]
        writer = subprocess.Popen(command, env=os.environ | paths, stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        said = [writer.stdout.readline()]
        sleep(moments.random() / 4)
        writer.kill()
        said += writer.stdout.read().splitlines()
        writer.wait()
        writer.stdout.close()
        before, acknowledged = acknowledged, max(int(line) for line in said if line.strip())
        assert acknowledged > before
        verdict = checked(settings, folder)
        assert verdict.whole, verdict.in_words()
        assert acknowledged <= verdict.last <= acknowledged + 1
        acknowledged = verdict.last
        assert not verdict.notes
