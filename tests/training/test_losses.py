"""Every loss against a loop that follows the paper's equation, and what the equations promise."""

from __future__ import annotations

from dataclasses import dataclass

import loop_losses
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import one_hot

from mpd2.training.losses import ascended, budget_penalty, gsdp, rank_js, routing_cost, weighted_mean
from mpd2.training.network import SoftPolicy
from mpd2.training.prior import geometric_profile

DECAYS = ((0.67, 0.80, 0.75, 0.72), (0.5,), (0.9, 0.3))


def soft(defer, allocation, available) -> SoftPolicy:
    """A policy for one member from plain lists, or for E members from tensors."""
    parts = [torch.as_tensor(part, dtype=torch.float64) for part in (defer, allocation)]
    parts = parts if parts[0].ndim == 2 else [part[None] for part in parts]
    available = torch.as_tensor(available, dtype=torch.bool).expand_as(parts[1])
    return SoftPolicy(parts[0].logit(), parts[0], parts[1], available)


@dataclass(frozen=True)
class Situation:
    """A population's policy on its own batches, with everything a loss may ask for."""

    policy: SoftPolicy
    group: Tensor  # [E, B]
    prior: Tensor  # [E, G, M]
    random: np.random.Generator

    @property
    def one_hot(self) -> Tensor:
        return one_hot(self.group, self.prior.shape[1]).double()

    def members(self):
        """Each member's policy as plain lists."""
        policy = self.policy
        yield from zip(policy.defer.tolist(), policy.allocation.tolist(), policy.available.tolist(), strict=True)

    def draw(self, *shape: int) -> Tensor:
        return torch.as_tensor(self.random.random(shape))


@st.composite
def situations(draw: st.DrawFn, most_readers: int = 30) -> Situation:
    """1 to 30 readers, any mask, shut gates, cases that are not deferred at all, groups without a case."""
    members, cases, readers, groups = (draw(st.integers(1, most)) for most in (3, 12, most_readers, 4))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    available = random.random((members, cases, readers)) < draw(st.sampled_from([0.0, 0.3, 0.7, 1.0]))
    open_gate = random.random(available.shape) < draw(st.sampled_from([0.3, 1.0]))
    open_gate |= ~(available & open_gate).any(-1, keepdims=True)
    weight = (0.02 + random.random(available.shape) ** 3) * available * open_gate
    total = weight.sum(-1, keepdims=True)
    allocation = weight / np.where(total > 0, total, 1)
    defer = (0.05 + 0.9 * random.random((members, cases))) * (random.random((members, cases)) < 0.8) * available.any(-1)
    prior = 0.01 + random.random((members, groups, readers))
    return Situation(
        policy=soft(defer, allocation, available),
        group=torch.as_tensor(random.integers(groups, size=(members, cases))),
        prior=torch.as_tensor(prior / prior.sum(-1, keepdims=True)),
        random=random,
    )


def agrees(found: Tensor, expected: list[float]) -> bool:
    return np.allclose(found.numpy(), expected, rtol=0, atol=1e-10)


@settings(max_examples=40)
@given(situations(), st.floats(0, 2))
def test_the_routing_cost_is_the_papers_sum(situation, gamma):
    ai, expert = situation.draw(*situation.policy.defer.shape), situation.draw(*situation.policy.allocation.shape)
    fees = situation.draw(situation.policy.allocation.shape[-1])
    expected = [
        loop_losses.routing_cost(defer, allocation, *costs, fees.tolist(), gamma)
        for (defer, allocation, _), *costs in zip(situation.members(), ai.tolist(), expert.tolist(), strict=True)
    ]
    cost = torch.cat([ai[..., None], expert + gamma * fees], dim=-1)
    assert agrees(routing_cost(situation.policy, cost), expected)


@settings(max_examples=40)
@given(situations())
def test_gsdp_is_the_papers_sum(situation):
    expected = [
        loop_losses.gsdp(defer, allocation, group, prior)
        for (defer, allocation, _), group, prior in zip(
            situation.members(), situation.group.tolist(), situation.prior.tolist(), strict=True
        )
    ]
    assert agrees(gsdp(situation.policy, situation.one_hot, situation.prior), expected)


@settings(max_examples=60)
@given(situations(), st.sampled_from(DECAYS), st.sampled_from([0.0, 0.05, 0.3]))
def test_rank_js_is_the_papers_sum(situation, decay, margin):
    members, _, readers = situation.policy.allocation.shape
    profile = torch.as_tensor(geometric_profile(decay, readers)).expand(members, -1, -1)
    expected = [loop_losses.rank_js(*member, decay, margin) for member in situation.members()]
    assert agrees(rank_js(situation.policy, profile, torch.full((members,), margin).double()), expected)


