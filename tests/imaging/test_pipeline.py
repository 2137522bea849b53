"""From photographs to measurements, and to the row of a table."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from imaging_models import save_classifier, save_segmenter
from imaging_pipelines import flat_photograph, reading_colours, save_pipeline

from mpd2.core.errors import UserError
from mpd2.imaging.distance.reference import Reference
from mpd2.imaging.ellipses import Ellipse
from mpd2.imaging.field import find_field
from mpd2.imaging.measurement import COLUMNS, OUTLINE_COLUMNS, outlines_of_row
from mpd2.imaging.models.finding import CLASSIFIER, SEGMENTER
from mpd2.imaging.models.square import Square
from mpd2.imaging.outlines import outlines_of_ellipses
from mpd2.imaging.photograph import Photograph
from mpd2.imaging.pipeline import CORRECTED, NO_REFERENCE, Pipeline, find_pipeline, make_pipeline
from mpd2.imaging.quality import QualityModel

DISC, CUP = Ellipse(760, 560, 150, 172, 0.1), Ellipse(752, 566, 78, 90, -0.2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_pipeline(tmp_path_factory.mktemp("pipelines") / "one")


@pytest.fixture(scope="module")
def pipeline(folder):
    return Pipeline.load(folder)


@pytest.fixture(scope="module")
def seeing(pipeline):
    """The pipeline with a segmenter that reads colours."""
    return replace(pipeline, segmenter=reading_colours())


@pytest.fixture(scope="module")
def measured(seeing):
    return seeing.measure([Photograph(flat_photograph(DISC, CUP))])[0]


class TestOutlines:
    def test_two_passes_find_the_outlines_in_pixels_of_the_photograph(self, measured):
        for found, true in ((measured.outlines.disc, DISC), (measured.outlines.cup, CUP)):
            assert math.hypot(found.x - true.x, found.y - true.y) < 0.5
            assert found.vertical == pytest.approx(true.vertical, rel=0.005)
            assert found.horizontal == pytest.approx(true.horizontal, rel=0.005)
        assert measured.outlines.flags == ()
        assert measured.outlines.ratios.vertical == pytest.approx(CUP.vertical / DISC.vertical, rel=0.005)

    def test_the_second_pass_is_the_sharper_one(self, pipeline):
        coarse = replace(pipeline, segmenter=reading_colours(128))
        errors = []
        for step in range(8):
            disc, cup = (each.moved(7.3 * step - 60, 3.7 * step).scaled(0.5) for each in (DISC, CUP))
            pixels = flat_photograph(disc, cup, 600)
            field = find_field(pixels)
            wide = coarse._pass([pixels], [Square.of_field(field)])[0]
            ((close, _),) = coarse.outlines([pixels], [field])
            assert close.resolution > 2 * wide.resolution
            true = cup.vertical / disc.vertical
            errors.append([abs(found.ratios.vertical - true) / true for found in (wide, close)])
        first, second = np.mean(errors, axis=0)
        assert second < first / 2
        assert np.max(errors, axis=0)[1] < 0.02

    @pytest.mark.parametrize("shift", [-380, 330])
    def test_a_disc_near_the_edge_of_the_field_is_measured_where_it_is(self, seeing, shift):
        disc, cup = (each.moved(shift - 160, 40) for each in (DISC, CUP))
        found = seeing.measure([Photograph(flat_photograph(disc, cup))])[0].outlines
        assert (found.disc.x, found.disc.y) == pytest.approx((disc.x, disc.y), abs=0.7)

    def test_no_disc_is_said_and_leaves_its_columns_empty(self, seeing):
        nothing = seeing.measure([Photograph(flat_photograph(None, None))])[0]
        assert nothing.outlines.flags == ("no disc",)
        row = nothing.row()
        assert row["flags"] == "no disc"
        assert {row[column] for column in ("vCDR", "hCDR", "aCDR", "decentration", *OUTLINE_COLUMNS)} == {""}
        assert outlines_of_row(row) is None

    def test_a_disc_of_few_pixels_is_too_small_however_much_it_is_enlarged(self, seeing):
        disc, cup = Ellipse(300, 250, 36, 40), Ellipse(300, 250, 18, 20)
        found = seeing.measure([Photograph(flat_photograph(disc, cup, 500))])[0].outlines
        assert "too small" in found.flags

    def test_photographs_are_measured_together_as_alone(self, seeing):
        photographs = [
            Photograph(flat_photograph(DISC, CUP)),
            Photograph(flat_photograph(None, None, 700)),
            Photograph(flat_photograph(Ellipse(500, 450, 120, 130), None, 900)),
        ]
        together = [measurement.row() for measurement in seeing.measure(photographs)]
        alone = [seeing.measure([photograph])[0].row() for photograph in photographs]
        for one, other in zip(together, alone, strict=True):
            assert one.keys() == other.keys()
            assert all(one[name] == pytest.approx(other[name], abs=1e-4) for name in one)
        assert together[2]["flags"] == "no cup"


class TestSquare:
    def test_what_reaches_beyond_the_edge_is_black(self):
        pixels = np.full((10, 12, 3), 7, np.uint8)
        cut = Square(-2, 6, 8).cut(pixels)
        assert cut.shape == (8, 8, 3)
        assert (cut[:4, 2:] == 7).all()
        assert (cut[4:] == 0).all()
        assert (cut[:, :2] == 0).all()

    def test_a_square_beside_the_photograph_is_all_black(self):
        assert not Square(500, 500, 20).cut(np.full((10, 10, 3), 7, np.uint8)).any()

    def test_the_middle_of_a_square_stays_its_middle(self):
        middle = Square(100, 50, 200).outward(Ellipse(31.5, 31.5, 10, 10), 64)
        assert (middle.x, middle.y, middle.width) == (199.5, 149.5, 31.25)


class TestRow:
    def test_it_has_every_column_in_order(self, measured):
        row = measured.row()
        assert tuple(row) == COLUMNS
        assert row["logit_1"] - row["logit_0"] == pytest.approx(
            math.log(measured.probability / (1 - measured.probability))
        )
        assert row["quality_risk"] == 1 - measured.quality.good

    def test_outlines_come_back_from_it(self, measured):
        assert outlines_of_row(measured.row()) == measured.outlines

    def test_outlines_come_back_from_text_and_from_empty_cells(self, measured):
        text = {name: str(value) for name, value in measured.row().items()}
        assert outlines_of_row(text).disc == measured.outlines.disc
        no_cup = text | {name: "" for name in OUTLINE_COLUMNS if name.startswith("cup")}
        assert outlines_of_row(no_cup).cup is None
        assert outlines_of_row({name: float("nan") for name in OUTLINE_COLUMNS}) is None
        assert outlines_of_row({}) is None


class TestCorrected:
    def test_the_numbers_follow_an_outline_that_a_person_moved(self, seeing, measured):
        larger = replace(measured.outlines, cup=replace(measured.outlines.cup, width=120.0, height=140.0))
        again = seeing.remeasured(measured, larger)
        assert again.row()["vCDR"] > measured.row()["vCDR"] + 0.2
        assert again.row()["logit_1"] == measured.row()["logit_1"]
        assert CORRECTED in again.notes
        assert seeing.remeasured(again, larger).notes.count(CORRECTED) == 1

    def test_flags_of_the_network_go_and_those_of_the_new_outline_come(self, seeing, measured):
        outside = outlines_of_ellipses(DISC, CUP.moved(120, 0), seen=("in pieces",))
        assert seeing.remeasured(measured, outside).outlines.flags[0] == "cup outside disc"
        assert "in pieces" not in seeing.remeasured(measured, outside).outlines.flags


class TestReference:
    def test_without_a_reference_the_distance_is_unknown_and_said_so(self, measured):
        assert measured.distance is None
        assert NO_REFERENCE in measured.notes
        assert measured.row()["vim_risk_z"] == ""

    def test_with_one_the_distance_is_that_of_the_reference(self, folder, pipeline, tmp_path):
        random = np.random.default_rng(0)
        pictures = list(random.integers(0, 256, (24, 64, 64, 3), dtype=np.uint8))
        seen = pipeline.classifier(pictures)
        head = pipeline.classifier.weight, pipeline.classifier.bias
        reference = Reference.fit(seen.features[:12], seen.logits[:12], seen.features[12:], seen.logits[12:], *head)
        made = make_pipeline(tmp_path / "made", folder / "classifier", folder / "segmenter", reference)
        measurement = Pipeline.load(made).measure([Photograph(flat_photograph(DISC, CUP))])[0]
        answers = pipeline.answers([Photograph(flat_photograph(DISC, CUP))])
        expected = reference.score(answers.features, answers.logits)
        assert measurement.distance == pytest.approx(expected["vim"][0])
        assert measurement.row()["knn"] == pytest.approx(expected["knn"][0])
        assert NO_REFERENCE not in measurement.notes


class TestFolder:
    def test_what_it_says_comes_back(self, folder, tmp_path):
        quality = QualityModel(np.arange(6.0), -1.5)
        networks = folder / "classifier", folder / "segmenter"
        made = make_pipeline(tmp_path / "made", *networks, quality=quality, settings={"around": 3.0, "notes": "tiny"})
        loaded = Pipeline.load(made)
        assert (loaded.quality.weights.tolist(), loaded.quality.intercept) == (list(range(6)), -1.5)
        assert (loaded.settings.around, loaded.settings.notes) == (3.0, "tiny")
        assert sorted(path.name for path in made.iterdir()) == ["classifier", "imaging.json", "segmenter"]

    @pytest.mark.parametrize("changed", ["classifier/model.safetensors", "segmenter/preprocessor_config.json"])
    def test_a_file_that_changed_is_refused(self, folder, tmp_path, changed):
        copy = shutil.copytree(folder, tmp_path / "copy")
        other = save_pipeline(tmp_path / "other", size=96)
        shutil.copyfile(other / changed, copy / changed)
        if changed.endswith("safetensors"):
            save_classifier(copy / "classifier", seed=9, size=64)
        with pytest.raises(UserError, match=f"{Path(changed).name} changed since the pipeline"):
            Pipeline.load(copy)

    def test_a_reference_that_is_missing_is_refused(self, folder, tmp_path):
        copy = shutil.copytree(folder, tmp_path / "copy")
        settings = json.loads((copy / "imaging.json").read_text())
        (copy / "imaging.json").write_text(json.dumps(settings | {"reference": "0" * 64}))
        with pytest.raises(UserError, match=r"reference\.safetensors: missing or changed"):
            Pipeline.load(copy)

    @pytest.mark.parametrize("text", ["{", "[]", '{"format": 2}', '{"surprise": 1}'])
    def test_settings_of_another_make_are_refused_in_words(self, tmp_path, text):
        (tmp_path / "imaging.json").write_text(text)
        with pytest.raises(UserError, match=r"imaging\.json"):
            Pipeline.load(tmp_path)

    def test_a_workspace_never_names_a_folder_outside_of_its_own(self, folder, tmp_path):
        copy = shutil.copytree(folder, tmp_path / "copy")
        shutil.move(copy / "classifier", tmp_path / "elsewhere")
        settings = json.loads((copy / "imaging.json").read_text())
        settings["classifier"]["name"] = str(tmp_path / "elsewhere")
        (copy / "imaging.json").write_text(json.dumps(settings))
        with pytest.raises(UserError, match="expected a folder in the pipeline's own, or an id"):
            Pipeline.load(copy)


class TestFinding:
    @pytest.fixture(autouse=True)
    def no_cache_of_somebody(self, monkeypatch, tmp_path):
        monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))

    def test_without_models_it_says_how_to_get_both(self, tmp_path):
        with pytest.raises(UserError) as caught:
            find_pipeline(tmp_path, tmp_path / "models")
        assert all(f"hf download {kind.default}" in str(caught.value) for kind in (CLASSIFIER, SEGMENTER))

    def test_both_default_models_make_the_default_pipeline(self, tmp_path):
        models = tmp_path / "models"
        save_classifier(models / CLASSIFIER.default.replace("/", "--"), size=64)
        save_segmenter(models / SEGMENTER.default, size=64)
        found = find_pipeline(None, models)
        assert found == models / "default"
        assert [path.name for path in found.iterdir()] == ["imaging.json"]  # the networks stay where they are
        assert Pipeline.load(found).measure([Photograph(flat_photograph(DISC, CUP, 1300))])

    def test_a_workspaces_own_pipeline_goes_first(self, folder, tmp_path):
        shutil.copytree(folder, tmp_path / "models" / "default")
        assert find_pipeline(tmp_path / "workspace", tmp_path / "models") == tmp_path / "models" / "default"
        own = shutil.copytree(folder, tmp_path / "workspace" / "imaging")
        assert find_pipeline(tmp_path / "workspace", tmp_path / "models") == own
