"""Server, worker and whoever writes into the record, killed together at a random moment: nothing is lost."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest
from killed_server import SETTINGS, KilledServer, contents
from records import checked
from small_table import small_table
from small_workspace import MANIFEST, nights, table_of

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import LOCAL
from mpd2.clinic.installation import kept_record, record_place
from mpd2.clinic.record.search import Search
from mpd2.clinic.settings import SETTINGS as SETTINGS_FILE
from mpd2.core.table_file import load_cohort
from mpd2.lab.jobs import orders, queue, worker_pool
from mpd2.lab.jobs.folder import PLACE, Job, Order, Workshop, all_jobs
from mpd2.lab.workspaces.shelf import create
from mpd2.study.build import BuildSize
from mpd2.training.config import PAPER

KILLS = int(os.environ.get("MPD2_SERVER_KILLS", "1"))  # `make soak` kills more often
CONFIG = PAPER.but(
    network__width=6, training__epochs=150, training__patience=150, training__warm_up=1, training__batch_size=16
)
SIZE = BuildSize(seeds=2, methods=("ai", "recalibrated-score", "mao", "studio"), until="methods")
MOST_LOOKS = 100_000

Asked = tuple[Order, Callable[[Job], Path]]


@pytest.fixture
def place(tmp_path, monkeypatch) -> Iterator[Workshop]:
    """A workshop with a record; nothing is left running in it."""
    (tmp_path / "settings.toml").write_text(SETTINGS)
    monkeypatch.setenv(SETTINGS_FILE, str(tmp_path / "settings.toml"))
    monkeypatch.setenv(PLACE, str(tmp_path))
    workshop = Workshop.here()
    yield workshop
    for job in all_jobs(workshop):
        queue.cancel(job, workshop, by=LOCAL)
    worker_pool.let_go()


def training(place: Workshop, number: int) -> Asked:
    """A training, and where its run will be."""
    folder = place.jobs.parent / "table"
    folder.mkdir(exist_ok=True)
    table = small_table(folder, 8)
    cohort = load_cohort(table)
    costs = cohort.manifest.default_costs()
    wish = orders.Wish(orders.Start("paper", "MPD² (paper)", PAPER, costs), CONFIG, costs, title="mine")
    return orders.training(wish, 2, table, cohort), lambda job: place.runs / job.name


def building(place: Workshop, number: int) -> Asked:
    """The build of a new workspace, and the workspace."""
    workspace = create(f"nights-{number}", table_of(nights()), MANIFEST, place, by=LOCAL)
    return orders.building(workspace, SIZE), lambda job: workspace.folder


@pytest.mark.parametrize("work", [training, building] if KILLS > 1 else [training])
def test_what_was_killed_at_a_random_moment_ends_as_if_nobody_had(place, work):
    moments, killed, tried = Random(7), 0, 0
    with ExitStack() as stack:
        server = KilledServer(place, stack)
        order, result = work(place, 0)
        whole = server.submit(order)
        duration = server.finished(whole)
        expected = contents(result(whole))
        assert expected
        while killed < KILLS:
            tried += 1
            order, result = work(place, tried)
            job = server.submit(order)
            moment = duration * moments.random()
            worked = server.killed_after(moment, job)
            standing = job.status
            server.finished(job)
            if worked:
                killed += 1
                assert job.status.attempts == 2
                print(f"killed after {moment:.1f} of {duration:.1f} s, at step {standing.epoch} {standing.note}")
            else:  # quicker than the moment this time: there is another try
                duration = min(duration, moment)
            assert contents(result(job)) == expected
    assert len(all_jobs(place)) == tried + 1
    assert_nothing_is_lost(server, jobs=tried + 1)


def assert_nothing_is_lost(server: KilledServer, jobs: int) -> None:
    """Every entry that was acknowledged is there, and one more at most for each time its writer was killed."""
    options, folder = record_place()
    verdict = checked(options, folder)
    assert verdict.whole, verdict.in_words()
    record = kept_record()
    assert record
    seen = len(record.search(Search(action=Action.SEE_CASE), limit=MOST_LOOKS))
    assert server.looks <= seen <= server.looks + server.visits
    asked = [Action.TRAIN, Action.BUILD_WORKSPACE]
    assert sum(len(record.search(Search(action=action), limit=MOST_LOOKS)) for action in asked) == jobs
