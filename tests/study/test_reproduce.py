"""The study makes what is missing and nothing else, whatever happens on the way."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import tiny_study
from disk import names
from places import ROOT
from rich.console import Console
from tiny_study import DATA, EVERY_TABLE, Log, made
from tiny_study import tiny_study as study_in

from mpd2.cli import main
from mpd2.cli.reproduce import study_bar
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError
from mpd2.core.policy import Policy
from mpd2.core.runs import load_predictions, load_run, save_run
from mpd2.core.workspace import Workspace, shipped_workspaces
from mpd2.evaluation.map import Map, MapParameters, Space
from mpd2.methods.mpd2_router import Mpd2
from mpd2.study import catalogue
from mpd2.study.build import study_in as study_of
from mpd2.study.catalogue import MAP, TABLES, Inventory, tables_of
from mpd2.study.definition import ABLATIONS_RUN, Study
from mpd2.study.reproduce import chosen, experiments_of, reproduce, results_text, to_make
from mpd2.study.tables import read_table

OF_ABLATIONS = [name for name, table in TABLES.items() if table.of_ablations]
OF_METHODS = [name for name in EVERY_TABLE if name not in OF_ABLATIONS]
OF_RUNS = [name for name in OF_METHODS if TABLES[name].experiments is None]
SHIPPED = 25 * 2**20  # bytes that runs, tables and map may take


@pytest.fixture(scope="module")
def log() -> Log:
    """What was told while the finished study was made."""
    return Log()


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, log: Log) -> Path:
    """The folder around a study made in one go."""
    place = tmp_path_factory.mktemp("finished")
    made(study_in(place / "data"), log=log)
    return place


@pytest.fixture
def place(finished: Path, tmp_path: Path) -> Path:
    """A copy of it to spoil."""
    return Path(shutil.copytree(finished, tmp_path / "copy"))


def contents(place: Path) -> dict[str, bytes]:
    """Every table, the index and the results, byte for byte."""
    files = [*(place / "data" / "tables").iterdir(), place / "data" / "RESULTS.md"]
    return {path.name: path.read_bytes() for path in files}


def births(study: Study) -> dict[str, int]:
    """When each run was written."""
    folders = {name: study.folder(name) for name in (*study.contenders, ABLATIONS_RUN)}
    return {name: folder.stat().st_mtime_ns for name, folder in folders.items() if folder.exists()}


# What is made


def test_a_study_makes_every_run_and_table_and_tells_the_results(finished: Path) -> None:
    study = study_in(finished / "data")
    assert names(finished / "data") == ["RESULTS.md", "build", "published", "runs", "tables"]
    assert names(finished / "data" / "runs") == sorted(study.contenders)
    assert names(finished / "data" / "tables") == sorted(["index.json", *(f"{name}.csv" for name in EVERY_TABLE)])
    assert names(study.workshop) == ["ablations", "lock", "rounds"]
    assert not any(len(read_table(study.data, name)) == 0 for name in EVERY_TABLE)


def test_a_second_call_does_nothing(place: Path) -> None:
    study, before = study_in(place / "data"), contents(place)
    born = births(study)
    log = Log()
    assert made(study, log=log) == []
    assert (log.standings, log.said) == ([], [])
    assert (contents(place), births(study)) == (before, born)


def test_tables_of_the_ablations_need_no_population_once_they_are_drawn_up(place: Path) -> None:
    shutil.rmtree(place / "data" / "build")
    assert made(study_in(place / "data")) == []


def test_the_results_are_the_same_to_the_last_byte(place: Path) -> None:
    before = contents(place)
    (place / "data" / "RESULTS.md").unlink()
    assert made(study_in(place / "data")) == ["RESULTS.md"]
    assert contents(place) == before


def test_only_what_is_asked_for_is_made_and_the_results_wait(tmp_path: Path) -> None:
    study, log = study_in(tmp_path / "data"), Log()
    assert made(study, ["objective"], log=log) == [ABLATIONS_RUN, "objective"]
    assert names(tmp_path / "data" / "tables") == ["index.json", "objective.csv"]
    assert log.said[-1].startswith("RESULTS.md waits for overall, ")
    assert not (tmp_path / "data" / "RESULTS.md").exists()


def test_force_draws_up_the_same_table_from_the_same_runs(place: Path) -> None:
    study, before = study_in(place / "data"), contents(place)
    born = births(study)
    assert made(study, ["overall"], force=True) == ["overall"]
    assert (contents(place), births(study)) == (before, born)


def test_an_unknown_table_is_named() -> None:
    assert chosen([]) == chosen(["all"]) == (*TABLES, MAP)
    with pytest.raises(UserError, match="found best, expected all or some of overall"):
        chosen(["overall", "best"])


# What is out of date


def test_another_recipe_makes_one_run_and_the_tables_of_methods_out_of_date(finished: Path) -> None:
    study = study_in(finished / "data")
    paper = study.contenders["paper"]
    assert isinstance(paper.method, Mpd2)
    changed = replace(paper, method=Mpd2(paper.method.config.but(objective__gsdp_weight=0.5)))
    study = replace(study, contenders={**study.contenders, "paper": changed})
    runs, stale = to_make(Inventory(study), EVERY_TABLE)
    assert runs == {"paper": "out of date"}
    assert list(stale) == OF_METHODS


def test_other_seeds_make_everything_out_of_date(finished: Path) -> None:
    study = replace(study_in(finished / "data"), seeds=(42, 44))
    runs, stale = to_make(Inventory(study), EVERY_TABLE)
    assert set(runs) == {*study.contenders, ABLATIONS_RUN}
    assert set(stale) == set(EVERY_TABLE)
    assert {*runs.values(), *stale.values()} == {"out of date"}


def test_a_run_that_says_something_else_makes_its_tables_out_of_date(place: Path, tmp_path: Path) -> None:
    study = study_in(place / "data")
    other = replace(study_in(tmp_path / "other"), seeds=(50, 51))
    other.make("random-reader")
    forged = other.folder("random-reader") / "config.json"
    config = json.loads(forged.read_text())
    forged.write_text(json.dumps(config | {"notes": {"recipe": study.recipe("random-reader")}}))
    shutil.rmtree(study.folder("random-reader"))
    shutil.copytree(other.folder("random-reader"), study.folder("random-reader"))
    runs, stale = to_make(Inventory(study), EVERY_TABLE)
    assert runs == {}
    assert list(stale) == OF_RUNS


# What is damaged


def test_a_damaged_run_is_made_anew_with_a_message_and_says_the_same(place: Path) -> None:
    study, before = study_in(place / "data"), contents(place)
    weights = study.folder("mao") / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    log = Log()
    assert made(study, log=log) == ["mao"]
    assert log.said == [f"{weights}: damaged or changed since the run was written: made anew"]
    assert contents(place) == before


@pytest.mark.parametrize("name", ["overall", "budget"])
def test_a_damaged_table_is_drawn_up_anew_with_a_message_and_trains_nothing(name: str, place: Path) -> None:
    study, before = study_in(place / "data"), contents(place)
    path = place / "data" / "tables" / f"{name}.csv"
    path.write_text(path.read_text().replace("0.", "1.", 1))
    log = Log()
    assert made(study, log=log) == [name]
    assert log.said == [f"{path}: damaged or changed since it was drawn up: made anew"]
    assert contents(place) == before


def test_a_damaged_table_of_absent_ablations_trains_them_again(place: Path) -> None:
    study, before = study_in(place / "data"), contents(place)
    shutil.rmtree(place / "data" / "build")
    (place / "data" / "tables" / "effects.csv").unlink()
    assert made(study) == [ABLATIONS_RUN, "effects"]
    assert contents(place) == before


@pytest.mark.parametrize("text", ["", "[1]", '{"overall": 3}', "\udcff"])
def test_without_a_sound_index_tables_are_drawn_up_anew(text: str, place: Path) -> None:
    study, before = study_in(place / "data"), contents(place)
    (place / "data" / "tables" / "index.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    assert to_make(Inventory(study), EVERY_TABLE) == ({}, dict.fromkeys(EVERY_TABLE, "missing"))
    assert made(study, ["retention"]) == ["retention"]
    assert contents(place)["retention.csv"] == before["retention.csv"]


def test_a_checkpoint_of_another_training_is_not_taken_up(tmp_path: Path) -> None:
    study = study_in(tmp_path / "data")
    study.workshop.mkdir(parents=True)
    study.checkpoint(ABLATIONS_RUN).write_bytes(b"no checkpoint")
    log = Log()
    made(study, ["budget"], log=log)
    assert log.said[0].startswith("ablations: starts anew: ")
    assert log.epochs(ABLATIONS_RUN) == list(range(1, 8))
    assert not study.checkpoint(ABLATIONS_RUN).exists()


# Killed on the way


def killed(place: Path, how: str) -> None:
    command = [sys.executable, tiny_study.__file__, str(place / "data"), how]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == -signal.SIGKILL, done.stderr


def test_a_killed_study_goes_on_where_it_was_to_the_same_end(tmp_path: Path, finished: Path) -> None:
    study = study_in(tmp_path / "data")
    killed(tmp_path, "die_training")
    trained = births(study)
    assert list(trained) == list(study.contenders)
    assert study.checkpoint(ABLATIONS_RUN).exists()

    killed(tmp_path, "die_writing")
    assert births(study).items() >= trained.items()
    left = names(tmp_path / "data" / "tables")
    assert any(name.startswith(".collapse.csv.") for name in left)
    assert "collapse.csv" not in left
    trained = births(study)

    log = Log()
    done = made(study, log=log)
    assert done == [*EVERY_TABLE[EVERY_TABLE.index("collapse") :], "RESULTS.md"]
    assert births(study) == trained
    assert contents(tmp_path) == contents(finished)
    assert names(study.workshop) == ["ablations", "lock", "rounds"]


def test_a_training_goes_on_after_its_last_checkpoint(tmp_path: Path) -> None:
    study, log = study_in(tmp_path / "data"), Log()

    def interrupt(standing: tiny_study.Standing) -> None:
        if standing.training and standing.training.epoch == 6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        reproduce(study, ["budget"], False, interrupt, print)
    made(study, ["budget"], log=log)
    assert log.epochs(ABLATIONS_RUN) == [6, 7]
    assert log.said[0] == "ablations: goes on after epoch 5"
    # Two of seven epochs were done: the others count neither as done nor as left.
    done = [standing.done for standing in log.standings if standing.name == "budget"]
    whole = tiny_study.Log()
    shutil.rmtree(study.workshop)
    (tmp_path / "data" / "tables" / "budget.csv").unlink()
    made(study, ["budget"], log=whole)
    assert done == pytest.approx([s.done * 2 / 7 for s in whole.standings if s.name == "budget"])


def test_two_at_once_do_not_get_into_each_others_way(place: Path) -> None:
    study = study_in(place / "data")
    (place / "data" / "RESULTS.md").unlink()

    def second(*_: object) -> None:
        made(study)

    with pytest.raises(UserError, match="another reproduction is at work"):
        reproduce(study, ["overall"], True, second, print)
    assert made(study) == ["RESULTS.md"]


# What is told on the way


def test_every_step_is_counted_and_the_time_left_runs_out(log: Log, finished: Path) -> None:
    study, told = study_in(finished / "data"), log.standings
    experiments = dict.fromkeys(one.title for one in experiments_of(study, EVERY_TABLE))
    steps = [*study.contenders, ABLATIONS_RUN, *experiments, *EVERY_TABLE]
    assert list(dict.fromkeys((s.step, s.name) for s in told)) == list(enumerate(steps, 1))
    assert {s.steps for s in told} == {len(steps)}
    assert np.diff([s.done for s in told]).min() >= 0
    assert np.diff([s.left for s in told]).max() <= 1e-9
    assert told[0].done == 0
    assert told[-1].done + told[-1].left == pytest.approx(told[0].left)
    assert log.epochs("paper") == log.epochs(ABLATIONS_RUN) == list(range(1, 8))


def test_seeds_that_are_missing_from_the_ablations_are_named(place: Path) -> None:
    study = study_in(place / "data")
    folder, cases = study.folder(ABLATIONS_RUN), study.cohort.subset(split="test")
    run = load_run(folder)
    policy = load_predictions(folder, run, cases)
    part = Policy(policy.defer[1:], policy.allocation[1:], policy.available)
    save_run(replace(run, settings=run.settings[1:]), folder, part, cases, {})
    log = Log()
    assert made(study, log=log) == [*OF_ABLATIONS, "RESULTS.md"]
    assert log.said == ["ablations: left out seed 42, which could not be trained in every condition"]
    assert set(read_table(study.data, "objective")["n"]) == {1}


# The map


def test_the_map_is_made_once_and_again_for_other_parameters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flat(cohort: Cohort, parameters: MapParameters) -> Map:
        space, points = Space(np.zeros(8), np.ones(8)), np.array(cohort.state)
        return Map(parameters, cohort.fingerprint, space, cohort.ids, points, points[:, :2])

    monkeypatch.setattr(catalogue, "fit_map", flat)
    study = study_in(tmp_path / "data")
    assert made(study, [MAP]) == [MAP]
    assert made(study, [MAP]) == []
    (tmp_path / "data" / "map" / "coordinates.parquet").write_bytes(b"")
    log = Log()
    assert made(study, [MAP], log=log) == [MAP]
    assert "damaged" in log.said[0]
    monkeypatch.setattr(catalogue, "MapParameters", lambda: MapParameters(neighbours=7))
    assert to_make(Inventory(study), [MAP]) == ({}, {MAP: "out of date"})


# The command


def test_the_command_makes_a_table_prints_it_and_says_when_nothing_is_left_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "few.csv"
    rows = (DATA / "glaucoma.csv").read_text().splitlines(keepends=True)
    table.write_text("".join([rows[0], *rows[1::40]]))
    table.with_suffix(".toml").write_bytes((DATA / "manifest.toml").read_bytes())
    line = ["reproduce", "budget", "--table", str(table), "--data", str(tmp_path / "data")]
    line += ["--seeds", "2", "--epochs", "1"]
    assert main(line) == 0
    first = capsys.readouterr()
    assert "1/2 ablations" in first.err
    assert "made in" in first.err
    assert first.out.startswith("budget: how well a budget is kept")
    assert "in the paper" not in first.out  # which is about the shipped table alone
    assert main(line) == 0
    second = capsys.readouterr()
    assert second.out == first.out
    assert "everything is up to date: nothing to do" in second.err


def test_the_command_lists_what_there_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--list", "--seeds", "1", "--data", str(tmp_path / "data")]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [line[0] for line in lines if line and line[-1] == "missing"][:2] == ["overall", "cohorts"]
    assert {line[0] for line in lines if line} >= {*TABLES, MAP, "studio", "oracle", ABLATIONS_RUN}
    assert not (tmp_path / "build").exists()


@pytest.mark.parametrize("option", [["--seeds", "2"], ["--epochs", "1"], ["--table", "other.csv"]])
def test_a_smaller_study_does_not_replace_the_shipped_one(
    option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", *option]) == 1
    assert "give its own with --data" in capsys.readouterr().err


@pytest.mark.parametrize("terminal", [True, False])
def test_the_bar_tells_step_epoch_and_time_left(terminal: bool, log: Log, finished: Path) -> None:
    out = StringIO()
    console = Console(file=out, force_terminal=terminal, width=80, highlight=False)
    with study_bar(console) as (tell, say):
        for standing in log.standings:
            tell(standing)
        say("mao: was damaged")
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out.getvalue())
    assert "mao: was damaged" in text
    steps, last = log.standings[-1].steps, log.standings[-1].name
    end = rf"{steps}/{steps} {last}"
    assert re.search(rf"{end} +0?0:0\d" if terminal else rf"{end}, about 0 min left", text)
    assert terminal or f"\n2/{steps} paper" in text
    assert max(map(len, re.split("[\r\n]", text))) <= 80


# What is shipped


@pytest.mark.parametrize("workspace", shipped_workspaces(), ids=lambda each: each.name)
def test_what_is_shipped_is_all_up_to_date_to_the_last_byte(workspace: Workspace) -> None:
    study = study_of(workspace.folder)
    found = Inventory(study)
    faults = {name: found.table_fault(name) for name in (*tables_of(study), MAP)}
    faults |= {name: fault for name, fault in found.run_faults.items() if name != ABLATIONS_RUN}
    assert set(faults.values()) == {None}, faults
    assert set(found.index) == set(tables_of(study))
    assert (ROOT / "RESULTS.md").read_text() == results_text(study)


def test_a_shipped_table_with_another_digit_is_not_up_to_date(tmp_path: Path) -> None:
    data = tmp_path / "glaucoma"
    shutil.copytree(DATA, data)
    path = data / "tables" / "overall.csv"
    path.write_text(path.read_text().replace("0.1", "0.2", 1))
    found = Inventory(study_of(data))
    assert found.table_fault("overall") == f"{path}: damaged or changed since it was drawn up"
    assert found.table_fault("cohorts") is None


@pytest.mark.parametrize("workspace", shipped_workspaces(), ids=lambda each: each.name)
def test_what_is_shipped_is_small(workspace: Workspace) -> None:
    folders = [workspace.folder / name for name in ("runs", "tables", MAP)]
    assert sum(path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file()) < SHIPPED
