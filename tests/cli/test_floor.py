"""Floors from the shell: the same point as the library's, said in words, and refused where it is none."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from places import DATA

from mpd2.cli import main
from mpd2.core.runs import load_run
from mpd2.core.table_file import load_cohort
from mpd2.planning.floors import Floor
from mpd2.study.operating import choose_point, decisions_at

PLUS = DATA / "runs" / "mpd2-plus"
TABLE = DATA / "glaucoma.csv"


@pytest.fixture(scope="module")
def sensitivity() -> float:
    """On test, at the AI's own sensitivity on val."""
    cohort, run = load_cohort(TABLE), load_run(PLUS)
    point, _ = choose_point(run, cohort.subset(split="val"), Floor(), None)
    test = cohort.subset(split="test")
    return float((decisions_at(run, test, point, None).label[:, test.truth == 1] == 1).mean())


def test_evaluate_keeps_the_floor_and_says_how_it_was_chosen(
    sensitivity: float, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["evaluate", str(PLUS), "--table", str(TABLE), "--floor", "ai", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    chosen = printed["operating_point"]
    assert (chosen["state"], chosen["cases"]) == ("kept", 126)
    assert chosen["reached"] >= chosen["level"]
    assert printed["overall"]["metrics"]["Sens"]["mean"] == pytest.approx(sensitivity, abs=1e-9)


def test_misses_per_thousand_are_a_floor_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(PLUS), "--table", str(TABLE), "--floor", "missed:10"]) == 0
    assert "A sensitivity of at least 93" in capsys.readouterr().out


def test_route_decides_at_the_floor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = {}
    for name, more in (("cheapest", []), ("floor", ["--floor", "0.95"]), ("bound", ["--confident", "0.9"])):
        out = tmp_path / f"{name}.csv"
        assert main(["route", str(PLUS), str(TABLE), "--out", str(out), *more]) == 0
        written[name] = pd.read_csv(out)
    assert "A sensitivity of at least 95" in capsys.readouterr().out
    assert (written["floor"]["action"] != "ai").sum() > (written["cheapest"]["action"] != "ai").sum()
    unread = written["bound"][written["bound"]["action"] == "ai"]
    sure = (unread["ai_probability"] >= 0.9) | (unread["ai_probability"] <= 0.1)
    assert (unread["answer"] == unread["ai_answer"])[sure].all()
    assert (unread["answer"] != unread["ai_answer"])[~sure].any()


@pytest.mark.parametrize("floor", ["much", "1.5", "missed:ai"])
def test_what_is_no_floor_is_refused_in_one_line(floor: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(PLUS), "--table", str(TABLE), "--floor", floor]) != 0
    error = capsys.readouterr().err
    assert "floor" in error
    assert "Traceback" not in error


def test_resplits_can_be_judged_at_a_floor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = pd.read_csv(TABLE, dtype=str, keep_default_na=False)
    rows.groupby(["cohort", "split", "y_true"], sort=False).head(12).to_csv(tmp_path / "small.csv", index=False)
    (tmp_path / "small.toml").write_bytes((DATA / "manifest.toml").read_bytes())
    call = ["resplit", "--table", str(tmp_path / "small.csv"), "--data", str(tmp_path / "data"), "--resplits", "2"]
    call += ["--methods", "ai,recalibrated,recalibrated-score", "--floor", "0.9"]
    assert main([*call, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert {row["floor"] for row in printed["floors"]} == {"0.9"}
    assert {row["method"] for row in printed["floors"]} == {"ai", "recalibrated", "recalibrated-score"}
    assert {row["reference"] for row in printed["floor_rivals"]} == {"ai"}
    assert main(call) == 0
    assert "a sensitivity of at least 90" in capsys.readouterr().out