@settings(max_examples=30)
@given(situations(most_readers=3), st.floats(0, 1), st.floats(0, 5), st.floats(0, 40))
def test_the_budget_penalty_is_the_papers_sum(situation, target, multiplier, penalty):
    members = len(situation.policy.defer)
    same = [torch.full((members,), value, dtype=torch.float64) for value in (target, multiplier, penalty)]
    expected = [loop_losses.budget_penalty(member[0], target, multiplier, penalty) for member in situation.members()]
    assert agrees(budget_penalty(situation.policy, *same), expected)


@settings(max_examples=30)
@given(st.lists(st.tuples(*[st.floats(0, 3)] * 4), min_size=1, max_size=5))
def test_the_multiplier_climbs_by_the_excess_and_never_below_zero(members):
    found = ascended(*torch.tensor(members, dtype=torch.float64).unbind(-1))
    assert agrees(found, [loop_losses.ascended(*member) for member in members])
    assert (found >= 0).all()


def test_members_of_a_population_may_differ_in_every_setting():
    policy = soft([[0.8] * 4] * 2, torch.ones(2, 4, 1), torch.ones(2, 4, 1))
    target, multiplier, penalty = torch.tensor([[0.5, 0.9], [1.0, 2.0], [10.0, 10.0]], dtype=torch.float64)
    found = budget_penalty(policy, target, multiplier, penalty)
    assert agrees(found, [1.0 * 0.3 + 5 * 0.09, 2.0 * -0.1])


@settings(max_examples=30)
@given(situations(), st.data())
def test_gsdp_is_zero_at_the_prior_and_above_zero_elsewhere(situation, data):
    prior, group, policy = situation.prior, situation.group, situation.policy
    everybody = torch.ones_like(policy.available)
    at_prior = prior.gather(1, group[..., None].expand_as(policy.allocation))  # [E, B, M]
    defer = policy.defer.clamp_min(0.1)
    assert agrees(gsdp(soft(defer, at_prior, everybody), situation.one_hot, prior), [0.0] * len(defer))
    if prior.shape[-1] > 1:
        reader = data.draw(st.integers(0, prior.shape[-1] - 1))
        peaked = torch.zeros_like(at_prior)
        peaked[..., reader] = 1.0
        found = gsdp(soft(defer, peaked, everybody), situation.one_hot, prior)
        assert (found > 1e-3).all()


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e-12])
def test_how_much_is_deferred_in_all_does_not_matter_to_gsdp_or_rank_js(scale):
    policy = soft([0.5 * scale, 0.3 * scale], [[0.9, 0.1], [0.7, 0.3]], [[True, True]] * 2)
    prior, profile = torch.tensor([[[0.2, 0.8]]]).double(), torch.as_tensor(geometric_profile((0.9,), 2))[None]
    load = (0.9 * 0.5 + 0.7 * 0.3) / 0.8
    expected = load * np.log(load / 0.2) + (1 - load) * np.log((1 - load) / 0.8)
    assert gsdp(policy, torch.ones(1, 2, 1).double(), prior).item() == pytest.approx(expected, rel=1e-6)
    reference = loop_losses.rank_js([0.5, 0.3], [[0.9, 0.1], [0.7, 0.3]], [[True, True]] * 2, [0.9], 0.0)
    assert rank_js(policy, profile, torch.zeros(1).double()).item() == pytest.approx(reference)


def test_gsdp_looks_at_a_groups_load_and_not_at_its_single_cases():
    one_each = soft([0.5, 0.5], [[1.0, 0.0], [0.0, 1.0]], [[True, True]] * 2)
    even = torch.tensor([[[0.5, 0.5]]]).double()
    assert agrees(gsdp(one_each, torch.ones(1, 2, 1).double(), even), [0.0])
    apart = torch.eye(2)[None].double()
    assert agrees(gsdp(one_each, apart, even.expand(1, 2, 2)), [np.log(2)])


