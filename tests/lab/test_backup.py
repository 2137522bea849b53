"""The whole workshop as one file, and back."""

from __future__ import annotations

import random
import sqlite3
import stat
import zipfile
from contextlib import closing, suppress
from pathlib import Path

import pytest
from disk import full_disk, names
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mpd2.cli import main
from mpd2.clinic.settings import SETTINGS
from mpd2.core.errors import UserError
from mpd2.lab.backup import CONTENTS, RESTORED_SETTINGS, back_up, folders, read_backup, restore
from mpd2.lab.jobs.folder import PLACE, Building, Job, Order, Status, Workshop

KEPT = {
    "runs/mine/run.json": b"{}",
    "runs/mine/weights.safetensors": random.Random(0).randbytes(50_000),
    "workspaces/my-clinic/cases.csv": "id,truth\nä,1\n".encode(),
    "jobs/2026-one/job.json": b"{}",
    "clinic/activation.json": b"{}",
}
LEFT_OUT = ("jobs/2026-one/lock", "clinic/lock", "runs/.draft/run.json", "runs/mine/.half", "thumbnails/a.png")


def workshop(folder: Path) -> Workshop:
    return Workshop(folder / "jobs", folder / "runs")


def written(folder: Path) -> dict[str, bytes]:
    """Every file of a workshop's folders."""
    parts = folders(workshop(folder)).values()
    found = [path for part in parts for path in part.rglob("*") if path.is_file()]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@pytest.fixture
def full(tmp_path: Path) -> Path:
    folder = tmp_path / "full"
    for name, content in KEPT.items() | {(name, b"x") for name in LEFT_OUT}:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / "runs" / "outside").symlink_to("/etc/hostname")
    return folder


@pytest.fixture
def packed(full: Path, tmp_path: Path) -> Path:
    back_up(workshop(full), tmp_path / "backup.zip")
    return tmp_path / "backup.zip"


def test_what_was_made_comes_back_as_it_was(packed, tmp_path):
    restore(packed, workshop(tmp_path / "new"))
    assert written(tmp_path / "new") == KEPT


def test_a_backup_is_for_its_owner_alone(packed):
    assert stat.S_IMODE(packed.stat().st_mode) == 0o600


def test_a_backup_never_overwrites(packed, full):
    before = packed.read_bytes()
    with pytest.raises(UserError, match="is there already"):
        back_up(workshop(full), packed)
    assert packed.read_bytes() == before


def test_a_workshop_that_is_not_empty_is_left_alone(packed, tmp_path):
    (tmp_path / "new" / "runs" / "theirs").mkdir(parents=True)
    with pytest.raises(UserError, match=r"runs: not empty, nothing was changed; --replace"):
        restore(packed, workshop(tmp_path / "new"))
    assert [path.name for path in (tmp_path / "new").rglob("*")] == ["runs", "theirs"]


def test_what_is_replaced_is_put_aside(packed, tmp_path):
    theirs = tmp_path / "new" / "runs" / "theirs.json"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("theirs")
    [aside] = restore(packed, workshop(tmp_path / "new"), replace=True)
    assert (aside / "theirs.json").read_text() == "theirs"
    assert written(tmp_path / "new") == KEPT


def test_a_folder_that_cannot_be_put_in_place_leaves_all_as_it_was(packed, full, tmp_path):
    before = written(full)
    place = Workshop(full / "jobs", full / "runs")
    (full / "workspaces").rename(tmp_path / "elsewhere")
    (full / "workspaces").write_text("a file in the way")
    with pytest.raises(UserError, match="nothing was changed"):
        restore(packed, place, replace=True)
    (full / "workspaces").unlink()
    (tmp_path / "elsewhere").rename(full / "workspaces")
    assert written(full) == before


