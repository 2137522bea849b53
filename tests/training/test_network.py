"""The dual-head policy: where its mass may go, where its gradient may go, and what the network computes."""

from __future__ import annotations

import math
from contextlib import nullcontext

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import STATE, made_up_manifest

from mpd2.training import losses
from mpd2.training.config import Network
from mpd2.training.network import (
    Encoders,
    Noise,
    Normaliser,
    SoftPolicy,
    Weights,
    allocate,
    initial_weights,
    shapes,
    sigmoid,
    soft_policy,
    softplus,
    structural_risk,
)
from mpd2.training.prior import geometric_profile

WIDTH, FLOOR = 4, 0.5
ENCODERS = Encoders.of(made_up_manifest(1).layout)
ANATOMY = np.array([7.509, 8.040, -6.844])
MASKS = hnp.arrays(bool, st.tuples(st.integers(1, 2), st.integers(1, 4), st.integers(1, 30)))
SEEDS = st.integers(0, 2**32 - 1)
DTYPES = {torch.float32: 1e-6, torch.float64: 1e-12}
PRECISIONS = ["float32", "float64", "autocast"]


def one_case(values: list[float]) -> torch.Tensor:
    """One number a reader, for one member and one case."""
    return torch.tensor(values, dtype=torch.float64).expand(1, 1, -1)


def temperature(value: float) -> torch.Tensor:
    return one_case([value])


class Setting:
    """A population of small routers and a batch for each, under any mask."""

    def __init__(self, mask: np.ndarray, seed: int, noisy: bool, precision: str = "float64") -> None:
        self.members, self.cases, self.readers = mask.shape
        self.dtype = torch.float64 if precision == "float64" else torch.float32
        self.autocast = torch.autocast("cpu", dtype=torch.bfloat16) if precision == "autocast" else nullcontext()
        self.random = np.random.default_rng(seed)
        self.available = torch.tensor(mask)
        self.state = self.tensor(self.random.random((self.members, self.cases, len(STATE))))
        network = Network(width=WIDTH)
        fresh = initial_weights(range(self.members), network, self.readers, ENCODERS, ANATOMY, self.dtype)
        self.weights = {name: view.clone().requires_grad_() for name, view in fresh.items()}
        self.normaliser = Normaliser(*self.tensor(np.stack([np.full(len(STATE), 0.5), np.full(len(STATE), 0.3)])))
        gates = self.tensor(self.random.logistic(size=mask.shape))
        keeps = torch.tensor(self.random.random((self.members, self.cases, len(ENCODERS.blocks) * WIDTH)) < 0.9)
        self.noise = Noise.of(gates, keeps, network.dropout, ENCODERS) if noisy else None

    def tensor(self, values: np.ndarray) -> torch.Tensor:
        return torch.tensor(values, dtype=self.dtype)

    def policy(self) -> SoftPolicy:
        with self.autocast:
            return soft_policy(self.weights, self.normaliser, ENCODERS, self.state, self.available, FLOOR, self.noise)

    def gradients(self) -> dict[str, torch.Tensor]:
        """Of the whole objective, a prior and costs drawn at random."""
        policy = self.policy()
        one = torch.ones(self.members, dtype=self.dtype)
        prior = self.tensor(0.1 + self.random.random((self.members, 1, self.readers)))
        profile = self.tensor(geometric_profile((0.7,), self.readers)).expand(self.members, -1, -1)
        cost = self.tensor(self.random.random((self.members, self.cases, 1 + self.readers)))
        with self.autocast:
            loss = (
                losses.routing_cost(policy, cost)
                + losses.gsdp(policy, torch.ones_like(policy.defer)[..., None], prior / prior.sum(-1, keepdim=True))
                + losses.rank_js(policy, profile, 0 * one)
                + losses.budget_penalty(policy, 0.1 * one, one, 10 * one)
            )
        values = torch.autograd.grad(loss.sum(), list(self.weights.values()))
        return dict(zip(self.weights, values, strict=True))


