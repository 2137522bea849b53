"""An experiment is run once, cached whole, and evaluated on cases its method has not seen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import killed_experiments
import numpy as np
import pytest
from disk import names
from killed_experiments import EXPERIMENTS, WHOLE, cache_in
from places import ROOT
from tiny_study import CHANGES, few_cases, quick

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.evaluation.metrics import evaluate
from mpd2.methods.mpd2_router import Mpd2
from mpd2.methods.registry import decisions_of
from mpd2.methods.simple import AiOnly, AlwaysDefer
from mpd2.study.definition import CONTENDERS
from mpd2.study.experiments import MEASURES, UNHEARD, Experiment, ExperimentCache, Resplit, fit_and_evaluate
from mpd2.study.reproduce import run_missing


@pytest.fixture
def cache(tmp_path: Path) -> ExperimentCache:
    return cache_in(tmp_path / "data")


def two_panels() -> Cohort:
    """Cases of two cohorts that no reader has read in both."""
    cases = few_cases()
    return cases.rows(cases.sources != "origa")


def test_an_experiment_gives_what_fitting_and_evaluating_by_hand_gives() -> None:
    cases = Resplit(1).of(few_cases())
    costs = cases.manifest.default_costs()
    method = AlwaysDefer()
    test = cases.subset(split="test")
    by_hand = evaluate(test, decisions_of(method.fit(cases, costs, (42,)), test), costs)
    rows = fit_and_evaluate(method, cases, costs, (42,))
    whole = rows[rows["cohort"] == "all"]
    assert whole[by_hand.columns].to_numpy(float).tolist() == by_hand.to_numpy(float).tolist()
    assert rows["cohort"].tolist() == ["all", *dict.fromkeys(test.sources.tolist())]


def test_what_was_run_is_not_run_again(cache: ExperimentCache) -> None:
    assert run_missing(cache, EXPERIMENTS, lambda standing: None) == EXPERIMENTS
    born = {path.name: path.stat().st_mtime_ns for path in cache.folder.iterdir()}
    assert run_missing(cache, EXPERIMENTS, lambda standing: None) == []
    assert {path.name: path.stat().st_mtime_ns for path in cache.folder.iterdir()} == born


def test_a_killed_series_goes_on_with_the_experiment_it_was_killed_in(tmp_path: Path) -> None:
    command = [sys.executable, killed_experiments.__file__, tmp_path / "data", "die_writing"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}  # one experiment at a time
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == -signal.SIGKILL, done.stderr
    cache = cache_in(tmp_path / "data")
    assert cache.missing(EXPERIMENTS) == EXPERIMENTS[WHOLE:]
    assert len(names(cache.folder)) == WHOLE + 1  # with a draft
    steps = []
    run_missing(cache, EXPERIMENTS, lambda standing: steps.append(standing.name))
    assert steps == [one.title for one in EXPERIMENTS[WHOLE:]]
    assert len(names(cache.folder)) == len(EXPERIMENTS)
    whole = cache_in(tmp_path / "whole" / "data")
    run_missing(whole, EXPERIMENTS, lambda standing: None)
    assert cache.results(EXPERIMENTS).equals(whole.results(EXPERIMENTS))


def test_a_damaged_result_is_made_anew(cache: ExperimentCache) -> None:
    cache.run(EXPERIMENTS[0])
    cache.path(EXPERIMENTS[0]).write_text('{"columns": ["coh', encoding="utf-8")
    assert cache.missing(EXPERIMENTS[:1]) == EXPERIMENTS[:1]


def test_other_seeds_settings_or_cases_are_another_experiment(cache: ExperimentCache) -> None:
    one = Experiment("paper", Resplit(0))
    other_study = replace(cache.study, changes={**CHANGES, "training__epochs": 3})
    places = {
        cache.path(one),
        cache.path(Experiment("paper", Resplit(1))),
        cache.path(Experiment("paper", Resplit(0, "origa", 2))),
        cache.path(Experiment("studio", Resplit(0))),
        replace(cache, seeds=(42, 43)).path(one),
        replace(cache, study=other_study).path(one),
    }
    assert len(places) == 6


def test_results_are_means_over_members(cache: ExperimentCache) -> None:
    several = replace(cache, seeds=(42, 43, 44))
    one = Experiment("random-reader", Resplit(0))
    several.run(one)
    alone = []
    for seed in several.seeds:
        single = replace(cache, seeds=(seed,))
        single.run(one)
        alone.append(single.results([one])[list(MEASURES)].to_numpy(float))
    assert several.results([one])[list(MEASURES)].to_numpy(float) == pytest.approx(np.mean(alone, axis=0), nan_ok=True)


def test_what_was_not_run_has_no_result(cache: ExperimentCache) -> None:
    with pytest.raises(UserError, match="ai, resplit 0: not run yet; `python -m mpd2 resplit` runs it"):
        cache.results(EXPERIMENTS)


def test_a_method_nobody_knows_is_named(cache: ExperimentCache) -> None:
    with pytest.raises(UserError, match="method: found 'nobody', expected some of studio, paper"):
        cache.run(Experiment("nobody", Resplit(0)))


@pytest.mark.parametrize("name", CONTENDERS)
def test_every_method_copes_with_readers_it_has_never_heard(name: str) -> None:
    method = quick(CONTENDERS[name]).method
    if isinstance(method, Mpd2):
        method = replace(method, config=method.config.but(**CHANGES))
    cases = Resplit(0, "chaksu").of(two_panels())
    rows = fit_and_evaluate(method, cases, cases.manifest.default_costs(), (42,))
    assert np.isfinite(rows[["TotalCost", "Defer", UNHEARD]].to_numpy(float)).all()
    assert rows[UNHEARD].tolist() == rows["Defer"].tolist()  # there is nobody else to ask


def test_learned_baselines_keep_what_only_strangers_could_read() -> None:
    cases = Resplit(0, "chaksu").of(two_panels())
    costs = cases.manifest.default_costs()
    alone = fit_and_evaluate(AiOnly(), cases, costs, (42,))
    for name in ("mao", "verma", "hemmer"):
        rows = fit_and_evaluate(quick(CONTENDERS[name]).method, cases, costs, (42,))
        assert rows["Defer"].tolist() == [0.0, 0.0]
        assert rows["TotalCost"].tolist() == alone["TotalCost"].tolist()
