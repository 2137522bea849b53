"""Frozen networks: found, refused, loaded and run."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from imaging_models import IMAGENET, save_classifier, save_segmenter, write_processor
from places import ROOT

from mpd2.core.errors import UserError
from mpd2.imaging.models.classifier import Classifier
from mpd2.imaging.models.finding import CLASSIFIER, SEGMENTER, find_model, models_folder
from mpd2.imaging.models.loading import quiet
from mpd2.imaging.models.processor import Processor
from mpd2.imaging.models.segmenter import Segmenter


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("networks")
    save_classifier(folder / "classifier")
    save_segmenter(folder / "segmenter")
    return folder


@pytest.fixture(scope="module")
def classifier(saved):
    return Classifier.load(saved / "classifier")


@pytest.fixture(scope="module")
def segmenter(saved):
    return Segmenter.load(saved / "segmenter")


@pytest.fixture(autouse=True)
def no_cache_of_somebody(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))


def pictures(count, side=200):
    return list(np.random.default_rng(count).integers(0, 256, (count, side, side, 3), dtype=np.uint8))


class TestFinding:
    def test_a_missing_network_says_which_files_how_to_get_them_and_where_to_put_them(self, tmp_path):
        with pytest.raises(UserError) as caught:
            find_model(CLASSIFIER.default, CLASSIFIER, tmp_path / "models")
        said = str(caught.value)
        assert "pamixsun/swinv2_tiny_for_glaucoma_classification" in said
        assert "config.json, preprocessor_config.json and model.safetensors" in said
        assert "hf download pamixsun/swinv2_tiny_for_glaucoma_classification" in said
        assert str(tmp_path / "models") in said
        assert "://" not in said

    @pytest.mark.parametrize("place", ["someone--network", "someone/network"])
    def test_an_id_is_found_in_the_models_folder(self, place, tmp_path):
        save_classifier(tmp_path / place, size=64)
        assert find_model("someone/network", CLASSIFIER, tmp_path).folder == tmp_path / place

    def test_an_id_is_found_in_the_hubs_own_cache(self, tmp_path):
        repository = tmp_path / "hub" / "models--someone--network"
        save_classifier(repository / "snapshots" / "old", size=64)
        save_classifier(repository / "snapshots" / "new", size=64)
        (repository / "refs").mkdir()
        (repository / "refs" / "main").write_text("new")
        found = find_model("someone/network", CLASSIFIER, tmp_path / "models")
        assert found.folder == repository / "snapshots" / "new"

    def test_the_models_folder_is_the_one_that_is_named(self, monkeypatch, tmp_path):
        monkeypatch.setenv("MPD2_WORKSHOP", str(tmp_path))
        monkeypatch.delenv("MPD2_MODELS", raising=False)
        assert models_folder() == tmp_path / "models"
        monkeypatch.setenv("MPD2_MODELS", str(tmp_path / "elsewhere"))
        assert models_folder() == tmp_path / "elsewhere"

    def test_a_network_of_another_kind_is_refused(self, saved):
        with pytest.raises(UserError, match="found a network of type 'segformer', expected 'swinv2'"):
            find_model(saved / "segmenter", CLASSIFIER)

    def test_a_folder_that_is_not_whole_says_what_is_missing(self, tmp_path):
        save_segmenter(tmp_path / "network", size=64)
        (tmp_path / "network" / "preprocessor_config.json").unlink()
        with pytest.raises(UserError, match=r"preprocessor_config\.json missing"):
            find_model(tmp_path / "network", SEGMENTER)

    def test_a_folder_that_is_not_there_is_said_so(self, tmp_path):
        with pytest.raises(UserError, match="found no such folder"):
            Classifier.load(tmp_path / "nowhere")


class TestPickles:
    @pytest.fixture
    def pickled(self, tmp_path):
        """A network whose weights are there as a pickle alone."""
        folder = save_classifier(tmp_path / "network", size=64)
        weights = Classifier.load(folder).run.network.network.state_dict()
        torch.save(weights, folder / "pytorch_model.bin")
        (folder / "model.safetensors").unlink()
        return folder

    def test_a_pickle_is_refused(self, pickled):
        with pytest.raises(UserError, match=r"pickle alone \(pytorch_model\.bin\).*--allow-pickle"):
            Classifier.load(pickled)

    def test_a_pickle_gives_the_same_network_to_whoever_insists(self, pickled, tmp_path):
        safe = Classifier.load(save_classifier(tmp_path / "safe", size=64))
        assert np.array_equal(Classifier.load(pickled, allow_pickle=True)(pictures(2)).logits, safe(pictures(2)).logits)

    def test_a_pickle_that_would_run_code_is_refused_even_then(self, pickled, tmp_path):
        class Runs:
            def __reduce__(self):
                return (os.mkdir, (str(tmp_path / "ran"),))

        torch.save({"weight": Runs()}, pickled / "pytorch_model.bin")
        with pytest.raises(UserError, match="more than numbers"):
            Classifier.load(pickled, allow_pickle=True)
        assert not (tmp_path / "ran").exists()

    def test_safetensors_are_taken_where_a_pickle_lies_beside_them(self, saved, tmp_path):
        folder = save_classifier(tmp_path / "both", size=64)
        (folder / "pytorch_model.bin").write_bytes(b"never read")
        assert find_model(folder, CLASSIFIER, allow_pickle=True).weights.name == "model.safetensors"


class TestLoading:
    def test_a_damaged_file_is_said_to_be_damaged(self, tmp_path):
        folder = save_classifier(tmp_path / "network", size=64)
        weights = folder / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:1000])
        with pytest.raises(UserError, match="cannot be loaded"):
            Classifier.load(folder)

    def test_weights_that_lack_a_part_are_refused_rather_than_drawn(self, tmp_path):
        from safetensors.torch import load_file, save_file

        folder = save_classifier(tmp_path / "network", size=64)
        weights = load_file(folder / "model.safetensors")
        del weights["classifier.weight"]
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        with pytest.raises(UserError, match=r"lacks weights.*classifier\.weight"):
            Classifier.load(folder)

    def test_weights_of_another_width_are_refused(self, tmp_path):
        folder = save_classifier(tmp_path / "network", size=64)
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps(config | {"embed_dim": 16}))
        with pytest.raises(UserError, match="lacks weights"):
            Classifier.load(folder)

    def test_a_head_of_other_classes_is_refused(self, tmp_path):
        with pytest.raises(UserError, match="found a head of 5 classes, expected 2"):
            Classifier.load(save_classifier(tmp_path / "five", size=64, labels=5))
        with pytest.raises(UserError, match="found 4 labels, expected 3"):
            Segmenter.load(save_segmenter(tmp_path / "four", size=64, labels=4))

    def test_code_that_comes_with_a_network_is_never_run(self, tmp_path):
        folder = save_classifier(tmp_path / "network", size=64)
        (folder / "evil.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
        config = json.loads((folder / "config.json").read_text())
        config["auto_map"] = {"AutoConfig": "evil.Config", "AutoModelForImageClassification": "evil.Model"}
        (folder / "config.json").write_text(json.dumps(config))
        Classifier.load(folder)
        assert not (tmp_path / "ran").exists()

    def test_nothing_is_said_and_nothing_is_connected_to(self, saved):
        code = (
            "import socket, sys\n"
            "def refuse(*args, **kwargs): raise SystemExit('connected')\n"
            "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
            "from pathlib import Path\n"
            "from mpd2.imaging.models.classifier import Classifier\n"
            "import numpy as np\n"
            f"network = Classifier.load(Path({str(saved / 'classifier')!r}), backend='openvino')\n"
            "network([np.zeros((64, 64, 3), np.uint8)])\n"
            "assert sys.modules['openvino_telemetry'] is None\n"
        )
        ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


class TestProcessor:
    @pytest.mark.parametrize("resample", [2, 3])
    def test_it_gives_the_numbers_of_the_networks_own(self, resample):
        with quiet():
            from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

        settings = {"size": {"height": 96, "width": 96}, "resample": resample, **IMAGENET}
        picture = pictures(1, side=250)[0]
        theirs = ViTImageProcessorPil(**settings)(picture, return_tensors="np")["pixel_values"]
        assert np.allclose(Processor.of(settings)([picture]), theirs, atol=1e-5)

    def test_old_key_names_mean_what_they_meant_to_the_segmenter(self, saved):
        with quiet():
            from transformers.models.segformer.image_processing_pil_segformer import SegformerImageProcessorPil

        theirs = SegformerImageProcessorPil.from_pretrained(saved / "segmenter", local_files_only=True)
        picture = pictures(1, side=300)[0]
        expected = np.asarray(theirs(picture, return_tensors="np")["pixel_values"])
        assert expected.shape == (1, 3, 512, 512)
        assert np.allclose(Processor.load(saved / "segmenter")([picture]), expected, atol=1e-5)

    def test_a_picture_of_one_colour_is_what_a_hand_computes(self):
        picture = np.full((40, 40, 3), (255, 0, 51), np.uint8)
        processor = Processor.of({"size": 16, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.25, 0.1]})
        assert np.allclose(processor([picture])[0, :, 3, 5], [1, -2, -3])

    @pytest.mark.parametrize("size", [16, [16, 16], {"height": 16, "width": 16}, {"shortest_edge": 16}])
    def test_a_size_may_be_said_in_every_way(self, size):
        assert Processor.of({"size": size, "do_normalize": False}).size == 16

    def test_what_is_switched_off_is_left_alone(self):
        processor = Processor.of({"size": 16, "do_normalize": False, "do_rescale": False})
        picture = pictures(1, side=16)[0]
        assert np.array_equal(processor([picture])[0], picture.transpose(2, 0, 1))

    @pytest.mark.parametrize(
        "settings",
        [{}, {"size": {"height": 16, "width": 32}}, {"size": 16}, {"size": 10**6}, {"size": "large"}, {"size": None}],
    )
    def test_settings_that_leave_something_open_are_refused(self, settings, tmp_path):
        write_processor(tmp_path, settings)
        with pytest.raises(UserError, match=r"preprocessor_config\.json: found settings that cannot be used"):
            Processor.load(tmp_path)


class TestClassifier:
    def test_the_head_of_the_features_is_the_logits_exactly(self, classifier):
        network = classifier.run.network.network
        inputs = torch.from_numpy(classifier.processor(pictures(2)))
        with torch.inference_mode():
            pooled = network.swinv2(inputs).pooler_output
            assert torch.equal(network.classifier(pooled), network(inputs).logits)
        answers = classifier(pictures(2))
        assert np.array_equal(answers.features, pooled.numpy().astype(float))
        assert np.allclose(answers.features @ classifier.weight.T + classifier.bias, answers.logits, atol=1e-6)

    def test_512_pixels_have_16_by_16_tokens_whose_mean_is_the_features(self, classifier):
        answers = classifier(pictures(2))
        assert answers.logits.shape == (2, 2)
        assert answers.tokens.shape == (2, 256, 64)
        assert np.allclose(answers.tokens.mean(1), answers.features, atol=1e-5)

    def test_the_mean_before_the_last_norm_is_another_space(self, classifier):
        """ViM must not be fitted there."""
        network = classifier.run.network.network
        inputs = torch.from_numpy(classifier.processor(pictures(1)))
        with torch.inference_mode():
            seen = network.swinv2(inputs, output_hidden_states=True)
        assert not torch.allclose(seen.hidden_states[-1].mean(1), seen.pooler_output, atol=1e-2)

    def test_pictures_are_answered_one_by_one_as_together(self, classifier):
        together = classifier(pictures(3)).logits
        alone = np.concatenate([classifier([picture]).logits for picture in pictures(3)])
        assert np.allclose(together, alone, atol=1e-5)

    def test_the_probability_is_that_of_class_one(self, classifier):
        answers = classifier(pictures(2))
        assert np.allclose(answers.probability, np.exp(answers.logits[:, 1]) / np.exp(answers.logits).sum(1))


class TestSegmenter:
    def test_logits_are_enlarged_before_a_label_is_chosen(self, segmenter):
        labels = segmenter(pictures(2))
        network = segmenter.run.network.network
        with torch.inference_mode():
            coarse = network(torch.from_numpy(segmenter.processor(pictures(2)))).logits
            assert coarse.shape == (2, 3, 128, 128)
            fine = torch.nn.functional.interpolate(coarse, scale_factor=4, mode="bilinear").argmax(1).numpy()
        assert np.array_equal(labels, fine)
        blocks = coarse.argmax(1).numpy().repeat(4, 1).repeat(4, 2)
        assert not np.array_equal(labels, blocks)
