"""What somebody without the signing key does to a record is found, or cannot be for a reason that is said."""

from __future__ import annotations

import json
import os
from random import Random

import pytest
from records import act, checked, kept
from sqlalchemy import text
from tampering import (
    CUT_IN_BOTH,
    FILES,
    LAST,
    REASONS,
    ROWS,
    Scene,
    is_found,
    judged,
    make_scene,
    many,
    resealed,
    tamper,
)

from mpd2.clinic.record import checkpoints
from mpd2.clinic.record.log import RecordLog
from mpd2.clinic.record.search import Search
from mpd2.core.errors import UserError

TAMPERINGS = int(os.environ.get("MPD2_TAMPERINGS", "300"))  # `make soak` tries more


def test_random_tamperings_with_a_file_are_found_or_named_as_not_to_be_found():
    outcomes = many(TAMPERINGS)
    assert sum(outcomes.values()) == TAMPERINGS
    assert {reason for _, reason in outcomes} <= {"", *REASONS}
    for kind in (*ROWS, *FILES):
        assert outcomes[kind.__name__, ""] > 0, f"no {kind.__name__} was found"
    for kind in ("forge", "move_the_tombstone"):
        assert not outcomes[kind, CUT_IN_BOTH]


@pytest.mark.parametrize("kind", ROWS, ids=lambda kind: kind.__name__)
def test_random_tamperings_with_postgresql_are_found_alike(kind, empty_database, tmp_path):
    scene = make_scene(tmp_path, empty_database)
    before, files = scene.rows(), [scene.folder / checkpoints.FILE, scene.second / checkpoints.FILE]
    lines = [path.read_text() for path in files]
    found = 0
    for at in range(6):
        found += not tamper(scene, kind, Random(at), before)
        scene.put(before)
        for path, content in zip(files, lines, strict=True):
            path.write_text(content)
    assert found
    assert checked(scene.options, scene.folder).whole


@pytest.fixture
def scene(tmp_path) -> Scene:
    return make_scene(tmp_path)


def words(scene: Scene) -> str:
    verdict = judged(scene)
    return verdict if isinstance(verdict, str) else verdict.in_words()


def test_a_changed_entry_is_the_first_that_is_named(scene):
    rows = scene.rows()
    rows[7]["reason"] = rows[20]["reason"] = "changed"
    scene.put(rows)
    number = rows[7]["number"]
    assert f"The first broken entry is {number}." in words(scene)
    assert f"Entry {number} was changed: its content no longer has its hash." in words(scene)


def test_a_gap_is_named(scene):
    rows = scene.rows()
    scene.put(rows[:5] + rows[8:])
    first = rows[5]["number"]
    assert f"Entries {first} to {first + 2} are missing: entry {first + 3} follows entry {first - 1}." in words(scene)


def test_a_chain_written_anew_shows_against_a_checkpoint(scene):
    rows = scene.rows()
    rows[3]["actor"] = "somebody else"
    scene.put(resealed(rows, 3))
    assert "Entry 20 is not the one that was signed at " in words(scene)


def test_a_missing_end_shows_against_a_checkpoint_and_what_comes_after_it_does_not(scene):
    rows = scene.rows()
    scene.put(rows[:-8])
    assert f"Entries {LAST - 7} to 40 are missing at the end: entry 40 was signed at " in words(scene)
    scene.put(rows[:-2])
    assert "The record is whole" in words(scene)
    assert "a missing end shows only against a checkpoint" in words(scene)


def test_triggers_that_were_removed_are_missed(scene):
    with kept(scene.options, scene.folder) as record, record.storage.writing() as connection:
        connection.execute(text("DROP TRIGGER entries_no_update"))
    assert "the triggers that refuse changes are gone or were changed (entries_no_update)" in words(scene)


def test_a_trigger_that_no_longer_refuses_is_missed(scene):
    with kept(scene.options, scene.folder) as record, record.storage.writing() as connection:
        connection.execute(text("DROP TRIGGER entries_no_delete"))
        connection.execute(text("CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries BEGIN SELECT 1; END"))
    assert "the triggers that refuse changes are gone or were changed (entries_no_delete)" in words(scene)


def test_a_function_of_postgresql_that_no_longer_refuses_is_missed(empty_database, tmp_path):
    scene = make_scene(tmp_path, empty_database)
    harmless = "RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$"
    with kept(scene.options, scene.folder) as record, record.storage.writing() as connection:
        connection.execute(text(f"CREATE OR REPLACE FUNCTION record_refuses() {harmless}"))
    assert "the triggers that refuse changes are gone or were changed (identity_no_update" in words(scene)


def test_keys_of_cases_that_nobody_said_were_erased_are_missed(scene):
    with kept(scene.options, scene.folder) as record, record.storage.writing() as connection:
        connection.execute(text("DELETE FROM case_keys WHERE lookup = (SELECT MIN(lookup) FROM case_keys)"))
    assert "1 case cannot be found by id any more" in words(scene)


def test_a_key_that_leads_to_another_case_is_noticed_when_it_is_used(scene):
    with kept(scene.options, scene.folder) as record:
        with record.storage.writing() as connection:
            connection.execute(text('UPDATE case_keys SET "case" = (SELECT MIN("case") FROM case_keys)'))
        with pytest.raises(UserError, match="the key of this case was changed"):
            assert [record.search(Search(case=f"case-{at}")) for at in range(5)]


def test_a_forged_checkpoint_is_named_with_its_place(scene):
    path = scene.second / checkpoints.FILE
    lines = path.read_text().splitlines()
    changed = json.loads(lines[-1])
    changed["checkpoint"]["time"] = "2030-01-01T00:00:00.000000Z"
    separators = (",", ":")
    path.write_text("\n".join([*lines[:-1], json.dumps(changed, separators=separators)]) + "\n")
    assert "The checkpoint of entry 40 in the second place is forged" in words(scene)


def test_a_line_torn_by_a_loss_of_power_is_no_tampering(scene):
    path = scene.folder / checkpoints.FILE
    path.write_text(path.read_text() + '{"checkpoint":{"ha')
    assert "ends in the middle and is left out" in words(scene)
    assert not is_found(judged(scene))
    with kept(scene.options, scene.folder) as record:
        act(record, 5)  # the last of them is signed
    verdict = checked(scene.options, scene.folder)
    assert (verdict.whole, verdict.notes) == (True, [])


@pytest.mark.parametrize("what", ["truncated", "replaced", "removed"])
def test_nothing_is_written_after_a_gap(scene, what):
    rows = scene.rows()
    if what == "truncated":
        scene.put(rows[:-12])
    else:
        scene.file.unlink()
    if what == "replaced":
        scene.file.write_bytes((scene.home / "other" / scene.file.name).read_bytes())
    with pytest.raises(UserError, match="`python -m mpd2 audit verify` says what is wrong"):
        RecordLog(scene.options, scene.folder)


def test_a_file_exchanged_under_an_open_record_is_noticed_before_anything_is_written(scene):
    with kept(scene.options, scene.folder) as record:
        act(record)
        scene.file.rename(scene.file.with_name("away.db"))
        for end in ("-wal", "-shm"):
            scene.file.with_name(scene.file.name + end).unlink(missing_ok=True)
        with pytest.raises(UserError, match="it was replaced or changed"):
            act(record)
