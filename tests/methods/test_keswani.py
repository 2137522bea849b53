"""Keswani joint committee."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from toy import toy_problem

from mpd2.core.runs import Run
from mpd2.methods.keswani import Keswani, committee_loss
from mpd2.methods.learned import Net
from mpd2.methods.registry import policy_of
from mpd2.methods.stacked import to_cases

COHORT = toy_problem(600).cohort
COSTS = COHORT.manifest.default_costs()
CASES = to_cases(COHORT, COSTS, COHORT.state.mean(0), COHORT.state.std(0))


@pytest.fixture(scope="module")
def run() -> Run:
    return Keswani(net=Net(epochs=30)).fit(COHORT, COSTS, (42, 43))


def test_a_committee_of_one_loses_what_its_action_costs_up_to_a_constant_of_the_case() -> None:
    costs = COSTS.of_actions(COHORT)
    for action in range(4):
        outputs = torch.full((1, len(COHORT), 4), -80.0)
        outputs[..., action] = 80.0
        there = np.isfinite(costs[:, action])
        cases = CASES[None, torch.tensor(there)]
        loss = committee_loss(outputs[:, torch.tensor(there)], cases.labels, cases).item()
        constant = (cases.stakes * torch.log1p(torch.exp(torch.tensor(-1.0)))).mean().item()
        assert np.isclose(loss - constant, costs[there, action].mean(), atol=1e-4)


def test_the_policy_is_the_renormalised_committee(run: Run) -> None:
    outputs = np.random.default_rng(0).normal(size=(2, len(COHORT), 4))
    scores = Keswani().scores(outputs, {}, COSTS, COHORT)
    assert np.allclose(np.exp(scores), 1 / (1 + np.exp(-outputs)))
    assert np.allclose(policy_of(run, COHORT).actions.sum(-1), 1)
