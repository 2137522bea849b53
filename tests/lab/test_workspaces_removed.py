"""A workspace that is removed leaves nothing, and takes nothing that is not its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from disk import names
from small_workspace import MANIFEST, nights, small_workspace, table_of

from mpd2.clinic.access.actor import LOCAL
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.workspace import DEFAULT, Workspace
from mpd2.evaluation.reports import publish_run
from mpd2.lab.jobs import own_runs
from mpd2.lab.jobs.folder import Job, Order, State, Status, Workshop, all_jobs
from mpd2.lab.tuning.storage import connected
from mpd2.lab.tuning.study import SearchPlan, open_study
from mpd2.lab.workspaces import adding, removing, shelf
from mpd2.methods.registry import METHODS
from mpd2.training.config import STUDIO


@pytest.fixture
def place(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path / "jobs", tmp_path / "runs")


def keep_run(name: str, cohort: Cohort, place: Workshop) -> None:
    publish_run(METHODS["ai"].fit(cohort, cohort.manifest.default_costs(), (42,)), cohort, place.runs / name)


def keep_job(name: str, workspace: Workspace, fingerprint: str, place: Workshop, state: State = "done") -> None:
    job = Job(place.jobs / name)
    job.folder.mkdir(parents=True)
    costs = {"cost_false_negative": 1.0, "cost_false_positive": 1.0}
    job.write(
        Order(kind="train", title=name, configs=(STUDIO,), table=workspace.table, fingerprint=fingerprint, **costs)
    )
    job.write(Status(state=state))


def keep_study(name: str, fingerprint: str, place: Workshop) -> None:
    with connected(place.studies) as storage:
        open_study(storage, name, SearchPlan(base=STUDIO, fingerprint=fingerprint))


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_nothing_is_left_of_it_and_all_of_others(place: Workshop, tmp_path: Path) -> None:
    other = shelf.create("other", table_of(nights(40)), MANIFEST, place, by=LOCAL)
    theirs = other.cohort()
    keep_run("theirs", theirs, place)
    keep_job("theirs", other, theirs.fingerprint, place)
    keep_study("theirs", theirs.fingerprint, place)
    workspace = small_workspace(place)
    before = workspace.cohort()
    keep_run("first", before, place)
    keep_job("first", workspace, before.fingerprint, place)
    keep_study("first", before.fingerprint, place)
    adding.add_rows("nights", nights(2, first=60).set_axis(range(2, 8)), "new.csv", place, by=LOCAL)
    now = workspace.cohort()
    keep_run("second", now, place)
    keep_job("second", workspace, now.fingerprint, place, "queued")
    keep_job("third", workspace, "of an edited manifest", place, "failed")
    (place.workspaces / ".nights.0123456789abcdef0123456789abcdef").mkdir()

    gone = removing.remove("nights", place, by=LOCAL)

    assert (gone.runs, gone.jobs, gone.studies) == (("second", "first"), ("first", "second", "third"), ("first",))
    assert "2 own runs, 3 jobs, 1 tuning study" in gone.in_words()
    assert names(place.workspaces) == ["other"]
    assert [run.name for run in own_runs.own_runs(place)] == ["theirs"]
    assert [job.name for job in all_jobs(place)] == ["theirs"]
    assert removing.leavings(other, place) == removing.Leavings(("theirs",), ("theirs",), ("theirs",))
    ids = set(before.ids) - set(theirs.ids)
    for path in [each for each in tmp_path.rglob("*") if each.is_file() and each.suffix != ".db"]:
        assert not any(one.encode() in path.read_bytes() for one in sorted(ids)[:3]), path
    assert not [path for path in everything(tmp_path) if "nights" in path and "other" not in path]


def test_runs_of_a_table_that_another_workspace_has_too_stay(place: Workshop) -> None:
    for name in ("nights", "twin"):
        small_workspace(place, name)
    cohort = shelf.find("nights", place).cohort()
    keep_run("ours", cohort, place)
    gone = removing.remove("nights", place, by=LOCAL)
    assert (gone.runs, gone.shared) == ((), ("twin",))
    assert "stay, for twin has it too" in gone.in_words()
    assert removing.remove("twin", place, by=LOCAL).runs == ("ours",)
    assert own_runs.own_runs(place) == []


def test_a_shipped_workspace_stays(place: Workshop) -> None:
    with pytest.raises(UserError, match=r"is shipped with MPD² Studio and stays as it is"):
        removing.remove(DEFAULT, place, by=LOCAL)
    assert shelf.find(DEFAULT, place).table.is_file()


@pytest.mark.parametrize("damage", ["manifest.toml", "nights.csv", "earlier.json"])
def test_a_damaged_workspace_can_be_removed(damage: str, place: Workshop) -> None:
    workspace = small_workspace(place)
    (workspace.folder / damage).write_bytes(b"\xff")
    removing.remove("nights", place, by=LOCAL)
    assert names(place.workspaces) == []
