"""Shapley values: what each input adds to a number, exactly for few inputs and from drawn orders for many."""

from __future__ import annotations

from collections.abc import Callable
from math import factorial

import numpy as np

from mpd2.core.arrays import Floats

EXACT = 10  # inputs whose every set is looked at: 1,024 sets
ORDERS = 8  # orders of knowing that are drawn for each background row where there are more, every second one reversed
SEED = 0

Value = Callable[[Floats], Floats]
"""From K rows of F inputs, [K, F], to numbers for each, [..., K]."""


def orders_drawn(inputs: int, background: int) -> int:
    """How many orders of knowing the inputs are drawn; 0 where every set is looked at.

    >>> orders_drawn(7, 24), orders_drawn(20, 24)
    (0, 192)
    """
    return ORDERS * background if inputs > EXACT else 0


def shapley(value: Value, case: Floats, background: Floats) -> tuple[Floats, Floats]:
    """Shapley values of a case's F inputs, [..., F], and the mean value of the background, [...].

    Of up to EXACT inputs by all 2^F coalitions: inside one the inputs are the case's, outside they are a background
    row's, averaged over rows. Of more inputs by ORDERS orders for each row, drawn alike every time: on the way from the
    row to the case one input after another becomes the case's, and what changes is its. Each order is also taken
    backwards, so that an input early in one is late in the other. In both ways values and mean add up to the case's.
    """
    return _exact(value, case, background) if len(case) <= EXACT else _drawn(value, case, background)


def _exact(value: Value, case: Floats, background: Floats) -> tuple[Floats, Floats]:
    inputs = len(case)
    inside = (np.arange(2**inputs)[:, None] >> np.arange(inputs)) % 2 == 1  # [2^F, F]
    mixed = np.where(inside[:, None], case, background)  # [2^F, B, F]
    values = value(mixed.reshape(-1, inputs))
    worth = values.reshape(*values.shape[:-1], len(inside), len(background)).mean(-1)  # [..., 2^F]
    weight = np.array([factorial(s) * factorial(inputs - s - 1) / factorial(inputs) for s in range(inputs)])
    size = inside.sum(1, keepdims=True)
    signed = np.where(inside, weight[size - 1], -weight[np.minimum(size, inputs - 1)])  # [2^F, F]
    return worth @ signed, worth[..., 0]


def _drawn(value: Value, case: Floats, background: Floats) -> tuple[Floats, Floats]:
    inputs, random = len(case), np.random.default_rng(SEED)
    half = np.stack([random.permutation(inputs) for _ in range(len(background) * ORDERS // 2)])
    order = np.concatenate([half, half[:, ::-1]])  # [W, F] the inputs as they come to be known
    start = np.tile(np.repeat(background, ORDERS // 2, axis=0), (2, 1))  # [W, F]
    place = np.argsort(order, axis=1)
    known = place[:, None] < np.arange(inputs + 1)[:, None]  # [W, F + 1, F]
    values = value(np.where(known, case, start[:, None]).reshape(-1, inputs))
    walks = values.reshape(*values.shape[:-1], len(order), inputs + 1)  # [..., W, F + 1]
    steps = np.diff(walks, axis=-1)  # by place in the order
    added = np.take_along_axis(steps, np.broadcast_to(place, steps.shape), -1)  # by input
    return added.mean(-2), walks[..., 0].mean(-1)
