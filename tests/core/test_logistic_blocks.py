"""Fits of many rows: in blocks they are what they are in one piece."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpd2.core.arrays import Floats
from mpd2.core.error_rates import logistic
from mpd2.core.error_rates.logistic import fit_logistic, row_blocks, sigmoid
from mpd2.methods.plus.pooling import fit_pooled


def problem(rows: int, targets: int, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    random = np.random.default_rng(seed)
    features = random.normal(size=(rows, 4))
    came = random.random((rows, targets)) < sigmoid(features @ random.normal(size=(4, targets)))
    return features, came.astype(float), random.poisson(1.0, (rows, targets)).astype(float)


@pytest.fixture
def in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logistic, "WHOLE", 1)
    monkeypatch.setattr(logistic, "BLOCK", 1000)


@given(st.integers(0, 10**7), st.integers(1, 5000))
def test_blocks_hold_every_row_once_and_none_is_too_large(rows: int, width: int) -> None:
    blocks = row_blocks(rows, width)
    assert blocks[0].start == 0
    assert blocks[-1].stop == rows
    assert all(one.stop == other.start for one, other in pairwise(blocks))
    most = logistic.WHOLE if len(blocks) == 1 else max(logistic.BLOCK, width)
    assert all((block.stop - block.start) * width <= most for block in blocks)


def test_a_fit_in_blocks_is_the_fit_in_one_piece(request: pytest.FixtureRequest) -> None:
    whole = fit_logistic(*problem(700, 3), penalty=2.0)
    request.getfixturevalue("in_blocks")
    assert len(row_blocks(700, 20)) > 10
    assert fit_logistic(*problem(700, 3), penalty=2.0) == pytest.approx(whole, abs=1e-9)


def test_targets_alike_that_share_their_curvature_end_where_each_would(request: pytest.FixtureRequest) -> None:
    features, came, weights = problem(900, 5)
    same = np.repeat(came[:, :1], 5, axis=1)
    whole = fit_logistic(features, same, weights, 2.0, alike=True)
    request.getfixturevalue("in_blocks")
    assert fit_logistic(features, same, weights, 2.0, alike=True) == pytest.approx(whole, abs=1e-3)


@pytest.mark.parametrize("heard", [(1.0, 0.4, 0.05), (1.0, 0.0, 1.0)])
def test_readers_one_by_one_are_what_they_are_at_once(heard: tuple[float, ...], request: pytest.FixtureRequest) -> None:
    random = np.random.default_rng(1)
    features, said, _ = problem(800, 3)
    design = np.column_stack([features, np.ones(800)])
    words = (random.random((800, 3)) < np.array(heard)).astype(float)
    weights = random.poisson(1.0, (800, 4))[:, :, None] * words[:, None]
    targets = np.repeat(said[:, None], 4, axis=1)
    whole = fit_pooled(design, targets, weights, 10.0, 3.0)
    one = fit_pooled(design, targets[:, :1], weights[:, :1], 10.0, 3.0)
    request.getfixturevalue("in_blocks")
    several = fit_pooled(design, targets, weights, 10.0, 3.0)
    assert several.readers == pytest.approx(whole.readers, abs=3e-3)
    assert several.population == pytest.approx(whole.population, abs=3e-3)
    alone = fit_pooled(design, targets[:, :1], weights[:, :1], 10.0, 3.0)
    assert alone.readers == pytest.approx(one.readers, abs=1e-6)