def is_simplex(shares: torch.Tensor, possible: torch.Tensor, tolerance: float) -> bool:
    """Whether each row is a distribution over the possible, or exactly nothing where nothing is possible."""
    total = shares.sum(-1)
    somebody = possible.any(-1)
    return bool(
        (shares >= 0).all()
        and (shares[~possible] == 0.0).all()
        and ((total - 1).abs()[somebody] < tolerance).all()
        and (total[~somebody] == 0.0).all()
    )


# The allocation by itself


@settings(max_examples=80)
@given(MASKS, SEEDS, st.sampled_from([1.0, 30.0, 1e4]), st.sampled_from(list(DTYPES)), st.booleans())
def test_an_allocation_is_a_distribution_over_the_available_with_finite_gradients(mask, seed, size, dtype, noisy):
    random = np.random.default_rng(seed)
    extreme = size * random.choice([-1.0, 0.0, 1.0], (2, *mask.shape)) + random.normal(size=(2, *mask.shape))
    gates, logits = (torch.tensor(part, dtype=dtype, requires_grad=True) for part in extreme)
    heat = torch.full((len(mask), 1, 1), 0.6, dtype=dtype, requires_grad=True)
    noise = torch.tensor(random.logistic(size=mask.shape), dtype=dtype) if noisy else None
    available = torch.tensor(mask)

    allocation = allocate(gates, logits, available, heat, noise)
    assert is_simplex(allocation, available, 30 * DTYPES[dtype])

    towards = torch.tensor(random.normal(size=mask.shape), dtype=dtype)
    gradients = torch.autograd.grad((allocation * towards).sum(), [gates, logits, heat])
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert all((gradient[~available] == 0.0).all() for gradient in gradients[:2])


@settings(max_examples=30)
@given(MASKS, SEEDS, st.sampled_from([math.nan, math.inf, -math.inf, 1e30]))
def test_what_the_network_says_of_an_absent_reader_is_not_heard(mask, seed, garbage):
    random, available = np.random.default_rng(seed), torch.tensor(mask)
    gates, logits = (torch.tensor(random.normal(size=mask.shape)) for _ in range(2))
    spoilt = [part.masked_fill(~available, garbage).requires_grad_() for part in (gates, logits)]
    allocation = allocate(*spoilt, available, temperature(0.8), None)
    assert torch.equal(allocation.detach(), allocate(gates, logits, available, temperature(0.8), None))
    for gradient in torch.autograd.grad(allocation.square().sum(), spoilt):
        assert gradient.isfinite().all()


def test_only_open_gates_get_a_share_and_in_the_ratio_of_their_logits():
    gates = one_case([2.0, -1.0, 0.5, 3.0])
    logits = one_case([0.3, 5.0, -0.2, 1.0])
    available = torch.tensor([[[True, True, True, False]]])
    found = allocate(gates, logits, available, temperature(0.7), None)[0, 0]
    odds = [math.exp(0.3 / 0.7), 0.0, math.exp(-0.2 / 0.7), 0.0]
    np.testing.assert_allclose(found, np.array(odds) / sum(odds), rtol=1e-12)


def test_a_gate_at_zero_is_open_and_noise_can_open_or_shut_one():
    gates = one_case([0.0, -1.0, 1.0])
    noise = one_case([0.0, 1.5, -1.5])
    everybody = torch.ones(1, 1, 3, dtype=torch.bool)
    calm, moved = (allocate(gates, gates * 0, everybody, temperature(1.0), n)[0, 0].tolist() for n in (None, noise))
    assert calm == [0.5, 0.0, 0.5]
    assert moved == [0.5, 0.5, 0.0]


