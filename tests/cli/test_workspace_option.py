"""`--workspace NAME` puts a workspace's table, folder and runs in the place of those nobody typed."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from small_workspace import nights, small_workspace, table_of

from mpd2.cli import main, parser
from mpd2.cli.inputs import manifest_for, open_workspace
from mpd2.cli.reproduce import study_of
from mpd2.core.errors import UserError
from mpd2.core.runs import load_run
from mpd2.core.workspace import Workspace
from mpd2.evaluation.reports import publish_run
from mpd2.lab.jobs.folder import Workshop
from mpd2.methods.registry import METHODS

LINES = (
    "train", "evaluate ai", "reproduce", "resplit", "tune", "sweep --out runs/sweep", "check", "bench train",
    "bench route", "bench lab",
)  # fmt: skip


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """With the run of the AI alone."""
    monkeypatch.setenv("MPD2_WORKSHOP", str(tmp_path / "workshop"))
    made = small_workspace(Workshop.here())
    cohort = made.cohort()
    publish_run(METHODS["ai"].fit(cohort, cohort.manifest.default_costs(), (42,)), cohort, made.runs / "ai")
    return made


@pytest.mark.parametrize("line", LINES)
def test_the_table_is_that_of_the_workspace(line: str, workspace: Workspace) -> None:
    args = parser().parse_args([*line.split(), "--workspace", "nights"])
    open_workspace(args)
    assert args.table == workspace.table
    assert getattr(args, "data", workspace.folder) == workspace.folder
    if line == "evaluate ai":
        assert args.run == workspace.runs / "ai"
    if line == "bench route":
        assert args.run == workspace.runs / "studio"


def test_what_is_made_is_named_after_the_workspace_unless_a_name_was_typed(workspace: Workspace) -> None:
    for line, key, value in (
        ("train --preset studio", "out", Path("runs/nights-studio")),
        ("train --out runs/mine", "out", Path("runs/mine")),
        ("tune", "study", "nights-paper"),
        ("tune --study mine", "study", "mine"),
        ("resplit --data elsewhere", "data", Path("elsewhere")),
    ):
        args = parser().parse_args([*line.split(), "--workspace", "nights"])
        open_workspace(args)
        assert getattr(args, key) == value


@pytest.mark.parametrize("line", ["train --table a.csv", "evaluate ai --table a.csv", "check a.csv"])
def test_a_table_and_a_workspace_exclude_each_other(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([*line.split(), "--workspace", "nights"])
    assert "not allowed with argument" in capsys.readouterr().err


def test_a_workspace_that_is_not_there_is_answered_with_those_that_are(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "--workspace", "days"]) == 1
    assert capsys.readouterr().err.startswith("error: workspace: found 'days', expected one of glaucoma")


def test_check_and_evaluate_work_on_it(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--workspace", "nights", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["cases"], set(found["cohorts"]), set(found["readers"])) == (180, {"hill", "lake"}, {"ann", "bob"})
    assert main(["evaluate", "ai", "--workspace", "nights", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["stored_predictions"]
    assert found["fingerprint"] == workspace.cohort().fingerprint


def test_new_cases_are_routed_by_its_manifest_and_a_run_finds_its_own(workspace: Workspace, tmp_path: Path) -> None:
    new = tmp_path / "new.csv"
    new.write_bytes(table_of(nights(5, first=100).drop(columns=["truth", "part", "note"])))
    out = tmp_path / "decisions.csv"
    assert main(["route", "ai", str(new), "--workspace", "nights", "--floor", "ai", "--out", str(out)]) == 0
    assert len(pd.read_csv(out)) == 15
    run = load_run(workspace.runs / "ai")
    assert manifest_for(run, new) == workspace.manifest()


def test_a_study_of_another_size_does_not_replace_the_one_of_the_workspace(workspace: Workspace) -> None:
    args = parser().parse_args(["reproduce", "--workspace", "nights"])
    open_workspace(args)
    assert study_of(args).data == workspace.folder
    args.small = True
    with pytest.raises(UserError, match=r"would replace the one in .*nights"):
        study_of(args)


def test_a_router_is_trained_on_it(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tiny = tmp_path / "tiny.json"
    tiny.write_text(json.dumps({"network": {"width": 8}, "training": {"epochs": 2, "warm_up": 0}}))
    monkeypatch.chdir(tmp_path)
    assert main(["train", "--workspace", "nights", "--config", str(tiny), "--seeds", "1"]) == 0
    assert "evaluate runs/nights-paper --workspace nights" in capsys.readouterr().out
    assert load_run(tmp_path / "runs" / "nights-paper").fingerprint == workspace.cohort().fingerprint
