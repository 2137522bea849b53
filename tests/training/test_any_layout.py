"""The router on any layout of the state: an encoder for each role that is there, and no mass for whoever is absent."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from any_table import Shape, made_up, manifest_of
from hypothesis import given, settings
from hypothesis import strategies as st

from mpd2.core.cohort import Cohort, learning_split
from mpd2.core.state import ROLES, Role
from mpd2.training import groups as grouping
from mpd2.training.config import PAPER, Network
from mpd2.training.groups import fit_groups, support_families
from mpd2.training.inputs import prepare
from mpd2.training.network import Encoders, Normaliser, SoftPolicy, initial_weights, shapes, soft_policy

WIDTH = 4
SHAPES = st.builds(
    Shape,
    rows=st.just(60),
    readers=st.integers(1, 7),
    roles=st.lists(st.sampled_from(ROLES), max_size=6).map(tuple),
    missing=st.lists(st.booleans(), max_size=6).map(tuple),
    constant=st.lists(st.booleans(), max_size=6).map(tuple),
    cohorts=st.integers(1, 4),
    per_case=st.none() | st.integers(0, 2),
    ai=st.sampled_from(("logits", "logit", "probability")),
)


def routed(shape: Shape, seeds: tuple[int, ...], rows: slice = slice(None)) -> tuple[Cohort, SoftPolicy]:
    """The policy of fresh routers for the cases of a made-up table."""
    cohort = made_up(shape)
    encoders = Encoders.of(cohort.layout)
    structure = len(encoders.structure)
    weights = initial_weights(seeds, Network(width=WIDTH), cohort.readers, encoders, np.zeros(structure + 1))
    state = torch.tensor(cohort.state, dtype=torch.float32)
    normaliser = Normaliser(state.mean(0), torch.where(state.std(0) > 1e-9, state.std(0), 1))
    each = (len(seeds), -1, -1)
    available = torch.tensor(cohort.available)
    soft = soft_policy(
        weights, normaliser, encoders, state[rows].expand(each), available[rows].expand(each), temperature_floor=0.5
    )
    return cohort, soft


@settings(max_examples=40)
@given(SHAPES)
def test_a_policy_has_a_share_for_every_available_reader_and_none_for_another(shape: Shape) -> None:
    cohort, soft = routed(shape, (1, 2))
    available = torch.tensor(cohort.available)
    assert soft.allocation.shape == (2, len(cohort), cohort.readers)
    assert torch.isfinite(soft.actions).all()
    assert (soft.allocation[:, ~available] == 0).all()
    assert (soft.defer[:, ~available.any(-1)] == 0).all()
    assert torch.allclose(soft.actions.sum(-1), torch.ones(2, len(cohort)), atol=1e-5)


@settings(max_examples=20)
@given(SHAPES)
def test_a_member_and_a_case_are_routed_alone_as_among_others(shape: Shape) -> None:
    _, both = routed(shape, (1, 2))
    _, second = routed(shape, (2,))
    _, few = routed(shape, (1, 2), rows=slice(5, 9))
    assert torch.allclose(both.actions[1], second.actions[0], atol=1e-6)
    assert torch.allclose(both.actions[:, 5:9], few.actions, atol=1e-6)


@given(st.lists(st.sampled_from(ROLES), max_size=8).map(tuple), st.integers(1, 60))
def test_every_role_that_is_there_has_an_encoder_and_every_column_is_seen_once(
    roles: tuple[Role, ...], readers: int
) -> None:
    layout = manifest_of(Shape(roles=roles, readers=readers)).layout
    encoders = Encoders.of(layout)
    seen = [*encoders.risk, *encoders.structure, *encoders.ai, *encoders.other, encoders.probability]
    assert sorted(seen) == list(range(len(layout)))
    assert set(encoders.fan_in) == {"ai", "risk"} | set(roles)  # scores and uncertainty are always there
    made = shapes(WIDTH, readers, encoders)
    assert made["fusion.weight"] == (len(encoders.fan_in) * WIDTH, WIDTH)
    assert made["gate.weight"] == (WIDTH, readers)
    assert ("anatomy.weight" in made) == ("structure" in roles)


@pytest.mark.parametrize(
    "shape",
    [
        Shape(roles=(), readers=1, cohorts=1, ai="logit"),
        Shape(roles=("other", "other"), constant=(True, True), per_case=1),
        Shape(roles=("structure", "risk"), missing=(True, True), readers=12, per_case=2),
    ],
    ids=str,
)
def test_what_routers_learn_from_is_finite_whatever_the_table(shape: Shape) -> None:
    cohort = made_up(shape)
    inputs = prepare(cohort, [PAPER], cohort.manifest.default_costs(), torch.device("cpu"), torch.float32)
    for part in (inputs.train.state, inputs.train.cost, inputs.val.cost, inputs.prior, inputs.normaliser.scale):
        assert torch.isfinite(part).all()
    assert (inputs.normaliser.scale > 0).all()
    assert torch.allclose(inputs.train.group.sum(-1), torch.ones(len(inputs.train)))


def test_families_found_a_few_masks_at_a_time_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    available = made_up(Shape(rows=400, readers=12, per_case=3)).available
    before = support_families(available)
    monkeypatch.setattr(grouping, "MOST_DISTANCES", 50)
    assert np.array_equal(support_families(available), before)


def test_a_very_large_family_is_split_by_a_sample_and_every_case_has_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "MOST_ROWS", 200)
    train = learning_split(made_up(Shape(rows=1000, readers=3)), "train")
    found = fit_groups(train)
    assert len(found) >= 1
    assert np.isfinite(found.centroids).all()
    assert set(found.assign(train)) <= set(range(len(found)))