@settings(max_examples=30)
@given(MASKS, SEEDS)
def test_a_support_without_anybody_is_repaired_to_everybody_available(mask, seed):
    available, logits = torch.tensor(mask), torch.tensor(np.random.default_rng(seed).normal(size=mask.shape))
    shut = torch.full(mask.shape, -1e4).double()
    found = allocate(shut, logits, available, temperature(0.7), None)
    weight = torch.exp(logits / 0.7) * available
    expected = weight / weight.sum(-1, keepdim=True).where(available.any(-1, keepdim=True), 1)
    torch.testing.assert_close(found, expected)


def test_a_support_whose_readers_have_no_mass_is_repaired_too():
    gates = one_case([-1.0, 1.0])
    logits = one_case([1e4, -1e4])
    found = allocate(gates, logits, torch.ones(1, 1, 2, dtype=torch.bool), temperature(1.0), None)
    assert found.tolist() == [[[1.0, 0.0]]]


def test_the_value_comes_from_the_hard_gate_and_the_slope_from_the_relaxed_one():
    heat = 0.8
    gates = one_case([0.4, -0.3, 1.2]).requires_grad_()
    logits = one_case([0.1, 0.5, -0.4])
    noise = one_case([0.2, -0.1, -0.6])
    everybody = torch.ones(1, 1, 3, dtype=torch.bool)
    found = allocate(gates, logits, everybody, temperature(heat), noise)[0, 0]

    relaxed = [1 / (1 + math.exp(-(gate + eta) / heat)) for gate, eta in ((0.4, 0.2), (-0.3, -0.1), (1.2, -0.6))]
    hard = [1.0, 0.0, 1.0]
    odds = [math.exp(beta / heat) for beta in (0.1, 0.5, -0.4)]
    spread = [value / sum(odds) for value in odds]
    mass = sum(a * s for a, s in zip(spread, hard, strict=True))
    value = [a * s / mass for a, s in zip(spread, hard, strict=True)]
    np.testing.assert_allclose(found.detach(), value, rtol=1e-12)

    for j in range(3):
        (slope,) = torch.autograd.grad(found[j], gates, retain_graph=True)
        # ∂q_j/∂s_k at the hard support, times the paper's ∂s_k/∂γ_k = s̃_k (1 − s̃_k) / τ
        expected = [
            ((j == k) * spread[j] / mass - value[j] * spread[k] / mass) * relaxed[k] * (1 - relaxed[k]) / heat
            for k in range(3)
        ]
        np.testing.assert_allclose(slope[0, 0], expected, rtol=1e-10)


@settings(max_examples=20)
@given(MASKS, SEEDS)
def test_a_repaired_support_keeps_the_relaxed_slope(mask, seed):
    available, logits = torch.tensor(mask), torch.tensor(np.random.default_rng(seed).normal(size=mask.shape))
    gates = torch.full(mask.shape, -2.0).double().requires_grad_()
    found = allocate(gates, logits, available, temperature(1.0), None)
    (slope,) = torch.autograd.grad(found.square().sum(), gates)
    several = available.sum(-1) > 1
    assert (slope.abs().sum(-1)[several] > 0).all()


# The whole network


@pytest.mark.parametrize("precision", PRECISIONS)
@settings(max_examples=15)
@given(mask=MASKS, seed=SEEDS, noisy=st.booleans())
def test_policy_and_actions_lie_on_the_masked_simplex(precision, mask, seed, noisy):
    setting = Setting(mask, seed, noisy, precision)
    policy = setting.policy()
    possible = torch.nn.functional.pad(setting.available, (1, 0), value=True)
    tolerance = 30 * DTYPES[setting.dtype]
    assert is_simplex(policy.allocation, setting.available, tolerance)
    assert is_simplex(policy.actions, possible, tolerance)
    assert ((policy.defer >= 0) & (policy.defer <= 1)).all()
    somebody = setting.available.any(-1)
    assert (policy.defer[~somebody] == 0.0).all()
    assert (policy.defer[somebody] > 0).all()


