"""Folders become a workspace that can be checked, built and looked at."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from imaging_cohorts import write_all, write_origa, write_refuge
from imaging_models import save_classifier, save_segmenter
from tiny_study import quick

from mpd2.cli import main
from mpd2.core.cohort import UNKNOWN
from mpd2.core.workspace import Workspace
from mpd2.imaging.attached import attached
from mpd2.imaging.pipeline import Pipeline, make_pipeline
from mpd2.lab.jobs.folder import Workshop
from mpd2.lab.workspaces.shelf import find
from mpd2.study.definition import CONTENDERS, Study


@pytest.fixture(scope="module")
def pipeline(tmp_path_factory) -> Path:
    place = tmp_path_factory.mktemp("pipeline")
    classifier, segmenter = save_classifier(place / "c", size=64), save_segmenter(place / "s", seed=10, size=64)
    return make_pipeline(place / "made", classifier, segmenter)


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    return write_all(tmp_path_factory.mktemp("cohorts"))


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MPD2_WORKSHOP", str(tmp_path_factory.mktemp("workshop")))
        yield Workshop.here()


def arguments(folders: dict[str, Path], pipeline: Path, name: str, *more: str) -> list[str]:
    given = [word for key, folder in folders.items() for word in (f"--{key}", str(folder))]
    return ["build", *given, "--out", name, "--models", str(pipeline), "--yes", *more]


ENCODERS = ("--encoders", "classifier", "segmenter")


@pytest.fixture(scope="module")
def made(folders, pipeline, workshop) -> Workspace:
    assert main(arguments(folders, pipeline, "made", *ENCODERS, "--json")) == 0
    return find("made", workshop)


def test_the_three_cohorts_become_a_workspace_that_passes_its_check(made, capsys):
    assert main(["check", "--workspace", "made", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ok"]
    assert told["cases"] == 48 + 36 + 24
    assert told["cohorts"]["refuge"] == {"train": 16, "val": 16, "test": 16}
    assert told["cohorts"]["origa"] == {"train": 12, "val": 6, "test": 6}
    assert list(told["readers"]) == [
        *(f"refuge_expert_{n}" for n in range(1, 8)),
        *(f"chaksu_expert_{n}" for n in range(1, 6)),
    ]


def test_readings_are_what_the_manifest_says_of_them(made, folders):
    cohort = made.cohort()
    assert [(c.key, c.readings) for c in cohort.manifest.cohorts] == [
        ("refuge", "semi-synthetic"),
        ("chaksu", "real"),
        ("origa", "induced"),
    ]
    refuge, chaksu, origa = ((cohort.sources == key) for key in ("refuge", "chaksu", "origa"))
    assert ((cohort.decisions[refuge, :7] == cohort.truth[refuge, None]).sum(1) >= 4).all()
    assert (cohort.decisions[refuge, 7:] == UNKNOWN).all()
    assert (cohort.decisions[chaksu, 7:] != UNKNOWN).all()
    assert ((cohort.decisions[chaksu, 7:].sum(1) > 2) == (cohort.truth[chaksu] == 1)).all()
    known = (cohort.decisions[origa] != UNKNOWN).sum(1)
    assert (known > 0).all()
    assert cohort.manifest.groups is not None
    assert cohort.manifest.credit.count("CC BY 4.0") == 3


def test_inputs_are_those_that_were_measured(made):
    """This pipeline has no reference, so that no distance is known; ratios may be missing."""
    inputs = {each.column: each for each in made.manifest().inputs}
    assert set(inputs) == {"quality_risk", "vCDR", "aCDR"}
    assert inputs["vCDR"].missing
    assert made.manifest().drawing is not None


def test_a_ratio_that_cannot_be_is_left_empty_and_said(made):
    table = pd.read_csv(made.table)
    known = table[["vCDR", "hCDR", "aCDR"]]  # these weights find a cup, none, or one that is wider than its disc
    assert known.notna().all(axis=1).any()
    assert (known.isna().all(axis=1) | (known <= 1).all(axis=1)).all()
    noted = re.search(r"(\d+) notes?, a ratio of cup to disc above 1", made.datasheet.read_text(encoding="utf-8"))
    assert noted is not None
    assert 0 < int(noted[1]) <= known.isna().all(axis=1).sum()


def test_the_pipeline_and_the_photographs_come_with_it(made, folders):
    assert Pipeline.load(made.folder / "imaging").settings.classifier.name == "classifier"
    table = pd.read_csv(made.table, dtype=str, keep_default_na=False)
    shown = attached(made.folder, table["case_id"], table["file"])
    assert shown is not None
    assert not shown.missing()
    assert shown.read("origa-001").pixels.shape == (128, 128, 3)
    assert "# Glaucoma screening: REFUGE, Chákṣu and ORIGA" in made.datasheet.read_text(encoding="utf-8")
    assert not list(made.folder.rglob("*.jpg"))


def test_a_photograph_measured_again_has_the_numbers_of_its_row(made):
    table = pd.read_csv(made.table, dtype=str, keep_default_na=False)
    shown = attached(made.folder, table["case_id"], table["file"])
    assert shown is not None
    row = table.set_index("case_id").loc["chaksu-forus-test-1"]
    again = Pipeline.load(made.folder / "imaging").measure([shown.read("chaksu-forus-test-1")])[0]
    assert again.logits == pytest.approx((float(row["logit_0"]), float(row["logit_1"])), abs=1e-4)


def test_the_same_seed_makes_the_same_table_and_another_one_other_readers(tmp_path, pipeline, workshop):
    few = {"refuge": write_refuge(tmp_path / "refuge", 6, 3), "origa": write_origa(tmp_path / "origa", 6)}
    assert main(arguments(few, pipeline, "one", *ENCODERS)) == 0
    assert main(arguments(few, pipeline, "again", *ENCODERS)) == 0
    assert main(arguments(few, pipeline, "other", *ENCODERS, "--seed", "1", "--no-crop")) == 0
    one, again, other = (find(name, workshop) for name in ("one", "again", "other"))
    assert again.table.read_bytes() == one.table.read_bytes()
    assert one.cohort().ids.tolist() == other.cohort().ids.tolist()
    assert (one.cohort().decisions != other.cohort().decisions).any()
    np.testing.assert_array_equal(one.cohort().ai_probability, other.cohort().ai_probability)


def test_routers_are_trained_on_it(made):
    runs = ("ai", "recalibrated", "mpd2-plus")
    study = Study(made.cohort(), made.folder, (42,), contenders={run: quick(CONTENDERS[run]) for run in runs})
    for run in runs:
        study.make(run, say=lambda _: None)
        assert (made.runs / run).is_dir()


def test_what_is_damaged_is_left_out_and_said_and_the_rest_is_built(tmp_path, pipeline, workshop, capsys):
    folder = write_refuge(tmp_path / "refuge", 8, 3)
    broken = folder / "Training400" / "Non-Glaucoma" / "n0007.jpg"
    broken.write_bytes(broken.read_bytes()[:700])  # its head can be read
    (folder / "Annotation-Training400" / "Disc_Cup_Masks" / "Glaucoma" / "g0001.bmp").unlink()
    assert main(arguments({"refuge": folder}, pipeline, "damaged", "--json")) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["cases"] == 22
    reasons = [f"{each['what']}: {each['why']}" for each in told["left_out"] if each["case"]]
    assert len(reasons) == 2
    table = pd.read_csv(find("damaged", workshop).table)
    assert 0 < told["vcdr_compared"] == table["vCDR"].notna().sum()
    assert 0 < told["vcdr_disagreement"] < 1
    assert any("g0001.jpg: no mask" in reason for reason in reasons)
    assert any("n0007.jpg: photograph cannot be read" in reason for reason in reasons)
    assert "Left out: 2 cases" in find("damaged", workshop).datasheet.read_text(encoding="utf-8")


def test_interrupted_work_goes_on_where_it_was(tmp_path, folders, pipeline, workshop, monkeypatch, capsys):
    from mpd2.imaging.cohorts import table

    measured = []
    real = table.measure_part

    def counted(network, job):
        if len(measured) == 3 and not interrupted:
            interrupted.append(True)
            raise KeyboardInterrupt
        measured.append(job.key)
        return real(network, job)

    interrupted: list[bool] = []
    monkeypatch.setattr(table, "measure_part", counted)
    given = arguments({"chaksu": folders["chaksu"]}, pipeline, "interrupted")
    assert main(given) == 130
    assert "what was measured is kept" in capsys.readouterr().err
    assert main(given) == 0
    assert len(measured) == len(set(measured)) == 9
    assert not list(workshop.workspaces.glob(".interrupted*"))


def test_what_is_missing_is_said_before_anything_is_measured(tmp_path, folders, pipeline, workshop, capsys):
    assert main(["build", "--out", "x", "--yes"]) == 1
    assert "expected the folder of at least one: --refuge, --chaksu, --origa" in capsys.readouterr().err
    assert main(arguments(folders, pipeline, "x")) == 1
    assert "facebook/dinov2-base is not on this machine" in capsys.readouterr().err
    assert main(arguments(folders, tmp_path / "models", "x", *ENCODERS)) == 1
    assert "swinv2_tiny_for_glaucoma_classification is not on this machine" in capsys.readouterr().err
    assert main(arguments(folders, pipeline, "Bad name", *ENCODERS)) == 1
    assert "expected up to 40 of a to z" in capsys.readouterr().err
    alone = {"origa": write_origa(tmp_path / "origa", 9)}
    assert main(arguments(alone, pipeline, "x", *ENCODERS)) == 1
    assert "ORIGA: has no readers of its own" in capsys.readouterr().err
    assert not (workshop.workspaces / "x").exists()


def test_nobody_is_asked_where_nobody_can_answer(folders, pipeline, workshop, capsys):
    given = arguments({"chaksu": folders["chaksu"]}, pipeline, "asked")
    given.remove("--yes")
    assert main(given) == 1
    assert "give --yes" in capsys.readouterr().err
