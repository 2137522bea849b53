"""Random numbers by address."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import kstest

from mpd2.core.rng import Stream, dropout_keeps, gate_noise, orders, stream

DRAWS = {
    "orders": lambda seeds, epoch: orders(seeds, epoch, cases=40),
    "gate noise": lambda seeds, epoch: gate_noise(seeds, epoch, cases=40, readers=5),
    "dropout": lambda seeds, epoch: dropout_keeps(seeds, epoch, cases=40, units=6, dropout=0.3),
}
EACH = pytest.mark.parametrize("draw", DRAWS.values(), ids=DRAWS)


@EACH
def test_a_member_draws_the_same_alone_and_in_any_population(draw):
    together = draw([3, 7, 3, 11], 2)
    np.testing.assert_array_equal(together[1], draw([7], 2)[0])
    np.testing.assert_array_equal(together[0], together[2])


@EACH
def test_another_seed_or_epoch_draws_something_else(draw):
    first = draw([7], 2)
    assert (first != draw([8], 2)).any()
    assert (first != draw([7], 3)).any()


def test_no_two_purposes_or_epochs_share_a_stream():
    heads = {
        tuple(stream(seed, purpose, epoch).integers(2**62, size=2))
        for seed in (0, 1, 2, 3)
        for purpose in Stream
        for epoch in range(20)
    }
    assert len(heads) == 4 * len(Stream) * 20


def test_an_order_names_every_case_once():
    found = orders([1, 2], epoch=0, cases=50)
    assert (np.sort(found, axis=-1) == np.arange(50)).all()


def test_gate_noise_is_standard_logistic():
    noise = gate_noise([4], epoch=1, cases=4000, readers=5).ravel()
    assert kstest(noise, "logistic").pvalue > 0.01
    assert noise.var() == pytest.approx(math.pi**2 / 3, rel=0.05)


@pytest.mark.parametrize(("cases", "units"), [(40, 6), (37, 7), (1, 1)])
def test_a_unit_is_left_out_by_its_own_sixteen_bits(cases, units):
    plain = stream(3, Stream.DROPOUT, 2).integers(2**16, size=(cases, units), dtype=np.uint16)
    keeps = dropout_keeps([3], epoch=2, cases=cases, units=units, dropout=0.3)
    np.testing.assert_array_equal(keeps[0], plain >= round(0.3 * 2**16))


@pytest.mark.parametrize("dropout", [0.0, 0.1, 0.5, 0.9])
def test_the_share_of_units_left_out_is_the_dropout(dropout):
    keeps = dropout_keeps([1], epoch=0, cases=1000, units=50, dropout=dropout)
    assert keeps.dtype == bool
    assert 1 - keeps.mean() == pytest.approx(dropout, abs=0.006)
    assert dropout > 0 or keeps.all()