@pytest.mark.parametrize("precision", PRECISIONS)
@settings(max_examples=15)
@given(mask=MASKS, seed=SEEDS, noisy=st.booleans())
def test_a_reader_absent_from_a_batch_gets_exactly_no_gradient(precision, mask, seed, noisy):
    setting = Setting(mask, seed, noisy, precision)
    gradients = setting.gradients()
    assert all(gradient.isfinite().all() for gradient in gradients.values())
    present = setting.available.any(1)  # [E, M]
    for head in ("gate", "allocation"):
        assert (gradients[f"{head}.weight"].movedim(-1, 1)[~present] == 0.0).all()
        assert (gradients[f"{head}.bias"][~present] == 0.0).all()
    nobody = ~setting.available.any(-1).any(-1)  # [E]
    assert all((gradient[nobody] == 0.0).all() for gradient in gradients.values())


def test_under_autocast_the_network_is_in_half_precision_and_the_policy_in_single():
    mask = np.ones((1, 20, 3), bool)
    full, half = (Setting(mask, seed=0, noisy=False, precision=name).policy() for name in ("float32", "autocast"))
    assert half.defer.dtype == half.allocation.dtype == torch.float32
    gap = (full.defer - half.defer).abs().max().item()
    assert 1e-5 < gap < 0.05


def test_with_readers_to_choose_from_every_weight_learns():
    gradients = Setting(np.ones((1, 40, 5), bool), seed=3, noisy=True).gradients()
    assert all((gradient != 0).any() for gradient in gradients.values())


@settings(max_examples=20)
@given(MASKS, SEEDS, st.booleans())
def test_readers_in_another_order_get_the_same_shares_and_leave_the_deferral(mask, seed, noisy):
    setting = Setting(mask, seed, noisy)
    before = setting.policy()
    order = torch.tensor(setting.random.permutation(setting.readers))
    for head in ("gate", "allocation"):
        for part in ("weight", "bias"):
            setting.weights[f"{head}.{part}"] = setting.weights[f"{head}.{part}"][..., order]
    setting.available = setting.available[..., order]
    if setting.noise:
        setting.noise = Noise(setting.noise.gates[..., order], setting.noise.factors, ENCODERS.blocks)
    after = setting.policy()
    assert torch.equal(after.defer, before.defer)
    torch.testing.assert_close(after.allocation, before.allocation[..., order])


@settings(max_examples=15)
@given(MASKS, SEEDS, st.booleans())
def test_each_member_sees_its_own_batch_alone(mask, seed, noisy):
    setting = Setting(mask, seed, noisy)
    together = setting.policy()
    last = slice(-1, None)
    noise = setting.noise and Noise(setting.noise.gates[last], setting.noise.factors[last], ENCODERS.blocks)
    weights = {name: view[last] for name, view in setting.weights.items()}
    alone = soft_policy(
        weights, setting.normaliser, ENCODERS, setting.state[last], setting.available[last], FLOOR, noise
    )
    assert torch.equal(alone.defer, together.defer[last])
    assert torch.equal(alone.allocation, together.allocation[last])


