"""The shared population of small networks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor
from toy import toy_problem

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.methods.learned import Learned, Net
from mpd2.methods.registry import METHODS
from mpd2.methods.stacked import Cases, forward, initial_layers, to_cases, train_population

COHORT = toy_problem(150).cohort
COSTS = COHORT.manifest.default_costs()
LEARNED = [method for method in METHODS.values() if isinstance(method, Learned)]
QUICK = Net(hidden=(8,), epochs=4)

every_baseline = pytest.mark.parametrize("method", LEARNED, ids=lambda method: method.key)


def cases_of(cohort: Cohort) -> Cases:
    return to_cases(cohort, COSTS, cohort.state.mean(0), cohort.state.std(0))


TRAIN, VAL = (cases_of(COHORT.subset(split=split)) for split in ("train", "val"))


def squared_miss(outputs: Tensor, cases: Cases) -> Tensor:
    """A loss with nothing of any method in it: guess the truth."""
    return (outputs[..., 0] - cases.truth).square().mean(-1)


def gradient(method: Learned, cohort: Cohort) -> Tensor:
    """The loss's gradient with respect to the outputs of two members, [2, N, out]."""
    cases = cases_of(cohort)
    shape = (2, len(cohort), method.outputs(cohort.readers))
    outputs = torch.linspace(-3, 3, int(np.prod(shape))).reshape(shape).requires_grad_()
    loss = method.objective(cases)(outputs, cases[None])
    assert loss.shape == (2,)
    return torch.autograd.grad(loss.sum(), outputs)[0]


@every_baseline
def test_garbage_in_the_label_of_an_absent_reader_changes_no_gradient(method: Learned) -> None:
    spoiled = replace(COHORT, decisions=np.where(COHORT.available, COHORT.decisions, 1))
    assert torch.equal(gradient(method, spoiled), gradient(method, COHORT))


@every_baseline
def test_an_absent_reader_has_no_gradient_and_an_available_one_has(method: Learned) -> None:
    parts = gradient(method, COHORT).abs().sum(0).numpy()  # [N, out]
    last = parts[:, -COHORT.readers :]  # in every method the last outputs are the readers'
    assert (last[~COHORT.available] == 0).all()
    assert (last[COHORT.available] > 0).mean() > 0.5


def test_costs_of_cases_are_the_costs_of_actions() -> None:
    expected = np.nan_to_num(COSTS.of_actions(COHORT), posinf=0.0)
    assert np.allclose(cases_of(COHORT).costs.numpy(), expected)


def test_whatever_an_absent_reader_might_say_or_cost_is_blank() -> None:
    cases = cases_of(COHORT)
    absent = ~cases.possible
    assert absent.any()
    assert all((part[absent] == 0).all() for part in (cases.labels, cases.votes, cases.wrong, cases.costs))


def test_votes_differ_from_labels_in_the_ai_alone() -> None:
    cases = cases_of(COHORT)
    assert np.allclose(cases.votes[:, 0].numpy(), COHORT.ai_probability)
    assert torch.equal(cases.votes[:, 1:], cases.labels[:, 1:])


def test_fresh_networks_have_no_favourite_reader() -> None:
    layers = initial_layers((1, 2), (8, 16, 5))
    assert (forward(layers, TRAIN.state.expand(2, -1, -1)) == 0).all()
    assert not torch.equal(layers[0][0][0], layers[0][0][1])


def test_the_forward_pass_is_the_network_written_out() -> None:
    layers = [(torch.randn(3, 8, 4), torch.randn(3, 1, 4)), (torch.randn(3, 4, 2), torch.randn(3, 1, 2))]
    state = torch.randn(3, 5, 8)
    (inner, inner_bias), (outer, outer_bias) = layers
    expected = [torch.relu(state[e] @ inner[e] + inner_bias[e]) @ outer[e] + outer_bias[e] for e in range(3)]
    assert torch.allclose(forward(layers, state), torch.stack(expected), atol=1e-5)


def test_each_member_keeps_the_checkpoint_with_its_lowest_validation_loss() -> None:
    seeds = (1, 2, 3)
    net = replace(QUICK, epochs=60, learning_rate=0.05)
    layers, history = train_population(TRAIN, VAL, 1, net, seeds, squared_miss)
    kept = squared_miss(forward(layers, VAL.state.expand(3, -1, -1)), VAL[None])
    lowest = history.groupby("seed")["score"].min()
    assert np.allclose(kept.numpy(), lowest.to_numpy(), atol=1e-6)
    assert (history.groupby("seed")["score"].last() > lowest).any()


def test_a_member_stops_when_it_has_waited_long_enough_and_others_go_on() -> None:
    net = replace(QUICK, epochs=100, patience=3, learning_rate=0.05)
    _, history = train_population(TRAIN, VAL, 1, net, tuple(range(6)), squared_miss)
    for _, log in history.groupby("seed"):
        assert len(log) <= log["score"].to_numpy().argmin() + 1 + net.patience
    assert history.groupby("seed").size().nunique() > 1


def test_training_lowers_the_loss() -> None:
    _, history = train_population(TRAIN, VAL, 1, replace(QUICK, epochs=20, learning_rate=0.02), (1,), squared_miss)
    assert history["loss"].iloc[-1] < 0.8 * history["loss"].iloc[0]


def test_a_reader_available_without_a_word_teaches_nothing() -> None:
    method = replace(LEARNED[0], net=QUICK)
    silent = replace(COHORT, decisions=np.where(np.arange(3) == 1, UNKNOWN, COHORT.decisions))
    absent = silent.with_available(np.arange(3) != 1)
    one, other = (method.fit(cohort, COSTS, (1,)).arrays for cohort in (silent, absent))
    assert all(np.array_equal(values, other[name]) for name, values in one.items())
