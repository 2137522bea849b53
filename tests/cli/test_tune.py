"""`tune` and `sweep` as they are typed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from optuna.trial import TrialState
from places import ROOT
from small_table import small_table

from mpd2.cli import main
from mpd2.core.runs import load_run
from mpd2.lab.sweep import TABLE
from mpd2.lab.tuning.storage import connected
from mpd2.lab.tuning.study import load_study
from mpd2.training.config import STUDIO, parse_config

ENDED = (TrialState.COMPLETE, TrialState.PRUNED)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_table(tmp_path_factory.mktemp("table"), 10)


@pytest.fixture(scope="module")
def line(table: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What every command is given: a table and a configuration that trains in no time."""
    config = tmp_path_factory.mktemp("config") / "tiny.json"
    config.write_text(json.dumps({"network": {"width": 8}, "training": {"batch_size": 32, "epochs": 3}}))
    return ["--table", str(table), "--preset", "studio", "--config", str(config)]


def test_tune_keeps_its_best_configuration_as_a_run_and_as_a_preset(line, tmp_path, capsys):
    storage, out = tmp_path / "tuning.db", tmp_path / "tuned"
    search = ["tune", *line, "--trials", "4", "--batch", "4", "--epochs", "2", "--storage", str(storage)]
    assert main([*search, "--keep", str(out), "--json"]) == 0
    printed = capsys.readouterr()
    summary = json.loads(printed.out[: printed.out.index("\n}") + 2])
    assert summary["trials"] == {"complete": 4, "pruned": 0, "running": 0}
    config = parse_config(json.loads((tmp_path / "tuned.json").read_text()))
    assert config.model_dump(mode="json") == summary["config"]
    assert config.objective.fee_weight == pytest.approx(summary["best"]["objective__fee_weight"])
    assert (config.network.width, config.training.epochs, config.rule) == (8, 3, STUDIO.rule)
    run = load_run(out)
    assert [settings["seed"] for settings in run.settings] == list(range(42, 52))
    assert {settings["objective"]["fee_weight"] for settings in run.settings} == {config.objective.fee_weight}

    once_more = ["--config", str(tmp_path / "tuned.json"), "--seeds", "42,", "--out", str(tmp_path / "once")]
    assert main(["train", *line[:2], *once_more]) == 0
    assert load_run(tmp_path / "once").settings[0] == run.settings[0]
    capsys.readouterr()
    assert main([*search, "--keep", str(out)]) == 1
    assert "is already there" in capsys.readouterr().err
    assert main(search) == 0
    printed = capsys.readouterr()
    assert "study studio: 4 trials completed, 0 given up early" in printed.out
    assert "4/4 trials, best" in printed.err


def test_a_search_ended_by_the_system_gives_its_trials_back_and_goes_on(line, tmp_path):
    storage = tmp_path / "tuning.db"
    command = [sys.executable, "-m", "mpd2", "tune", *line, "--trials", "3", "--batch", "3", "--storage", str(storage)]
    with subprocess.Popen([*command, "--epochs", "2000"], cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        heard = next(text for text in process.stderr if "epoch" in text)
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
    assert heard.startswith("0/3 trials, epoch 10/2000 of ")
    assert process.returncode == 130
    assert "the same command goes on with study studio: no trial that ended is lost" in rest
    with connected(str(storage)) as place:
        study, plan = load_study(place, "studio")
        assert plan.base.training.epochs == 2000
        asked, queued = study.trials[:3], study.trials[3:]
        assert all(trial.state in (*ENDED, TrialState.FAIL) for trial in asked)
        broken_off = [trial.params for trial in asked if trial.state == TrialState.FAIL]
        assert broken_off
        assert [trial.system_attrs["fixed_params"] for trial in queued] == broken_off
        assert {trial.state for trial in queued} == {TrialState.WAITING}


def test_sweep_writes_a_run_a_population_and_a_table_of_routers(line, tmp_path, capsys):
    command = ["sweep", *line, "--conditions", "full,noal", "--seeds", "2", "--epochs", "1", "--workers", "1"]
    assert main([*command, "--out", str(tmp_path / "sweep")]) == 0
    printed = capsys.readouterr()
    assert "noal-42: 2 routers, 2 of 2 populations done" in printed.err
    assert "Full objective  2 " in printed.out
    rows = pd.read_csv(tmp_path / "sweep" / TABLE)
    assert rows[["condition", "seed"]].to_numpy().tolist() == [["full", 42], ["full", 43], ["noal", 42], ["noal", 43]]
    assert load_run(tmp_path / "sweep/noal-42").settings[0]["budget"]["target"] is None
    assert main([*command, "--conditions", "full,luck", "--out", str(tmp_path / "sweep")]) == 1
    assert "condition: found luck, expected some of full, no-fees" in capsys.readouterr().err


def test_help_says_where_a_search_is_kept(capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["tune", "--help"])
    assert "postgresql+psycopg://" in capsys.readouterr().out
