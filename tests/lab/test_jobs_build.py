"""The study of a workspace as a job: watched, cancelled, killed, gone on with, refused."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from finished_jobs import ended, wait_until
from places import DATA
from pydantic import ValidationError
from small_workspace import MANIFEST, nights, table_of

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.errors import UserError
from mpd2.core.workspace import Workspace, shipped_workspaces
from mpd2.lab.jobs import orders, queue, worker_pool
from mpd2.lab.jobs.folder import PLACE, Order, Workshop, all_jobs
from mpd2.lab.workspaces.shelf import create
from mpd2.study.build import BuildSize, standing, study_in

SMALL = BuildSize(seeds=2, methods=("ai", "recalibrated-score", "random-reader", "mao"), until="methods")


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


def births(workspace: Workspace) -> dict[str, int]:
    """When each run was written."""
    return {folder.name: folder.stat().st_mtime_ns for folder in workspace.runs.glob("[a-z]*")}


def test_a_build_is_a_job_that_says_how_far_it_is_and_leaves_everything_in_the_workspace(place, workspace):
    job = queue.submit(orders.building(workspace, SMALL), place, by=LOCAL)
    assert (job.order.kind, job.order.building.workspace) == ("build", "nights")
    status = ended(job, place)
    assert (status.state, status.reason, status.epoch, status.steps) == ("done", "", 4, 4)
    assert status.seconds > 0
    assert [stage.is_done for stage in standing(study_in(workspace.folder), "methods")] == [True, True]
    assert sorted(births(workspace)) == ["ai", "mao", "random-reader", "recalibrated-score"]
    assert not (place.runs / job.name).exists()


def test_a_build_that_was_cancelled_keeps_what_is_whole_and_another_goes_on(place, workspace):
    job = queue.submit(orders.building(workspace, SMALL.model_copy(update={"seeds": 50})), place, by=LOCAL)
    wait_until(lambda: "ai" in births(workspace))
    queue.cancel(job, place, by=LOCAL)
    assert job.status.state == "cancelled"
    there = births(workspace)
    again = queue.submit(orders.building(workspace, SMALL.model_copy(update={"seeds": 50})), place, by=LOCAL)
    assert ended(again, place).state == "done"
    assert again.status.steps == 4 - len(there)
    assert births(workspace).items() >= there.items()
    assert not [path for path in workspace.runs.iterdir() if path.name.startswith(".")]


def test_a_build_whose_worker_is_killed_is_taken_up_again(place, workspace):
    longer = SMALL.model_copy(update={"seeds": 50, "methods": (*SMALL.methods, "verma", "narasimhan", "keswani")})
    job = queue.submit(orders.building(workspace, longer), place, by=LOCAL)
    wait_until(lambda: "ai" in births(workspace))
    process = job.status.process
    assert process is not None
    os.killpg(process, signal.SIGKILL)
    status = ended(job, place)
    assert (status.state, status.attempts, status.reason) == ("done", 2, "")
    assert all(stage.is_done for stage in standing(study_in(workspace.folder), "methods"))


def test_a_build_of_a_table_that_has_changed_meanwhile_fails_with_the_reason(place, workspace):
    order = orders.building(workspace, SMALL)
    workspace.table.write_bytes(table_of(nights(seed=1)))
    status = ended(queue.submit(order, place, by=LOCAL), place)
    assert status.state == "failed"
    assert "has changed since the job was asked for; ask again" in status.reason
    assert not births(workspace)


def test_what_was_left_out_is_told_as_a_warning(place, workspace):
    size = BuildSize(seeds=1, methods=("ai", "random-reader"), until="tables")
    status = ended(queue.submit(orders.building(workspace, size), place, by=LOCAL), place)
    assert status.state == "done"
    assert any(warning.startswith("RESULTS.md waits for") for warning in status.warnings)
    assert (workspace.folder / "tables" / "overall.csv").is_file()


def test_a_build_that_takes_too_long_fails_and_leaves_no_method_out(place, workspace):
    order = orders.building(workspace, BuildSize(seeds=50, methods=("ai", "studio"), until="methods"))
    status = ended(queue.submit(order.model_copy(update={"most_seconds": 4}), place, by=LOCAL), place)
    assert status.state == "failed"
    assert status.reason.startswith("took longer than the 4 s a job may take")
    assert "studio" not in births(workspace)


def test_a_shipped_workspace_is_not_built_anew():
    with pytest.raises(
        UserError, match="glaucoma: is shipped with MPD² Studio and stays as it is; make a copy to build"
    ):
        orders.building(shipped_workspaces()[0])


def test_a_large_table_may_take_longer_than_an_hour(workspace):
    assert orders.building(workspace, SMALL).most_seconds == 3600
    larger = Workspace("larger", DATA)
    assert orders.building(larger, BuildSize(seeds=50, until="ablations")).most_seconds > 3600


def test_an_order_without_what_its_kind_needs_is_refused(workspace):
    order = orders.building(workspace, SMALL).model_dump()
    for change in ({"kind": "train"}, {"building": None}, {"kind": "train", "building": None}):
        with pytest.raises(ValidationError, match=r"a workspace for a build, .* and at least one configuration"):
            Order.model_validate(order | change)