def test_nothing_is_restored_while_a_job_is_worked_on(packed, tmp_path):
    place = workshop(tmp_path / "busy")
    job = Job(place.jobs / "2026-two")
    order = {"kind": "build", "title": "ours", "building": Building(workspace="ours"), "table": Path("cases.csv")}
    job.write(Order(**order, cost_false_negative=1, cost_false_positive=1, fingerprint="0"))
    job.write(Status(state="running"))
    with job.held(), pytest.raises(UserError, match="a job is being worked on; stop the servers"):
        restore(packed, place, replace=True)


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(where=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_a_changed_byte_is_found_or_changes_nothing(packed, where, flip, tmp_path_factory):
    folder = tmp_path_factory.mktemp("flipped")
    content = bytearray(packed.read_bytes())
    content[int(where * len(content))] ^= flip
    (folder / "changed.zip").write_bytes(bytes(content))
    with suppress(UserError):
        restore(folder / "changed.zip", workshop(folder / "new"))
    assert written(folder / "new") in ({}, KEPT)


@pytest.mark.parametrize(
    "name", ["../evil", "/evil", "runs/../../evil", "runs", "other/file", "runs/.hidden", "runs//a"]
)
def test_a_path_that_no_backup_has_is_refused(name, tmp_path):
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        archive.writestr(name, b"")
        empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        archive.writestr(
            CONTENTS, f'{{"version": "1", "made": "2026-01-01T00:00:00Z", "files": {{"{name}": "{empty}"}}}}'
        )
    with pytest.raises(UserError, match="that no backup has"):
        restore(tmp_path / "evil.zip", workshop(tmp_path / "new"))
    assert written(tmp_path / "new") == {}
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("name", ["runs/tuning.db", "clinic/shadow.db"])
def test_a_database_that_is_being_written_to_is_packed_whole(name, full, tmp_path):
    with closing(sqlite3.connect(full / name)) as study:
        study.execute("pragma journal_mode = wal")
        study.execute("create table trials (number integer)")
        study.execute("insert into trials values (7)")
        study.commit()
        study.execute("insert into trials values (8)")  # not yet kept
        back_up(workshop(full), tmp_path / "live.zip")
    restore(tmp_path / "live.zip", workshop(tmp_path / "new"))
    with closing(sqlite3.connect(tmp_path / "new" / name)) as study:
        assert study.execute("select number from trials").fetchall() == [(7,)]


def test_the_commands_carry_a_workshop_with_its_settings_elsewhere(full, tmp_path, monkeypatch, capsys):
    (tmp_path / "settings.toml").write_text("# ours\n")
    monkeypatch.setenv(SETTINGS, str(tmp_path / "settings.toml"))
    monkeypatch.setenv(PLACE, str(full))
    out = str(tmp_path / "out.zip")
    assert main(["backup", out]) == 0
    assert main(["backup", "--check", out]) == 0
    monkeypatch.setenv(PLACE, str(tmp_path / "new"))
    assert main(["restore", out]) == 0
    assert main(["restore", out]) == 1
    assert main(["restore", out, "--replace"]) == 0
    said = capsys.readouterr()
    assert said.out.count("6 files of ") == 2
    assert said.out.count("what was there before: ") == 4
    assert "--replace puts what is there aside first" in said.err
    assert (tmp_path / "new" / RESTORED_SETTINGS).read_text() == "# ours\n"


def test_what_is_no_backup_is_said_to_be_none(tmp_path):
    (tmp_path / "a.zip").write_bytes(b"no zip")
    with pytest.raises(UserError, match="not a backup, or a damaged one"):
        read_backup(tmp_path / "a.zip")
    with pytest.raises(UserError, match="No such file"):
        read_backup(tmp_path / "none.zip")


def test_a_full_disk_leaves_no_half_backup(full, tmp_path):
    before = names(tmp_path)
    with full_disk(left=20_000), pytest.raises(UserError, match="could not be written"):
        back_up(workshop(full), tmp_path / "backup.zip")
    assert names(tmp_path) == before
