"""A recalibration as a job: a run beside the old one, the same after a kill, and nothing of anybody's case left."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from disk import names
from finished_jobs import ended, wait_until
from people import OWNER, PEOPLE
from small_workspace import MANIFEST, nights, table_of

from mpd2.clinic.access.actions import Role
from mpd2.clinic.access.actor import LOCAL
from mpd2.clinic.access.authorise import NotAllowed
from mpd2.core.errors import TableError, UserError
from mpd2.core.files import digest
from mpd2.core.runs import annotate, load_predictions, load_run
from mpd2.core.workspace import Workspace
from mpd2.evaluation.reports import publish_run
from mpd2.lab import activation
from mpd2.lab.jobs import own_runs, queue, worker, worker_pool
from mpd2.lab.jobs.folder import CASES, CHECKPOINT, PLACE, Job, Workshop, all_jobs
from mpd2.lab.recalibration import ask, workspace_of
from mpd2.lab.workspaces.adding import add_rows
from mpd2.lab.workspaces.shelf import create
from mpd2.methods.mpd2_router import Mpd2
from mpd2.methods.plus.method import Plus
from mpd2.study.local.cases import joined, local_cases
from mpd2.study.local.change import RULE, change_of
from mpd2.training.config import PAPER
from mpd2.training.population import fit_routers

LONG = PAPER.but(
    network__width=6, training__epochs=100, training__patience=100, training__warm_up=1, training__batch_size=16
)


@pytest.fixture
def place(tmp_path, monkeypatch) -> Iterator[Workshop]:
    """A workshop of its own; nothing is left running in it."""
    monkeypatch.setenv(PLACE, str(tmp_path))
    workshop = Workshop.here()
    yield workshop
    for job in reversed(all_jobs(workshop)):
        queue.cancel(job, workshop, by=LOCAL)
    worker_pool.let_go()


@pytest.fixture
def workspace(place) -> Workspace:
    return create("nights", table_of(nights()), MANIFEST, place, by=LOCAL)


@pytest.fixture
def made(place, workspace) -> Callable[..., str]:
    """An own run of a method."""

    def make(method=None, name="old", **notes) -> str:
        cohort, method = workspace.cohort(), method or Plus(draws=2)
        run = method.fit(cohort, cohort.manifest.default_costs(), (1, 2))
        notes = {"title": "The old one", **notes}
        publish_run(replace(run, notes={**run.notes, **notes}), cohort, place.runs / name)
        return name

    return make


@pytest.fixture
def cases() -> pd.DataFrame:
    return nights(150, seed=1, first=60).drop(columns="part")


def test_a_new_run_is_made_beside_the_old_one_which_stays_as_it_was(place, workspace, made, cases):
    old = made()
    before = activation.digest_of(old, place)
    cases.loc[:4, "truth"] = ""
    job = ask(old, cases, "cases.csv", "Here", place, by=LOCAL)
    status = ended(job, place)
    assert (status.state, status.reason) == ("done", "")
    assert sorted(names(place.runs)) == sorted([job.name, old])
    assert activation.digest_of(old, place) == before
    run, cohort = load_run(place.runs / job.name), workspace.cohort()
    change = change_of(run.notes)
    assert change is not None
    assert (change.run, change.title, change.digest, change.rule) == (old, "The old one", before, RULE)
    assert (change.table, change.table_before, change.waiting) == (cohort.fingerprint, cohort.fingerprint, 5)
    assert sum(counts.cases for counts in change.local.values()) == len(cases) - 5
    assert change.verdict().n == change.local["test"].cases
    assert change.asked == job.order.created
    assert {"cost", "missed", "false_alarms", "sent"} == set(change.frame["metric"])
    assert set(change.frame["kind"]) == {"all", "cohort", "reader"}


def test_it_is_shown_and_compared_with_the_workspace_like_any_own_run(place, workspace, made, cases):
    job = ask(made(), cases, "cases.csv", "Here", place, by=LOCAL)
    ended(job, place)
    cohort, run = workspace.cohort(), load_run(place.runs / job.name)
    assert run.fingerprint == cohort.fingerprint
    assert load_predictions(place.runs / job.name, run, cohort).defer.shape == (2, len(cohort))
    shown = own_runs.described(job.name, place)
    assert shown is not None
    assert (shown.title, shown.kind, shown.changed_from, shown.owner) == ("Here", "train", "own-old", LOCAL.id)
    change = change_of(run.notes)
    assert change is not None
    assert shown.changes == {"local cases": len(cases) - change.local["test"].cases}
    assert workspace_of(job.name, place) == workspace


def test_it_is_what_a_fit_to_both_gives(place, workspace, made, cases):
    job = ask(made(), cases, "cases.csv", "Here", place, by=LOCAL)
    ended(job, place)
    cohort = workspace.cohort()
    whole = joined(cohort, local_cases(cases, cohort, "cases.csv").cohort)
    expected = Plus(draws=2).fit(whole, cohort.manifest.default_costs(), (1, 2))
    for name, values in load_run(place.runs / job.name).arrays.items():
        np.testing.assert_array_equal(values, expected.arrays[name])


def test_nothing_of_a_case_stays_behind(place, made, cases):
    job = ask(made(), cases, "cases.csv", "Here", place, by=LOCAL)
    assert (job.folder / CASES).is_file() or job.status.state == "done"
    ended(job, place)
    left = [path for folder in (job.folder, place.runs / job.name) for path in folder.rglob("*") if path.is_file()]
    assert not [path for path in left if b"e0400" in path.read_bytes()]
    assert not (job.folder / CASES).exists()


def test_a_killed_worker_is_replaced_and_the_routers_are_the_same(place, workspace, made, cases):
    job = ask(made(Mpd2(LONG)), cases, "cases.csv", "Here", place, by=LOCAL)
    wait_until(lambda: job.status.epoch >= 12)
    process = job.status.process
    assert process is not None
    os.killpg(process, signal.SIGKILL)
    wait_until(lambda: not job.is_held())
    status = ended(job, place)
    assert (status.state, status.attempts) == ("done", 2)
    cohort = workspace.cohort()
    whole = joined(cohort, local_cases(cases, cohort, "cases.csv").cohort)
    expected = fit_routers(whole, cohort.manifest.default_costs(), job.order.configs)
    for name, values in load_run(place.runs / job.name).arrays.items():
        np.testing.assert_array_equal(values, expected.arrays[name])


def test_a_worker_killed_after_the_fit_begins_anew_and_ends_with_the_same_run(place, made, cases, monkeypatch):
    monkeypatch.setattr(queue, "RUNNING", 0)  # the worker is a child of this process
    job = ask(made(), cases, "cases.csv", "Here", place, by=LOCAL)
    child = os.fork()
    if not child:
        os.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)
        worker.work(job, place)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert not (place.runs / job.name).exists()
    monkeypatch.setattr(worker, "_write_log_to", lambda path: None)
    with job.held():
        assert worker.work(job, place) == 0
    assert change_of(load_run(place.runs / job.name).notes) is not None


def test_a_cancelled_one_leaves_no_run_and_no_cases(place, made, cases):
    old = made(Mpd2(LONG.but(training__epochs=500, training__patience=500)))
    job = ask(old, cases, "cases.csv", "Here", place, by=LOCAL)
    wait_until(lambda: job.status.epoch >= 3)
    queue.cancel(job, place, by=LOCAL)
    assert job.status.state == "cancelled"
    assert names(place.runs) == [old]
    assert not {CASES, CHECKPOINT} & set(names(job.folder))


def failed(job: Job, place: Workshop, monkeypatch) -> str:
    """Why it fails; the worker is this process."""
    monkeypatch.setattr(worker, "_write_log_to", lambda path: None)
    with job.held():
        assert worker.work(job, place) == worker.FAILED
    assert not (place.runs / job.name).exists()
    return job.status.reason


@pytest.mark.parametrize("what", ["table", "run", "cases"])
def test_what_has_changed_since_it_was_asked_for_is_refused(what, place, workspace, made, cases, monkeypatch):
    monkeypatch.setattr(queue, "RUNNING", 0)
    old = made()
    job = ask(old, cases, "cases.csv", "Here", place, by=LOCAL)
    if what == "table":
        workspace.table.write_bytes(table_of(nights(seed=9)))
        worker._cohort.cache_clear()
    elif what == "run":
        made(Plus(draws=3), old)
    else:
        (job.folder / CASES).write_bytes((job.folder / CASES).read_bytes() + b" ")
    assert "changed since the job was asked for; ask again" in failed(job, place, monkeypatch)


def test_what_is_wrong_with_the_cases_is_said_before_there_is_a_job(place, made, cases):
    old = made()
    cases.loc[7, "ann"] = "2"
    with pytest.raises(TableError, match=r"cases\.csv, row 9, column ann: found 2"):
        ask(old, cases, "cases.csv", "Here", place, by=LOCAL)
    with pytest.raises(UserError, match="an id that the table learned from does not have"):
        ask(old, nights(), "cases.csv", "Here", place, by=LOCAL)
    assert all_jobs(place) == []


def test_a_grid_is_not_one_run(place, made, cases):
    old = made()
    annotate(place.runs / old, kind="grid")
    with pytest.raises(UserError, match="its models differ"):
        ask(old, cases, "cases.csv", "Here", place, by=LOCAL)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.READER, Role.CLINICIAN])
def test_only_who_may_train_may_ask(role, place, made, cases):
    with pytest.raises(NotAllowed, match="train"):
        ask(made(), cases, "cases.csv", "Here", place, by=PEOPLE[role])
    assert all_jobs(place) == []


def test_two_people_put_the_new_run_into_use(place, made, cases):
    job = ask(made(), cases, "cases.csv", "Here", place, by=OWNER)
    ended(job, place)
    assert job.order.owner == OWNER.id
    activation.propose(job.name, "cheaper here", place, by=OWNER)
    with pytest.raises(NotAllowed):
        activation.activate(job.name, place, by=OWNER)
    activation.activate(job.name, place, by=PEOPLE[Role.ADMIN])
    assert activation.active_run(place) == place.runs / job.name


def test_a_run_from_before_rows_were_added_is_fitted_to_the_table_of_today(place, workspace, made, cases):
    old = made()
    before = workspace.cohort()
    add_rows("nights", nights(10, seed=5, first=500), "more.csv", place, by=LOCAL)
    job = ask(old, cases, "cases.csv", "Here", place, by=LOCAL)
    ended(job, place)
    change = change_of(load_run(place.runs / job.name).notes)
    assert change is not None
    assert (change.table_before, change.table) == (before.fingerprint, workspace.cohort().fingerprint)


def test_the_file_of_the_cases_is_known_by_its_digest(place, made, cases, monkeypatch):
    monkeypatch.setattr(queue, "RUNNING", 0)
    job = ask(made(), cases, "cases.csv", "Here", place, by=LOCAL)
    assert job.order.recalibrating is not None
    assert digest(job.folder / CASES) == job.order.recalibrating.cases
