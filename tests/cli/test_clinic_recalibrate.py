"""`clinic recalibrate` and `clinic change-plan`: from a file of outcomes to a new run and its plan."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from disk import names
from small_workspace import MANIFEST, nights, table_of

from mpd2.cli import main
from mpd2.clinic.access.actor import LOCAL
from mpd2.core.runs import load_run
from mpd2.evaluation.reports import publish_run
from mpd2.lab.jobs import queue, worker_pool
from mpd2.lab.jobs.folder import PLACE, Workshop, all_jobs
from mpd2.lab.workspaces.shelf import create
from mpd2.methods.plus.method import Plus
from mpd2.study.local.change import NOTE


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workshop]:
    """A workshop with a workspace, a run `old` of it and, in the folder one is in, a file of local cases."""
    monkeypatch.setenv(PLACE, str(tmp_path / "workshop"))
    monkeypatch.chdir(tmp_path)
    workshop = Workshop.here()
    cohort = create("nights", table_of(nights()), MANIFEST, workshop, by=LOCAL).cohort()
    run = Plus(draws=2).fit(cohort, cohort.manifest.default_costs(), (1, 2))
    publish_run(replace(run, notes={**run.notes, "title": "Old"}), cohort, workshop.runs / "old")
    nights(150, seed=1, first=60).drop(columns="part").to_csv(tmp_path / "ours.csv", index=False)
    yield workshop
    for job in reversed(all_jobs(workshop)):
        queue.cancel(job, workshop, by=LOCAL)
    worker_pool.let_go()


def recalibrated(*more: str) -> list[str]:
    return ["clinic", "recalibrate", "--run", "old", "--cases", "ours.csv", "--name", "Ours", *more]


def test_a_file_of_outcomes_becomes_a_run_whose_plan_can_be_written(
    place: Workshop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(recalibrated("--json")) == 0
    told = json.loads(capsys.readouterr().out)
    assert sorted(names(place.runs)) == sorted([told["run"], "old"])
    assert load_run(place.runs / told["run"]).notes[NOTE]["cases"] == told["change"]["cases"]
    assert told["verdict"]["n"] == told["change"]["local"]["test"]["cases"]
    for name in ("plan.html", "plan.md"):
        assert main(["clinic", "change-plan", told["run"], "--out", name]) == 0
        text = Path(name).read_text(encoding="utf-8")
        assert all(heading in text for heading in ("What changes", "By which protocol", "With which impact"))
        assert told["change"]["cases"] in text
        assert told["digest"] in text


def test_it_is_told_in_words_what_came_of_it(place: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(recalibrated()) == 0
    said = capsys.readouterr().out
    assert "By the rule stated in advance the new run" in said
    assert "held-out local cases the new run costs" in said
    assert "Against the AI alone, recalibrated on the same cases" in said
    assert all_jobs(place)[0].status.state == "done"


def test_what_cannot_be_done_is_said(place: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*recalibrated()[:5], "none.csv", "--name", "Ours"]) == 1
    assert "none.csv: there is no such file" in capsys.readouterr().err
    assert main(["clinic", "change-plan", "old", "--out", "plan.html"]) == 1
    assert "old: was not recalibrated" in capsys.readouterr().err
    assert main(["clinic", "change-plan", "old", "--out", "plan.docx"]) == 1
    assert "expected a name ending in .html or .md" in capsys.readouterr().err
    assert not Path("plan.html").exists()


def test_a_run_whose_files_are_damaged_is_refused(place: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    (place.runs / "old" / "weights.safetensors").write_bytes(b"no")
    assert main(recalibrated()) == 1
    assert "damaged or changed" in capsys.readouterr().err
    assert all_jobs(place) == []
