"""The recalibrated AI: it asks nobody and gives the label of the cheaper expected error."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from toy import toy_problem

from mpd2.core.cohort import UNKNOWN, Cohort
from mpd2.core.costs import Costs
from mpd2.core.error_rates import error_rates
from mpd2.core.policy import NOBODY, apply_actions, route
from mpd2.core.runs import Run, load_continuations, load_predictions, load_run, save_run
from mpd2.evaluation.metrics import evaluate
from mpd2.methods.base import AsksOn, HasPosterior, Relabels
from mpd2.methods.plus.method import Plus, outlook_of
from mpd2.methods.recalibrated import PENALTY, Recalibrated, RecalibratedScore
from mpd2.methods.registry import METHODS, continuations_of, decisions_of, expectations_of, policy_of

SEEDS = (42, 43)
COHORT = toy_problem(900).cohort
COSTS = COHORT.manifest.default_costs()
TRAIN, TEST = COHORT.subset(split="train"), COHORT.subset(split="test")

both_versions = pytest.mark.parametrize("key", ["recalibrated-score", "recalibrated"])


def posterior(run: Run, cohort: Cohort = TEST) -> np.ndarray:
    method = METHODS[run.method]
    assert isinstance(method, HasPosterior)
    return method.positive(run, cohort)


@cache
def run_of(key: str) -> Run:
    return METHODS[key].fit(COHORT, COSTS, SEEDS)


def test_one_score_is_a_logistic_regression_on_the_ais_log_odds() -> None:
    log_odds = TRAIN.column("logit_1") - TRAIN.column("logit_0")
    reference = LogisticRegression(C=1 / PENALTY, tol=1e-10).fit(log_odds[:, None], TRAIN.truth)
    slope, intercept = run_of("recalibrated-score").arrays["coefficients"][0]
    assert slope == pytest.approx(reference.coef_.item(), abs=1e-5)
    assert intercept == pytest.approx(reference.intercept_.item(), abs=1e-5)
    here = TEST.column("logit_1") - TEST.column("logit_0")
    assert posterior(run_of("recalibrated-score"))[1] == pytest.approx(expit(slope * here + intercept))


def test_all_inputs_are_the_posterior_of_mpd2_plus() -> None:
    plus = Plus(draws=4).fit(COHORT, COSTS, SEEDS)
    alone = Recalibrated(draws=4).fit(COHORT, COSTS, SEEDS)
    assert np.array_equal(posterior(alone), outlook_of(plus, TEST).prior)
    silent = TEST.with_available(np.zeros(TEST.readers, bool))
    assert np.array_equal(decisions_of(alone, silent).label, decisions_of(plus, silent).label)


@both_versions
def test_nobody_is_asked_and_the_cheaper_error_is_the_label(key: str) -> None:
    decisions = decisions_of(run_of(key), TEST)
    assert not decisions.deferred.any()
    assert (policy_of(run_of(key), TEST).defer == 0).all()
    positive = posterior(run_of(key))
    cost_of_alarm, cost_of_miss = COSTS.false_positive * (1 - positive), COSTS.false_negative * positive
    assert np.array_equal(decisions.label, cost_of_miss >= cost_of_alarm)


@both_versions
def test_the_dearer_a_miss_the_more_cases_are_called_glaucoma(key: str) -> None:
    called = [
        decisions_of(replace(run_of(key), costs=Costs(miss, 1.5, COSTS.fees)), TEST).label.mean()
        for miss in (0.2, 2.0, 20.0)
    ]
    assert called == sorted(called)
    assert called[0] < called[-1]


@both_versions
def test_a_reader_who_is_asked_all_the_same_has_the_last_word(key: str) -> None:
    first = np.where(TEST.available.any(-1), 1 + TEST.available.argmax(-1), 0)  # whoever comes first and is there
    continuations = continuations_of(run_of(key), TEST)
    assert continuations is not None
    made = apply_actions(np.tile(first, (len(SEEDS), 1)), TEST, continuations)
    asked = first > 0
    assert np.array_equal(made.consulted[0, asked, 0], first[asked] - 1)
    assert np.array_equal(made.label[0, asked], TEST.decisions[asked, first[asked] - 1])
    assert (continuations.label[:, ~TEST.available] == UNKNOWN).all()
    assert (continuations.consulted[:, ~TEST.available] == NOBODY).all()


@both_versions
def test_it_relabels_and_never_asks_on(key: str) -> None:
    assert isinstance(METHODS[key], Relabels)
    assert not isinstance(METHODS[key], AsksOn)


@both_versions
def test_a_kept_run_decides_as_before(key: str, tmp_path: Path) -> None:
    run = run_of(key)
    save_run(run, tmp_path / "run", policy_of(run, COHORT), COHORT, {}, continuations_of(run, COHORT))
    again = load_run(tmp_path / "run")
    stored, fresh = load_continuations(tmp_path / "run", again, TEST), continuations_of(again, TEST)
    assert stored is not None
    assert fresh is not None
    for part in ("kept", "label", "consulted"):
        assert np.array_equal(getattr(stored, part), getattr(fresh, part))
    made = route(load_predictions(tmp_path / "run", again, TEST), TEST, again.rule, stored)
    assert np.array_equal(made.label, decisions_of(run, TEST).label)


@both_versions
def test_what_is_expected_is_its_own_of_glaucoma_and_the_rates_of_readers(key: str) -> None:
    errors = error_rates(COHORT)
    expected = expectations_of(run_of(key), TEST, COSTS, errors)
    assert expected is not None
    positive = posterior(run_of(key)).mean(0)
    assert expected.positive == pytest.approx(positive)
    assert expected.cost[:, 0] == pytest.approx(np.minimum(2.0 * positive, 1.5 * (1 - positive)))
    own = errors.predict(TEST).missed[:, 1:]  # P(positive and missed) under the error model's own P(positive)
    theirs = errors.predict(TEST, positive).missed[:, 1:]
    common = expectations_of(METHODS["ai"].fit(COHORT, COSTS, SEEDS), TEST, COSTS, errors)
    assert common is not None
    assert theirs / positive[:, None] == pytest.approx(own / common.positive[:, None])
    assert (expected.cost[:, 1:] != common.cost[:, 1:]).any()


@pytest.mark.parametrize(("method", "most"), [(RecalibratedScore(), 0.21), (Recalibrated(), 0.18)])
def test_on_the_benchmark_it_halves_the_cost_of_the_ai(
    method: RecalibratedScore | Recalibrated, most: float, benchmark: Cohort
) -> None:
    """The AI alone costs .372 on test, which is read here only to compare."""
    costs, test = benchmark.manifest.default_costs(), benchmark.subset(split="test")
    run = method.fit(benchmark, costs, (42,))
    assert evaluate(test, decisions_of(run, test), costs)["TotalCost"].mean() < most
