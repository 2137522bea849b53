"""The search space is the paper's, and every point of it is a configuration."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tiny_search import COHORT

from mpd2.lab.tuning.space import HAND_TUNED, SPACE
from mpd2.training.config import PAPER
from mpd2.training.loop import train


def test_the_space_has_the_papers_sixteen_dimensions_and_the_start_and_the_published_best_lie_in_it():
    assert len({dimension.setting for dimension in SPACE}) == 16
    published = PAPER.model_dump()
    for dimension in SPACE:
        section, _, field = dimension.setting.partition("__")
        assert dimension.low <= dimension.start <= dimension.high
        assert dimension.low <= published[section][field] <= dimension.high
        assert dimension.meaning


@given(st.lists(st.floats(0, 1), min_size=16, max_size=16))
def test_every_point_is_a_configuration_and_knows_its_place(shares):
    values = {}
    for dimension, share in zip(SPACE, shares, strict=True):
        low, high = (np.log(end) if dimension.log else end for end in (dimension.low, dimension.high))
        value = low + share * (high - low)
        value = np.clip(np.exp(value) if dimension.log else value, dimension.low, dimension.high)
        assert abs(float(dimension.place(value)) - share) < 1e-9
        values[dimension.setting] = round(value) if dimension.whole else float(value)
    config = PAPER.but(**values)
    assert config.objective.fee_weight == values["objective__fee_weight"]


def test_all_sixteen_may_differ_between_members_of_a_population():
    base = PAPER.but(network__width=4, training__batch_size=60, training__epochs=1)
    corners = [{d.setting: (int if d.whole else float)(end(d.low, d.high)) for d in SPACE} for end in (min, max)]
    configs = [base.but(**corner) for corner in (*corners, HAND_TUNED)]
    assert train(COHORT, configs, device="cpu").positions == (0, 1, 2)
