"""Experiments in several processes give what one after another gives, and leave nothing behind when stopped."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import killed_experiments
import numpy as np
import pytest
import torch
from killed_experiments import EXPERIMENTS, WHOLE, cache_in
from places import ROOT

from mpd2.core.errors import UserError
from mpd2.study.catalogue import TABLES, cache_of
from mpd2.study.experiments import Experiment, ExperimentCache, Resplit
from mpd2.study.processes import THREADS, _pool, processes
from mpd2.study.reproduce import StudyProgress, experiments_of, run_missing

PATIENCE = 120  # seconds until whatever still runs is taken for stuck


@pytest.fixture(autouse=True)
def two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.delenv(THREADS, raising=False)


@pytest.fixture
def cache(tmp_path: Path) -> ExperimentCache:
    return cache_in(tmp_path / "data")


def contents(cache: ExperimentCache) -> dict[str, bytes]:
    """Every result, byte for byte; drafts too."""
    return {path.name: path.read_bytes() for path in cache.folder.iterdir()}


@pytest.mark.parametrize(
    ("wish", "cores", "expected"),
    [("", 4, 4), ("1", 4, 1), ("3", 4, 3), ("8", 4, 4), ("0", 4, 4), ("2,1", 4, 4), ("", None, 1)],
)
def test_a_process_a_core_unless_fewer_threads_are_allowed(monkeypatch, wish, cores, expected) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    monkeypatch.setenv(THREADS, wish)
    assert processes() == expected


def test_all_experiments_of_a_study_are_the_same_to_the_last_byte(tmp_path: Path, monkeypatch) -> None:
    one, two = (cache_of(cache_in(tmp_path / name / "data").study) for name in ("one", "two"))
    told: list[StudyProgress] = []
    experiments = experiments_of(two.study, TABLES)
    assert run_missing(two, experiments, told.append) == list(dict.fromkeys(experiments))
    monkeypatch.setenv(THREADS, "1")
    run_missing(one, experiments, lambda standing: None)
    assert contents(two) == contents(one)
    assert [standing.name for standing in told] == [one.title for one in dict.fromkeys(experiments)]
    assert np.diff([standing.done for standing in told]).min() >= 0
    assert np.diff([standing.left for standing in told]).max() < 1e-9
    assert told[-1].done > 0.9 * told[0].left
    assert told[-1].done + told[-1].left == pytest.approx(told[0].left)


def test_each_process_has_one_thread_and_the_environment_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    for before in (None, "2"):
        if before:
            monkeypatch.setenv(THREADS, before)
        with _pool(2) as pool:
            assert pool.submit(torch.get_num_threads).result() == 1
        assert os.environ.get(THREADS) == before


def test_a_killed_series_leaves_no_process_and_goes_on_to_the_same_end(tmp_path: Path, cache: ExperimentCache) -> None:
    command = [sys.executable, killed_experiments.__file__, tmp_path / "killed" / "data", "die_waiting"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    # The processes hold the pipes too: reading these to their end means that all have ended.
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=PATIENCE)
    assert done.returncode == -signal.SIGKILL, done.stderr
    killed = cache_in(tmp_path / "killed" / "data")
    assert len(killed.missing(EXPERIMENTS)) in (len(EXPERIMENTS) - WHOLE, len(EXPERIMENTS) - WHOLE + 1)
    run_missing(killed, EXPERIMENTS, lambda standing: None)
    run_missing(cache, EXPERIMENTS, lambda standing: None)
    assert contents(killed) == contents(cache)


def test_an_interrupted_series_ends_at_once_and_goes_on(cache: ExperimentCache) -> None:
    def interrupt(standing: StudyProgress) -> None:
        if standing.step > WHOLE:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_missing(cache, EXPERIMENTS, interrupt)
    assert multiprocessing.active_children() == []
    left = cache.missing(EXPERIMENTS)
    assert set(EXPERIMENTS[WHOLE:]) <= set(left) < set(EXPERIMENTS)
    assert run_missing(cache, EXPERIMENTS, lambda standing: None) == left


def test_a_process_ended_from_outside_is_told_in_words(cache: ExperimentCache) -> None:
    def kill_one(standing: StudyProgress) -> None:
        if standing.step > WHOLE:
            multiprocessing.active_children()[0].kill()

    with pytest.raises(UserError, match=r"ended from outside, perhaps for want of memory; what was finished is kept"):
        run_missing(cache, [*EXPERIMENTS, *(Experiment("mao", Resplit(number)) for number in range(2, 9))], kill_one)


def test_an_error_in_a_process_comes_out_with_the_experiment_it_was_in(cache: ExperimentCache) -> None:
    cache.folder.parent.mkdir(parents=True)
    cache.folder.write_text("a file where a folder should be")
    with pytest.raises(UserError, match="could not be written: File exists") as caught:
        run_missing(cache, EXPERIMENTS, lambda standing: None)
    assert caught.value.__notes__[-1].startswith("in the experiment ")
    assert multiprocessing.active_children() == []


def test_nobody_else_may_run_experiments_here_meanwhile(cache: ExperimentCache) -> None:
    def second(standing: StudyProgress) -> None:
        run_missing(cache, EXPERIMENTS, lambda standing: None)

    with pytest.raises(UserError, match="another reproduction is at work"):
        run_missing(cache, EXPERIMENTS, second)
