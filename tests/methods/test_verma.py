"""Verma one-vs-all."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional
from toy import toy_problem

from mpd2.core.costs import Costs
from mpd2.methods.stacked import to_cases
from mpd2.methods.verma import Verma, one_vs_all_loss

COHORT = toy_problem(90).cohort
COSTS = COHORT.manifest.default_costs()
CASES = to_cases(COHORT, COSTS, COHORT.state.mean(0), COHORT.state.std(0))
OUTPUTS = 2 * torch.randn(2, len(COHORT), 5, generator=torch.Generator().manual_seed(0))


def test_the_loss_is_the_published_surrogate_over_the_available() -> None:
    """φ(g_y) + Σ_other φ(−g) + Σ_j φ(−g_j) + Σ_j m_j (φ(g_j) − φ(−g_j)) with φ(z) = log2(1 + e^−z)."""

    def phi(z: torch.Tensor) -> torch.Tensor:
        return torch.log2(1 + torch.exp(-z.double()))

    classes, readers = OUTPUTS[..., :2], OUTPUTS[..., 2:]
    truth = torch.tensor(COHORT.truth)
    own = classes[:, torch.arange(len(COHORT)), truth]
    other = classes[:, torch.arange(len(COHORT)), 1 - truth]
    right = torch.tensor(COHORT.decisions == COHORT.truth[:, None])
    there = torch.tensor(COHORT.available)
    per_reader = phi(-readers) + right * (phi(readers) - phi(-readers))
    expected = (phi(own) + phi(-other) + (per_reader * there).sum(-1)).mean(-1)
    assert torch.allclose(one_vs_all_loss(OUTPUTS, CASES[None]).double(), expected, rtol=1e-5)


def test_the_loss_is_masked_binary_cross_entropy_in_bits() -> None:
    targets = torch.tensor(np.column_stack([1 - COHORT.truth, COHORT.truth, COHORT.decisions == COHORT.truth[:, None]]))
    known = np.column_stack([np.ones((len(COHORT), 2), bool), COHORT.available])
    losses = functional.binary_cross_entropy_with_logits(OUTPUTS[0], targets.float(), reduction="none")
    expected = losses.numpy()[known].sum() / len(COHORT) / np.log(2)
    assert np.isclose(one_vs_all_loss(OUTPUTS, CASES[None])[0].item(), expected, rtol=1e-5)


def test_large_logits_give_a_large_finite_loss() -> None:
    assert one_vs_all_loss(1e4 * OUTPUTS, CASES[None]).isfinite().all()


def test_the_ai_is_as_sure_as_the_class_head_of_its_own_label() -> None:
    outputs = np.zeros((1, len(COHORT), 5))
    outputs[..., 1] = 4.0  # glaucoma, surely
    scores = Verma(cost_aware=False).scores(outputs, {}, COSTS, COHORT)
    assert np.array_equal(scores[0, :, 0], 4.0 * COHORT.ai_label)


def test_scores_are_the_cost_to_expect_turned_round() -> None:
    costs = Costs(2.0, 1.5, (0.1, 0.2, 0.3))
    outputs = OUTPUTS.double().numpy()
    scores = Verma().scores(outputs, {}, costs, COHORT)
    chance = 1 / (1 + np.exp(-outputs[1, 4, 2 + 2]))
    positive = COHORT.ai_probability[4]
    assert np.isclose(scores[1, 4, 3], -5 * ((1 - chance) * (2 * positive + 1.5 * (1 - positive)) + 0.3))


def test_the_plain_form_ranks_by_logit() -> None:
    outputs = 30 * OUTPUTS.double().numpy()  # so sure that 1 − σ would be 1 for several readers at once
    scores = Verma(cost_aware=False).scores(outputs, {}, COSTS, COHORT)
    assert np.array_equal(scores[..., 1:].argmax(-1), outputs[..., 2:].argmax(-1))
