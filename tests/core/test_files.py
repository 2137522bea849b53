"""Writing that is whole or not at all."""

from __future__ import annotations

import hashlib
import os

import pytest
from disk import full_disk, names

from mpd2.core.errors import Cancelled, UserError
from mpd2.core.files import digest, remove_drafts, replacing, replacing_folder


def write_file(target, text: str, error: type[BaseException] | None = None) -> None:
    with replacing(target) as draft:
        draft.write_text(text)
        if error:
            raise error


def write_folder(target, text: str, error: type[BaseException] | None = None) -> None:
    with replacing_folder(target) as draft:
        (draft / "one.txt").write_text(text)
        if error:
            raise error
        (draft / "two.txt").write_text(text)


def test_a_file_appears_with_its_folders_and_replaces_the_one_before(tmp_path):
    target = tmp_path / "deep" / "down" / "note.txt"
    for text in ("old", "new"):
        write_file(target, text)
        assert target.read_text() == text
    assert names(target.parent) == ["note.txt"]


def test_a_folder_appears_whole_and_replaces_the_one_before(tmp_path):
    target = tmp_path / "runs" / "first"
    write_folder(target, "old")
    (target / "extra.txt").write_text("only in the old one")
    write_folder(target, "new")
    assert names(target) == ["one.txt", "two.txt"]
    assert (target / "two.txt").read_text() == "new"
    assert names(target.parent) == ["first"]


def test_until_the_end_of_the_block_the_old_is_what_others_see(tmp_path):
    target = tmp_path / "run"
    write_folder(target, "old")
    with replacing_folder(target) as draft:
        (draft / "one.txt").write_text("new")
        assert (target / "one.txt").read_text() == "old"
    with replacing(tmp_path / "note.txt") as draft:
        draft.write_text("new")
        assert not (tmp_path / "note.txt").exists()


@pytest.mark.parametrize("error", [Cancelled, KeyboardInterrupt, ZeroDivisionError])
def test_work_that_breaks_off_leaves_the_old_and_no_debris(tmp_path, error):
    write_folder(tmp_path / "run", "old")
    write_file(tmp_path / "note.txt", "old")
    with pytest.raises(error):
        write_folder(tmp_path / "run", "half", error)
    with pytest.raises(error):
        write_file(tmp_path / "note.txt", "half", error)
    assert names(tmp_path) == ["note.txt", "run"]
    assert (tmp_path / "note.txt").read_text() == (tmp_path / "run" / "one.txt").read_text() == "old"


def test_a_full_disk_is_told_in_words_and_changes_nothing(tmp_path):
    write_folder(tmp_path / "run", "old")
    write_file(tmp_path / "note.txt", "old")
    with full_disk(100):
        with pytest.raises(UserError, match=r"run: could not be written: File too large; nothing was changed$"):
            write_folder(tmp_path / "run", "new" * 100)
        with pytest.raises(UserError, match=r"note\.txt: could not be written"):
            write_file(tmp_path / "note.txt", "new" * 100)
    assert names(tmp_path) == ["note.txt", "run"]
    assert (tmp_path / "note.txt").read_text() == (tmp_path / "run" / "two.txt").read_text() == "old"


def test_a_place_inside_a_file_is_refused_in_words(tmp_path):
    write_file(tmp_path / "note.txt", "old")
    with pytest.raises(UserError, match="could not be written"):
        write_folder(tmp_path / "note.txt" / "run", "new")
    with pytest.raises(UserError, match="could not be written"):
        write_file(tmp_path / "note.txt" / "inner", "new")
    assert names(tmp_path) == ["note.txt"]


def test_a_folder_that_cannot_be_put_in_place_leaves_the_old_one_there(tmp_path, monkeypatch):
    target = tmp_path / "run"
    write_folder(target, "old")
    rename = os.replace

    def refuse_the_new(source, destination):
        if destination == target and not str(source).endswith(".old"):
            raise OSError(13, "Permission denied")
        rename(source, destination)

    monkeypatch.setattr(os, "replace", refuse_the_new)
    with pytest.raises(UserError, match=r"run: could not be written: Permission denied; nothing was changed$"):
        write_folder(target, "new")
    assert names(tmp_path) == ["run"]
    assert (target / "one.txt").read_text() == "old"


def test_a_digest_is_of_the_content(tmp_path):
    path = tmp_path / "note.txt"
    path.write_bytes(b"cup" * 1000)
    assert digest(path) == hashlib.sha256(b"cup" * 1000).hexdigest()


def test_what_a_killed_writer_left_is_removed_and_nothing_else(tmp_path):
    target = tmp_path / "run[1]"
    draft = f".{target.name}.{'0123456789abcdef' * 2}"
    (tmp_path / draft).mkdir()
    (tmp_path / f"{draft}.old").write_text("")
    kept = [target.name, ".run1.0123", f".other.{'0' * 32}"]
    for name in kept:
        (tmp_path / name).write_text("")
    remove_drafts(target)
    assert names(tmp_path) == sorted(kept)
