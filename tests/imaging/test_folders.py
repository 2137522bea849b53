"""A folder of photographs: measured, gone on with, and every file accounted for."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from imaging_pipelines import flat_photograph, save_pipeline
from PIL import Image
from places import ROOT

from mpd2.cli import main
from mpd2.core.errors import UserError
from mpd2.imaging.distance.reference import Reference
from mpd2.imaging.ellipses import Ellipse
from mpd2.imaging.folders import PART, Journal, measure_folder, parts_of, photographs_in
from mpd2.imaging.measurement import COLUMNS
from mpd2.imaging.pipeline import Pipeline, read_settings

COUNT = 18


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory):
    return save_pipeline(tmp_path_factory.mktemp("pipelines") / "one")


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    """Some photographs in two folders, two that cannot be read and one file that is none."""
    folder = tmp_path_factory.mktemp("photographs")
    (folder / "more").mkdir()
    for index in range(COUNT):
        disc = Ellipse(90 + 2 * index, 80, 30 + index, 40)
        name = f"more/eye-{index:02}.png" if index % 3 == 0 else f"eye-{index:02}.jpg"
        Image.fromarray(flat_photograph(disc, disc.scaled(0.5), 200 + index)).save(folder / name)
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n and no more")
    (folder / "eye-99.jpg").write_bytes(b"")
    (folder / "notes.txt").write_text("of no matter")
    (folder / ".hidden.png").write_bytes(b"of no matter")
    return folder


@pytest.fixture(scope="module")
def whole(photographs, pipeline, tmp_path_factory):
    """The folder measured without any interruption."""
    return measure_folder(photographs, pipeline, tmp_path_factory.mktemp("whole") / "table.csv")


def test_every_photograph_has_a_row_in_the_order_of_names(whole, photographs):
    table = pd.read_csv(whole.table)
    assert list(table.columns) == ["file", *COLUMNS, "notes"]
    assert table["file"].tolist() == sorted(table["file"])
    assert len(table) == whole.measured == COUNT
    assert table[["logit_0", "logit_1", "quality_risk"]].notna().all(axis=None)


def test_what_cannot_be_read_is_listed_with_the_reason(whole):
    listed = pd.read_csv(whole.listed)
    assert listed["file"].tolist() == ["broken.png", "eye-99.jpg"]
    assert listed["reason"].str.len().min() > 10
    assert not listed["reason"].str.startswith("broken.png").any()
    assert whole.other == 1


def test_the_rows_are_those_of_the_pipeline(whole, photographs, pipeline):
    from mpd2.imaging.photograph import read_photograph

    name = "eye-04.jpg"
    row = Pipeline.load(pipeline).measure([read_photograph(photographs / name)])[0].row()
    kept = pd.read_csv(whole.table).set_index("file").loc[name]
    assert kept["logit_1"] == pytest.approx(row["logit_1"], abs=1e-5)
    assert kept["vim_risk_z"] != kept["vim_risk_z"]  # no reference: empty


def test_parquet_holds_the_same(whole, photographs, pipeline, tmp_path):
    done = measure_folder(photographs, pipeline, tmp_path / "table.parquet")
    pd.testing.assert_frame_equal(
        pd.read_parquet(done.table)[["file", "logit_0", "disc_x"]],
        pd.read_csv(whole.table)[["file", "logit_0", "disc_x"]],
    )


def test_work_that_was_interrupted_goes_on_and_ends_the_same(whole, photographs, pipeline, tmp_path):
    out = tmp_path / "table.csv"
    seen = []

    def interrupt(done, total):
        seen.append(done)
        if done >= 2 * PART:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure_folder(photographs, pipeline, out, on_progress=interrupt)
    assert not out.exists()
    done = measure_folder(photographs, pipeline, out)
    assert done.resumed == 2 * PART
    assert out.read_bytes() == whole.table.read_bytes()
    assert done.listed.read_bytes() == whole.listed.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["table-unreadable.csv", "table.csv"]


def test_a_process_that_was_killed_leaves_what_it_had_done(whole, photographs, pipeline, tmp_path):
    out = tmp_path / "table.csv"
    command = [sys.executable, "-m", "mpd2", "imaging", "measure", str(photographs), "--out", str(out)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    process = subprocess.Popen([*command, "--models", str(pipeline)], cwd=ROOT, env=environment)
    journal = tmp_path / ".table.csv.journal"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and (not journal.exists() or journal.read_text().count("\n") < 2):
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with journal.open("a") as file:
        file.write('{"key": "cut o')  # a line that the kill cut off
    done = measure_folder(photographs, pipeline, out)
    assert done.resumed >= PART
    assert pd.read_csv(out)["file"].tolist() == pd.read_csv(whole.table)["file"].tolist()
    numbers = [pd.read_csv(path).select_dtypes("number") for path in (out, whole.table)]
    pd.testing.assert_frame_equal(*numbers, rtol=1e-4, atol=1e-4)


def test_two_processes_measure_what_one_does(whole, photographs, pipeline, tmp_path):
    seen = []
    done = measure_folder(
        photographs, pipeline, tmp_path / "table.csv", processes=2, on_progress=lambda now, total: seen.append(now)
    )
    numbers = [pd.read_csv(path).select_dtypes("number") for path in (done.table, whole.table)]
    pd.testing.assert_frame_equal(*numbers, rtol=1e-4, atol=1e-4)
    assert seen == sorted(seen)
    assert seen[-1] == COUNT + 2


def test_a_journal_of_another_pipeline_is_not_gone_on_with(tmp_path):
    out = tmp_path / "table.csv"
    Journal.open(out, "one").add("key", [{"file": "a.png"}])
    assert Journal.open(out, "one").done == {"key": [{"file": "a.png"}]}
    assert Journal.open(out, "another").done == {}


def test_a_photograph_that_changed_is_measured_again(photographs):
    files, _ = photographs_in(photographs)
    before = parts_of(photographs, files)
    os.utime(photographs / files[0], ns=(1, 1))
    after = parts_of(photographs, files)
    assert [one.key == other.key for one, other in zip(before, after, strict=True)] == [False] + [True] * 4


@pytest.mark.parametrize(
    ("folder", "out", "said"), [("nowhere", "a.csv", "no such folder"), ("", "a.txt", "expected .csv")]
)
def test_what_is_asked_wrongly_is_said(tmp_path, pipeline, folder, out, said):
    with pytest.raises(UserError, match=said):
        measure_folder(tmp_path / folder, pipeline, tmp_path / out)


def test_a_folder_without_photographs_is_said_so(tmp_path, pipeline):
    with pytest.raises(UserError, match=r"found no photograph, expected files that end in \.jpg"):
        measure_folder(tmp_path, pipeline, tmp_path / "table.csv")


class TestCommands:
    def test_measure_prints_what_became_of_every_file(self, photographs, pipeline, tmp_path, capsys):
        code = main(
            [
                "imaging",
                "measure",
                str(photographs),
                "--out",
                str(tmp_path / "t.csv"),
                "--models",
                str(pipeline),
                "--json",
            ]
        )
        said = json.loads(capsys.readouterr().out)
        assert code == 0
        assert (said["measured"], said["other_files"], len(said["unreadable"])) == (COUNT, 1, 2)

    def test_reference_gives_the_pipeline_a_sense_of_what_is_usual(self, photographs, tmp_path, capsys):
        own = save_pipeline(tmp_path / "own")
        assert (
            main(["imaging", "reference", str(photographs), "--models", str(own), "--held-out", "0.5", "--json"]) == 0
        )
        said = json.loads(capsys.readouterr().out)
        assert (said["fitted_on"], said["held_out"]) == (9, 9)
        assert read_settings(own).reference
        assert isinstance(Pipeline.load(own).reference, Reference)
        low, high = said["held_out_5_to_95"]["vim"]
        assert low < 0 < high
        main(["imaging", "measure", str(photographs), "--out", str(tmp_path / "t.csv"), "--models", str(own)])
        assert pd.read_csv(tmp_path / "t.csv")["vim_risk_z"].notna().all()

    def test_models_says_what_is_missing_and_how_to_get_it(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
        assert main(["imaging", "models", "--models", str(tmp_path)]) == 1
        assert capsys.readouterr().out.count("hf download") == 2

    def test_measuring_without_models_says_the_same(self, photographs, tmp_path, monkeypatch, capsys):
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
        code = main(
            ["imaging", "measure", str(photographs), "--out", str(tmp_path / "t.csv"), "--models", str(tmp_path)]
        )
        assert code == 1
        assert "hf download" in capsys.readouterr().err
