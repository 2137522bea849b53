"""`workspace build` makes the study of a workspace and prints its figures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_workspace import MANIFEST, nights, table_of

from mpd2.cli import main
from mpd2.cli.workspace import STAGES
from mpd2.clinic.access.actor import LOCAL
from mpd2.core.workspace import DEFAULT, Workspace
from mpd2.evaluation.metrics import COUNTED
from mpd2.lab.jobs import orders
from mpd2.lab.jobs.folder import Job, Status, Workshop
from mpd2.lab.workspaces.shelf import create
from mpd2.study import build

LINE = ["workspace", "build", "nights", "--methods", "ai,recalibrated-score", "--seeds", "1", "--until"]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("MPD2_WORKSHOP", str(tmp_path))
    return create("nights", table_of(nights()), MANIFEST, Workshop.here(), by=LOCAL)


def test_the_stages_are_those_of_a_build() -> None:
    assert tuple(build.STAGES) == STAGES


def test_the_first_answer_is_built_printed_and_not_made_twice(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*LINE, "quick", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["made"] == ["ai", "recalibrated-score"]
    assert found["fingerprint"] == workspace.cohort().fingerprint
    assert found["stages"]["quick"] == [2, 2]
    assert set(found["runs"]["ai"]["metrics"]) == set(COUNTED)
    cohort = workspace.cohort().subset(split="test")
    assert found["runs"]["ai"]["metrics"]["Acc"]["mean"] == pytest.approx((cohort.ai_label == cohort.truth).mean())
    assert main([*LINE, "quick"]) == 0
    printed = capsys.readouterr()
    assert "nothing to do" in printed.err
    assert "95 % intervals over patients" in printed.out


def test_a_table_more_is_printed_as_rows(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*LINE, "tables", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["method"] for row in found["tables"]["overall"]} == {"ai", "recalibrated-score"}


def test_what_cannot_be_built_is_said(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["workspace", "build", DEFAULT]) == 1
    assert "is shipped" in capsys.readouterr().err
    assert main(["workspace", "build", "nights", "--methods", "magic"]) == 1
    assert "method: found magic, expected some of" in capsys.readouterr().err
    assert main(["workspace", "build", "nights", "--resplits", "1"]) == 1
    assert "resplits" in capsys.readouterr().err


def test_what_the_dashboard_builds_is_not_built_twice(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    job = Job(Workshop.here().jobs / "one")
    job.folder.mkdir(parents=True)
    job.write(orders.building(workspace))
    job.write(Status(state="running"))
    assert main([*LINE, "quick"]) == 1
    assert "is being built by the dashboard (job one)" in capsys.readouterr().err
