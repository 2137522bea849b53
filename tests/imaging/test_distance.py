"""How strange a photograph is to the classifier."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from mpd2.core.errors import UserError
from mpd2.imaging.distance.mahalanobis import Mahalanobis
from mpd2.imaging.distance.neighbours import Neighbours
from mpd2.imaging.distance.reference import NAMES, Reference
from mpd2.imaging.distance.vim import Vim, dimension

WIDTH, LOW = 64, 6


class World:
    """Features that live near a subspace, with a head that reads them."""

    def __init__(self, seed=0):
        self.random = np.random.default_rng(seed)
        self.basis = np.linalg.qr(self.random.normal(size=(WIDTH, WIDTH)))[0]
        self.weight = self.random.normal(size=(2, WIDTH)) / 4
        self.bias = self.random.normal(size=2)

    def usual(self, count):
        inner = self.random.normal(size=(count, LOW)) * 3
        return inner @ self.basis[:, :LOW].T + 0.1 * self.random.normal(size=(count, WIDTH)) + 1

    def shifted(self, count):
        return self.usual(count) + 4 * self.random.normal(size=(count, 8)) @ self.basis[:, -8:].T

    def logits(self, features):
        return features @ self.weight.T + self.bias

    def reference(self, fit=300, held_out=1000):
        first, second = self.usual(fit), self.usual(held_out)
        return Reference.fit(first, self.logits(first), second, self.logits(second), self.weight, self.bias)


@pytest.fixture(scope="module")
def world():
    return World()


@pytest.fixture(scope="module")
def reference(world):
    return world.reference()


def test_vim_equals_a_direct_computation_by_projection(world):
    fit, held_out, new = world.usual(200), world.usual(100), world.shifted(50)
    vim = Vim.fit(fit, held_out, world.logits(held_out), world.weight, world.bias)

    w, b = world.weight, world.bias
    origin = -w.T @ np.linalg.inv(w @ w.T) @ b  # the Moore-Penrose inverse of a wide matrix, written out
    principal = np.linalg.svd(fit - origin, full_matrices=False)[2][: WIDTH // 2]  # [d, D]
    outside = np.eye(WIDTH) - principal.T @ principal

    def residual(features):
        return np.sqrt((((features - origin) @ outside) ** 2).sum(1))

    alpha = world.logits(held_out).max(1).mean() / residual(held_out).mean()
    direct = alpha * residual(new) - np.log(np.exp(world.logits(new)).sum(1))
    assert np.allclose(vim.score(new, world.logits(new)), direct, rtol=1e-9, atol=1e-9)
    assert np.allclose(w @ vim.origin + b, 0, atol=1e-12)  # where the head gives zero logits


def test_the_subspace_leaves_room_where_reference_images_are_few():
    assert dimension(30, 768) == 15
    assert dimension(10**6, 2048) == 1000
    assert dimension(10**6, 2) == 1


@pytest.mark.parametrize("name", NAMES)
def test_reference_images_that_nothing_was_fitted_on_are_usual(world, reference, name):
    fresh = world.usual(2000)
    scores = reference.score(fresh, world.logits(fresh))[name]
    assert abs(np.median(scores)) < 0.25
    assert 0.6 < (np.quantile(scores, 0.84) - np.quantile(scores, 0.16)) / 2 < 1.6


@pytest.mark.parametrize("name", ["vim", "mahalanobis", "knn"])
def test_an_easy_shift_is_told_from_what_is_usual(world, reference, name):
    usual, shifted = world.usual(300), world.shifted(300)
    scores = [reference.score(each, world.logits(each))[name] for each in (usual, shifted)]
    assert roc_auc_score(np.repeat([0, 1], 300), np.concatenate(scores)) > 0.95


def test_energy_tells_weak_logits_from_strong_ones(world, reference):
    features = world.usual(2)
    strong, weak = np.array([[0.0, 9.0]]), np.array([[0.0, 0.1]])
    assert reference.score(features[:1], weak)["energy"] > reference.score(features[:1], strong)["energy"]


def test_images_the_subspace_was_fitted_on_would_flatter_it(world):
    """Why α and the scale come from others: with few images the residual of those fitted on is far too small."""
    fit, fresh = world.usual(20), world.usual(400)
    vim = Vim.fit(fit, fresh, world.logits(fresh), world.weight, world.bias)
    inside, outside = (np.linalg.norm((each - vim.origin) @ vim.residual, axis=1).mean() for each in (fit, fresh))
    assert inside < 0.8 * outside


def test_mahalanobis_is_the_distance_to_the_nearest_class_mean():
    random = np.random.default_rng(3)
    features = np.concatenate([random.normal(size=(4000, 3)), random.normal(size=(4000, 3)) + 10])
    fitted = Mahalanobis.fit(features, np.repeat([0, 1], 4000))
    assert np.allclose(fitted.score(np.array([[0.0, 0, 2], [10, 10, 13]])), [2, 3], atol=0.15)


def test_neighbours_are_counted_by_angle():
    neighbours = Neighbours.fit(np.array([[1.0, 0], [0, 1], [-1, 0]]), k=2)
    assert np.allclose(neighbours.score(np.array([[7.0, 0]])), np.sqrt(2))
    assert len(neighbours.score(np.zeros((0, 2)))) == 0


def test_a_reference_scores_the_same_after_it_was_kept(world, reference, tmp_path):
    reference.save(tmp_path / "reference.safetensors")
    again = Reference.load(tmp_path / "reference.safetensors")
    features = world.shifted(20)
    before, after = (each.score(features, world.logits(features)) for each in (reference, again))
    assert {name: values.tolist() for name, values in before.items()} == {n: v.tolist() for n, v in after.items()}
    assert (again.fitted_on, again.held_out) == (300, 1000)


def test_a_file_that_is_no_reference_is_said_to_be_none(tmp_path):
    broken = tmp_path / "reference.safetensors"
    broken.write_bytes(b"not at all")
    with pytest.raises(UserError, match="the reference cannot be read"):
        Reference.load(broken)


def test_too_few_reference_images_are_refused(world):
    with pytest.raises(UserError, match="at least 8 images"):
        world.reference(fit=300, held_out=5)
