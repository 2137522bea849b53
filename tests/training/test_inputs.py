"""What a population learns from."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from strategies import STATE, cohorts

from mpd2.core.cohort import UNKNOWN, Cohort, learning_split
from mpd2.core.costs import Costs
from mpd2.core.error_rates import ErrorRates
from mpd2.core.errors import EmptyCohort, UserError
from mpd2.training.anatomy import fit_anatomy
from mpd2.training.config import PAPER
from mpd2.training.inputs import TrainingInputs, prepare, training_costs
from mpd2.training.prior import geometric_profile

SHARES = st.floats(0, 1)
DENOISED = {"objective__expected_share": 0.5}


def inputs_of(cohort: Cohort, *changes: dict) -> TrainingInputs:
    configs = [PAPER.but(**change) for change in changes or ({},)]
    return prepare(cohort, configs, cohort.manifest.default_costs(), torch.device("cpu"), torch.float64)


def tensors(inputs: TrainingInputs) -> dict[str, np.ndarray]:
    """Everything of the inputs by name."""
    found = {"anatomy": inputs.anatomy}
    for name, part in (("train", inputs.train), ("val", inputs.val), ("scale", inputs.normaliser), ("", inputs)):
        values = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
        found |= {f"{name}.{key}": value.numpy() for key, value in values.items() if isinstance(value, torch.Tensor)}
    return found


def differing(left: TrainingInputs, right: TrainingInputs) -> list[str]:
    ours, theirs = tensors(left), tensors(right)
    return [name for name in ours if not np.array_equal(ours[name], theirs[name])]


@settings(max_examples=40)
@given(cohorts(readers=st.integers(1, 30)), st.floats(0, 2), st.sampled_from(["soft", "hard"]), SHARES)
def test_each_training_cost_is_the_papers(cohort, gamma, ai_cost, share):
    costs = cohort.manifest.default_costs()
    random = np.random.default_rng(0)
    missed, alarmed = random.random((2, len(cohort), 1 + cohort.readers))
    config = PAPER.but(objective__fee_weight=gamma, objective__ai_cost=ai_cost, objective__expected_share=share)
    found = training_costs(cohort, costs, config, ErrorRates(missed, alarmed))

    for i in range(len(cohort)):
        y, p = cohort.truth[i], cohort.ai_probability[i] if ai_cost == "soft" else float(cohort.ai_label[i])
        expected = [2.0 * missed[i, a] + 1.5 * alarmed[i, a] for a in range(1 + cohort.readers)]
        observed = 2.0 * y * (1 - p) + 1.5 * (1 - y) * p
        assert found[i, 0] == pytest.approx((1 - share) * observed + share * expected[0])
        for j in range(cohort.readers):
            if not cohort.available[i, j]:
                assert found[i, 1 + j] == 0
                continue
            word = cohort.decisions[i, j]
            observed = 2.0 * (y == 1 and word == 0) + 1.5 * (y == 0 and word == 1)
            clinical = (1 - share) * observed + share * expected[1 + j]
            assert found[i, 1 + j] == pytest.approx(clinical + gamma * costs.fees[j])


def test_what_is_validated_is_what_is_reported_with_the_full_fee(small_cohort):
    inputs = inputs_of(small_cohort, {"objective__fee_weight": 0.1})
    val = small_cohort.subset(split="val")
    total = small_cohort.manifest.default_costs().of_actions(val)
    np.testing.assert_array_equal(inputs.val.total, np.where(np.isfinite(total), total, 0))


def test_each_member_has_its_own_costs_prior_and_profile(small_cohort):
    changes = [{"objective__fee_weight": 0.1}, {"prior__sharpness": 3.0, "objective__rank_decay": (0.4,)}]
    together = inputs_of(small_cohort, *changes)
    for e, change in enumerate(changes):
        alone = inputs_of(small_cohort, change)
        for name in ("prior", "profile"):
            assert torch.equal(getattr(together, name)[e], getattr(alone, name)[0])
        assert torch.equal(together.train.cost[e], alone.train.cost[0])
        assert not torch.equal(together.prior[0], together.prior[1])
    np.testing.assert_array_equal(together.profile[1], geometric_profile((0.4,), small_cohort.readers))


def test_every_case_is_in_one_group_and_the_prior_has_mass_on_each_of_its_readers(small_cohort):
    inputs = inputs_of(small_cohort)
    for part in (inputs.train, inputs.val):
        assert (part.group.sum(-1) == 1).all()
    train = inputs.train
    prior = inputs.prior[0][train.group.argmax(-1)]  # [N, M]
    assert (prior[train.available] > 0).all()


def test_the_state_is_scaled_by_the_training_cases_alone(small_cohort):
    inputs = inputs_of(small_cohort)
    state = inputs.normaliser(inputs.train.state)
    np.testing.assert_allclose(state.mean(0), 0, atol=1e-9)
    np.testing.assert_allclose(state.std(0, correction=0), 1)


@pytest.mark.parametrize("value", [0.1, 0.3, 1e3, 0.0])
def test_a_state_that_does_not_vary_in_training_is_left_as_it_is(small_cohort, value):
    state = np.array(small_cohort.state)
    state[:, STATE.index("quality_risk")] = np.where(small_cohort.split == "train", value, value + 0.5)
    scaled = inputs_of(dataclasses.replace(small_cohort, state=state)).normaliser(torch.tensor(state))
    assert scaled[:, STATE.index("quality_risk")].abs().max() <= 0.5 + 1e-9


def test_nothing_is_learned_from_val_or_test(small_cohort):
    later = small_cohort.split != "train"
    other = dataclasses.replace(
        small_cohort,
        state=np.where(later[:, None], small_cohort.state[::-1], small_cohort.state),
        truth=np.where(later, 1 - small_cohort.truth, small_cohort.truth),
        decisions=np.where(later[:, None] & small_cohort.available, 1 - small_cohort.decisions, small_cohort.decisions),
    )
    changed = differing(inputs_of(other, DENOISED), inputs_of(small_cohort, DENOISED))
    assert changed
    assert all(name.startswith("val.") for name in changed)
    without_test = small_cohort.rows(small_cohort.split != "test")
    assert not differing(inputs_of(without_test, DENOISED), inputs_of(small_cohort, DENOISED))


def test_what_stands_in_an_absent_readers_cell_changes_nothing(small_cohort):
    garbage = np.random.default_rng(0).integers(0, 2, small_cohort.decisions.shape)
    decisions = np.where(small_cohort.available, small_cohort.decisions, garbage)
    assert (decisions != small_cohort.decisions).any()
    spoilt = dataclasses.replace(small_cohort, decisions=decisions)
    assert not differing(inputs_of(spoilt, DENOISED), inputs_of(small_cohort, DENOISED))


def test_a_reader_who_was_there_and_said_nothing_counts_as_absent(small_cohort):
    silent = np.random.default_rng(0).random(small_cohort.available.shape) < 0.3
    decisions = np.where(silent, UNKNOWN, small_cohort.decisions)
    there = dataclasses.replace(small_cohort, decisions=decisions)
    gone = dataclasses.replace(there, available=small_cohort.available & ~silent)
    assert (there.available != gone.available).any()
    assert not differing(inputs_of(there, DENOISED), inputs_of(gone, DENOISED))


def test_a_case_without_truth_cannot_be_learned_from(small_cohort):
    truth = np.where(small_cohort.ids == small_cohort.subset(split="val").ids[0], UNKNOWN, small_cohort.truth)
    partly = dataclasses.replace(small_cohort, truth=truth)
    assert len(learning_split(partly, "train")) == 18
    with pytest.raises(UserError, match=r"^training needs the truth of every val case; 1 of 18 have none$"):
        inputs_of(partly)


def test_a_table_without_val_cases_cannot_be_trained_on(small_cohort):
    with pytest.raises(EmptyCohort, match="split val"):
        inputs_of(small_cohort.subset(split="train"))


def test_another_number_of_fees_is_refused(small_cohort):
    with pytest.raises(UserError, match=r"^fees: found 2, expected one for each of the 12 readers$"):
        prepare(small_cohort, [PAPER], Costs(2, 1.5, (0.1, 0.2)), torch.device("cpu"), torch.float64)


def test_the_structural_risk_starts_as_a_ridge_logistic_fit(benchmark):
    train = benchmark.subset(split="train")
    ratios = np.column_stack([train.column("vCDR"), train.column("aCDR")])
    expected = LogisticRegression(C=1.0, tol=1e-8).fit(ratios, train.truth)
    np.testing.assert_allclose(fit_anatomy(train), [*expected.coef_[0], *expected.intercept_], rtol=1e-3)
