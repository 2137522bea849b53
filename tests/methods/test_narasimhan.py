"""Narasimhan post-hoc."""

from __future__ import annotations

import numpy as np
import torch
from toy import toy_problem

from mpd2.core.costs import Costs
from mpd2.core.policy import Policy, choose
from mpd2.methods.narasimhan import TEMPERATURES, Narasimhan, error_loss
from mpd2.methods.registry import policy_of
from mpd2.methods.stacked import Cases, to_cases
from mpd2.methods.verma import Verma

COHORT = toy_problem(900).cohort
ALIKE = Costs(1.0, 1.0, (0.0, 0.0, 0.0))


def cases() -> Cases:
    return to_cases(COHORT, COHORT.manifest.default_costs(), COHORT.state.mean(0), COHORT.state.std(0))


def logits(chances: np.ndarray) -> np.ndarray:
    return np.log(chances / (1 - chances))


def test_the_loss_counts_both_errors_of_the_available_and_nothing_else() -> None:
    outputs = torch.randn(1, len(COHORT), 8, generator=torch.Generator().manual_seed(0))
    chances = outputs.sigmoid()[0].double().numpy()
    total = 0.0
    for i in range(len(COHORT)):
        for a, label in enumerate(COHORT.action_labels[i]):
            if a == 0 or COHORT.available[i, a - 1]:
                missed = COHORT.truth[i] == 1 and label == 0
                alarmed = COHORT.truth[i] == 0 and label == 1
                total -= np.log(chances[i, a] if missed else 1 - chances[i, a])
                total -= np.log(chances[i, 4 + a] if alarmed else 1 - chances[i, 4 + a])
    assert np.isclose(error_loss(outputs, cases()[None]).item(), total / len(COHORT), rtol=1e-5)


def test_calibration_takes_back_what_was_overdone() -> None:
    known = cases()
    sick = known.truth[:, None]
    # Constant heads at the observed rates are calibrated; twice as sure, they need the temperature 2.
    errors = torch.cat([known.wrong * sick, known.wrong * (1 - sick)], dim=-1)
    rates = errors.sum(0) / torch.cat([known.possible, known.possible], dim=-1).sum(0)
    calibrated = torch.logit(rates).expand(1, len(COHORT), -1)
    found = Narasimhan().tune(torch.cat([calibrated, 2 * calibrated]), known[None])["temperature"]
    assert np.allclose(found, [1.0, 2.0], rtol=np.diff(np.log(TEMPERATURES)).max())


def test_the_least_expected_cost_is_chosen() -> None:
    missed = np.array([[[0.20, 0.02, 0.30, 0.01]]])
    alarmed = np.array([[[0.10, 0.02, 0.01, 0.20]]])
    outputs = logits(np.concatenate([missed, alarmed], axis=-1))
    costs = Costs(2.0, 1.5, (0.3, 0.1, 0.1))
    scores = Narasimhan().scores(outputs, {"temperature": np.ones(1)}, costs, COHORT.rows(np.array([0])))
    expected = 2.0 * missed + 1.5 * alarmed + np.array([0.0, 0.3, 0.1, 0.1])
    assert scores.argmax() == expected.argmin() == 1
    assert np.allclose(np.diff(scores), -5 * np.diff(expected))


def test_plain_and_one_vs_all_choose_alike_when_all_are_there_and_cost_alike() -> None:
    """With the same chances to be right, the AI's among them, both take the largest."""
    random = np.random.default_rng(0)
    errors = random.uniform(0.01, 0.45, (2, 1, len(COHORT), 4))
    right = 1 - errors.sum(0)  # [1, N, 4]
    classes = np.repeat(logits(right[..., :1]), 2, axis=-1)
    own = np.where(np.eye(2)[COHORT.ai_label] == 1, classes, -classes)  # the AI's own class at its chance to be right
    plug_in = Narasimhan(cost_aware=False).scores(
        logits(np.concatenate(errors, axis=-1)), {"temperature": np.ones(1)}, ALIKE, COHORT
    )
    one_vs_all = Verma(cost_aware=False).scores(
        np.concatenate([own, logits(right[..., 1:])], axis=-1), {}, ALIKE, COHORT
    )
    everybody = np.ones_like(COHORT.available)
    actions = [choose(Policy.from_scores(scores, everybody)) for scores in (plug_in, one_vs_all)]
    assert (actions[0] == actions[1]).all()
    assert len(np.unique(actions[0])) == 4


def test_plain_and_one_vs_all_learn_to_choose_alike() -> None:
    toy = toy_problem(4500).cohort
    costs = toy.manifest.default_costs()
    runs = [method(cost_aware=False).fit(toy, costs, (42,)) for method in (Narasimhan, Verma)]
    clear = COHORT.rows(COHORT.column("uncertainty") > 0.3)  # elsewhere the AI and a reader are about as good
    actions = [choose(policy_of(run, clear)) for run in runs]
    assert (actions[0] == actions[1]).mean() > 0.97
