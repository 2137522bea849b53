"""Photographs of a workspace are found by their names, never outside of their folder, and shown without metadata."""

from __future__ import annotations

import json
import shutil
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from imaging_studio import NAME, PATIENT, eyes, jpeg, photograph_workspace
from PIL import Image

from mpd2.cli import main
from mpd2.clinic.access.actor import LOCAL
from mpd2.core.errors import UserError
from mpd2.imaging.attached import RECORD, SIDE, Attached, attach, attached, folder_of, inside, thumbnail
from mpd2.lab.jobs.folder import PLACE, Workshop
from mpd2.lab.workspaces.archive import exported, open_archive
from mpd2.lab.workspaces.removing import remove
from mpd2.lab.workspaces.shelf import find


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "workspace" / "photographs"
    made.mkdir(parents=True)
    for number, eye in enumerate(eyes(2)):
        (made / f"{number}.jpg").write_bytes(jpeg(eye))
    (tmp_path / "secret.jpg").write_bytes(jpeg(eyes(1)[0]))
    return made


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    monkeypatch.setenv(PLACE, str(tmp_path / "workshop"))
    photograph_workspace(Workshop.here(), cases=32, runs=())
    return Workshop.here()


def test_a_case_has_the_file_its_row_names(folder: Path) -> None:
    found = attached(folder.parent, ["a", "b", "c"], ["0.jpg", "1.jpg", ""])
    assert found is not None
    assert found.path("b") == folder / "1.jpg"
    assert found.read("b").pixels.shape == (256, 256, 3)
    assert found.path("c") is None
    assert found.path("nobody") is None
    with pytest.raises(UserError, match="not in the attached folder"):
        found.read("c")


@pytest.mark.parametrize(
    "name",
    ["../../secret.jpg", "/etc/passwd.jpg", "C:\\secret.jpg", "a\\..\\..\\secret.jpg", "link.jpg", "linked/secret.jpg",
     "x\0.jpg", "y" * 300 + ".jpg", "notes.txt", "\\\\host\\share\\x.jpg"],
)  # fmt: skip
def test_a_name_leads_nowhere_but_into_the_folder(folder: Path, name: str) -> None:
    (folder / "link.jpg").symlink_to(folder.parents[1] / "secret.jpg")
    (folder / "linked").symlink_to(folder.parents[1])
    with pytest.raises(UserError, match="photograph: found the name"):
        inside(folder, name)
    assert Attached(folder, {"a": name}).path("a") is None


def test_a_name_may_lead_into_a_folder_of_the_folder(folder: Path) -> None:
    (folder / "left").mkdir()
    (folder / "0.jpg").rename(folder / "left" / "0.jpg")
    assert Attached(folder, {"a": "left/0.jpg"}).path("a") == folder / "left" / "0.jpg"


def test_a_workspace_that_is_a_link_to_elsewhere_has_no_photographs_of_its_own(tmp_path: Path, folder: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "photographs").symlink_to(folder)
    assert folder_of(other) is None


def test_an_attached_folder_comes_first_and_a_damaged_record_says_so(tmp_path: Path, folder: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert folder_of(folder.parent) == folder
    assert attach(folder.parent, elsewhere) == elsewhere
    assert folder_of(folder.parent) == elsewhere
    elsewhere.rmdir()
    assert folder_of(folder.parent) is None
    (folder.parent / RECORD).write_text("[]")
    with pytest.raises(UserError, match="attach the folder again"):
        folder_of(folder.parent)
    with pytest.raises(UserError, match="no such folder"):
        attach(folder.parent, elsewhere)


def test_a_thumbnail_is_small_has_no_metadata_and_leaves_the_original_alone(tmp_path: Path, folder: Path) -> None:
    before = (folder / "0.jpg").read_bytes()
    assert PATIENT.encode() in before
    made = thumbnail(folder / "0.jpg", tmp_path / "kept")
    image = Image.open(BytesIO(made))
    assert max(image.size) <= SIDE
    assert not image.getexif()
    assert (folder / "0.jpg").read_bytes() == before
    kept = list((tmp_path / "kept").iterdir())
    assert [path.read_bytes() for path in kept] == [made]
    assert PATIENT.encode() not in made
    kept[0].write_bytes(b"kept")
    assert thumbnail(folder / "0.jpg", tmp_path / "kept") == b"kept"
    (folder / "0.jpg").write_bytes(jpeg(eyes(2)[1]))
    assert thumbnail(folder / "0.jpg", tmp_path / "kept") not in (made, b"kept")


def test_what_is_burnt_in_beside_the_field_of_view_is_not_in_the_thumbnail(tmp_path: Path, folder: Path) -> None:
    pixels = np.array(Image.open(folder / "0.jpg"))
    pixels[2:10, 2:40] = 255
    Image.fromarray(pixels).save(folder / "burnt.png")
    small = np.asarray(Image.open(BytesIO(thumbnail(folder / "burnt.png", tmp_path / "kept"))))
    assert small[: small.shape[0] // 20, : small.shape[1] // 5].max() < 60


def test_the_command_attaches_a_folder_and_says_who_has_none(
    workshop: Workshop, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    space = workshop.workspaces / NAME
    mine = tmp_path / "mine"
    shutil.copytree(space / "photographs", mine)
    (mine / "000.jpg").unlink()
    assert main(["workspace", "photographs", NAME, "--folder", str(mine)]) == 0
    told = capsys.readouterr().out
    assert "31 of 32 cases have a photograph" in told
    assert "those of e000" in told
    assert json.loads((space / RECORD).read_text()) == {"folder": str(mine)}


def test_the_command_refuses_what_has_no_photographs(workshop: Workshop, tmp_path: Path, capsys) -> None:
    manifest = workshop.workspaces / NAME / "manifest.toml"
    manifest.write_text(manifest.read_text().replace('[photographs]\ncolumn = "file"\n', ""))
    assert main(["workspace", "photographs", NAME, "--folder", str(tmp_path)]) != 0
    assert main(["workspace", "photographs", "glaucoma", "--folder", str(tmp_path)]) != 0
    assert "[photographs]" in capsys.readouterr().err


def test_photographs_are_not_exported_the_pipeline_that_measured_them_is(workshop: Workshop, tmp_path: Path) -> None:
    space = workshop.workspaces / NAME
    attach(space, space / "photographs")
    for name in ("imaging/imaging.json", "imaging/classifier/model.safetensors", "imaging/classifier/odd.bin"):
        (space / name).parent.mkdir(parents=True, exist_ok=True)
        (space / name).write_text("{}")
    packed = exported(find(NAME, workshop), by=LOCAL)
    assert PATIENT.encode() not in packed
    there = open_archive(BytesIO(packed), workshop, "theirs", by=LOCAL).folder
    kept = {path.relative_to(there).as_posix() for path in there.rglob("*") if path.is_file()}
    brought = {"manifest.toml", "eyes.csv", "imaging/imaging.json", "imaging/classifier/model.safetensors"}
    assert kept == {*brought, "owner.json"}  # whoever opened it


def test_thumbnails_go_with_their_workspace(workshop: Workshop) -> None:
    place = workshop.thumbnails / NAME
    thumbnail(workshop.workspaces / NAME / "photographs" / "000.jpg", place)
    assert list(place.iterdir())
    remove(NAME, workshop, by=LOCAL)
    assert not place.exists()
