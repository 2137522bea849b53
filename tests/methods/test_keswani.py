"""Keswani joint committee."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from toy import toy_problem

from mpd2.core.cohort import UNKNOWN
from mpd2.core.policy import NOBODY
from mpd2.core.runs import Run
from mpd2.evaluation.metrics import evaluate
from mpd2.methods import decisions_of, policy_of
from mpd2.methods.keswani import LEAST_VOICE, Keswani, committee_decisions, committee_loss
from mpd2.methods.stacked import Net, to_cases

COHORT = toy_problem(600).cohort
COSTS = COHORT.manifest.default_costs()
CASES = to_cases(COHORT, COSTS, COHORT.state.mean(0), COHORT.state.std(0))


@pytest.fixture(scope="module")
def run() -> Run:
    return Keswani(net=Net(epochs=30)).fit(COHORT, COSTS, (42, 43))


def committee_of_one(run: Run) -> Run:
    """Every reader but the first without weight, and the AI too."""
    last = max(int(name.split(".")[0]) for name in run.arrays if name.endswith(".weight"))
    arrays = dict(run.arrays)
    arrays[f"{last}.weight"] = np.zeros_like(arrays[f"{last}.weight"])
    arrays[f"{last}.bias"] = np.broadcast_to(np.float32([-30, 5, -60, -60]), arrays[f"{last}.bias"].shape).copy()
    return replace(run, arrays=arrays)


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


def test_everybody_with_a_voice_is_asked_once_weightiest_first(run: Run) -> None:
    consulted = committee_decisions(run, COHORT).consulted  # [E, N, M]
    shares = Keswani().policy(run, COHORT).actions[..., 1:]
    assert np.array_equal((consulted != NOBODY).sum(-1), (shares >= LEAST_VOICE).sum(-1))
    weights = np.where(consulted == NOBODY, 0.0, np.take_along_axis(shares, consulted, -1))
    assert (np.diff(weights, axis=-1) <= 0).all()
    assert (weights[consulted != NOBODY] >= LEAST_VOICE).all()
    members, cases, ranks = np.nonzero(consulted != NOBODY)
    assert COHORT.available[cases, consulted[members, cases, ranks]].all()


@pytest.mark.parametrize("aware", [True, False])
def test_the_vote_decides(aware: bool) -> None:
    run = Keswani(aware, Net(epochs=5)).fit(COHORT, COSTS, (42,))
    shares = Keswani(aware).policy(run, COHORT).actions[0]
    label = committee_decisions(run, COHORT).label[0]
    for i in range(len(COHORT)):
        ai = float(COHORT.ai_label[i]) if aware else COHORT.ai_probability[i]
        words = np.array([ai, *COHORT.decisions[i]])
        voices = shares[i] >= LEAST_VOICE
        assert label[i] == (np.average(words[voices], weights=shares[i][voices]) >= 0.5)


def test_a_committee_of_one_is_its_projection(run: Run) -> None:
    alone = committee_of_one(run)
    committee, projected = committee_decisions(alone, COHORT), decisions_of(alone, COHORT)
    first = COHORT.available[:, 0]
    assert first.any()
    assert np.array_equal(committee.consulted[:, first, 0], projected.consulted[:, first, 0])
    assert np.array_equal(committee.label[:, first], projected.label[:, first])


def test_a_committee_pays_everybody(run: Run) -> None:
    committee = evaluate(COHORT, committee_decisions(run, COHORT), COSTS)
    projected = evaluate(COHORT, decisions_of(run, COHORT), COSTS)
    assert (committee["ExpertCost"] > projected["ExpertCost"]).all()
    assert (committee["Consults"] > projected["Consults"]).all()


def test_a_voice_without_a_word_leaves_the_label_unknown(run: Run) -> None:
    silent = replace(COHORT, decisions=np.full_like(COHORT.decisions, UNKNOWN))
    decisions = committee_decisions(run, silent)
    assert np.array_equal(decisions.label == UNKNOWN, decisions.deferred)
