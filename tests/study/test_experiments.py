"""A round is played once, kept whole, and judged on cases its method has not seen."""

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
from killed_experiments import ROUNDS, WHOLE, ledger_in
from tiny_study import CHANGES, DATA, few_cases, quick

from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.evaluation.metrics import evaluate
from mpd2.methods import decisions_of
from mpd2.methods.mpd2_router import Mpd2
from mpd2.methods.simple import AiOnly, AlwaysDefer
from mpd2.study.definition import CONTENDERS
from mpd2.study.experiments import FOUND, UNHEARD, Experiment, ExperimentCache, Resplit, judged
from mpd2.study.reproduce import play


@pytest.fixture
def ledger(tmp_path: Path) -> ExperimentCache:
    return ledger_in(tmp_path / "data")


def two_panels() -> Cohort:
    """Cases of two cohorts that no reader has read in both."""
    cases = few_cases()
    return cases.rows(cases.sources != "origa")


def test_a_round_finds_what_fitting_and_judging_by_hand_finds() -> None:
    dealt = Resplit(1).of(few_cases())
    costs = dealt.manifest.default_costs()
    method = AlwaysDefer()
    test = dealt.subset(split="test")
    by_hand = evaluate(test, decisions_of(method.fit(dealt, costs, (42,)), test), costs)
    found = judged(method, dealt, costs, (42,))
    whole = found[found["cohort"] == "all"]
    assert whole[by_hand.columns].to_numpy(float).tolist() == by_hand.to_numpy(float).tolist()
    assert found["cohort"].tolist() == ["all", *dict.fromkeys(test.sources.tolist())]


def test_what_was_played_is_not_played_again(ledger: ExperimentCache) -> None:
    assert play(ledger, ROUNDS, lambda standing: None) == ROUNDS
    born = {path.name: path.stat().st_mtime_ns for path in ledger.folder.iterdir()}
    assert play(ledger, ROUNDS, lambda standing: None) == []
    assert {path.name: path.stat().st_mtime_ns for path in ledger.folder.iterdir()} == born


def test_a_killed_series_goes_on_with_the_round_it_was_killed_in(tmp_path: Path) -> None:
    command = [sys.executable, killed_experiments.__file__, tmp_path / "data"]
    environment = {**os.environ, "PYTHONPATH": str(DATA.parent)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == -signal.SIGKILL, done.stderr
    ledger = ledger_in(tmp_path / "data")
    assert ledger.missing(ROUNDS) == ROUNDS[WHOLE:]
    assert len(names(ledger.folder)) == WHOLE + 1  # with a draft
    steps = []
    play(ledger, ROUNDS, lambda standing: steps.append(standing.name))
    assert steps == [one.title for one in ROUNDS[WHOLE:]]
    assert len(names(ledger.folder)) == len(ROUNDS)
    whole = ledger_in(tmp_path / "whole" / "data")
    play(whole, ROUNDS, lambda standing: None)
    assert ledger.found(ROUNDS).equals(whole.found(ROUNDS))


def test_damaged_findings_are_made_anew(ledger: ExperimentCache) -> None:
    ledger.play(ROUNDS[0])
    ledger.path(ROUNDS[0]).write_text('{"columns": ["coh', encoding="utf-8")
    assert ledger.missing(ROUNDS[:1]) == ROUNDS[:1]


def test_other_seeds_settings_or_cases_are_another_round(ledger: ExperimentCache) -> None:
    one = Experiment("paper", Resplit(0))
    other_study = replace(ledger.study, changes={**CHANGES, "training__epochs": 3})
    places = {
        ledger.path(one),
        ledger.path(Experiment("paper", Resplit(1))),
        ledger.path(Experiment("paper", Resplit(0, "origa", 2))),
        ledger.path(Experiment("studio", Resplit(0))),
        replace(ledger, seeds=(42, 43)).path(one),
        replace(ledger, study=other_study).path(one),
    }
    assert len(places) == 6


def test_findings_are_means_over_members(ledger: ExperimentCache) -> None:
    several = replace(ledger, seeds=(42, 43, 44))
    one = Experiment("random-reader", Resplit(0))
    several.play(one)
    alone = []
    for seed in several.seeds:
        single = replace(ledger, seeds=(seed,))
        single.play(one)
        alone.append(single.found([one])[list(FOUND)].to_numpy(float))
    assert several.found([one])[list(FOUND)].to_numpy(float) == pytest.approx(np.mean(alone, axis=0), nan_ok=True)


def test_what_was_not_played_cannot_be_told(ledger: ExperimentCache) -> None:
    with pytest.raises(UserError, match="ai, resplit 0: not played yet; `python -m mpd2 resplit` plays it"):
        ledger.found(ROUNDS)


def test_a_method_nobody_knows_is_named(ledger: ExperimentCache) -> None:
    with pytest.raises(UserError, match="method: found 'nobody', expected some of studio, paper"):
        ledger.play(Experiment("nobody", Resplit(0)))


@pytest.mark.parametrize("name", CONTENDERS)
def test_every_method_copes_with_readers_it_has_never_heard(name: str) -> None:
    method = quick(CONTENDERS[name]).method
    if isinstance(method, Mpd2):
        method = replace(method, config=method.config.but(**CHANGES))
    dealt = Resplit(0, "chaksu").of(two_panels())
    found = judged(method, dealt, dealt.manifest.default_costs(), (42,))
    assert np.isfinite(found[["TotalCost", "Defer", UNHEARD]].to_numpy(float)).all()
    assert found[UNHEARD].tolist() == found["Defer"].tolist()  # there is nobody else to ask


def test_learned_baselines_keep_what_only_strangers_could_read() -> None:
    dealt = Resplit(0, "chaksu").of(two_panels())
    costs = dealt.manifest.default_costs()
    alone = judged(AiOnly(), dealt, costs, (42,))
    for name in ("mao", "verma", "hemmer"):
        found = judged(quick(CONTENDERS[name]).method, dealt, costs, (42,))
        assert found["Defer"].tolist() == [0.0, 0.0]
        assert found["TotalCost"].tolist() == alone["TotalCost"].tolist()
