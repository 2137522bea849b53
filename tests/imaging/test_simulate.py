"""The command that draws a simulated programme and keeps it as a workspace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from imaging_pipelines import save_pipeline
from PIL import Image

from mpd2.cli import main
from mpd2.imaging.photograph import read_photograph
from mpd2.imaging.pipeline import Pipeline
from mpd2.imaging.simulation.bayes import KINDS
from mpd2.lab.jobs.folder import PLACE, Workshop
from mpd2.lab.workspaces.shelf import find
from mpd2.study.analyses.own_results import about


@pytest.fixture(autouse=True)
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(PLACE, str(tmp_path))
    return tmp_path


def simulated(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["simulate", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_a_programme_is_kept_as_a_workspace_that_says_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    found = simulated(capsys, "--n", "400", "--out", "drawn", "--seed", "3")
    workspace = find("drawn", Workshop.here())
    cohort = workspace.cohort()
    assert found["cases"] == len(cohort) == 400
    assert cohort.manifest.simulated
    assert cohort.manifest.table == "cases.csv"
    assert "Simulated cases, no patients" in workspace.datasheet.read_text(encoding="utf-8")
    assert any("simulated" in line for line in about(cohort))
    assert found["bayes"].keys() == KINDS.keys()
    assert main(["workspace", "check", "drawn"]) == 0


def test_a_large_one_is_a_parquet_file(capsys: pytest.CaptureFixture[str]) -> None:
    simulated(capsys, "--n", "50000", "--out", "large")
    workspace = find("large", Workshop.here())
    assert workspace.table.name == "cases.parquet"
    assert workspace.table.stat().st_size < 5_000_000


def test_it_is_told_in_words_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--n", "200", "--out", "words"]) == 0
    told = capsys.readouterr().out
    assert "Simulated cases, no patients." in told
    assert "as many readings as pay" in told


def test_photographs_are_of_test_cases_first_and_bring_their_true_outlines(capsys: pytest.CaptureFixture[str]) -> None:
    simulated(capsys, "--n", "40", "--photographs", "5", "--out", "pictures")
    workspace = find("pictures", Workshop.here())
    cohort, manifest = workspace.cohort(), workspace.manifest()
    assert manifest.photographs is not None
    lines = workspace.table.read_text(encoding="utf-8").splitlines()
    head = lines[0].split(",")
    rows = [dict(zip(head, line.split(","), strict=True)) for line in lines[1:]]
    with_file = [row for row in rows if row[manifest.photographs.column]]
    assert [row["split"] for row in with_file] == ["test"] * 5
    files = sorted(path.name for path in (workspace.folder / "photographs").iterdir())
    assert files == sorted(row["file"] for row in with_file)
    picture = np.asarray(Image.open(workspace.folder / "photographs" / files[0]))
    assert picture.shape == (512, 512, 3)
    assert picture.std() > 10
    for row in with_file:
        drawn = float(row["cup_height"]) / float(row["disc_height"])
        assert drawn == pytest.approx(float(row["vCDR"]), abs=0.06)
    assert len(cohort) == 40


def test_measured_cases_have_the_states_of_their_photographs_and_keep_the_pipeline(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    pipeline = save_pipeline(tmp_path / "one")
    arguments = ("--n", "120", "--seed", "2", "--photographs", "3")
    simulated(capsys, *arguments, "--out", "drawn")
    simulated(capsys, *arguments, "--imaging", str(pipeline), "--out", "measured")
    drawn, measured = (find(name, Workshop.here()) for name in ("drawn", "measured"))
    assert (measured.folder / "imaging" / "imaging.json").is_file()
    one, other = drawn.cohort(), measured.cohort()
    rows = np.flatnonzero(one.column("quality_risk") != other.column("quality_risk"))
    assert (len(rows), set(one.split[rows])) == (3, {"test"})
    assert (one.truth == other.truth).all()
    assert (one.decisions == other.decisions).all()
    names = pd.read_csv(measured.table, dtype=str, keep_default_na=False)["file"][rows].tolist()
    again = Pipeline.load(measured.folder / "imaging").measure(
        [read_photograph(measured.folder / "photographs" / name) for name in names]
    )
    np.testing.assert_allclose(other.column("logit_1")[rows], [each.logits[1] for each in again], atol=1e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--n", "10", "--photographs", "20", "--out", "few"), "photographs: found 20, expected 1 to 10"),
        (("--n", "10", "--imaging", "nowhere", "--out", "few"), "found no photographs to measure"),
        (("--n", "10", "--out", "Not A Name"), "found the name 'Not A Name'"),
        (("--n", "10", "--seed", "-1", "--out", "few"), "--seed: found -1"),
    ],
)
def test_what_cannot_be_is_said(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str], workshop: Path
) -> None:
    assert main(["simulate", *arguments]) == 1
    assert message in capsys.readouterr().err
    assert not (workshop / "workspaces" / "few").exists()
