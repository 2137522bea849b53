"""Retrieved readers say what the most alike cases of the same truth were given."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from imaging_models import IMAGENET, save_classifier, save_segmenter, write_processor

from mpd2.core.cohort import UNKNOWN
from mpd2.core.errors import UserError
from mpd2.imaging.labelling.embeddings import embed, load_encoder, unit
from mpd2.imaging.labelling.retrieval import NEIGHBOURS, NOBODY, induced, nearest
from mpd2.imaging.models.loading import quiet
from mpd2.imaging.photograph import Photograph


def spaces(random: np.random.Generator, cases: int) -> list[np.ndarray]:
    return [unit(random.normal(size=(cases, features))) for features in (16, 9)]


@given(st.integers(0, 2**31), st.integers(2, 40))
def test_a_copy_in_the_pool_is_retrieved_first(seed, cases):
    random = np.random.default_rng(seed)
    pool, truth = spaces(random, cases), np.arange(cases) % 2
    found = nearest(pool, truth, pool, truth)
    assert found[:, 0].tolist() == list(range(cases))


@given(st.integers(0, 2**31), st.integers(2, 40), st.integers(1, 20))
def test_neighbours_are_of_the_same_truth_and_none_is_named_twice(seed, cases, queries):
    random = np.random.default_rng(seed)
    pool_truth, truth = np.arange(cases) % 2, random.integers(0, 2, queries)
    found = nearest(spaces(random, queries), truth, spaces(random, cases), pool_truth)
    there = found != NOBODY
    assert (pool_truth[found[there]] == np.repeat(truth, there.sum(1))).all()
    assert all(len(set(row[row != NOBODY])) == (row != NOBODY).sum() for row in found)
    assert (there.sum(1) == np.minimum(NEIGHBOURS, np.bincount(pool_truth, minlength=2)[truth])).all()


def test_labels_never_come_from_the_other_class():
    random = np.random.default_rng(0)
    pool, pool_truth = spaces(random, 60), np.arange(60) % 2
    decisions = np.repeat(pool_truth[:, None], 3, 1)  # everybody knows the truth
    truth = random.integers(0, 2, 25)
    said = induced(nearest(spaces(random, 25), truth, pool, pool_truth), decisions)
    assert (said == truth[:, None]).all()


def test_a_reader_who_read_none_of_the_neighbours_is_absent():
    decisions = np.full((10, 3), UNKNOWN)
    decisions[:, 0] = 1
    decisions[9, 1] = 0
    said = induced(np.array([[0, 1, 2, 3, 4, 5, 6], [9, 1, 2, 3, 4, 5, 6]]), decisions)
    assert said.tolist() == [[1, UNKNOWN, UNKNOWN], [1, 0, UNKNOWN]]


@given(st.lists(st.sampled_from([0, 1, UNKNOWN]), min_size=1, max_size=7))
def test_a_readers_word_is_the_majority_and_the_nearest_decides_a_tie(words):
    found = induced(np.arange(len(words))[None], np.array(words)[:, None])[0, 0]
    known = [word for word in words if word != UNKNOWN]
    if not known:
        assert found == UNKNOWN
    elif known.count(1) != known.count(0):
        assert found == int(known.count(1) > known.count(0))
    else:
        assert found == known[0]


def test_both_encoders_count_alike_whatever_the_scale_of_their_similarities():
    """One tells cases apart by thousandths, the other by tenths; each prefers another, and the third is nearest."""
    fine = np.array([[1.0, 0.0], [0.9991, 0.0], [0.9996, 0.0]])
    rough = np.array([[0.1, 0.0], [0.9, 0.0], [0.6, 0.0]])
    query = np.array([[1.0, 0.0]])
    found = nearest([query, query], np.array([1]), [fine, rough], np.array([1, 1, 1]), 3)
    z = [(space[:, 0] - space[:, 0].mean()) / space[:, 0].std() for space in (fine, rough)]
    assert found[0].tolist() == np.argsort(-(z[0] + z[1])).tolist()
    assert found[0, 0] == 2


def test_what_does_not_fit_together_is_said():
    random = np.random.default_rng(0)
    pool = spaces(random, 6)
    with pytest.raises(UserError, match="no case with the truth 1"):
        nearest(pool, np.ones(6, int), pool, np.zeros(6, int))
    with pytest.raises(UserError, match="same encoders"):
        nearest(pool[:1], np.ones(6, int), pool, np.ones(6, int))
    with pytest.raises(UserError, match="vector of every encoder"):
        nearest(pool, np.ones(5, int), pool, np.ones(6, int))


@pytest.fixture(scope="module")
def networks(tmp_path_factory):
    """One small network of each kind, saved as published ones are."""
    import torch

    place = tmp_path_factory.mktemp("networks")
    with quiet():
        from transformers import Dinov2Config, Dinov2Model, ViTConfig, ViTMAEConfig, ViTMAEForPreTraining, ViTModel

        torch.manual_seed(0)
        small = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
        size = {"image_size": 64, "patch_size": 16}
        ViTModel(ViTConfig(**small, **size)).save_pretrained(place / "vit")
        Dinov2Model(Dinov2Config(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, **size)).save_pretrained(
            place / "owner--dinov2"
        )
        mae = ViTMAEConfig(
            **small, **size, decoder_hidden_size=8, decoder_num_hidden_layers=1, decoder_num_attention_heads=2
        )
        ViTMAEForPreTraining(mae).save_pretrained(place / "retfound-mae")
    for name in ("vit", "owner--dinov2", "retfound-mae"):
        write_processor(
            place / name,
            IMAGENET
            | {"size": {"shortest_edge": 80}, "do_center_crop": True, "crop_size": {"height": 64, "width": 64}},
        )
    save_classifier(place / "classifier", size=128)
    save_segmenter(place / "segmenter", size=64)
    return place


def photographs(count: int = 3) -> list[Photograph]:
    random = np.random.default_rng(1)
    return [Photograph(random.integers(0, 255, (70, 90, 3), np.uint8)) for _ in range(count)]


@pytest.mark.parametrize("name", ["vit", "owner/dinov2", "retfound-mae", "classifier", "segmenter"])
def test_any_network_makes_unit_vectors_that_are_the_same_every_time(networks, name):
    encoder = load_encoder(name, networks)
    once, again = (embed(encoder, photographs(11)) for _ in range(2))
    assert once.shape[0] == 11
    np.testing.assert_allclose(np.linalg.norm(once, axis=1), 1.0)
    np.testing.assert_array_equal(once, again)
    assert np.abs(once[0] - once[1]).max() > 1e-6
    alone = embed(encoder, photographs(11)[4:5])
    np.testing.assert_allclose(alone[0], once[4], atol=1e-5)


def test_the_first_token_of_a_vit_is_its_vector(networks):
    import torch

    with quiet():
        from transformers import ViTModel

        network = ViTModel.from_pretrained(networks / "vit", local_files_only=True).eval()
    encoder = load_encoder(networks / "vit")
    with torch.inference_mode():
        pixels = torch.from_numpy(encoder.processor([photographs()[0].pixels]))
        expected = network(pixels).last_hidden_state[0, 0].double().numpy()
    found = embed(encoder, photographs()[:1], cropped=False)
    np.testing.assert_allclose(found[0], expected / np.linalg.norm(expected), atol=1e-5)


def test_the_crop_is_a_switch(networks):
    dark = np.zeros((90, 130, 3), np.uint8)
    rows, columns = np.ogrid[:90, :130]
    dark[(rows - 45) ** 2 + (columns - 65) ** 2 < 40**2] = (180, 90, 40)
    encoder = load_encoder("vit", networks)
    shown = [Photograph(dark)]
    assert not np.allclose(embed(encoder, shown), embed(encoder, shown, cropped=False))


def test_an_encoder_that_is_not_there_is_said_with_the_place_to_put_it(networks):
    with pytest.raises(UserError, match="hf download facebook/dinov2-base"):
        load_encoder("facebook/dinov2-base", networks)
    with pytest.raises(UserError, match=r"the encoder nowhere is not on this machine.*--encoders"):
        load_encoder("nowhere", networks)


def test_a_network_of_another_kind_is_refused(networks, tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    with pytest.raises(UserError, match="found a network of type 'bert', expected one of dinov2"):
        load_encoder(tmp_path, networks)
