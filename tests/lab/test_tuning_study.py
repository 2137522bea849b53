"""A study: honest trials, the same from the same seed, stopped and continued, shared and taken over."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from functools import partial
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import optuna
import pandas as pd
import pytest
from optuna.trial import TrialState, create_trial
from places import HELPERS, ROOT
from tiny_search import BASE, BATCH, COHORT, NAME, TRIALS, plan_of, searched, worker_on

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.cohort import learning_split
from mpd2.core.errors import Cancelled, UserError
from mpd2.lab.tuning.sampler import LEAST_EPOCHS
from mpd2.lab.tuning.score import appraise
from mpd2.lab.tuning.space import HAND_TUNED
from mpd2.lab.tuning.storage import connect, connected
from mpd2.lab.tuning.study import (
    SearchProgress,
    best_trial,
    delete_study,
    load_study,
    open_study,
    trial_config,
    within_budget,
)
from mpd2.lab.tuning.tables import trials_frame
from mpd2.lab.tuning.watch import SIGN, Vigil, Watcher, give_back
from mpd2.methods.registry import policy_of
from mpd2.training.population import fit_routers

ENDED = (TrialState.COMPLETE, TrialState.PRUNED)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("study") / "search.db"


@pytest.fixture(scope="module")
def study(place) -> optuna.Study:
    """A study that nothing disturbed."""
    return searched(place)


def settings(trials) -> set[tuple[float, ...]]:
    return {tuple(trial.params.values()) for trial in trials}


def lasting(study: optuna.Study) -> pd.DataFrame:
    """All of a study that does not depend on the clock or the process."""
    return trials_frame(study).drop(columns=["seconds", "worker"])


def test_a_study_has_the_trials_asked_for_and_begins_with_the_hand_tuned_configuration(study):
    assert [trial.number for trial in study.trials] == list(range(TRIALS))
    assert all(trial.state in ENDED for trial in study.trials)
    assert study.trials[0].params == HAND_TUNED
    assert len(settings(study.trials)) == TRIALS


def test_trials_that_fall_behind_are_given_up_at_a_rung_and_the_others_train_to_their_end(study):
    epochs = {state: {trial.last_step for trial in study.trials if trial.state == state} for state in ENDED}
    assert epochs[TrialState.PRUNED] == {LEAST_EPOCHS}
    assert max(epochs[TrialState.COMPLETE]) == BASE.training.epochs


def test_a_score_is_what_its_routers_come_to_on_val_when_trained_alone(study):
    best, plan = best_trial(study), plan_of()
    costs, val = COHORT.manifest.default_costs(), learning_split(COHORT, "val")
    configs = [trial_config(best, plan).but(seed=seed) for seed in plan.seeds]
    run = fit_routers(COHORT, costs, configs, device="cpu")
    alone = appraise(policy_of(run, val), val, costs, run.rule, plan.base.budget.target)
    assert best.value == pytest.approx(alone["Score"].mean(), abs=1e-4)
    assert best.value == min(trial.value for trial in study.trials if within_budget(trial))


def test_the_same_seed_gives_the_same_study_and_another_seed_another(study, tmp_path):
    pd.testing.assert_frame_equal(lasting(searched(tmp_path / "again.db")), lasting(study))
    other = searched(tmp_path / "other.db", plan_of(seed=1), trials=2, batch=2)
    assert other.trials[0].params == study.trials[0].params
    assert other.trials[1].params != study.trials[1].params


def test_a_study_that_has_its_trials_is_left_alone_and_may_be_given_more(study, place):
    before = lasting(study)
    heard: list[SearchProgress] = []
    worker_on(place).run(heard.append)
    assert [(standing.ended, standing.training) for standing in heard] == [(TRIALS, None)]
    pd.testing.assert_frame_equal(lasting(study), before)
    kept, plan = load_study(connect(str(place)), NAME)
    assert plan == plan_of()
    pd.testing.assert_frame_equal(lasting(kept), before)


def test_a_study_that_was_stopped_goes_on_and_loses_no_trial_that_ended(tmp_path):
    def stop(standing: SearchProgress) -> None:
        if standing.ended >= BATCH and standing.training and standing.training.epoch == 3:
            raise Cancelled

    worker = worker_on(tmp_path / "search.db")
    with pytest.raises(Cancelled):
        worker.run(stop)
    before = [trial for trial in worker.study.trials if trial.state in ENDED]
    broken_off = [trial for trial in worker.study.trials if trial.state == TrialState.FAIL]
    assert (len(before), len(broken_off)) == (BATCH, BATCH)
    study = searched(tmp_path / "search.db")
    ended = [trial for trial in study.trials if trial.state in ENDED]
    assert len(ended) == TRIALS
    assert ended[:BATCH] == before
    assert settings(broken_off) <= settings(ended)
    assert not study.get_trials(states=(TrialState.RUNNING, TrialState.WAITING))


def test_the_trials_of_a_worker_that_was_killed_are_tried_again(tmp_path):
    place = tmp_path / "search.db"
    study = worker_on(place).study
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(HELPERS), str(ROOT)])}
    with subprocess.Popen([sys.executable, HELPERS / "tiny_search.py", place], env=environment) as process:
        patience = monotonic() + 300
        while not any(trial.last_step for trial in study.get_trials(states=(TrialState.RUNNING,))):
            assert process.poll() is None
            assert monotonic() < patience
            sleep(0.02)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    orphans = study.get_trials(states=(TrialState.RUNNING,))
    assert orphans
    searched(place)
    ended = study.get_trials(states=ENDED)
    assert len(ended) == TRIALS
    assert settings(orphans) <= settings(ended)
    assert all(study.trials[orphan.number].state == TrialState.FAIL for orphan in orphans)


def test_a_worker_whose_trial_was_taken_over_goes_on_with_the_others(tmp_path):
    worker = worker_on(tmp_path / "search.db", trials=3, batch=3)
    taken: list[bool] = []

    def take_over(standing: SearchProgress) -> None:
        if standing.training and standing.training.epoch == 2 and not taken:
            taken.append(give_back(worker.study, worker.study.trials[1]))
            assert not give_back(worker.study, worker.study.trials[1])

    worker.run(take_over)
    assert taken == [True]
    assert worker.study.trials[1].state == TrialState.FAIL
    ended = worker.study.get_trials(states=ENDED)
    assert len(ended) == 3
    assert tuple(worker.study.trials[1].params.values()) in settings(ended)


def test_only_a_worker_without_a_new_sign_of_life_is_taken_for_dead():
    def running(number: int, sign: int | None) -> optuna.trial.FrozenTrial:
        trial = create_trial(state=TrialState.RUNNING, user_attrs={} if sign is None else {SIGN: sign})
        trial.number = number
        return trial

    watcher = Watcher(Vigil(every=0.01, dead_after=0.05))
    assert watcher.dead([running(0, 1), running(1, 1), running(2, None)]) == []
    sleep(0.1)
    assert [trial.number for trial in watcher.dead([running(0, 2), running(1, 1), running(2, None)])] == [1, 2]
    assert watcher.dead([running(0, 2), running(3, None)]) == []


def test_a_trial_that_runs_away_is_given_up_and_without_any_other_there_is_no_best(tmp_path):
    runaway = plan_of(BASE.but(training__weight_decay=1e30))
    study = searched(tmp_path / "search.db", runaway, trials=3, batch=2)
    assert [trial.state for trial in study.trials] == [TrialState.PRUNED] * 3
    with pytest.raises(UserError, match="study search: no trial has been completed within its budget yet"):
        best_trial(study)


def test_a_trial_above_its_budget_is_never_the_best(tmp_path):
    study = searched(tmp_path / "search.db", plan_of(BASE.but(budget__target=0.001)), trials=2, batch=2)
    done = study.get_trials(states=(TrialState.COMPLETE,))
    assert done
    assert all(trial.constraints["budget"] > 0 for trial in done)
    assert not trials_frame(study)["within_budget"].any()
    with pytest.raises(UserError, match="no trial has been completed within its budget"):
        best_trial(study)


def test_another_plan_is_refused_by_what_differs(study, place):
    storage = connect(str(place))
    for plan, what in (
        (plan_of(BASE.but(training__epochs=11)), "base"),
        (plan_of(seeds=(1,), seed=5), "seeds and seed"),
        (plan_of().model_copy(update={"fingerprint": "other"}), "fingerprint"),
    ):
        with pytest.raises(UserError, match=rf"study search: was begun with another {what}; go on with the same"):
            open_study(storage, NAME, plan)


@pytest.mark.parametrize("use", [load_study, partial(delete_study, by=LOCAL)])
def test_a_study_that_is_not_there_is_refused_with_those_that_are(study, place, use):
    with pytest.raises(UserError, match="study: found none called 'lost', expected one of those there: search"):
        use(connect(str(place)), "lost")


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("postgresql+psycopg://me:secret@127.0.0.1:1/none", r"^storage: postgresql\S+:\*\*\*@\S+ cannot be reached: "),
        ("mystery://host/name", "^storage: found something that is neither a file nor a database URL"),
        ("mysql+aiomysql://host/name", "needs a driver: pip install -r requirements-cluster.txt$"),
        ("/proc/none/tuning.db", "^storage: /proc/none/tuning.db cannot be made"),
    ],
)
def test_a_storage_that_cannot_be_used_is_named_without_its_password(place, message):
    with pytest.raises(UserError, match=message) as error:
        connect(place)
    assert "secret" not in str(error.value)


def test_a_storage_that_is_lost_on_the_way_is_named(tmp_path):
    worker = worker_on(tmp_path / "search.db", trials=2, batch=2)

    def lose(standing: SearchProgress) -> None:
        if standing.training and standing.training.epoch == 2:
            with closing(sqlite3.connect(tmp_path / "search.db")) as database:
                database.execute("DROP TABLE trial_intermediate_values")

    message = r"^storage: sqlite:///\S+search\.db was lost on the way; give the same command once it is back$"
    with pytest.raises(UserError, match=message), connected(str(tmp_path / "search.db")):
        worker.run(lose)


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "notes.db").write_text("these are notes, and long enough not to be an empty database " * 40)
    with pytest.raises(UserError, match=r"storage: sqlite:///.*notes\.db cannot be used: file is not a database"):
        connect(str(tmp_path / "notes.db"))


def test_members_of_a_batch_count_as_one_trial(study):
    metrics = pd.DataFrame([trial.user_attrs["figures"] for trial in study.get_trials(states=(TrialState.COMPLETE,))])
    assert np.isfinite(metrics).all().all()
    assert set(metrics["n"]) == {60}