def by_hand(weights: dict[str, np.ndarray], state: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """The network for one member and one case, layer by layer: the defer logit, the gates and the allocation logits."""
    value = dict(zip(STATE, state, strict=True))
    scaled = {name: (entry - 0.5) / 0.3 for name, entry in value.items()}

    def linear(name, inputs):
        return np.array(inputs) @ weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def block(name, inputs):
        hidden = np.maximum(linear(name, inputs), 0)
        hidden = (hidden - hidden.mean()) / np.sqrt(hidden.var() + 1e-5)
        return hidden * weights[f"{name}.scale"] + weights[f"{name}.shift"]

    structure = 1 / (1 + np.exp(-linear("anatomy", [value["vCDR"], value["aCDR"]])[0]))
    branches = [
        block("risk", [scaled["vim_risk_z"], scaled["quality_risk"], scaled["uncertainty"]]),
        block("structure", [2 * structure - 1, abs(value["prob_1"] - structure)]),
        block("ai", [scaled["logit_0"], scaled["logit_1"]]),
    ]
    fused = block("mixing", block("fusion", np.concatenate(branches)))
    trunk = block("trunk", fused)
    return linear("defer", block("defer_hidden", fused))[0], linear("gate", trunk), linear("allocation", trunk)


def test_the_network_is_the_one_drawn_layer_by_layer():
    setting = Setting(np.random.default_rng(0).random((2, 5, 6)) < 0.7, seed=1, noisy=False)
    with torch.no_grad():
        for name, view in setting.weights.items():
            view += 0.1 * setting.tensor(setting.random.normal(size=view.shape)) * (name != "temperature")
        policy = setting.policy()
    for e in range(setting.members):
        weights = {name: view[e].detach().numpy() for name, view in setting.weights.items()}
        heat = FLOOR + math.log1p(math.exp(weights["temperature"][0]))
        for i in range(setting.cases):
            defer_logit, gates, logits = by_hand(weights, setting.state[e, i].numpy())
            assert policy.defer_logit[e, i].item() == pytest.approx(defer_logit, rel=1e-9)
            assert policy.defer[e, i].item() == pytest.approx(1 / (1 + math.exp(-defer_logit)), rel=1e-9)
            weight = np.exp(logits / heat) * mask_or_all(gates >= 0, setting.available[e, i].numpy())
            np.testing.assert_allclose(policy.allocation[e, i], weight / weight.sum(), rtol=1e-9)


def mask_or_all(chosen: np.ndarray, available: np.ndarray) -> np.ndarray:
    return chosen & available if (chosen & available).any() else available


def test_structural_risk_is_logistic_in_the_two_ratios():
    weights = initial_weights([0], Network(width=WIDTH), 2, ENCODERS, ANATOMY, torch.float64)
    state = torch.zeros(1, 1, len(STATE)).double()
    state[..., STATE.index("vCDR")], state[..., STATE.index("aCDR")] = 0.6, 0.4
    expected = 1 / (1 + math.exp(-(7.509 * 0.6 + 8.040 * 0.4 - 6.844)))
    assert structural_risk(weights, state, ENCODERS).item() == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("curve", [sigmoid, softplus])
def test_a_curve_rounds_a_value_alike_wherever_it_stands(curve):
    values = 20 * torch.randn(5000, generator=torch.Generator().manual_seed(0))
    whole = curve(values)
    for length in (1, 7, 31, 62, 700):
        assert torch.equal(torch.cat([curve(part) for part in values.split(length)]), whole)


@pytest.mark.parametrize(("curve", "usual"), [(sigmoid, torch.sigmoid), (softplus, torch.nn.functional.softplus)])
def test_a_curve_has_the_usual_value_and_slope_even_far_out(curve, usual):
    values = torch.tensor([-1000.0, -90.0, -20.0, -1.0, 0.5, 3.0, 40.0, 1000.0], dtype=torch.float64)
    ours, theirs = (values.clone().requires_grad_() for _ in range(2))
    torch.testing.assert_close(curve(ours), usual(theirs), rtol=1e-12, atol=1e-300)
    for result, at in ((curve(ours), ours), (usual(theirs), theirs)):
        result.sum().backward(inputs=[at])
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-9, atol=1e-300)


def test_noise_without_dropout_and_without_gate_noise_is_no_noise():
    setting = Setting(np.ones((2, 3, 4), bool), seed=5, noisy=False)
    calm = setting.policy()
    setting.noise = Noise.of(
        torch.zeros(2, 3, 4).double(), torch.ones(2, 3, len(ENCODERS.blocks) * WIDTH), 0.0, ENCODERS
    )
    assert torch.equal(setting.policy().allocation, calm.allocation)
    assert torch.equal(setting.policy().defer, calm.defer)


