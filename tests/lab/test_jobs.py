"""Jobs in processes of their own: started, watched, cancelled, killed, resumed, refused."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from threading import Timer

import numpy as np
import pytest
from disk import full_disk, names
from finished_jobs import PATIENCE, ended, wait_until
from small_table import small_table

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.runs import load_predictions, load_run
from mpd2.core.table_file import load_cohort
from mpd2.lab.jobs import maintenance, orders, queue, search, worker, worker_pool
from mpd2.lab.jobs.folder import CHECKPOINT, HISTORY, PLACE, ROOT, Job, Order, Search, Status, Workshop, all_jobs
from mpd2.lab.jobs.history import read_history
from mpd2.lab.tuning import tables
from mpd2.lab.tuning.storage import connect
from mpd2.lab.tuning.study import load_study
from mpd2.training.config import PAPER
from mpd2.training.population import fit_routers

QUICK = PAPER.but(
    network__width=6, training__epochs=4, training__warm_up=1, training__batch_size=16, training__learning_rate=0.01
)
LONG = QUICK.but(training__epochs=100, training__patience=100)


@pytest.fixture(scope="module")
def table(tmp_path_factory) -> Path:
    return small_table(tmp_path_factory.mktemp("table"), 8)


@pytest.fixture(scope="module")
def cohort(table) -> Cohort:
    return load_cohort(table)


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
def order(cohort, table) -> Callable[..., Order]:
    def make(config=QUICK, seeds=2, **more) -> Order:
        costs = cohort.manifest.default_costs()
        start = orders.Start("paper", "MPD² (paper)", PAPER, costs)
        made = orders.training(orders.Wish(start, config, costs, title="mine"), seeds, table, cohort)
        return made.model_copy(update=more)

    return make


def assert_same_weights(job: Job, place: Workshop, cohort: Cohort) -> None:
    """As if it had been trained here, without a stop."""
    expected = fit_routers(cohort, cohort.manifest.default_costs(), job.order.configs)
    made = load_run(place.runs / job.name)
    for name, values in expected.arrays.items():
        np.testing.assert_array_equal(made.arrays[name], values)


def test_a_worker_works_where_its_job_is_and_not_where_it_was_started(place, order, tmp_path_factory, monkeypatch):
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv(PLACE, str(tmp_path_factory.mktemp("elsewhere")))
        worker_pool.keep_ready()
    job = queue.submit(order(), place, by=LOCAL)
    assert ended(job, place).state == "done"
    assert load_run(place.runs / job.name).members == 2


def test_a_job_is_watched_from_its_order_to_a_whole_run(place, order, cohort):
    job = queue.submit(order(), place, by=LOCAL)
    assert job.status.state == "running"
    status = ended(job, place)
    assert (status.state, status.epoch, status.training, status.reason) == ("done", 4, 0, "")
    history = read_history(job.folder / HISTORY)
    assert history is not None
    assert history.epoch.tolist() == [1, 2, 3, 4]
    assert history.load.shape == (4, 2, cohort.readers)
    run = load_run(place.runs / job.name)
    assert history.chosen(job.order.configs).tolist() == run.notes["best_epoch"]
    assert (run.notes["title"], run.notes["changed_from"]) == ("mine", "paper")
    assert run.notes["changes"]["training__epochs"] == 4
    assert load_predictions(place.runs / job.name, run, cohort).defer.shape == (2, len(cohort))
    assert not (job.folder / CHECKPOINT).exists()
    assert_same_weights(job, place, cohort)


def test_two_jobs_run_one_after_the_other_and_a_cancelled_one_leaves_no_run(place, order):
    first, second = queue.submit(order(LONG), place, by=LOCAL), queue.submit(order(), place, by=LOCAL)
    assert [first.status.state, second.status.state] == ["running", "queued"]
    wait_until(lambda: first.status.epoch >= 3)
    assert second.status.state == "queued"
    assert first.status.seconds_left is not None
    queue.cancel(first, place, by=LOCAL)
    assert first.status.state == "cancelled"
    assert not first.is_held()
    assert second.status.state == "running"
    assert ended(second, place).state == "done"
    assert names(place.runs) == [second.name]


def test_a_killed_worker_is_replaced_and_ends_with_the_same_weights(place, order, cohort):
    job = queue.submit(order(LONG), place, by=LOCAL)
    wait_until(lambda: job.status.epoch >= 12)
    os.killpg(job.status.process, signal.SIGKILL)
    wait_until(lambda: not job.is_held())
    status = ended(job, place)
    assert (status.state, status.attempts) == ("done", 2)
    assert read_history(job.folder / HISTORY).epoch.tolist() == list(range(1, 101))
    assert_same_weights(job, place, cohort)


def test_a_job_goes_on_when_the_server_that_started_it_is_gone(place, order, tmp_path):
    (tmp_path / "order.json").write_text(order(LONG).model_dump_json())
    server = (
        "import os, sys; from mpd2.lab.jobs import queue; from mpd2.lab.jobs.folder import Order, Workshop;"
        "from mpd2.clinic.access.actor import LOCAL;"
        "order = Order.model_validate_json(open(sys.argv[1]).read());"
        "queue.submit(order, Workshop.here(), by=LOCAL); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", server, str(tmp_path / "order.json")], cwd=ROOT, check=False)
    (job,) = all_jobs(place)
    wait_until(lambda: job.status.epoch >= 3)
    assert (ended(job, place).state, job.status.attempts) == ("done", 1)


@pytest.fixture
def failing(place, order, monkeypatch) -> Callable[..., tuple[Job, Status]]:
    """A job as a worker leaves it that does not get to the end; the worker is this process."""
    monkeypatch.setattr(worker, "_write_log_to", lambda path: None)
    monkeypatch.setattr(worker_pool.Worker, "give", lambda waiting, job, lock, place: waiting.dismiss())

    def fail(*what, disk: int | None = None, **more) -> tuple[Job, Status]:
        job = queue.submit(order(*what, **more), place, by=LOCAL)
        with job.held(), full_disk(disk) if disk else nullcontext():
            assert worker.work(job, place) == worker.FAILED
        return job, job.status

    return fail


def test_a_full_disk_is_told_and_leaves_no_half_run(place, failing):
    job, status = failing(QUICK.but(network__width=64), disk=20_000)
    assert status.state == "failed"
    assert "could not be written: File too large" in status.reason
    assert not place.runs.exists() or names(place.runs) == []
    assert sorted(names(job.folder)) == ["history.jsonl", "job.json", "lock", "status.json"]


def test_a_job_that_takes_too_long_is_stopped_with_the_reason(place, failing):
    job, status = failing(LONG.but(training__epochs=500, training__patience=500), most_seconds=1)
    assert status.state == "failed"
    assert status.reason.startswith("took longer than the 1 s a job may take")
    assert not (place.runs / job.name).exists()


def test_a_table_that_changed_meanwhile_is_refused(failing):
    _, status = failing(fingerprint="another")
    assert status.state == "failed"
    assert "has changed since" in status.reason


def test_routers_that_all_come_to_grief_are_told(failing):
    _, status = failing(QUICK.but(training__learning_rate=1e30))
    assert status.state == "failed"
    assert "no router could be trained" in status.reason


def test_a_search_is_stopped_and_gone_on_with_to_its_last_trial(place, cohort, table, monkeypatch):
    monkeypatch.setattr(worker, "_write_log_to", lambda path: None)
    monkeypatch.setattr(queue, "RUNNING", 0)  # the worker is this process
    monkeypatch.setattr(search, "BATCH", 2)
    costs = cohort.manifest.default_costs()
    wish = orders.Wish(orders.Start("paper", "MPD²", PAPER, costs), QUICK.but(training__epochs=2), costs)
    job = queue.submit(orders.tuning(wish, Search(study="mine", trials=4), table, cohort), place, by=LOCAL)
    write = Job.write

    def stop_in_the_second_batch(job: Job, status: Status) -> None:
        write(job, status)
        if status.epoch == 2 and "of a batch" in status.note:
            os.kill(os.getpid(), signal.SIGTERM)

    with job.held(), monkeypatch.context() as patch:
        patch.setattr(Job, "write", stop_in_the_second_batch)
        assert worker.work(job, place) == worker.CANCELLED
    assert (job.status.state, job.status.epoch) == ("queued", 2)  # as before: what becomes of it is for others to say
    with job.held():
        assert worker.work(job, place) == 0
    assert (job.status.state, job.status.epoch) == ("done", 4)
    trials = tables.trials_frame(load_study(connect(place.studies), "mine")[0])
    assert len(trials) == 4
    assert set(trials["state"]) <= {"complete", "pruned"}


def test_a_worker_that_dies_every_time_leaves_its_reason(place, order, monkeypatch):
    monkeypatch.setattr(worker_pool, "MODULE", "mpd2.no_such_worker")
    status = ended(queue.submit(order(), place, by=LOCAL), place)
    assert (status.state, status.attempts) == ("failed", queue.ATTEMPTS)
    assert status.reason == f"its process ended with 1, {queue.ATTEMPTS} times"


def test_a_worker_that_waits_ends_with_its_server(place):
    waiting = worker_pool.next_worker()
    waiting.desk.close()
    assert waiting.process.wait(timeout=PATIENCE) == 0


# ---------------------------------------------------------------------------------- what is refused before it starts


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("budget__target", 1.4),
        ("budget__target", -0.1),
        ("training__learning_rate", 0.0),
        ("objective__rank_decay", [2.0]),
    ],
)
def test_a_wrong_value_or_an_impossible_budget_is_refused_by_name(setting, value):
    with pytest.raises(UserError, match=setting.replace("__", r"\.")):
        PAPER.but(**{setting: value})


@pytest.mark.parametrize(
    ("seeds", "epochs", "told"),
    [
        (0, 10, "models: found 0"),
        (161, 1, "models: found 161"),
        (1, 501, "epochs: found 501"),
        (100, 300, "30,000 in all"),
    ],
)
def test_what_would_keep_the_server_busy_is_refused(order, seeds, epochs, told):
    with pytest.raises(UserError, match=told):
        order(QUICK.but(training__epochs=epochs), seeds)


def test_a_picture_in_the_name_of_a_job_is_nothing_but_words(order):
    ordered = Order.model_validate(order().model_dump() | {"title": "**mine** ![x](http://elsewhere.example/x.png)"})
    assert ordered.title == "mine ! x (http elsewhere.example/x.png)"


def test_a_device_that_is_not_there_is_refused(cohort, table):
    costs = cohort.manifest.default_costs()
    wish = orders.Wish(orders.Start("paper", "MPD²", PAPER, costs), QUICK, costs, device="quantum")
    with pytest.raises(UserError, match="device: found 'quantum'"):
        orders.training(wish, 1, table, cohort)


def test_a_full_queue_is_refused_and_its_jobs_can_be_cancelled(place, order, monkeypatch):
    monkeypatch.setattr(queue, "RUNNING", 0)
    jobs = [queue.submit(order(), place, by=LOCAL) for _ in range(queue.WAITING)]
    with pytest.raises(UserError, match=f"found {queue.WAITING} jobs waiting"):
        queue.submit(order(), place, by=LOCAL)
    assert all_jobs(place) == jobs
    queue.cancel(jobs[0], place, by=LOCAL)
    assert jobs[0].status.state == "cancelled"
    with pytest.raises(UserError, match="is not over"):
        queue.forget(jobs[1], place, by=LOCAL)
    queue.forget(jobs[0], place, by=LOCAL)
    assert all_jobs(place) == jobs[1:]


def test_a_job_whose_worker_is_about_to_leave_can_be_removed(place, order, monkeypatch):
    monkeypatch.setattr(queue, "RUNNING", 0)
    job = queue.submit(order(), place, by=LOCAL)
    job.write(job.status.model_copy(update={"state": "done"}))
    lock = job.take()
    leaving = Timer(0.3, os.close, [lock])
    leaving.start()
    queue.forget(job, place, by=LOCAL)
    leaving.join()
    assert all_jobs(place) == []


def test_a_job_that_has_ended_is_not_stopped_while_its_worker_is_leaving(place, order, monkeypatch):
    monkeypatch.setattr(queue, "RUNNING", 0)
    job = queue.submit(order(), place, by=LOCAL)
    job.write(job.status.model_copy(update={"state": "done"}))
    with job.held():
        queue.cancel(job, place, by=LOCAL)
    assert job.status.state == "done"


@pytest.mark.parametrize(("state", "held"), [("done", False), ("failed", False), ("running", True)])
def test_a_worker_lets_go_of_a_job_once_it_is_over_and_not_before(place, order, monkeypatch, state, held):
    def working(job: Job, place: Workshop) -> int:
        job.write(job.status.model_copy(update={"state": state}))
        return 0

    for name, part in (("_warm_up", lambda: None), ("work", working)):
        monkeypatch.setattr(worker, name, part)
    monkeypatch.setattr(os, "nice", lambda _: 0)
    monkeypatch.setattr(queue, "RUNNING", 0)
    job = queue.submit(order(), place, by=LOCAL)
    lock = job.take()
    ours, theirs = socket.socketpair()
    with ours:
        message = worker.SEPARATOR.join(map(os.fsencode, (job.folder, place.jobs, place.runs)))
        socket.send_fds(ours, [message], [lock])
        assert worker.main(theirs) == 0
    assert job.is_held() is held
    fcntl.flock(lock, fcntl.LOCK_UN)
    os.close(lock)


def test_a_job_that_cannot_be_written_is_refused_whole(place, order):
    place.jobs.parent.mkdir(exist_ok=True)
    place.jobs.write_text("in the way")
    with pytest.raises(UserError, match="jobs cannot be kept here"):
        queue.submit(order(), place, by=LOCAL)
    place.jobs.unlink()
    with full_disk(100), pytest.raises(UserError, match="could not be written"):
        queue.submit(order(), place, by=LOCAL)
    assert all_jobs(place) == []


def test_old_jobs_are_forgotten(place, order, monkeypatch):
    monkeypatch.setattr(queue, "RUNNING", 0)
    monkeypatch.setattr(queue, "KEPT", 1)
    old, new = queue.submit(order(), place, by=LOCAL), queue.submit(order(), place, by=LOCAL)
    for job in (old, new):
        queue.cancel(job, place, by=LOCAL)
    queue.maintain(place)
    assert all_jobs(place) == [new]


def test_only_one_can_hold_a_job(place, order, monkeypatch):
    monkeypatch.setattr(queue, "RUNNING", 0)
    job = queue.submit(order(), place, by=LOCAL)
    with job.held() as first, job.held() as second:
        assert (first, second, job.is_held()) == (True, False, True)
    assert not job.is_held()


# ---------------------------------------------------------------------------------- looked after


def test_a_server_looks_after_the_queue_by_itself(place, order, monkeypatch):
    monkeypatch.setattr(queue, "RUNNING", 0)
    monkeypatch.setattr(maintenance, "EVERY", 0.01)
    job = queue.submit(order(), place, by=LOCAL)
    job.write(job.status.model_copy(update={"state": "running", "attempts": 1}))  # as a dead worker leaves it

    async def serve() -> None:
        async with maintenance.tended(place):
            while job.status.state == "running":
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(serve(), PATIENCE))
    assert job.status.state == "queued"


def test_what_is_wrong_with_the_place_is_logged_once(place, monkeypatch, caplog):
    monkeypatch.setattr(maintenance, "EVERY", 0.01)
    looks = []

    def tend(place: Workshop) -> None:
        looks.append(place)
        raise UserError("the disk is full")

    monkeypatch.setattr(queue, "maintain", tend)

    async def serve() -> None:
        async with maintenance.tended(place):
            while len(looks) < 3:
                await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(serve(), PATIENCE))
    assert [record.getMessage() for record in caplog.records] == ["jobs: the disk is full"]


def test_a_worker_that_cannot_be_given_its_job_waits_for_the_next(place, order, monkeypatch):
    monkeypatch.setattr(queue, "RUNNING", 0)
    job = queue.submit(order(), place, by=LOCAL)
    monkeypatch.setattr(queue, "RUNNING", 1)
    with full_disk(100), pytest.raises(UserError, match="could not be written"):
        queue.maintain(place)
    assert job.status.state == "queued"
    waiting = worker_pool.next_worker()
    worker_pool.put_back(waiting)
    assert worker_pool.next_worker() is waiting
    waiting.dismiss()
