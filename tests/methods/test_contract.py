"""One suite for every method: whatever is in the registry keeps the contract."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from strategies import STATE
from toy import toy_problem

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.error_rates import fit_errors
from mpd2.core.errors import UserError
from mpd2.core.policy import NOBODY, Policy, choose
from mpd2.core.runs import Run, load_run, save_run
from mpd2.evaluation.metrics import evaluate
from mpd2.evaluation.published import published
from mpd2.methods.base import COHORT, AsksOn, ExpectsCosts, Explains, Method, Relabels, SeesInputs
from mpd2.methods.learned import Learned
from mpd2.methods.mpd2_router import Mpd2
from mpd2.methods.plus.method import Plus
from mpd2.methods.recalibrated import Recalibrated
from mpd2.methods.registry import METHODS, NOT_DEPLOYABLE, decisions_of, expectations_of, policy_of
from mpd2.training.config import PAPER
from mpd2.training.population import fit_routers

SEEDS = (42, 43)
SMALL = toy_problem(120).cohort
LEARNED = [key for key, method in METHODS.items() if isinstance(method, Learned)]
COST_AWARE, PLAIN = ([key for key in LEARNED if key.endswith("-plain") == plain] for plain in (False, True))
DEPLOYABLE = [key for key in METHODS if key not in NOT_DEPLOYABLE]
UNTAUGHT = {"ai", "random-reader", "oracle"}  # methods that learn nothing
TAUGHT = [key for key in METHODS if key not in UNTAUGHT]

every_method = pytest.mark.parametrize("key", METHODS)


def quick(key: str) -> Method:
    """The method with its training cut short."""
    method = METHODS[key]
    if isinstance(method, Learned):
        return replace(method, net=replace(method.net, epochs=3))
    if isinstance(method, Mpd2):
        return Mpd2(PAPER.but(network__width=8, training__epochs=2, training__learning_rate=0.01))
    return replace(method, draws=2) if isinstance(method, Plus | Recalibrated) else method


def fit(key: str, cohort: Cohort, seeds: tuple[int, ...] = SEEDS) -> Run:
    return quick(key).fit(cohort, cohort.manifest.default_costs(), seeds)


@cache
def fitted(key: str) -> Run:
    """The run on the small cohort, made once."""
    return fit(key, SMALL)


def same(one: Policy, other: Policy, tolerance: float = 0.0) -> bool:
    return np.allclose(one.actions, other.actions, rtol=0, atol=tolerance) and np.allclose(
        one.allocation, other.allocation, rtol=0, atol=tolerance
    )


def without_answers(cohort: Cohort) -> Cohort:
    return replace(cohort, truth=np.full_like(cohort.truth, UNKNOWN), decisions=np.full_like(cohort.decisions, UNKNOWN))


@every_method
def test_the_registry_knows_a_method_by_its_key(key: str) -> None:
    assert METHODS[key].key == key
    assert sum(method.name == METHODS[key].name for method in METHODS.values()) == 1


@every_method
def test_a_run_has_one_member_a_seed_in_every_array(key: str) -> None:
    run = fitted(key)
    assert run.method == key
    assert [settings["seed"] for settings in run.settings] == list(SEEDS)
    assert {len(values) for values in run.arrays.values()} <= {len(SEEDS)}
    assert policy_of(run, SMALL).allocation.shape == (len(SEEDS), len(SMALL), SMALL.readers)


@every_method
def test_an_absent_reader_is_never_asked(key: str) -> None:
    decisions = decisions_of(fitted(key), SMALL)
    members, cases, steps = np.nonzero(decisions.consulted != NOBODY)
    assert SMALL.available[cases, decisions.consulted[members, cases, steps]].all()


@every_method
def test_every_policy_lies_on_the_simplex_of_the_available(key: str) -> None:
    policy = policy_of(fitted(key), SMALL)
    assert ((policy.defer >= 0) & (policy.defer <= 1)).all()
    assert (policy.allocation >= 0).all()
    assert (policy.allocation[:, ~SMALL.available] == 0).all()
    assert np.allclose(policy.allocation.sum(-1), SMALL.available.any(-1), atol=1e-6)


@every_method
def test_with_no_reader_available_no_method_asks_and_the_ai_decides(key: str) -> None:
    alone = SMALL.with_available(np.zeros(SMALL.readers, bool))
    decisions = decisions_of(fitted(key), alone)
    assert not decisions.deferred.any()
    assert isinstance(METHODS[key], Relabels) or (decisions.label == SMALL.ai_label).all()
    assert (policy_of(fitted(key), alone).defer == 0).all()


@every_method
def test_what_is_expected_of_a_case_is_of_one_model_whatever_the_method(key: str) -> None:
    expected = expectations_of(
        fitted(key), SMALL, SMALL.manifest.default_costs(), fit_errors(SMALL.subset(split="train"))
    )
    assert expected is not None
    assert expected.wrong.shape == expected.cost.shape == (len(SMALL), 1 + SMALL.readers)
    says_glaucoma = SMALL.ai_label == 1
    assert np.allclose(expected.wrong[:, 0], np.where(says_glaucoma, 1 - expected.positive, expected.positive))
    assert np.allclose(expected.says[:, 0], SMALL.ai_label)
    read = expected.says[:, 1:]
    after = [expected.after(answer)[:, 1:] for answer in (0, 1)]
    assert np.allclose((1 - read) * after[0] + read * after[1], expected.positive[:, None])
    assert np.allclose((1 - read) * after[0] + read * (1 - after[1]), expected.wrong[:, 1:])
    assert np.isfinite(expected.cost[:, 0]).all()
    assert np.array_equal(np.isfinite(expected.cost[:, 1:]), SMALL.available)
    own = expectations_of(fitted(key), SMALL, SMALL.manifest.default_costs(), None)
    assert (own is not None) == isinstance(METHODS[key], ExpectsCosts)


@every_method
def test_a_method_looks_at_nothing_but_the_inputs_it_names(key: str) -> None:
    method, shuffled = METHODS[key], np.random.default_rng(0).permutation(len(SMALL))
    seen = method.inputs(SMALL.layout) if isinstance(method, SeesInputs) else ()
    assert set(seen) <= {*STATE, COHORT}
    others = [column for column, name in enumerate(STATE) if name not in seen]
    state = SMALL.state.copy()
    state[:, others] = state[shuffled][:, others]
    changed = replace(SMALL, state=state, source=SMALL.source if COHORT in seen else SMALL.source[shuffled])
    if key not in NOT_DEPLOYABLE:
        assert same(policy_of(fitted(key), changed), policy_of(fitted(key), SMALL))


@pytest.mark.parametrize("key", [key for key, method in METHODS.items() if isinstance(method, Explains)])
def test_what_a_method_decides_by_is_what_it_expects(key: str) -> None:
    method, run = METHODS[key], fitted(key)
    assert isinstance(method, Explains)
    grounds = method.grounds(run, SMALL)
    expected = expectations_of(run, SMALL, run.costs, fit_errors(SMALL.subset(split="train")))
    assert expected is not None
    assert np.allclose(expit(grounds["positive"]), expected.positive, atol=1e-12)
    asks = isinstance(method, AsksOn)
    assert ("asking" in grounds) == asks
    if asks:
        assert np.allclose(grounds["asking"], expected.cost[:, 0] - expected.cost[:, 1:].min(-1), atol=1e-12)
    alone = method.grounds(run, SMALL.with_available(np.zeros(SMALL.readers, bool)))
    assert list(alone) == ["positive"]


@every_method
def test_whom_a_method_asks_first_follows_from_its_policy(key: str) -> None:
    run = fitted(key)
    first = decisions_of(run, SMALL).consulted[..., 0]
    assert np.array_equal(first + 1, choose(policy_of(run, SMALL), run.rule))


@every_method
def test_a_saved_run_gives_the_same_policy(key: str, tmp_path: Path) -> None:
    run = fitted(key)
    save_run(run, tmp_path / "run", policy_of(run, SMALL), SMALL, {})
    assert same(policy_of(load_run(tmp_path / "run"), SMALL), policy_of(run, SMALL))


@every_method
def test_the_same_seed_gives_the_same_run(key: str) -> None:
    again = fit(key, SMALL)
    assert set(again.arrays) == set(fitted(key).arrays)
    assert all(np.array_equal(values, again.arrays[name]) for name, values in fitted(key).arrays.items())


@every_method
def test_a_member_is_what_its_seed_gives_alone(key: str) -> None:
    alone = policy_of(fit(key, SMALL, SEEDS[1:]), SMALL)
    assert np.allclose(alone.actions[0], policy_of(fitted(key), SMALL).actions[1], atol=1e-5)


@pytest.mark.parametrize("key", [*LEARNED, "mpd2", "mpd2-plus", "random-reader"])
def test_another_seed_gives_another_policy(key: str) -> None:
    policy = policy_of(fitted(key), SMALL)
    assert not np.allclose(policy.actions[0], policy.actions[1], atol=1e-4)


@every_method
def test_a_case_is_routed_alone_as_among_others(key: str) -> None:
    whole = policy_of(fitted(key), SMALL)
    alone = policy_of(fitted(key), SMALL.rows(np.array([7])))
    assert np.allclose(alone.actions, whole.actions[:, [7]], atol=1e-5)


@every_method
def test_no_case_makes_an_empty_policy(key: str) -> None:
    assert policy_of(fitted(key), SMALL.rows(np.array([], int))).actions.shape == (len(SEEDS), 0, 1 + SMALL.readers)


@pytest.mark.parametrize("key", DEPLOYABLE)
def test_a_policy_needs_neither_truth_nor_words(key: str) -> None:
    assert same(policy_of(fitted(key), without_answers(SMALL)), policy_of(fitted(key), SMALL))


@pytest.mark.parametrize("key", sorted(NOT_DEPLOYABLE))
def test_what_is_not_deployable_says_so_without_answers(key: str) -> None:
    with pytest.raises(UserError, match="needs the truth"):
        policy_of(fitted(key), without_answers(SMALL))


@pytest.mark.parametrize("key", TAUGHT)
def test_learning_refuses_cases_without_truth(key: str) -> None:
    with pytest.raises(UserError, match="truth of every train case"):
        fit(key, without_answers(SMALL))


@every_method
def test_garbage_in_the_words_of_the_absent_changes_nothing(key: str) -> None:
    garbage = np.random.default_rng(1).integers(0, 2, SMALL.decisions.shape)
    spoiled = replace(SMALL, decisions=np.where(SMALL.available, SMALL.decisions, garbage))
    run = fit(key, spoiled)
    assert all(np.array_equal(values, run.arrays[name]) for name, values in fitted(key).arrays.items())
    assert same(policy_of(run, spoiled), policy_of(fitted(key), SMALL))


@every_method
def test_the_test_split_is_never_read_in_learning(key: str) -> None:
    hidden = SMALL.split == "test"
    spoiled = replace(
        SMALL,
        state=np.where(hidden[:, None], 0.5, SMALL.state),
        truth=np.where(hidden, 1 - SMALL.truth, SMALL.truth),
        decisions=np.where(hidden[:, None] & SMALL.available, 1 - SMALL.decisions, SMALL.decisions),
    )
    run = fit(key, spoiled)
    assert all(np.array_equal(values, run.arrays[name]) for name, values in fitted(key).arrays.items())


@every_method
def test_a_population_of_nobody_is_refused(key: str) -> None:
    with pytest.raises(UserError, match="at least one"):
        fit(key, SMALL, ())


# Permuting the readers permutes the policy: refitted where a method starts alike for all readers, and for MPD², whose
# readers' weights start from different draws, by permuting the fitted weights.

ORDER = np.array([2, 0, 1])


def permuted(cohort: Cohort) -> Cohort:
    manifest = cohort.manifest.model_copy(update={"readers": tuple(cohort.manifest.readers[j] for j in ORDER)})
    return replace(
        cohort, manifest=manifest, decisions=cohort.decisions[:, ORDER], available=cohort.available[:, ORDER]
    )


@pytest.mark.parametrize("key", [key for key in METHODS if key != "mpd2"])
def test_permuting_the_readers_permutes_the_policy(key: str) -> None:
    there = policy_of(fit(key, permuted(SMALL)), permuted(SMALL))
    here = policy_of(fitted(key), SMALL)
    assert np.allclose(there.defer, here.defer, atol=1e-4)
    assert np.allclose(there.allocation, here.allocation[..., ORDER], atol=1e-4)


def test_permuting_the_weights_of_mpd2_permutes_its_policy() -> None:
    run, cohort = fitted("mpd2"), permuted(SMALL)
    heads = ("gate.weight", "gate.bias", "allocation.weight", "allocation.bias")
    arrays = {name: values[..., ORDER] if name in heads else values for name, values in run.arrays.items()}
    there = policy_of(replace(run, arrays=arrays, readers=cohort.manifest.columns), cohort)
    assert np.allclose(there.allocation, policy_of(run, SMALL).allocation[..., ORDER], atol=1e-5)


def test_a_run_of_an_unknown_method_is_refused() -> None:
    with pytest.raises(UserError, match="found 'tea-leaves'"):
        policy_of(replace(fitted("ai"), method="tea-leaves"), SMALL)


def test_a_run_refuses_other_readers() -> None:
    with pytest.raises(UserError, match="this run knows the readers"):
        policy_of(fitted("ai"), permuted(SMALL))


@pytest.mark.parametrize("key", LEARNED)
def test_a_reader_never_heard_in_training_is_never_asked(key: str) -> None:
    unheard = replace(SMALL, available=SMALL.available & ((SMALL.split == "test")[:, None] | (np.arange(3) != 0)))
    decisions = decisions_of(fit(key, unheard), SMALL)
    assert not (decisions.consulted == 0).any()


# A toy problem whose best possible cost is known, and the benchmark, where the published figures are.

TOY, UNSEEN = toy_problem(4500), toy_problem(3000, seed=1)


def cost_above_bayes(key: str) -> float:
    """The true expected cost of what a method does with unseen cases, as a multiple of the least possible."""
    run = METHODS[key].fit(TOY.cohort, TOY.cohort.manifest.default_costs(), SEEDS)
    action = choose(policy_of(run, UNSEEN.cohort))  # [E, N]
    return float(UNSEEN.expected[np.arange(len(UNSEEN.cohort)), action].mean() / UNSEEN.bayes_cost)


@pytest.mark.parametrize("key", COST_AWARE)
def test_with_known_error_rates_a_cost_aware_router_is_within_one_percent_of_bayes(key: str) -> None:
    assert cost_above_bayes(key) <= 1.01


@pytest.mark.parametrize("key", PLAIN)
def test_a_router_that_only_counts_errors_pays_for_it(key: str) -> None:
    assert cost_above_bayes(key) >= 1.05


@pytest.mark.parametrize(
    ("key", "printed_as"),
    [
        ("mao", "Mao-TwoStage"),
        ("narasimhan", "Narasimhan-PH"),
        ("verma", "Verma-OvA"),
        ("hemmer", "Hemmer-MoE"),
        ("keswani", "Keswani-Joint Committee"),
    ],
)
def test_on_the_benchmark_a_baseline_costs_no_more_than_published(key: str, printed_as: str, benchmark: Cohort) -> None:
    """Up to 0.03: two standard errors of the cost of the test split, which is read here only to compare."""
    costs, test = benchmark.manifest.default_costs(), benchmark.subset(split="test")
    printed = published("overall").query("method == @printed_as and metric == 'TotalCost'")["value"].item()
    ours = evaluate(test, decisions_of(METHODS[key].fit(benchmark, costs, SEEDS), test), costs)["TotalCost"].mean()
    assert ours <= printed + 0.03


def test_routers_of_one_run_share_the_decision_rule() -> None:
    mixed = [PAPER.but(rule="joint"), PAPER.but(rule="staged")]
    with pytest.raises(UserError, match="must share the decision rule; found joint and staged"):
        fit_routers(SMALL, SMALL.manifest.default_costs(), mixed)
