"""Several workers on one study in PostgreSQL."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from time import monotonic, sleep

import optuna
import pytest
from optuna.storages import RDBStorage
from optuna.trial import TrialState
from places import HELPERS, ROOT
from postgres import postgres
from tiny_search import NAME, TRIALS

from mpd2.lab.tuning.space import HAND_TUNED
from mpd2.lab.tuning.storage import connected
from mpd2.lab.tuning.study import PLAN, WORKER

ENDED = (TrialState.COMPLETE, TrialState.PRUNED)
PATIENCE = 300  # seconds, on a busy machine


@pytest.fixture
def database() -> Iterator[tuple[str, RDBStorage]]:
    with postgres() as url, connected(url) as storage:
        yield url, storage


def test_the_database_starts_without_sbin_on_the_path(monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    with postgres() as url:
        assert url.startswith("postgresql+psycopg://")


def started(url: str) -> subprocess.Popen[bytes]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(HELPERS), str(ROOT)])}
    return subprocess.Popen([sys.executable, HELPERS / "tiny_search.py", url], env=environment)


def appeared(storage: RDBStorage) -> optuna.Study:
    """The study, once one of the workers has set it up."""
    patience = monotonic() + PATIENCE
    while NAME not in optuna.get_all_study_names(storage):
        assert monotonic() < patience
        sleep(0.05)
    return optuna.load_study(study_name=NAME, storage=storage)


def test_two_workers_share_one_study_and_what_the_killed_one_had_is_done_by_the_others(database):
    url, storage = database
    workers = [started(url) for _ in range(2)]
    study = appeared(storage)
    patience = monotonic() + PATIENCE
    while len({trial.user_attrs.get(WORKER) for trial in study.get_trials(deepcopy=False)} - {None}) < 2:
        assert monotonic() < patience
        sleep(0.02)
    killed = workers[0]
    orphans = [
        trial.params
        for trial in study.get_trials(states=(TrialState.RUNNING,))
        if trial.user_attrs.get(WORKER, "").endswith(f":{killed.pid}")
    ]
    killed.kill()
    killed.wait()
    assert workers[1].wait(PATIENCE) == 0
    ended = study.get_trials(states=ENDED)
    assert len(ended) == TRIALS
    assert not study.get_trials(states=(TrialState.RUNNING, TrialState.WAITING))
    assert all(params in [trial.params for trial in ended] for params in orphans)
    assert sum(trial.params == HAND_TUNED for trial in ended) == 1
    assert study.user_attrs[PLAN]["base"]["rule"] == "staged"