def test_units_that_stay_make_up_for_those_left_out():
    keeps = torch.zeros(1, 1, len(ENCODERS.blocks) * WIDTH)
    keeps[..., ENCODERS.blocks.index("ai") * WIDTH + 1] = 1
    noise = Noise.of(torch.zeros(1, 1, 1), keeps, 0.2, ENCODERS)
    assert noise.factor("ai", 1, WIDTH)[0, 0].tolist() == [[0.0, 1.25, 0.0, 0.0]]
    assert noise.factor("structure", 2, WIDTH)[0, 0].tolist() == [[0.0] * 4, [0.0, 1.25, 0.0, 0.0]]
    assert noise.factor("risk", 2, WIDTH).sum() == 0


@pytest.mark.parametrize("raw", [-1e4, 0.0, 50.0])
def test_the_temperature_never_falls_below_its_floor(raw):
    setting = Setting(np.ones((1, 1, 2), bool), seed=0, noisy=False)
    setting.weights["temperature"] = torch.full((1, 1), raw).double()
    setting.weights["gate.bias"] = torch.full((1, 2), 50.0).double()
    setting.weights["allocation.weight"] = torch.zeros(1, WIDTH, 2).double()
    setting.weights["allocation.bias"] = torch.tensor([[1.0, 0.0]]).double()
    heat = 1 / setting.policy().allocation[0, 0].log().diff().abs().item()
    assert heat == pytest.approx(FLOOR + max(raw, 0) + math.log1p(math.exp(-abs(raw))), rel=1e-9)


# The weights


def test_a_name_is_a_view_into_the_members_row():
    weights = initial_weights([1, 2], Network(width=WIDTH), 3, ENCODERS, ANATOMY)
    assert weights.flat.shape == (2, sum(math.prod(shape) for shape in shapes(WIDTH, 3, ENCODERS).values()))
    assert list(weights) == list(shapes(WIDTH, 3, ENCODERS))
    weights.flat[1] = 7.0
    assert all((view[1] == 7.0).all() for view in weights.values())
    assert not any((view[0] == 7.0).any() for view in Weights(weights.flat, WIDTH, 3, ENCODERS).values())


def test_a_router_starts_the_same_alone_and_in_any_population():
    network = Network(width=WIDTH)
    together = initial_weights([5, 9, 5], network, 3, ENCODERS, ANATOMY).flat
    assert torch.equal(together[1], initial_weights([9], network, 3, ENCODERS, ANATOMY).flat[0])
    assert torch.equal(together[0], together[2])
    assert not torch.equal(together[0], together[1])


def test_linear_layers_start_within_the_inverse_root_of_their_fan_in_and_the_rest_where_it_should():
    weights = initial_weights([0, 1], Network(width=64, temperature=2.0, temperature_floor=0.75), 12, ENCODERS, ANATOMY)
    for layer, fan_in in (("risk", 3), ("fusion", 192), ("trunk", 64), ("gate", 64), ("defer", 64)):
        for part in ("weight", "bias"):
            bound = fan_in**-0.5
            assert weights[f"{layer}.{part}"].abs().max() <= bound
        assert weights[f"{layer}.weight"].abs().max() > 0.8 * bound
    assert all(
        (weights[f"{block}.scale"] == 1).all() and (weights[f"{block}.shift"] == 0).all() for block in ENCODERS.blocks
    )
    np.testing.assert_allclose(weights["anatomy.weight"][1, :, 0], ANATOMY[:2], rtol=1e-6)
    np.testing.assert_allclose(weights["anatomy.bias"][1], ANATOMY[2:], rtol=1e-6)
    heat = 0.75 + torch.nn.functional.softplus(weights["temperature"])
    np.testing.assert_allclose(heat, 2.0, rtol=1e-6)


def test_the_papers_router_has_about_a_hundred_thousand_weights():
    count = sum(math.prod(shape) for shape in shapes(width=128, readers=12, encoders=ENCODERS).values())
    assert 100_000 < count < 110_000
