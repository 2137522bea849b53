"""The command line does what its help says and never shows a user a traceback."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from places import DATA, ROOT
from small_table import small_table

from mpd2.cli import main, parser
from mpd2.cli.bench import route as bench_rerouting
from mpd2.cli.reproduce import study_of
from mpd2.cli.train import population
from mpd2.core.policy import Decisions, route
from mpd2.core.runs import load_predictions, load_run
from mpd2.core.table_file import load_cohort
from mpd2.evaluation.metrics import COUNTED, evaluate
from mpd2.study.definition import CONTENDERS
from mpd2.training.config import PRESETS, Config
from mpd2.training.devices import DEVICES
from mpd2.training.loop import Callback, Progress

TINY = {"network": {"width": 8}, "training": {"epochs": 2, "warm_up": 0, "learning_rate": 0.01}}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_table(tmp_path_factory.mktemp("table"), 8)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A configuration file that makes a training take no time."""
    path = tmp_path_factory.mktemp("config") / "tiny.json"
    path.write_text(json.dumps(TINY))
    return path


@pytest.fixture(scope="module")
def trained(table: Path, tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three routers."""
    out = tmp_path_factory.mktemp("runs") / "three"
    assert main(["train", "--table", str(table), "--config", str(tiny), "--seeds", "3", "--out", str(out)]) == 0
    return out


def copy_of(table: Path, folder: Path, change: Any) -> Path:
    """A changed copy of a table, with its manifest."""
    path = folder / "changed.csv"
    rows = pd.read_csv(table, dtype=str, keep_default_na=False)
    change(rows).to_csv(path, index=False)
    path.with_suffix(".toml").write_bytes(table.with_suffix(".toml").read_bytes())
    return path


def only_masks(rows: pd.DataFrame) -> pd.DataFrame:
    """The cases before anybody has read them: no truth, no split, no decisions, only who can be asked."""
    readers = [column for column in rows if "_expert_" in column]
    flags = {f"{column}_available": (rows[column] != "").astype(int) for column in readers}
    return rows.drop(columns=["y_true", "split", *readers]).assign(**flags)


# Usage


def test_help_names_every_preset_and_device(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["train", "--help"])
    words = set(re.findall(r"\w+", capsys.readouterr().out))
    assert set(PRESETS) | set(DEVICES) <= words


@pytest.mark.parametrize(
    "line",
    ["", "fly", "train --seeds 0", "train --seeds x", "train --seeds 42,42", "train --budget 0.5 --no-budget",
     "train --epochs 0", "route run table.csv", "check", "bench", "check a.csv --for fun"],
)  # fmt: skip
def test_wrong_usage_exits_with_two(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(line.split())
    assert "usage: python -m mpd2" in capsys.readouterr().err


OPTIONS = {
    "app": "--port --address",
    "check": "table --workspace --manifest --for=training --json=False",
    "train": "--table={TABLE} --workspace --preset=paper --config --seeds=10 --budget --no-budget=False "
    "--no-gsdp=False --no-rank-js=False --gamma --epochs --device=auto --out --force=False",
    "evaluate": "run --table={TABLE} --workspace --split=test --floor --confident --json=False",
    "route": "run table --manifest --workspace --out --member --floor --confident --learned-from={TABLE} "
    "--scheduler --workers=1",
    "reproduce": "tables --table={TABLE} --workspace --data={DATA} --seeds --epochs --small=False --list=False "
    "--force=False",
    "resplit": "--table={TABLE} --workspace --data={DATA} --resplits --seeds=2 --methods --against --leave-out=False "
    "--floor --json=False",
    "tune": "--table={TABLE} --workspace --preset=paper --config --trials=80 --epochs=60 --batch=10 --seeds=1 --seed=0 "
    "--study --storage=runs/tuning.db --device=auto --keep --force=False --json=False",
    "sweep": "--table={TABLE} --workspace --preset=paper --config --conditions --seeds=10 --epochs --out --scheduler "
    f"--workers={os.cpu_count()}",
    "workspace new": "name --cases --readings --manifest --split=random --readme --draft --yes=False",
    "workspace check": "what --readings --manifest --split=random --json=False",
    "workspace add": "name cases --readings --yes=False",
    "workspace build": "name --methods --seeds --resplits --until=resplits --json=False",
    "workspace list": "--json=False",
    "workspace export": "name --out --force=False",
    "workspace import": "file --name",
    "workspace copy": "name new --ids=random --key --force=False",
    "workspace photographs": "name --folder",
    "workspace remove": "name --yes=False",
    "clinic propose": "run --reason",
    "clinic activate": "run",
    "clinic status": "",
    "clinic intake": "file --watch --once=False --json=False",
    "clinic readings": "file --json=False",
    "clinic outcomes": "file --json=False",
    "clinic worklist": "reader --day --json=False",
    "clinic report": "--by=all --json=False",
    "clinic setting": (
        "--from --budget --total --day --at-most=[] --away=[] --weight --compare-with --confident --json=False"
    ),
    "clinic erase": "--case --before --tidy=False --reason= --yes=False --json=False",
    "clinic recalibrate": "--run --cases --name --json=False",
    "clinic change-plan": "run --out",
    "clinic token": "name --role",
    "imaging measure": "folder --out --processes=1 --models --backend=torch --allow-pickle=False --json=False",
    "imaging reference": "folder --held-out=0.3 --seed=0 --models --backend=torch --allow-pickle=False --json=False",
    "imaging models": "--models --json=False",
    "imaging train": "--out --eyes=2000 --minutes=8.0 --seed=0 --judged=400 --force=False --json=False",
    "build": "--refuge --chaksu --origa --out --models --encoders --no-crop=False --seed=0 --yes=False --json=False",
    "simulate": "--n=3000 --photographs --imaging --seed=0 --out --json=False",
    "backup": "out --check=False",
    "restore": "file --replace=False",
    "audit verify": "--against --file --json=False",
    "audit show": ("--case= --person= --action= --since= --until= --refused=False --before --limit=50 --json=False"),
    "audit export": "--out --force=False",
    "audit backup": "--out --force=False",
    "audit restore": "file --replace=False",
    "audit erase": "--case --reason= --yes=False",
    "bench train": "--table={TABLE} --workspace --preset=paper --config --epochs=3 --json=False",
    "bench route": "--slider=False --run={DATA}/runs/studio --table={TABLE} --workspace --json=False",
    "bench ui": "--workspace --visits=50 --json=False",
    "bench lab": "--table={TABLE} --workspace --trials=80 --reruns=30 --json=False",
    "bench imaging": "--rounds=3 --pictures=100 --processes=2 --small=False --json=False",
    "bench learning-curve": "--sizes=() --seeds=3 --methods=() --json=False",
    "bench record": "--entries=1000000 --appends=1000 --storage= --folder --json=False",
    "bench visitors": "--visitors=50 --minutes=20.0 --processes=1 --training=False --pause=10.0 --seed=0 --curve "
    "--table={TABLE} --workspace --json=False",
    "bench clinic": "--cases=100000 --rate=10.0 --minutes=10.0 --visitors=10 --pause=10.0 --alone=200 --rounds=20 "
    "--seed=0 --json=False",
    "bench clinic-statistics": (
        "--replays=1000 --part --quick=False --run={DATA}/runs/mpd2-plus --table={TABLE} --workspace --json=False"
    ),
    "bench local-cases": "--table={TABLE} --workspace --cohort= --sizes=() --draws=10 --methods=() --json=False",
}
"""Every command, what can be given to it, and what is taken where nothing is given."""


def options_of(command: argparse.ArgumentParser, name: str = "") -> dict[str, str]:
    nested = [action for action in command._actions if isinstance(action, argparse._SubParsersAction)]
    if nested:
        return {
            key: options
            for title, sub in nested[0].choices.items()
            for key, options in options_of(sub, f"{name} {title}".strip()).items()
        }
    given = [
        (action.option_strings or [action.dest])[0] + ("" if action.default is None else f"={action.default}")
        for action in command._actions
        if action.dest != "help"
    ]
    return {name: " ".join(given)}


def test_commands_and_options_are_those_people_know() -> None:
    assert options_of(parser()) == {
        name: text.format(TABLE="data/glaucoma/glaucoma.csv", DATA="data/glaucoma") for name, text in OPTIONS.items()
    }


def test_every_command_of_the_readme_can_be_given() -> None:
    clinic = ("docs/clinic/recalibration.md", "docs/clinic/shadow.md")
    names = ("README.md", "docs/access.md", "docs/deploy.md", *clinic)
    told = "".join((ROOT / name).read_text() for name in names)
    lines = re.findall(r"^(?:runuser .*)?python -m mpd2 ([^#\n]+)", told, flags=re.MULTILINE)
    named = {
        " ".join(line.split()[: 2 if line.startswith(("audit", "bench", "clinic", "imaging", "workspace")) else 1])
        for line in lines
    }
    assert set(OPTIONS) - named == {"app", "bench route"}
    for line in lines:
        parser().parse_args(line.split())


def test_help_waits_for_no_heavy_import() -> None:
    heavy = {"torch", "numpy", "pandas", "pyarrow", "rich", "optuna", "pydantic", "streamlit"}
    script = f"import sys, mpd2.cli; mpd2.cli.parser(); print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_module_runs_as_a_program() -> None:
    done = subprocess.run([sys.executable, "-m", "mpd2", "check", "none.csv"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "error: none.csv: there is no such file\n")


def test_a_reader_who_has_seen_enough_is_no_error(table: Path) -> None:
    command = [sys.executable, "-m", "mpd2", "check", str(table), "--json"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


# check


def test_check_counts_cases_and_readers(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(table), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    rows = pd.read_csv(table)
    assert found["ok"]
    assert found["cases"] == len(rows) == 72
    assert set(found["cohorts"]) == set(rows["cohort"])
    assert all(splits == {"train": 8, "val": 8, "test": 8} for splits in found["cohorts"].values())
    assert found["readers"] == {column: rows[column].count() for column in rows if "_expert_" in column}


def test_check_prints_names_and_numbers(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(table)]) == 0
    lines = [re.sub(" +", " ", line) for line in capsys.readouterr().out.splitlines()]
    assert lines[0].endswith("72 cases, fit for training")
    assert "ORIGA 8 8 8 24 induced" in lines


def test_check_lists_everything_that_is_wrong(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def spoil(rows: pd.DataFrame) -> pd.DataFrame:
        rows.loc[3, "y_true"], rows.loc[5, "vCDR"] = "2", "7"
        return rows

    bad = copy_of(table, tmp_path, spoil)
    assert main(["check", str(bad)]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert "changed.csv, row 5, column y_true: found 2, expected 0 or 1." in printed
    assert "changed.csv, row 7, column vCDR: found 7, expected a number from 0 to 1." in printed
    assert main(["check", str(bad), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert not found["ok"]
    assert {(problem["row"], problem["column"]) for problem in found["problems"]} == {(5, "y_true"), (7, "vCDR")}


def test_masks_alone_are_fit_for_routing_and_not_for_training(table: Path, tmp_path: Path) -> None:
    masks = copy_of(table, tmp_path, only_masks)
    assert main(["check", str(masks), "--for", "routing"]) == 0
    assert main(["check", str(masks), "--for", "training"]) == 1


def test_a_manifest_may_lie_elsewhere(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lonely = tmp_path / "lonely.csv"
    lonely.write_bytes(table.read_bytes())
    assert main(["check", str(lonely)]) == 1
    error = capsys.readouterr().err
    assert "found no manifest beside it" in error
    assert "--manifest" in error
    assert main(["check", str(lonely), "--manifest", str(table.with_suffix(".toml"))]) == 0


# train


def configs(line: str) -> list[Config]:
    return population(parser().parse_args(["train", *line.split()]))


def test_seeds_are_a_number_or_a_list() -> None:
    assert [config.seed for config in configs("")] == list(range(42, 52))
    assert [config.seed for config in configs("--seeds 2")] == [42, 43]
    assert [config.seed for config in configs("--seeds 7,3")] == [7, 3]
    assert [config.seed for config in configs("--seeds 7,")] == [7]


@pytest.mark.parametrize(
    ("line", "change"),
    [
        ("", {}),
        ("--budget 0.5", {"budget__target": 0.5}),
        ("--no-budget", {"budget__target": None}),
        ("--no-gsdp --no-rank-js", {"objective__gsdp_weight": 0.0, "objective__rank_weight": 0.0}),
        ("--gamma 0.3", {"objective__fee_weight": 0.3}),
        ("--gamma 0", {"objective__fee_weight": 0.0}),
        ("--epochs 7", {"training__epochs": 7}),
    ],
)
@pytest.mark.parametrize("preset", PRESETS)
def test_options_change_the_preset_and_nothing_else(line: str, change: dict[str, Any], preset: str) -> None:
    assert configs(f"--preset {preset} --seeds 1 {line}") == [PRESETS[preset].but(**change)]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_part_of_a_configuration_leaves_the_rest_of_the_preset(preset: str, tmp_path: Path) -> None:
    file = tmp_path / "part.json"
    file.write_text('{"rule": "joint", "objective": {"rank_weight": 0.5}, "training": {"epochs": 3}}')
    expected = PRESETS[preset].but(rule="joint", objective__rank_weight=0.5, training__epochs=3)
    assert configs(f"--preset {preset} --config {file} --seeds 1") == [expected]


def test_a_whole_configuration_replaces_the_preset_with_its_seed(tmp_path: Path) -> None:
    whole = PRESETS["studio"].but(seed=5, network__width=16)
    file = tmp_path / "whole.json"
    file.write_text(whole.model_dump_json())
    assert configs(f"--preset paper --config {file} --seeds 2") == [whole, whole.but(seed=6)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not a JSON file"),
        ("[1]", "expected an object"),
        ('{"network": {"depth": 3}}', "network.depth"),
        ('{"network": 8}', "network"),
        ('{"training": {"epochs": 0}}', "training.epochs"),
    ],
)
def test_a_bad_configuration_is_named(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text)
    assert main(["train", "--config", str(file), "--out", str(tmp_path / "run")]) == 1
    error = capsys.readouterr().err
    assert str(file) in error
    assert message in error


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--preset best", "expected one of paper"),
        ("--budget 1.5", "budget.target"),
        ("--config none.json", "none.json: cannot be read"),
        ("--table none.csv", "none.csv: there is no such file"),
    ],
)
def test_a_users_mistake_is_one_message(
    line: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", *line.split(), "--out", str(tmp_path / "run")]) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert message in error
    assert list(tmp_path.iterdir()) == []


def test_train_keeps_predictions_and_metrics_of_every_split(trained: Path, table: Path) -> None:
    run, cohort = load_run(trained), load_cohort(table)
    assert [settings["seed"] for settings in run.settings] == [42, 43, 44]
    assert load_predictions(trained, run, cohort).defer.shape == (3, len(cohort))
    metrics = json.loads((trained / "metrics.json").read_text())
    assert {split: found["overall"]["n"] for split, found in metrics.items()} == {"train": 24, "val": 24, "test": 24}
    assert list(trained.parent.iterdir()) == [trained]


def test_train_prints_the_val_cases_alone(
    table: Path, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    uneven = copy_of(table, tmp_path, lambda rows: rows.drop(rows.index[rows["split"] == "val"][:3]))
    out = tmp_path / "run"
    assert main(["train", "--table", str(uneven), "--config", str(tiny), "--seeds", "2", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^n +21 ", printed, re.MULTILINE)
    assert "24" not in re.findall(r"\d+", printed)


def test_train_replaces_a_run_only_when_forced(trained: Path, table: Path, tiny: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    line = ["train", "--table", str(table), "--config", str(tiny), "--out", str(out), "--seeds"]
    assert main([*line, "1"]) == 0
    assert main([*line, "2"]) == 1
    assert load_run(out).members == 1
    assert main([*line, "2", "--force"]) == 0
    assert load_run(out).members == 2


def test_force_does_not_replace_what_is_not_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    assert main(["train", "--out", str(tmp_path), "--force"]) == 1
    assert "is not a run" in capsys.readouterr().err
    assert (tmp_path / "thesis.tex").read_text() == "years of work"


def test_an_interrupted_training_goes_on_to_the_same_end(
    table: Path, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ["train", "--table", str(table), "--config", str(tiny), "--seeds", "2", "--epochs", "8", "--out"]
    straight, broken = tmp_path / "straight", tmp_path / "broken"
    checkpoint = tmp_path / "broken.checkpoint.safetensors"
    assert main([*line, str(straight)]) == 0

    seen: list[int] = []

    @contextmanager
    def impatient(epochs: int, done: int) -> Iterator[Callback]:
        def interrupt(progress: Progress) -> None:
            seen.append(progress.epoch)
            if len(seen) == 7:
                signal.raise_signal(signal.SIGINT)

        yield interrupt

    monkeypatch.setattr("mpd2.training.progress.progress_bar", impatient)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background is born deaf to it
    try:
        assert main([*line, str(broken)]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert checkpoint.exists()
    assert not broken.exists()
    assert f"the same command goes on from {checkpoint}" in capsys.readouterr().err

    assert main([*line, str(broken)]) == 0
    assert "goes on after epoch 5" in capsys.readouterr().err
    assert seen == [1, 2, 3, 4, 5, 6, 7, 6, 7, 8]
    assert not checkpoint.exists()
    first, second = load_run(straight), load_run(broken)
    assert all(np.array_equal(first.arrays[name], second.arrays[name]) for name in first.arrays)
    pd.testing.assert_frame_equal(first.history, second.history)


def test_an_interruption_before_the_first_checkpoint_says_that_nothing_is_kept(
    table: Path, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mpd2.training.population.fit_routers", interrupted)
    line = ["train", "--table", str(table), "--config", str(tiny), "--seeds", "1", "--out", str(tmp_path / "run")]
    assert main(line) == 130
    assert capsys.readouterr().err.splitlines() == [
        "no checkpoint had been made yet, so nothing is kept; the same command starts anew",
        "interrupted",
    ]


def test_a_checkpoint_of_another_training_is_not_taken_up(
    table: Path, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    line = ["train", "--table", str(table), "--config", str(tiny), "--seeds", "1", "--out", str(tmp_path / "run")]
    with monkeypatch.context() as patch:
        patch.setattr("mpd2.evaluation.reports.save_run", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        assert main(line) == 130
    assert main([*line, "--gamma", "0.9"]) == 1
    assert "other settings" in capsys.readouterr().err


# evaluate


def evaluated(capsys: pytest.CaptureFixture[str], *line: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["evaluate", *line, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_evaluate_gives_the_metrics_of_every_member(
    trained: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = evaluated(capsys, str(trained), "--table", str(table))
    run, cohort = load_run(trained), load_cohort(table).subset(split="test")
    decisions = route(load_predictions(trained, run, cohort), cohort, run.rule)
    expected = evaluate(cohort, decisions, run.costs)
    assert found["split"] == "test"
    assert found["stored_predictions"]
    assert found["overall"]["n"] == 24
    for name in COUNTED:
        cell = found["overall"]["metrics"][name]
        assert cell["members"] == pytest.approx(expected[name].tolist())
        assert cell["mean"] == pytest.approx(expected[name].mean())
        assert cell["sd"] == pytest.approx(expected[name].std())
        assert cell["low"] <= cell["mean"] <= cell["high"]
        for key in np.unique(cohort.sources):
            rows = cohort.sources == key
            part = Decisions(decisions.consulted[:, rows], decisions.label[:, rows])
            members = evaluate(cohort.rows(rows), part, run.costs)[name]
            values = [None if np.isnan(value) else pytest.approx(value) for value in members]
            assert found["cohorts"][key]["metrics"][name]["members"] == values


def test_evaluate_applies_the_routers_to_another_table(
    trained: Path, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = copy_of(table, tmp_path, lambda rows: rows.assign(note="the same cases in another file"))
    stored = evaluated(capsys, str(trained), "--table", str(table))
    anew = evaluated(capsys, str(trained), "--table", str(other))
    assert (stored["stored_predictions"], anew["stored_predictions"]) == (True, False)
    assert stored["overall"] == anew["overall"]


def test_evaluate_prints_a_column_for_each_cohort(
    trained: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = evaluated(capsys, str(trained), "--table", str(table), "--split", "val")
    assert main(["evaluate", str(trained), "--table", str(table), "--split", "val"]) == 0
    lines = [re.sub("  +", "|", line) for line in capsys.readouterr().out.splitlines()]
    assert "|all cases|refuge|chaksu|origa" in lines
    assert "n|24|8|8|8" in lines
    cell = found["overall"]["metrics"]["TotalCost"]
    row = next(number for number, line in enumerate(lines) if line.startswith("TotalCost|"))
    assert lines[row].split("|")[1] == f"{cell['mean']:.3f} ± {cell['sd']:.3f}"
    assert lines[row + 1].split("|")[1] == f"[{cell['low']:.3f}, {cell['high']:.3f}]"


def test_one_router_has_no_spread(table: Path, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "one"
    line = ["train", "--table", str(table), "--config", str(tiny), "--seeds", "7,", "--out", str(out)]
    assert main(line) == 0
    assert "the router of seed 7" in capsys.readouterr().out
    assert evaluated(capsys, str(out), "--table", str(table))["overall"]["metrics"]["Acc"]["sd"] is None


def test_what_cannot_be_measured_is_null(
    trained: Path, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    healthy = copy_of(table, tmp_path, lambda rows: rows.assign(y_true="0"))
    found = evaluated(capsys, str(trained), "--table", str(healthy))
    assert found["overall"]["metrics"]["Sens"]["mean"] is None
    assert main(["evaluate", str(trained), "--table", str(healthy)]) == 0


@pytest.mark.parametrize(("option", "message"), [("--split=fun", "split"), ("--table=none.csv", "none.csv")])
def test_evaluate_names_what_is_wrong(
    trained: Path, table: Path, option: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", str(trained), "--table", str(table), option]) == 1
    assert message in capsys.readouterr().err


# route


def routed(run: Path, table: Path, out: Path, *line: str) -> pd.DataFrame:
    assert main(["route", str(run), str(table), "--out", str(out), *line]) == 0
    return pd.read_parquet(out) if out.suffix == ".parquet" else pd.read_csv(out)


def test_route_asks_only_readers_who_are_there(trained: Path, table: Path, tmp_path: Path) -> None:
    cohort = load_cohort(table)
    frame = routed(trained, table, tmp_path / "decisions.parquet")
    assert frame["case_id"].tolist() == cohort.ids.tolist()
    actions = ["ai", *cohort.manifest.columns]
    position = frame["action"].map(actions.index).to_numpy()
    assert 0 < (position > 0).mean() < 1
    asked = np.flatnonzero(position > 0)
    assert cohort.available[asked, position[asked] - 1].all()
    names = ["AI", *(reader.name for reader in cohort.manifest.readers)]
    assert frame["reader"].tolist() == [names[p] for p in position]
    assert frame["label"].tolist() == cohort.action_labels[np.arange(len(cohort)), position].tolist()
    shares = frame[[f"q:{column}" for column in cohort.manifest.columns]].to_numpy()
    assert (shares[~cohort.available] == 0).all()
    assert shares.sum(1) == pytest.approx(1)


def test_votes_count_the_routers_that_act_alike(trained: Path, table: Path, tmp_path: Path) -> None:
    frame = routed(trained, table, tmp_path / "decisions.csv")
    stored = pd.read_parquet(trained / "predictions.parquet")
    alike = stored["action"].to_numpy().reshape(3, -1) == frame["action"].to_numpy()
    assert frame["votes"].tolist() == alike.sum(0).tolist()


def test_a_member_alone_decides_as_it_did_in_training(trained: Path, table: Path, tmp_path: Path) -> None:
    frame = routed(trained, table, tmp_path / "decisions.csv", "--member", "43")
    stored = pd.read_parquet(trained / "predictions.parquet").query("seed == 43")
    assert frame["action"].tolist() == stored["action"].tolist()
    assert frame["defer"].to_numpy() == pytest.approx(stored["defer"].to_numpy(), rel=1e-5)
    assert (frame["votes"] == 1).all()


def test_route_needs_no_truth_and_no_decisions(trained: Path, table: Path, tmp_path: Path) -> None:
    masks = copy_of(table, tmp_path, only_masks)
    known = routed(trained, table, tmp_path / "known.csv")
    blind = routed(trained, masks, tmp_path / "blind.csv")
    assert blind["action"].tolist() == known["action"].tolist()
    deferred = blind["action"] != "ai"
    assert blind["label"][deferred].isna().all()
    assert blind["label"][~deferred].tolist() == known["label"][~deferred].tolist()


def test_a_new_table_without_a_manifest_has_the_readers_of_the_run(trained: Path, table: Path, tmp_path: Path) -> None:
    new = copy_of(table, tmp_path, only_masks)
    named = routed(trained, new, tmp_path / "named.csv")
    new.with_suffix(".toml").unlink()
    alone = routed(trained, new, tmp_path / "alone.csv")
    assert alone["reader"].tolist() == [{"ai": "AI"}.get(action, action) for action in named["action"]]
    spoken = ["reader", "cohort", "reason"]  # names of readers and cohorts are in a manifest
    pd.testing.assert_frame_equal(alone.drop(columns=spoken), named.drop(columns=spoken))


def test_a_run_made_from_the_shipped_table_knows_its_readers_by_name(table: Path, tmp_path: Path) -> None:
    new = copy_of(table, tmp_path, only_masks)
    named = routed(DATA / "runs" / "studio", new, tmp_path / "named.csv")
    new.with_suffix(".toml").unlink()
    pd.testing.assert_frame_equal(routed(DATA / "runs" / "studio", new, tmp_path / "alone.csv"), named)


def test_csv_and_parquet_say_the_same(trained: Path, table: Path, tmp_path: Path) -> None:
    text, binary = (routed(trained, table, tmp_path / f"decisions{suffix}") for suffix in (".csv", ".parquet"))
    pd.testing.assert_frame_equal(text, binary, check_dtype=False, rtol=1e-5)


def test_route_names_what_is_wrong_and_writes_nothing(
    trained: Path, table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = table.read_bytes()
    for line, message in (
        (["--out", str(tmp_path / "decisions.txt")], "expected .csv or .parquet"),
        (["--out", str(table)], "is the table itself"),
        (["--out", str(tmp_path / "decisions.csv"), "--member", "7"], "expected one of 42, 43, 44"),
        (["--out", str(tmp_path / "decisions.csv"), "--manifest", str(tmp_path / "no.toml")], "no.toml"),
    ):
        assert main(["route", str(trained), str(table), *line]) == 1
        assert message in capsys.readouterr().err
    assert main(["route", str(tmp_path), str(table), "--out", str(tmp_path / "decisions.csv")]) == 1
    assert "there is no run here" in capsys.readouterr().err
    assert table.read_bytes() == before
    assert list(tmp_path.iterdir()) == []


# reproduce


def test_a_small_study_is_small_and_lies_elsewhere(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", "--small"]) == 1
    assert "give its own with --data" in capsys.readouterr().err
    small = study_of(parser().parse_args(["reproduce", "--small", "--table", str(table), "--data", str(tmp_path)]))
    assert (len(small.seeds), small.changes, len(small.plan.resplits)) == (2, {"training__epochs": 5}, 2)
    assert set(small.contenders) == set(CONTENDERS)


# bench


def test_bench_train_prints_json(table: Path, tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["bench", "train", "--table", str(table), "--config", str(tiny), "--epochs", "1"]
    assert main([*line, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["per_router_epoch"]) == {"population_10", "population_40", "single", "usual"}
    assert found["setting"]["epochs"] == 1
    assert main(line) == 0
    assert "population of 10 against usual" in capsys.readouterr().out


def test_bench_route_tells_how_its_time_grows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench_rerouting, "bench_route", partial(bench_rerouting.bench_route, sizes=(50, 200)))
    line = ["bench", "route", "--run", str(DATA / "runs" / "studio"), "--table", str(DATA / "glaucoma.csv")]
    assert main([*line, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for deed in ("prepare", "reroute", "assign"):
        assert set(found[deed]) == {"50", "200"}
        assert all(0 < times["p50"] <= times["p95"] for times in found[deed].values())
    assert main(line) == 0
    assert "follow a budget, n = 200" in capsys.readouterr().out
