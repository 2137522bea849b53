"""Mao two-stage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from toy import toy_problem

from mpd2.methods.learned import Net
from mpd2.methods.mao import Mao, saving_loss, savings
from mpd2.methods.stacked import forward, to_cases, train_population

COHORT = toy_problem(600).cohort
MEAN, SCALE = COHORT.state.mean(0), COHORT.state.std(0)


def test_the_saving_of_a_free_and_right_action_is_one_minus_its_share_of_the_worst_cost() -> None:
    costs = torch.tensor([0.0, 0.3, 2.3])
    assert torch.allclose(savings(costs, costs.min(), costs.max()), 1 - costs / 2.3)


def test_the_choice_does_not_change_when_a_constant_is_added_to_every_cost() -> None:
    costs = COHORT.manifest.default_costs()
    train, val = (to_cases(COHORT.subset(split=split), costs, MEAN, SCALE) for split in ("train", "val"))

    def outputs(constant: float) -> torch.Tensor:
        dearer = [replace(cases, fees=cases.fees + constant) for cases in (train, val)]
        net = Net(hidden=(16,), epochs=8)
        layers, _ = train_population(dearer[0], dearer[1], 4, net, (1,), Mao().objective(dearer[0]))
        return forward(layers, val.state[None])

    assert torch.allclose(outputs(0.0), outputs(7.0), atol=1e-3)
    assert (outputs(0.0).argmax(-1) == outputs(7.0).argmax(-1)).double().mean() > 0.99


def test_the_loss_is_least_where_the_scores_are_the_log_savings() -> None:
    weights = torch.tensor([[[0.9, 0.5, 0.2, 0.7]]])
    possible = torch.tensor([[[True, True, True, False]]])
    weights = weights * possible
    best = saving_loss(weights.clamp_min(1e-9).log(), weights, possible)
    others = torch.randn(200, 1, 4, generator=torch.Generator().manual_seed(0))
    assert (saving_loss(others, weights.expand(200, -1, -1), possible.expand(200, -1, -1)) > best).all()


def test_costs_that_are_all_alike_leave_nothing_to_learn_and_break_nothing() -> None:
    costs = torch.ones(3)
    assert np.isfinite(savings(costs, costs.min(), costs.max()).numpy()).all()
