"""`resplit` from the shell: its numbers are the library's, in words and as JSON, and it goes on where it was."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from places import DATA

from mpd2.cli import main


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a small table: the benchmark's first twelve cases of every cohort, truth and split."""
    folder = tmp_path_factory.mktemp("place")
    rows = pd.read_csv(DATA / "glaucoma.csv", dtype=str, keep_default_na=False)
    some = rows.groupby(["cohort", "split", "y_true"], sort=False).head(12)
    some.to_csv(folder / "small.csv", index=False)
    (folder / "small.toml").write_bytes((DATA / "manifest.toml").read_bytes())
    return folder


def called(place: Path, *more: str) -> list[str]:
    """A call that takes no time."""
    usual = ["resplit", "--table", str(place / "small.csv"), "--data", str(place / "data"), "--resplits", "2"]
    return [*usual, "--methods", "ai,best-reader,random-reader", *more]


def test_json_holds_every_method_and_how_it_was_made(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(called(place, "--json", "--seeds", "3")) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["made_with"] == {"resplits": [0, 1], "seeds_of_each_method": [42, 43, 44]}
    costs = {
        row["method"]: row for row in printed["resplits"] if (row["metric"], row["cohort"]) == ("TotalCost", "all")
    }
    assert set(costs) == {"ai", "best-reader", "random-reader"}
    assert {row["n"] for row in costs.values()} == {2}
    assert {row["reference"] for row in printed["rivals"]} == {"ai"}
    change = next(row for row in printed["rivals"] if (row["method"], row["metric"]) == ("random-reader", "TotalCost"))
    assert change["difference"] == pytest.approx(costs["random-reader"]["value"] - costs["ai"]["value"], abs=2e-6)


def test_in_words_the_cheapest_method_stands_first(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(called(place, "--against", "best-reader")) == 0
    table, rivals, words = capsys.readouterr().out.strip().split("\n\n")
    assert f"Over 2 resplits {table.splitlines()[1].split('  ')[0]} costs the least" in words
    assert "Best single reader" not in rivals


def test_a_second_call_plays_nothing(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(called(place))
    capsys.readouterr()
    before = {path.name: path.stat().st_mtime_ns for path in (place / "data/build/rounds").iterdir()}
    assert main(called(place)) == 0
    assert "resplit 0" not in capsys.readouterr().err
    assert {path.name: path.stat().st_mtime_ns for path in (place / "data/build/rounds").iterdir()} == before


def test_each_cohort_can_be_left_out(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(called(place, "--leave-out", "--json")) == 0
    rows = json.loads(capsys.readouterr().out)["transfer"]
    assert {row["cohort"] for row in rows} == {"refuge", "chaksu", "origa"}
    assert main(called(place, "--leave-out")) == 0
    assert "REFUGE new" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--methods", "nobody,ai"], "method: found nobody, expected some of studio"),
        (["--against", "oracle"], "comparison: found 'oracle', expected one of"),
    ],
)
def test_a_name_nobody_knows_is_named(
    place: Path, capsys: pytest.CaptureFixture[str], more: list[str], complaint: str
) -> None:
    assert main(called(place, *more)) == 1
    assert complaint in capsys.readouterr().err
