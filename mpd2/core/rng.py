"""Random numbers by address: what is drawn depends on (seed, purpose, epoch) and on nothing else.

A member of a population therefore draws what it would draw alone, on any device, and a resumed training needs no
generator state.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from mpd2.core.arrays import Bools, Floats, Ints

LEVELS = 2**16  # resolution of a dropout draw: 16 random bits a unit


class Stream(IntEnum):
    """What a stream is for; part of its address."""

    WEIGHTS = 0
    ORDER = 1
    GATES = 2
    DROPOUT = 3
    RESPLIT = 4
    LOCAL = 5
    SEARCH = 6
    BOOTSTRAP = 7
    ARRIVAL = 8
    SPLIT = 9
    SIMULATION = 10
    RENDER = 11
    LABELLING = 12
    IMAGING = 13
    MONITOR = 14


def stream(seed: int, purpose: Stream, epoch: int = 0) -> np.random.Generator:
    """The generator at one address."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence((seed, purpose, epoch))))


def orders(seeds: Sequence[int], epoch: int, cases: int) -> Ints:
    """The order in which each member sees the training cases in this epoch, [E, N]."""
    return np.stack([stream(seed, Stream.ORDER, epoch).permutation(cases) for seed in seeds])


def gate_noise(seeds: Sequence[int], epoch: int, cases: int, readers: int) -> Floats:
    """Logistic(0, 1) noise of the support gates, the paper's η, [E, N, M]."""
    return np.stack([stream(seed, Stream.GATES, epoch).logistic(size=(cases, readers)) for seed in seeds])


def dropout_keeps(seeds: Sequence[int], epoch: int, cases: int, units: int, dropout: float) -> Bools:
    """Which hidden units stay, [E, N, units]."""
    threshold = round(dropout * LEVELS)
    return np.stack([_levels(seed, epoch, cases * units).reshape(cases, units) >= threshold for seed in seeds])


def _levels(seed: int, epoch: int, draws: int) -> NDArray[np.uint16]:
    """Draws below LEVELS for dropout, 16 bits each; four from every number of 64 bits, which saves half the time."""
    raw = stream(seed, Stream.DROPOUT, epoch).bit_generator.random_raw(-(-draws // 4))
    return raw.astype("<u8", copy=False).view("<u2")[:draws]
