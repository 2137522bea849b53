"""A workspace goes through a file byte for byte, and a file that is none leaves no trace."""

from __future__ import annotations

import io
import json
import stat
import struct
import zipfile
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_workspace import MANIFEST, nights, small_workspace, table_of

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.errors import UserError
from mpd2.core.workspace import Workspace
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.owners import OWNER
from mpd2.lab.workspaces import adding, archive, shelf

Files = dict[str, bytes]


@pytest.fixture
def place(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path / "jobs", tmp_path / "runs")


@cache
def small_export() -> bytes:
    with TemporaryDirectory() as folder:
        return archive.exported(small_workspace(Workshop(Path(folder) / "jobs", Path(folder) / "runs")), by=LOCAL)


def contents(workspace: Workspace) -> Files:
    """Every file of a workspace but what was only on the way."""
    files = [path for path in workspace.folder.rglob("*") if path.is_file() and "build" not in path.parts]
    return {path.relative_to(workspace.folder).as_posix(): path.read_bytes() for path in files}


def files_of(packed: bytes) -> Files:
    with zipfile.ZipFile(io.BytesIO(packed)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def vouched(files: Files, name: str = "nights") -> Files:
    """With the digests that whoever means harm would write."""
    digests = {path: sha256(data).hexdigest() for path, data in files.items() if path != "digests.json"}
    return files | {"digests.json": json.dumps({"format": 1, "name": name, "files": digests}).encode()}


def zipped(files: Files, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as made:
        for name, data in files.items():
            made.writestr(name, data)
    return packed.getvalue()


def opened(packed: bytes, place: Workshop, name: str | None = None) -> Workspace:
    return archive.open_archive(io.BytesIO(packed), place, name, by=LOCAL)


def nothing_lies_in(folder: Path) -> bool:
    """No file at all, hidden ones too."""
    return not [path for path in folder.rglob("*") if not path.is_dir()]


# Round trip


def test_what_is_opened_is_what_was_exported(place: Workshop, tmp_path: Path) -> None:
    workspace = small_workspace(place)
    adding.add_rows("nights", nights(2, first=90).set_axis(range(2, 8)), "new.csv", place, by=LOCAL)
    elsewhere = Workshop(tmp_path / "elsewhere" / "jobs", tmp_path / "elsewhere" / "runs")
    made = opened(archive.exported(workspace, by=LOCAL), elsewhere)
    assert made.name == "nights"
    assert contents(made) == contents(workspace)
    assert "earlier.json" in contents(made)
    assert archive.exported(made, by=LOCAL) == archive.exported(workspace, by=LOCAL)
    assert made.cohort().fingerprint == workspace.cohort().fingerprint
    assert not (made.folder / "build").exists()


@given(
    runs=st.dictionaries(
        st.from_regex(r"runs/[a-z0-9][a-z0-9.-]{0,9}/[a-z]{1,9}\.(json|safetensors|parquet)", fullmatch=True),
        st.binary(max_size=200),
        max_size=6,
    ),
    readme=st.text(max_size=50).filter(lambda text: text.isprintable()),
)
def test_any_workspace_comes_back_byte_for_byte(runs: Files, readme: str) -> None:
    with TemporaryDirectory() as folder:
        place = Workshop(Path(folder) / "jobs", Path(folder) / "runs")
        workspace = shelf.create("nights", table_of(nights(20)), MANIFEST, place, readme, by=LOCAL)
        for path, data in runs.items():
            (workspace.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (workspace.folder / path).write_bytes(data)
        made = opened(archive.exported(workspace, by=LOCAL), place, "again")
        assert contents(made) == contents(workspace)


def test_drafts_and_links_and_what_is_no_part_of_it_are_not_exported(place: Workshop, tmp_path: Path) -> None:
    workspace = small_workspace(place)
    before = set(files_of(archive.exported(workspace, by=LOCAL)))
    (tmp_path / "secret.json").write_text("{}")
    (workspace.folder / "runs" / "ai" / "link.json").symlink_to(tmp_path / "secret.json")
    (workspace.folder / "runs" / ".draft").mkdir()
    (workspace.folder / "runs" / ".draft" / "config.json").write_text("{}")
    (workspace.folder / "notes.txt").write_text("mine")
    assert set(files_of(archive.exported(workspace, by=LOCAL))) == before
    assert not any(name.startswith("build") for name in before)


def test_a_taken_name_asks_for_another(place: Workshop) -> None:
    small_workspace(place)
    with pytest.raises(UserError, match="'nights' is taken"):
        opened(small_export(), place)
    assert opened(small_export(), place, "nights-again").name == "nights-again"


def test_an_older_reader_refuses_what_a_newer_one_wrote(place: Workshop) -> None:
    files = files_of(small_export())
    files["digests.json"] = files["digests.json"].replace(b'"format": 1', b'"format": 2')
    with pytest.raises(UserError, match="not a workspace this version can open"):
        opened(zipped(files), place)


# Hostile files


def added(path: str, data: bytes = b"{}") -> Callable[[Files], Files]:
    return lambda files: vouched(files | {path: data})


HOSTILE: dict[str, tuple[Callable[[Files], Files], str]] = {
    "absolute": (added("/etc/cron.d/evil"), "a file that no workspace has"),
    "up": (added("../../evil.json"), "a file that no workspace has"),
    "up-inside": (added("runs/../../evil.json"), "a file that no workspace has"),
    "up-in-run": (added("runs/ai/../evil.json"), "a file that no workspace has"),
    "drive": (added("C:\\evil.json"), "a file that no workspace has"),
    "program": (added("runs/ai/evil.py"), "a file that no workspace has"),
    "pickle": (added("runs/ai/weights.pkl"), "a file that no workspace has"),
    "hidden": (added("runs/.ai/config.json"), "a file that no workspace has"),
    "deep": (added("runs/ai/more/config.json"), "a file that no workspace has"),
    "build": (added("build/study/x.json"), "a file that no workspace has"),
    "page": (added("index.html"), "a file that no workspace has"),
    "folder": (added("runs/", b""), "a link, a folder or a device"),
    "capitals": (added("Manifest.toml"), "this path twice"),
    "unsaid": (lambda files: files | {"runs/ai/more.json": b"{}"}, "no digest of it"),
    "gone": (lambda files: {path: data for path, data in files.items() if path != "README.md"}, "its digest alone"),
    "changed": (lambda files: files | {"README.md": b"other"}, "damaged or changed since it was exported"),
    "no-digests": (lambda files: {p: d for p, d in files.items() if p != "digests.json"}, "digests.json: is not in"),
    "no-manifest": (lambda files: vouched({p: d for p, d in files.items() if p != "manifest.toml"}), "is not in"),
    "no-table": (lambda files: vouched({p: d for p, d in files.items() if p != "nights.csv"}), "no such file"),
    "another-table": (
        lambda files: vouched(files | {"manifest.toml": MANIFEST.replace("nights.csv", "README.md").encode()}),
        "expected a name ending in",
    ),
    "table-elsewhere": (
        lambda files: vouched(files | {"manifest.toml": MANIFEST.replace("nights.csv", "../nights.csv").encode()}),
        "table: String should match pattern",
    ),
    "bad-table": (lambda files: vouched(files | {"nights.csv": b"epoch\n1\n"}), "found no such column"),
    "bad-manifest": (lambda files: vouched(files | {"manifest.toml": b"\xff"}), "damaged"),
    "newer-manifest": (lambda files: vouched(files | {"manifest.toml": b"version = 3"}), "newer MPD"),
    "bad-earlier": (added("earlier.json", b'{"format": 7}'), "not as this version writes it"),
    "bad-name": (lambda files: vouched(files, "../evil"), "expected up to 40 of a to z"),
    "large-manifest": (lambda files: vouched(files | {"manifest.toml": b" " * 2**21}), "found 2 MB, expected at most"),
    "large-digests": (lambda files: files | {"digests.json": b" " * 2**21}, "found 2 MB, expected at most"),
    "many": (lambda files: vouched(files | {f"runs/r{n}/c.json": b"" for n in range(2001)}), "more than 2000 files"),
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_file_is_refused_and_nothing_is_written(kind: str, place: Workshop, tmp_path: Path) -> None:
    change, told = HOSTILE[kind]
    with pytest.raises(UserError, match=told):
        opened(zipped(change(files_of(small_export()))), place)
    assert nothing_lies_in(tmp_path)


def with_entry(change: Callable[[zipfile.ZipInfo], None], data: bytes = b"{}") -> bytes:
    """An export with one more entry, made by hand."""
    files = vouched(files_of(small_export()) | {"runs/ai/more.json": data})
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name)
            if name == "runs/ai/more.json":
                change(entry)
            made.writestr(entry, content)
    return packed.getvalue()


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFDIR])
def test_links_and_devices_are_refused(kind: int, place: Workshop, tmp_path: Path) -> None:
    packed = with_entry(lambda entry: setattr(entry, "external_attr", (kind | 0o777) << 16), b"/etc/passwd")
    with pytest.raises(UserError, match="a link, a folder or a device"):
        opened(packed, place)
    assert nothing_lies_in(tmp_path)


def test_a_file_without_a_name_is_refused(place: Workshop) -> None:
    packed = bytearray(with_entry(lambda _: None))
    packed[packed.rindex(b"runs/ai/more.json")] = 0  # in the list, where a name ends at the first NUL
    with pytest.raises(UserError, match="'': found a file that no workspace has"):
        opened(bytes(packed), place)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_unusual_packing_is_refused(method: int, place: Workshop) -> None:
    with pytest.raises(UserError, match="packed in an unusual way"):
        opened(zipped(files_of(small_export()), method), place)


def test_a_file_that_is_listed_twice_is_refused(place: Workshop) -> None:
    packed = io.BytesIO(zipped(files_of(small_export())))
    with zipfile.ZipFile(packed, "a") as made, pytest.warns(UserWarning, match="Duplicate name"):
        made.writestr("README.md", b"another")
    with pytest.raises(UserError, match="this path twice"):
        opened(packed.getvalue(), place)


def test_a_bomb_is_refused_before_it_is_unpacked(place: Workshop, tmp_path: Path) -> None:
    """By what its list says, and where the list lies by what comes out."""
    packed = bytearray(with_entry(lambda _: None, b"0" * 10_000))
    at = packed.rindex(b"runs/ai/more.json") - 46  # its entry in the list
    honest = bytes(packed)
    struct.pack_into("<I", packed, at + 24, 2**32 - 2)
    with pytest.raises(UserError, match="when unpacked, expected at most"):
        opened(bytes(packed), place)
    packed = bytearray(honest)
    struct.pack_into("<I", packed, at + 24, 10)
    with pytest.raises(UserError, match="damaged"):
        opened(bytes(packed), place)
    assert nothing_lies_in(tmp_path)
    assert opened(honest, place).name == "nights"


@pytest.mark.parametrize("data", [b"", b"PK", b"not a zip", b"PK\x05\x06" + b"\0" * 18, b"\x1f\x8b" + b"\0" * 50])
def test_what_is_no_zip_is_said_to_be_none(data: bytes, place: Workshop, tmp_path: Path) -> None:
    with pytest.raises(UserError):
        opened(data, place)
    assert nothing_lies_in(tmp_path)


@given(data=st.data())
def test_whatever_bytes_are_changed_it_is_refused_in_words_or_the_same(data: st.DataObject) -> None:
    packed = bytearray(small_export())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(packed) - 1) | st.integers(max(0, len(packed) - 800), len(packed) - 1))
        packed[at] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del packed[data.draw(st.integers(0, len(packed) - 1)) :]
    with TemporaryDirectory() as folder:
        place = Workshop(Path(folder) / "jobs", Path(folder) / "runs")
        try:
            made = opened(bytes(packed), place)
        except UserError:
            assert nothing_lies_in(Path(folder))
        else:
            expected = files_of(small_export())
            expected[OWNER] = (made.folder / OWNER).read_bytes()
            assert contents(made) == {path: text for path, text in expected.items() if path != "digests.json"}
            assert list(Path(folder).iterdir()) == [place.workspaces]
