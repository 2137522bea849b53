"""The router written in the usual way agrees with the stacked one, and the benchmark reports what it measured."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from mpd2.cli.bench.reference_router import UsualRouter, UsualTraining, total_loss
from mpd2.cli.bench.train import Stopwatch, bench_training, peak_megabytes
from mpd2.core.cohort import Cohort
from mpd2.training import losses
from mpd2.training.config import PAPER, Config
from mpd2.training.inputs import Examples, TrainingInputs, prepare
from mpd2.training.loop import train
from mpd2.training.network import Normaliser, Weights, initial_weights, soft_policy

TINY = PAPER.but(network__width=8, training__epochs=2, training__warm_up=0)
PARTS = {"weight": "0.weight", "bias": "0.bias", "scale": "2.weight", "shift": "2.bias"}
HEADS = ("defer", "gate", "allocation", "anatomy")


@pytest.fixture(scope="module")
def cohort(small_cohort: Cohort) -> Cohort:
    """The small cohort, with a case that nobody can read and one with a single reader in its train split."""
    available = small_cohort.available.copy()
    first, second = np.flatnonzero(small_cohort.split == "train")[:2]
    available[first] = False
    available[second, np.flatnonzero(available[second])[1:]] = False
    return small_cohort.with_available(available)


@pytest.fixture(scope="module")
def course(cohort: Cohort) -> TrainingInputs:
    return prepare(cohort, [TINY], cohort.manifest.default_costs(), torch.device("cpu"), torch.float64)


def random_weights(course: TrainingInputs, seed: int) -> Weights:
    """Weights far from where a training starts, so that every part of the network shows in its output."""
    weights = initial_weights(
        [seed], TINY.network, course.prior.shape[-1], course.encoders, course.anatomy, torch.float64
    )
    weights.flat.add_(torch.randn(weights.flat.shape, generator=torch.Generator().manual_seed(seed)) / 2)
    return weights


def parameter_name(name: str) -> str:
    """What a weight of the stacked router is called in the usual one."""
    layer, _, part = name.rpartition(".")
    return name if layer in HEADS or not layer else f"{layer}.{PARTS[part]}"


def as_parameter(value: Tensor, parameter: Tensor) -> Tensor:
    """A member's weight in the shape torch's layers have it: output by input."""
    return (value.mT if value.ndim == 2 else value).reshape(parameter.shape)


def usual_router(weights: Weights, course: TrainingInputs) -> UsualRouter:
    router = UsualRouter(TINY.network, course).double().eval()
    own = dict(router.named_parameters())
    with torch.no_grad():
        for name, value in weights.items():
            parameter = own[parameter_name(name)]
            parameter.copy_(as_parameter(value[0], parameter))
    assert {parameter_name(name) for name in weights} == set(own)
    return router


def stacked_loss(leaves: dict[str, Tensor], course: TrainingInputs, config: Config, multiplier: float) -> Tensor:
    """The objective of one router over all train cases, put together from `losses`."""
    part = course.train
    floor = config.network.temperature_floor
    policy = soft_policy(leaves, course.normaliser, course.encoders, part.state[None], part.available[None], floor)
    each = part.state.new_tensor
    return (
        losses.routing_cost(policy, part.cost)
        + config.objective.gsdp_weight * losses.gsdp(policy, part.group[None], course.prior)
        + config.objective.rank_weight * losses.rank_js(policy, course.profile, each([config.objective.rank_margin]))
        + losses.budget_penalty(policy, each([config.budget.target]), each([multiplier]), each([config.budget.penalty]))
    )[0]


def course_in_single(course: TrainingInputs) -> TrainingInputs:
    """The same course in the precision a module starts with."""

    def single(part: Examples) -> Examples:
        return replace(part, state=part.state.float(), group=part.group.float(), cost=part.cost.float())

    scale = Normaliser(course.normaliser.mean.float(), course.normaliser.scale.float())
    train, val = single(course.train), single(course.val)
    return replace(course, train=train, val=val, prior=course.prior.float(), normaliser=scale)


def usual_case(course: TrainingInputs) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    part = course.train
    return part.state, part.available, part.group.argmax(1), part.cost[0]


@pytest.mark.parametrize("seed", range(5))
def test_the_same_weights_give_the_same_policy(course: TrainingInputs, seed: int) -> None:
    weights = random_weights(course, seed)
    state, available = course.train.state, course.train.available
    stacked = soft_policy(
        weights, course.normaliser, course.encoders, state[None], available[None], TINY.network.temperature_floor
    )
    defer, allocation = usual_router(weights, course)(state, available)
    torch.testing.assert_close(defer, stacked.defer[0], atol=1e-6, rtol=0)
    torch.testing.assert_close(allocation, stacked.allocation[0], atol=1e-6, rtol=0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("change", [{}, {"objective__rank_margin": 0.2}, {"budget__target": 0.1}])
def test_the_same_weights_give_the_same_loss(course: TrainingInputs, seed: int, change: dict[str, float]) -> None:
    weights = random_weights(course, seed)
    config = TINY.but(objective__gsdp_weight=0.7, objective__rank_weight=0.9, **change)
    stacked = stacked_loss(dict(weights), course, config, multiplier=0.3)
    usual, _ = total_loss(usual_router(weights, course), usual_case(course), course.prior[0], config, 0.3)
    torch.testing.assert_close(usual, stacked, atol=1e-6, rtol=0)


@pytest.mark.parametrize("seed", range(5))
def test_the_same_weights_give_the_same_gradient(course: TrainingInputs, seed: int) -> None:
    weights = random_weights(course, seed)
    weights["gate.bias"].fill_(9)  # where a gate is shut both have a slope of their own, as x log x has none at 0
    config = TINY.but(objective__gsdp_weight=0.7, objective__rank_weight=0.9, budget__target=0.1)
    leaves = {name: view.clone().requires_grad_() for name, view in weights.items()}
    stacked_loss(leaves, course, config, multiplier=0.3).backward()
    router = usual_router(weights, course)
    total_loss(router, usual_case(course), course.prior[0], config, 0.3)[0].backward()
    own = dict(router.named_parameters())
    for name, leaf in leaves.items():
        parameter = own[parameter_name(name)]
        mine = as_parameter(leaf.grad[0], parameter)
        torch.testing.assert_close(parameter.grad, mine, atol=1e-6, rtol=1e-6, msg=name)


def test_training_is_the_usual_loop_with_torchs_own_optimiser(cohort: Cohort, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mpd2.core.rng.gate_noise", lambda seeds, _, *shape: np.zeros((len(seeds), *shape)))
    # One batch an epoch, so that the order of cases plays no part; no regulariser, so that shut gates play none.
    config = TINY.but(network__dropout=0.0, training__batch_size=len(cohort), training__epochs=4, training__warm_up=3,
                      training__learning_rate=0.01, objective__gsdp_weight=0.0, objective__rank_weight=0.0,
                      budget__target=0.1, budget__dual_step=1.0)  # fmt: skip
    costs = cohort.manifest.default_costs()
    course = prepare(cohort, [config], costs, torch.device("cpu"), torch.float64)
    start = initial_weights(
        [config.seed], config.network, cohort.readers, course.encoders, course.anatomy, torch.float64
    )
    router = usual_router(start, course)
    settings = config.training
    optimiser = torch.optim.AdamW(router.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
    multiplier = 0.0
    for _ in range(settings.epochs):
        loss, rate = total_loss(router, usual_case(course), course.prior[0], config, multiplier)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        multiplier = max(0.0, multiplier + rate.item() - 0.1)

    trained = train(cohort, [config], costs, dtype=torch.float64)
    assert trained.best_epoch.tolist() == [settings.epochs]
    for name, value in router.named_parameters():
        mine = next(view for own, view in trained.weights.items() if parameter_name(own) == name)
        torch.testing.assert_close(as_parameter(mine[0], value), value.detach(), atol=1e-6, rtol=0, msg=name)


def test_the_usual_training_learns(course: TrainingInputs) -> None:
    judged_on_train = replace(course_in_single(course), val=course_in_single(course).train)
    training = UsualTraining(TINY.but(training__learning_rate=0.01, network__dropout=0.0), judged_on_train)
    costs = [training.epoch() for _ in range(12)]
    assert costs[-1] < costs[0]


def test_the_usual_training_raises_the_price_of_deferral_while_too_much_is_deferred(course: TrainingInputs) -> None:
    training = UsualTraining(TINY.but(budget__target=0.0, budget__dual_step=1.0), course_in_single(course))
    training.epoch()
    once = training.multiplier
    training.epoch()
    assert 0 < once < training.multiplier


def test_a_stopwatch_leaves_the_first_epoch_out() -> None:
    watch = Stopwatch()
    watch.clock, watch.cpu = [0.0, 100.0, 102.0, 104.0, 110.0], [0.0, 50.0, 51.0, 52.0, 55.0]
    timing = watch.timing(routers=2, threads=1)
    assert (timing.seconds, timing.cpu_seconds, timing.start_seconds) == (1.0, 0.5, 98.0)


def test_peak_memory_is_in_megabytes() -> None:
    assert 50 < peak_megabytes() < 100_000


def test_the_benchmark_reports_every_way_to_train(cohort: Cohort) -> None:
    found = json.loads(json.dumps(bench_training(cohort, TINY, epochs=1), allow_nan=False))
    assert set(found) == {"setting", "per_router_epoch", "times_as_fast", "estimate", "peak_megabytes"}
    timings = found["per_router_epoch"]
    assert set(timings) == {"population_10", "population_40", "single", "usual"}
    assert all(timing["seconds"] > 0 and timing["threads"] >= 1 for timing in timings.values())
    assert found["times_as_fast"]["population_10_as_single"]["seconds"] == pytest.approx(
        timings["single"]["seconds"] / timings["population_10"]["seconds"]
    )
    assert found["estimate"]["seconds"] == pytest.approx(
        timings["population_10"]["start_seconds"] + 10 * 150 * timings["population_10"]["seconds"]
    )
    assert found["setting"]["width"] == 8
    assert found["setting"]["train_cases"] == 18
