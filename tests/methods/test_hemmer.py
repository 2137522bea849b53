"""Hemmer mixture of experts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from toy import toy_problem

from mpd2.core.costs import Costs
from mpd2.core.policy import Policy, choose
from mpd2.methods.hemmer import FEE_WEIGHTS, Hemmer, team, team_loss
from mpd2.methods.stacked import to_cases

COHORT = toy_problem(300).cohort
COSTS = COHORT.manifest.default_costs()
CASES = to_cases(COHORT, COSTS, COHORT.state.mean(0), COHORT.state.std(0))


@settings(max_examples=50)
@given(
    hnp.arrays(np.float32, (2, 3, 5), elements=st.floats(-50, 50, width=32)),
    hnp.arrays(np.float32, (2, 3, 5), elements=st.floats(0, 1, width=32)),
    hnp.arrays(bool, (2, 3, 4)),
)
def test_the_team_is_a_distribution_under_any_mask(outputs: np.ndarray, votes: np.ndarray, there: np.ndarray) -> None:
    possible = np.concatenate([np.ones((2, 3, 1), bool), there], axis=-1)
    chances = team(torch.tensor(outputs), torch.tensor(votes), torch.tensor(possible))
    assert (chances >= 0).all()
    assert torch.allclose(chances.sum(-1), torch.ones(2, 3), atol=1e-5)


def test_a_team_that_is_all_wrong_loses_much_and_not_infinitely() -> None:
    hopeless = torch.stack([CASES.truth, 1 - CASES.truth], dim=-1)[None]
    assert 10 < team_loss(hopeless, CASES[None]).item() < 50


def test_cases_weigh_what_an_error_in_them_costs() -> None:
    even = torch.full((1, len(COHORT), 2), 0.5)
    stakes = np.where(COHORT.truth == 1, COSTS.false_negative, COSTS.false_positive).mean()
    assert np.isclose(team_loss(even, CASES[None]).item(), stakes * np.log(2), rtol=1e-4)


def test_the_plain_form_mixes_in_the_probability_and_the_other_the_decision_of_the_ai() -> None:
    alone = torch.zeros(1, len(COHORT), 4)
    alone[..., 1:] = -100.0
    losses = [
        Hemmer(cost_aware=aware).objective(CASES)(alone, replace(CASES, stakes=torch.ones(300))[None])
        for aware in (True, False)
    ]
    right = COHORT.ai_label == COHORT.truth
    chance = np.where(COHORT.truth == 1, COHORT.ai_probability, 1 - COHORT.ai_probability)
    assert np.isclose(losses[0].item(), -np.log(1e-7) * (1 - right.mean()), rtol=1e-3)
    assert np.isclose(losses[1].item(), -np.log(chance).mean(), rtol=1e-3)


def test_the_fee_weight_is_the_one_with_the_least_cost_on_val() -> None:
    outputs = 3 * torch.randn(2, len(COHORT), 4, generator=torch.Generator().manual_seed(0))
    found = Hemmer().tune(outputs, CASES[None])["fee_weight"]
    actions = COSTS.of_actions(COHORT)

    def cost(member: int, weight: float) -> float:
        scores = outputs[member].double().numpy() - weight * np.array([0.0, *COSTS.fees])
        return float(actions[np.arange(len(COHORT)), choose(Policy.from_scores(scores, COHORT.available))].mean())

    for member in range(2):
        assert np.isclose(cost(member, found[member]), min(cost(member, weight) for weight in FEE_WEIGHTS))


def test_free_readings_leave_the_gate_as_it_is() -> None:
    free = Costs(COSTS.false_negative, COSTS.false_positive, (0.0, 0.0, 0.0))
    outputs = np.random.default_rng(0).normal(size=(1, len(COHORT), 4))
    assert np.array_equal(Hemmer().scores(outputs, {"fee_weight": np.array([9.0])}, free, COHORT), outputs)