@settings(max_examples=30)
@given(st.integers(2, 30), st.sampled_from(DECAYS), st.floats(0.05, 1))
def test_rank_js_is_zero_up_to_the_reference_and_above_zero_for_a_peak(readers, decay, defer):
    profile = torch.as_tensor(geometric_profile(decay, readers))[None]
    margin = torch.zeros(1).double()

    def found(allocation):
        return rank_js(soft([defer], allocation[None], [[True] * readers]), profile, margin).item()

    reference, flat = profile[0, readers], torch.full((readers,), 1 / readers).double()
    assert found(reference.flip(0)) == 0
    assert found(flat) == 0
    assert found((reference + flat) / 2) == 0
    peak = torch.zeros(readers).double()
    peak[readers // 2] = 1.0
    assert found(peak) > 0.01


def test_rank_js_counts_from_its_margin_on():
    profile = torch.as_tensor(geometric_profile((0.5,), 2))[None]
    policy = soft([1.0], [[2 / 3 + 0.1, 1 / 3 - 0.1]], [[True, True]])
    inside, outside = (rank_js(policy, profile, torch.tensor([margin]).double()).item() for margin in (0.11, 0.09))
    assert inside == 0
    assert outside > 0


def test_a_lone_reader_has_nothing_to_spread():
    profile = torch.as_tensor(geometric_profile((0.5,), 3))[None]
    assert rank_js(soft([1.0], [[0.0, 1.0, 0.0]], [[False, True, False]]), profile, torch.zeros(1)).item() == 0


def test_an_available_reader_without_mass_ranks_before_the_absent():
    profile = torch.as_tensor(geometric_profile((0.5,), 3))[None]
    margin = torch.zeros(1).double()
    first = rank_js(soft([1.0], [[1.0, 0.0, 0.0]], [[True, False, True]]), profile, margin)
    other = rank_js(soft([1.0], [[0.0, 1.0, 0.0]], [[True, True, False]]), profile, margin)
    expected = loop_losses.jensen_shannon([1.0, 0.0], loop_losses.geometric(2, 0.5))
    assert agrees(first, [expected])
    assert agrees(other, [expected])


def test_the_slope_of_the_last_rank_goes_to_a_reader_who_is_there():
    profile = torch.as_tensor(geometric_profile((0.5,), 3))[None]
    allocation = torch.tensor([[[1.0, 0.0, 0.0]]], dtype=torch.float64, requires_grad=True)
    available = torch.tensor([[[True, False, True]]])
    policy = SoftPolicy(torch.zeros(1, 1), torch.ones(1, 1).double(), allocation, available)
    (slope,) = torch.autograd.grad(rank_js(policy, profile, torch.zeros(1).double()).sum(), allocation)
    assert slope[0, 0, 1] == 0
    assert slope[0, 0, 2] < 0


@settings(max_examples=20)
@given(situations())
def test_a_batch_that_defers_nothing_costs_what_the_ai_costs(situation):
    policy = situation.policy
    members, _, readers = policy.allocation.shape
    defer = torch.zeros_like(policy.defer).requires_grad_()
    kept = SoftPolicy(policy.defer_logit, defer, policy.allocation.requires_grad_(), policy.available)
    ai = situation.draw(*defer.shape)
    profile = torch.as_tensor(geometric_profile((0.7,), readers)).expand(members, -1, -1)
    terms = [
        routing_cost(kept, torch.nn.functional.pad(ai[..., None], (0, readers), value=1.0)) - ai.mean(-1),
        gsdp(kept, situation.one_hot, situation.prior),
        rank_js(kept, profile, torch.zeros(members).double()),
    ]
    assert all(term.detach().abs().max() < 1e-12 for term in terms)
    gradients = torch.autograd.grad(torch.stack(terms).sum(), [defer, policy.allocation])
    assert all(gradient.isfinite().all() for gradient in gradients)


@settings(max_examples=20)
@given(situations())
def test_detached_deferral_changes_no_value_and_gets_no_gradient(situation):
    policy = situation.policy
    members, _, readers = policy.allocation.shape
    profile = torch.as_tensor(geometric_profile((0.7,), readers)).expand(members, -1, -1)
    margin = torch.zeros(members).double()
    defer, allocation = policy.defer.clone().requires_grad_(), policy.allocation.clone().requires_grad_()
    tracked = SoftPolicy(policy.defer_logit, defer, allocation, policy.available)
    for term in (
        lambda detach: gsdp(tracked, situation.one_hot, situation.prior, detach),
        lambda detach: rank_js(tracked, profile, margin, detach),
    ):
        assert torch.equal(term(True), term(False))
        on_defer, on_allocation = torch.autograd.grad(term(True).sum(), [defer, allocation], allow_unused=True)
        assert on_defer is None
        assert on_allocation.isfinite().all()


def test_a_shut_gate_is_pulled_open_by_a_finite_slope():
    allocation = torch.tensor([[[1.0, 0.0]]], dtype=torch.float64, requires_grad=True)
    policy = SoftPolicy(torch.zeros(1, 1), torch.ones(1, 1).double(), allocation, torch.ones(1, 1, 2, dtype=torch.bool))
    even = torch.tensor([[[0.5, 0.5]]]).double()
    profile = torch.as_tensor(geometric_profile((0.7,), 2))[None]
    for term in (gsdp(policy, torch.ones(1, 1, 1).double(), even), rank_js(policy, profile, torch.zeros(1).double())):
        (gradient,) = torch.autograd.grad(term.sum(), allocation)
        assert gradient.isfinite().all()
        assert gradient[0, 0, 1] < gradient[0, 0, 0]


@pytest.mark.parametrize(("weight", "expected"), [([1.0, 3.0], 3.5), ([0.0, 2.0], 4.0), ([0.0, 0.0], 0.0)])
def test_a_mean_by_weight_without_any_weight_is_zero(weight, expected):
    assert weighted_mean(torch.tensor([[2.0, 4.0]]), torch.tensor([weight])).tolist() == [expected]
