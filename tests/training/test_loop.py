"""Fitting a population: each member as if alone, resumable to the last bit, and stopped when it should be."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pytest
import torch
from strategies import STATE
from toy import toy_problem

from mpd2.core import rng
from mpd2.core.cohort import Cohort
from mpd2.core.costs import Costs
from mpd2.core.errors import Cancelled, UserError
from mpd2.core.policy import Policy
from mpd2.training import devices, loop, losses
from mpd2.training.config import LOGGED, PAPER, STUDIO, Config
from mpd2.training.crew import Crew, TrainingState, to_policy
from mpd2.training.inputs import prepare
from mpd2.training.loop import Progress, Trained, train
from mpd2.training.network import Encoders, Noise, initial_weights, soft_policy

SMALL = PAPER.but(
    network__width=6,
    training__batch_size=12,
    training__epochs=6,
    training__warm_up=1,
    training__learning_rate=1e-2,
)
MIXED = [
    SMALL.but(seed=1),
    SMALL.but(
        seed=2,
        training__learning_rate=2e-3,
        training__epochs=3,
        objective__gsdp_weight=0.7,
        objective__rank_weight=0.9,
        objective__fee_weight=1.2,
        budget__target=0.2,
        budget__dual_step=2.0,
    ),
    SMALL.but(seed=1, training__warm_up=0, training__patience=1, training__learning_rate=0.4, budget__target=None),
    SMALL.but(
        seed=9,
        rule="staged",
        objective__ai_cost="hard",
        objective__expected_share=0.5,
        objective__rank_decay=(0.4,),
        prior__sharpness=2.0,
        training__checkpoint="hard",
        training__weight_decay=0.1,
    ),
]


@pytest.fixture(scope="module")
def cohort(benchmark) -> Cohort:
    """A hundred and eight real cases: the first twelve of every cohort in every split."""
    strata = np.char.add(benchmark.sources, benchmark.split)
    first = [np.flatnonzero(strata == stratum)[:12] for stratum in np.unique(strata)]
    return benchmark.rows(np.sort(np.concatenate(first)))


def fit(cohort: Cohort, *configs: Config, dtype: torch.dtype = torch.float64, **options) -> Trained:
    return train(cohort, configs, device="cpu", dtype=dtype, **options)


def logged(trained: Trained, name: str) -> np.ndarray:
    """One column of the log, [epochs, E]."""
    return trained.history[..., LOGGED.index(name)]


def epochs_of(trained: Trained) -> list[int]:
    """How many epochs each member trained."""
    return np.isfinite(logged(trained, "score")).sum(0).tolist()


def state_after(epochs: int, cohort: Cohort, *configs: Config, **options) -> TrainingState:
    """The state of a training that was cancelled after some epochs."""
    kept = []

    def cancel(progress: Progress) -> None:
        if progress.epoch == epochs:
            kept.append(progress.state())
            raise Cancelled

    with pytest.raises(Cancelled):
        fit(cohort, *configs, callbacks=[cancel], **options)
    return kept[0]


def assert_same(left: Trained, right: Trained) -> None:
    """To the last bit."""
    assert left.configs == right.configs
    assert torch.equal(left.weights.flat, right.weights.flat)
    np.testing.assert_array_equal(left.best_epoch, right.best_epoch)
    np.testing.assert_array_equal(left.history, right.history)
    np.testing.assert_array_equal(left.loads, right.loads)
    assert left.problems == right.problems


def assert_member(together: Trained, position: int, alone: Trained) -> None:
    """To the last bit."""
    epochs = len(alone.history)
    assert torch.equal(together.weights.flat[position], alone.weights.flat[0])
    assert together.best_epoch[position] == alone.best_epoch[0]
    for name in ("history", "loads"):
        ours, theirs = getattr(together, name)[:, position], getattr(alone, name)[:, 0]
        np.testing.assert_array_equal(ours[:epochs], theirs)
        assert np.isnan(ours[epochs:]).all()


# Alone and together


@pytest.fixture(scope="module")
def alone(cohort) -> list[Trained]:
    return [fit(cohort, config) for config in MIXED]


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0], [1, 3, 1]], ids=str)
def test_a_member_is_the_router_one_gets_alone(cohort, alone, order):
    together = fit(cohort, *(MIXED[position] for position in order))
    for place, position in enumerate(order):
        assert_member(together, place, alone[position])


def test_a_member_of_the_studys_size_is_the_router_one_gets_alone(benchmark):
    few = STUDIO.but(training__epochs=2, training__warm_up=0)
    configs = [few.but(seed=seed) for seed in (42, *range(100, 135), 43)]
    single = {"dtype": torch.float32}
    together, backwards = fit(benchmark, *configs, **single), fit(benchmark, *configs[::-1], **single)
    assert torch.equal(together.weights.flat, backwards.weights.flat.flip(0))
    assert_member(together, 0, fit(benchmark, configs[0], **single))
    assert_member(together, len(configs) - 1, fit(benchmark, configs[-1], **single))


def test_the_mixed_members_stop_at_different_times(alone):
    assert len({len(trained.history) for trained in alone}) == 3


def test_the_same_seed_gives_the_same_router_and_another_seed_another(cohort):
    first, again, other = (fit(cohort, SMALL.but(seed=seed)) for seed in (1, 1, 2))
    assert_same(first, again)
    assert not torch.equal(first.weights.flat, other.weights.flat)


def test_an_epoch_is_a_plain_loop_over_batches(cohort):
    config = SMALL.but(training__epochs=2, training__warm_up=2, budget__target=0.1, budget__dual_step=3.0)
    trained = fit(cohort, config)

    inputs = prepare(cohort, [config], cohort.manifest.default_costs(), torch.device("cpu"), torch.float64)
    data, readers, one = inputs.train, cohort.readers, torch.ones(1).double()
    start = initial_weights([config.seed], config.network, readers, inputs.encoders, inputs.anatomy, torch.float64)
    weights = {name: torch.nn.Parameter(view.clone()) for name, view in start.items()}
    optimiser = torch.optim.AdamW(weights.values(), lr=1e-2, weight_decay=1e-4)
    multiplier = 0 * one
    for epoch in range(2):
        order = rng.orders([config.seed], epoch, len(data))[0]
        gates = torch.tensor(rng.gate_noise([config.seed], epoch, len(data), readers))
        keeps = torch.tensor(rng.dropout_keeps([config.seed], epoch, len(data), 6 * len(inputs.encoders.blocks), 0.1))
        deferral = 0.0
        for low, high in pairwise(range(0, 37, 12)):
            rows = torch.tensor(order[low:high])
            noise = Noise.of(gates[:, low:high], keeps[:, low:high], 0.1, inputs.encoders)
            policy = soft_policy(
                weights,
                inputs.normaliser,
                inputs.encoders,
                data.state[None, rows],
                data.available[None, rows],
                0.5,
                noise,
            )
            loss = (
                losses.routing_cost(policy, data.cost[:, rows])
                + config.objective.gsdp_weight * losses.gsdp(policy, data.group[None, rows], inputs.prior)
                + config.objective.rank_weight * losses.rank_js(policy, inputs.profile, 0 * one)
                + losses.budget_penalty(policy, 0.1 * one, multiplier, config.budget.penalty * one)
            )
            optimiser.zero_grad()
            loss.sum().backward()
            optimiser.step()
            deferral += policy.defer.mean().item() / 3
        multiplier = losses.ascended(multiplier, deferral * one, 0.1 * one, 3.0 * one)
        assert logged(trained, "multiplier")[epoch].item() == pytest.approx(multiplier.item(), rel=1e-9)
    for name, view in weights.items():
        np.testing.assert_allclose(trained.weights[name], view.detach(), rtol=0, atol=1e-9, err_msg=name)


# In crews


@pytest.fixture
def in_crews(monkeypatch) -> Iterator[Callable[[int], list[list[int]]]]:
    """Train on so many threads, even a few members; the list gets the sizes of the crews each time they are formed."""
    before, formed = torch.get_num_threads(), []

    def crews_of(*arguments) -> list[Crew]:
        crews = loop_crews(*arguments)
        formed.append([len(crew.rows) for crew in crews])
        return crews

    def use(threads: int) -> list[list[int]]:
        torch.set_num_threads(threads)
        monkeypatch.setattr(os, "cpu_count", lambda: threads)
        monkeypatch.setattr(devices, "ENOUGH_WORK", 1)
        return formed

    loop_crews = loop._crews
    monkeypatch.setattr(loop, "_crews", crews_of)
    yield use
    torch.set_num_threads(before)


@pytest.mark.parametrize(("threads", "first"), [(1, [4]), (2, [2, 2]), (3, [2, 1, 1]), (9, [1, 1, 1, 1])])
def test_in_crews_a_member_is_the_router_one_gets_alone(cohort, alone, in_crews, threads, first):
    formed = in_crews(threads)
    together = fit(cohort, *MIXED)
    assert formed[0] == first
    assert [sum(sizes) for sizes in formed] == [4, 3, 2]  # formed anew when a member stops
    for position in range(4):
        assert_member(together, position, alone[position])


def test_a_population_of_the_studys_size_is_the_same_in_one_crew_and_in_two(benchmark, in_crews):
    few = STUDIO.but(training__epochs=3, training__warm_up=0)
    formed, trained = in_crews(1), []
    for threads in (1, 2):
        in_crews(threads)
        trained.append(fit(benchmark, *(few.but(seed=seed) for seed in range(10)), dtype=torch.float32))
    assert formed == [[10], [5, 5]]
    assert_same(*trained)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_large_population_has_more_crews_than_threads(cohort, alone, in_crews, monkeypatch, threads):
    monkeypatch.setattr(loop, "LARGEST_CREW", 3)
    formed, many = in_crews(threads), [0, 3] * 4
    together = fit(cohort, *(MIXED[position] for position in many))
    assert formed == [[3, 3, 2]]
    for place, position in enumerate(many):
        assert_member(together, place, alone[position])


def test_crews_report_stop_and_fail_as_one_population(cohort, in_crews):
    def stop_one(progress: Progress) -> None:
        told[-1].append([progress.epoch, dict(progress.log), progress.load, progress.active, progress.policy().defer])
        if progress.epoch == 2:
            progress.stop([3])

    runaway = SMALL.but(training__learning_rate=1e30)
    formed, told, trained = in_crews(1), [], []
    for threads in (1, 2):
        in_crews(threads)
        told.append([])
        trained.append(fit(cohort, runaway, *MIXED, runaway, callbacks=[stop_one]))
    assert formed[0] == [6]
    assert [3, 3] in formed
    assert_same(*trained)
    assert list(trained[1].problems) == [0, 5]
    np.testing.assert_equal(told[1], told[0])


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1), (2, 3)])
def test_a_training_broken_off_in_some_crews_goes_on_in_others(cohort, in_crews, before, after):
    in_crews(before)
    state = state_after(2, cohort, *MIXED)
    in_crews(after)
    assert_same(fit(cohort, *MIXED, resume=state), fit(cohort, *MIXED))


def test_an_error_in_a_crew_ends_the_training(cohort, in_crews, monkeypatch):
    def fail(crew: Crew) -> None:
        if len(crew.rows) == 1:
            raise MemoryError("no room for this crew")
        crews.append(crew)

    crews: list[Crew] = []
    in_crews(2)
    monkeypatch.setattr(Crew, "epoch", fail)
    with pytest.raises(MemoryError, match="no room"):
        fit(cohort, *MIXED[:3])
    assert len(crews) == 1


# What must not matter


def test_what_stands_in_an_absent_readers_cell_changes_no_weight(cohort):
    garbage = np.random.default_rng(0).integers(0, 2, cohort.decisions.shape)
    spoilt = dataclasses.replace(cohort, decisions=np.where(cohort.available, cohort.decisions, garbage))
    assert (spoilt.decisions != cohort.decisions).any()
    assert_same(fit(spoilt, SMALL, MIXED[3]), fit(cohort, SMALL, MIXED[3]))


def test_the_test_cases_change_no_weight(cohort):
    assert_same(fit(cohort.rows(cohort.split != "test"), SMALL), fit(cohort, SMALL))


def test_a_table_where_nobody_can_be_asked_trains_a_router_that_keeps_the_ai(cohort):
    nobody = cohort.with_available(np.zeros(cohort.readers, bool))
    trained = fit(nobody, SMALL)
    assert (logged(trained, "val_soft_deferral") == 0).all()
    assert (trained.loads == 0).all()
    assert trained.weights.flat.isfinite().all()


# What is written down


def test_the_loss_is_the_sum_of_its_weighted_terms(alone):
    for config, trained in zip(MIXED, alone, strict=True):
        expected = (
            logged(trained, "routing_cost")
            + config.objective.gsdp_weight * logged(trained, "gsdp")
            + config.objective.rank_weight * logged(trained, "rank_js")
            + logged(trained, "budget_penalty")
        )
        np.testing.assert_allclose(logged(trained, "loss"), expected, rtol=1e-9)


def test_the_score_is_the_validation_cost_and_ten_times_the_excess(alone):
    for config, trained in zip(MIXED, alone, strict=True):
        target = 1.0 if config.budget.target is None else config.budget.target
        base = logged(trained, "val_total" if config.training.checkpoint == "hard" else "val_cost")
        excess = np.maximum(logged(trained, "val_soft_deferral") - target, 0)
        np.testing.assert_allclose(logged(trained, "score"), base + 10 * excess, rtol=1e-9)


def test_the_multiplier_follows_the_deferral_epoch_by_epoch(alone):
    config, trained = MIXED[1], alone[1]
    value = 0.0
    for multiplier, deferral in zip(logged(trained, "multiplier"), logged(trained, "soft_deferral"), strict=True):
        value = max(0.0, value + config.budget.dual_step * (deferral.item() - config.budget.target))
        assert multiplier.item() == pytest.approx(value)
    assert value > 0


def test_without_a_budget_the_multiplier_stays_at_zero_even_if_all_is_deferred(cohort):
    costly_ai = Costs(50.0, 50.0, (0.0,) * cohort.readers)
    free = SMALL.but(budget__target=None, budget__dual_step=5.0, training__learning_rate=0.3)
    trained = fit(cohort, free, costs=costly_ai, dtype=torch.float32)
    assert logged(trained, "soft_deferral").max() > 0.95
    assert (logged(trained, "multiplier") == 0).all()
    assert (logged(trained, "budget_penalty") == 0).all()


@pytest.mark.parametrize("position", range(len(MIXED)))
def test_the_weights_kept_are_those_of_the_best_epoch(cohort, alone, position):
    config, trained = MIXED[position], alone[position]
    val = cohort.subset(split="val")
    state, available = torch.tensor(val.state)[None], torch.tensor(val.available)
    soft = soft_policy(trained.weights, trained.normaliser, Encoders.of(cohort.layout), state, available[None], 0.5)
    kept = trained.best_epoch[0] - 1
    assert to_policy(soft, available).defer.mean() == pytest.approx(logged(trained, "val_soft_deferral")[kept, 0])
    load = (soft.defer[..., None] * soft.allocation).mean(1)
    np.testing.assert_allclose(load[0], trained.loads[kept, 0], rtol=1e-9)
    score = logged(trained, "score")[config.training.warm_up :, 0]
    assert kept == config.training.warm_up + score.argmin()


# When it ends


def test_no_checkpoint_is_kept_in_the_warm_up_and_patience_counts_from_its_end(cohort):
    still = SMALL.but(training__learning_rate=1e-30, training__epochs=20)  # nothing moves, so no epoch is better
    patient = still.but(training__warm_up=3, training__patience=2)
    trained = fit(cohort, patient, still.but(training__warm_up=0, training__patience=1))
    assert trained.best_epoch.tolist() == [4, 1]
    assert epochs_of(trained) == [6, 2]


def test_a_better_epoch_starts_the_patience_anew(alone):
    config, trained = MIXED[2], alone[2]
    epochs = len(trained.history)
    assert epochs < config.training.epochs
    assert epochs == trained.best_epoch[0] + config.training.patience


@pytest.mark.parametrize("warm_up", [2, 3, 50])
def test_a_training_shorter_than_its_warm_up_keeps_its_last_epoch(cohort, warm_up):
    trained = fit(cohort, SMALL.but(training__epochs=2, training__warm_up=warm_up))
    assert trained.best_epoch.tolist() == [2]


def test_a_member_that_runs_away_stops_with_a_message_and_leaves_the_others_alone(cohort, alone):
    runaway = SMALL.but(training__learning_rate=1e30)
    together = fit(cohort, MIXED[0], runaway, MIXED[1])
    assert together.configs == (MIXED[0], MIXED[1])
    assert together.problems == {
        1: "member 2 stopped in epoch 2: its loss was no longer a finite number; "
        "try a smaller learning rate or smaller weights"
    }
    for place in (0, 1):
        assert_member(together, place, alone[place])


def test_a_member_that_runs_away_late_keeps_its_best_checkpoint(cohort):
    state = state_after(3, cohort, *MIXED[:2])
    best = state.best[0].clone()
    state.current[0, 0] = torch.nan
    trained = fit(cohort, *MIXED[:2], resume=state)
    assert trained.problems[0].startswith("member 1 stopped in epoch 4: its loss was no longer a finite number")
    assert torch.equal(trained.weights.flat[0], best)
    assert trained.best_epoch[0] <= 3


def test_if_nobody_can_be_trained_the_error_says_why(cohort):
    with pytest.raises(UserError, match=r"^no router could be trained: member 1 stopped in epoch 1: its loss was no"):
        fit(cohort, SMALL.but(training__learning_rate=1e30), dtype=torch.float32)


def test_a_validation_cost_that_is_not_finite_stops_a_member_too(cohort):
    state = np.array(cohort.state)
    state[cohort.split == "val", STATE.index("vim_risk_z")] = 1e30
    with pytest.raises(UserError, match=r"^no router could be trained: member 1 stopped in epoch 1"):
        fit(dataclasses.replace(cohort, state=state), SMALL, dtype=torch.float32)


# Breaking off and going on


@pytest.mark.parametrize("epoch", [1, 2, 4, 5])
def test_a_training_that_was_cancelled_goes_on_to_the_same_end(cohort, epoch):
    state = state_after(epoch, cohort, *MIXED)
    assert_same(fit(cohort, *MIXED, resume=state), fit(cohort, *MIXED))
    assert state.epoch == len(state.history) == epoch  # it is not used up


def test_a_training_that_was_done_goes_on_to_what_it_was(cohort):
    states = []
    trained = fit(cohort, *MIXED[:2], callbacks=[lambda progress: states.append(progress.state())])
    assert_same(fit(cohort, *MIXED[:2], resume=states[-1]), trained)
    assert [state.epoch for state in states] == [1, 2, 3, 4, 5, 6]


def test_a_training_goes_on_only_with_the_cases_and_costs_it_began_with(cohort):
    state = state_after(1, cohort, SMALL)
    message = r"^the unfinished training learned from other cases or costs; go on with those, or start anew$"
    with pytest.raises(UserError, match=message):
        fit(cohort, SMALL, resume=state, costs=dataclasses.replace(cohort.manifest.default_costs(), false_negative=3.0))
    with pytest.raises(UserError, match=message):
        fit(cohort.rows(np.arange(len(cohort)) > 0), SMALL, resume=state)
    with pytest.raises(UserError, match=message):
        fit(cohort.with_available(np.arange(cohort.readers) > 0), SMALL, resume=state)


def test_a_callback_is_told_every_epoch_of_every_member(cohort):
    told: list[Progress] = []
    trained = fit(cohort, *MIXED[:3], callbacks=[told.append])
    assert [progress.epoch for progress in told] == list(range(1, len(trained.history) + 1))
    assert {progress.epochs for progress in told} == {6}
    for progress, history, load in zip(told, trained.history, trained.loads, strict=True):
        np.testing.assert_array_equal(np.stack([progress.log[name] for name in LOGGED], axis=-1), history)
        np.testing.assert_array_equal(progress.load, load)
    assert not told[-1].active.any()
    assert told[0].active[:2].all()


def test_a_member_stopped_by_a_callback_keeps_what_it_has_and_leaves_the_others_alone(cohort, alone):
    def stop_some(progress: Progress) -> None:
        if progress.epoch == 2:
            progress.stop([0, 2])
            progress.stop([])

    policies: list[Policy] = []
    trained = fit(cohort, *MIXED, callbacks=[stop_some, lambda progress: policies.append(progress.policy())])
    val = cohort.subset(split="val")
    assert [(~np.isnan(policy.defer)).all(-1).tolist() for policy in policies[:3]] == [[True] * 4] * 2 + [
        [False, True, False, True]
    ]
    np.testing.assert_allclose(policies[2].defer[3].mean(), logged(trained, "val_soft_deferral")[2, 3])
    assert policies[0].allocation.shape == (4, len(val), cohort.readers)
    assert trained.positions == (0, 1, 2, 3)
    assert epochs_of(trained) == [2, *epochs_of(alone[1]), 2, *epochs_of(alone[3])]
    assert trained.best_epoch[0] == 2
    for position in (1, 3):
        assert_member(trained, position, alone[position])
    early = fit(cohort, *MIXED, callbacks=[lambda progress: progress.stop([0, 3])])
    assert early.positions == (1, 2)


# Who may train together


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"network__width": 7}, "network"),
        ({"training__batch_size": 11}, "batch size"),
        ({"objective__detach_defer": True}, "detach_defer"),
    ],
)
def test_members_that_cannot_share_a_step_are_refused(cohort, changes, what):
    message = rf"^members of one population must share the {what}; found 2 different ones$"
    with pytest.raises(UserError, match=message):
        fit(cohort, SMALL, SMALL.but(**changes))


def test_a_population_without_members_is_refused(cohort):
    with pytest.raises(UserError, match=r"^a population needs at least one member$"):
        fit(cohort)


def test_a_trained_router_beats_the_ai_where_readers_know_better():
    toy = toy_problem(600)
    trained = fit(toy.cohort, SMALL.but(objective__ai_cost="hard", training__epochs=15, training__batch_size=32))
    val = toy.cohort.split == "val"
    ai_only = toy.expected[val, 0].mean()
    assert logged(trained, "val_total")[trained.best_epoch[0] - 1, 0] < 0.9 * ai_only
