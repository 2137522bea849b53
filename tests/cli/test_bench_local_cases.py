"""The benchmark of local cases: old run and new one on the same held-out cases, draw by draw."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mpd2.cli import main
from mpd2.cli.bench.clinic.local_cases import bench_local_cases, describe_local_cases
from mpd2.core.cohort import Cohort
from mpd2.core.errors import UserError

KEY = "chaksu"


@pytest.fixture(scope="module")
def found(benchmark: Cohort) -> dict:
    return bench_local_cases(benchmark, KEY, (0, 60), 2, ("recalibrated-score", "ai"), (1,))


def test_the_old_run_is_the_same_however_many_outcomes_there_are(found):
    rows = {(row["method"], row["local"]): row for row in found["rows"]}
    assert set(rows) == {(name, size) for name in ("recalibrated-score", "ai") for size in (0, 60)}
    for name in ("recalibrated-score", "ai"):
        assert rows[name, 0]["old"] == rows[name, 60]["old"]
        assert rows[name, 0]["plain"] == rows[name, 60]["plain"]


def test_without_an_outcome_new_is_old_and_nothing_wins(found):
    for row in found["rows"]:
        if row["local"] == 0 or row["method"] == "ai":
            assert row["less_old"] == {"value": 0.0, "low": 0.0, "high": 0.0}
            assert row["wins"] == row["cheaper"] == row["dearer"] == 0


def test_differences_are_new_less_old(found):
    for row in found["rows"]:
        assert row["less_old"]["value"] == pytest.approx(row["new"]["value"] - row["old"]["value"])
        assert row["less_ai"]["value"] == pytest.approx(row["new"]["value"] - row["ai"]["value"])


def test_it_says_how_many_cases_there_are_and_never_takes_more(benchmark, found):
    home = benchmark.sources == KEY
    assert found["held_out"] == (home & (benchmark.split == "test")).sum()
    more = bench_local_cases(benchmark, "", (10**6,), 1, ("ai",), (1,))
    assert more["cohort"] == KEY
    assert [row["local"] for row in more["rows"]] == [more["known"]]
    assert np.isfinite(more["rows"][0]["new"]["value"])


def test_the_command_prints_json_or_a_table(capsys, found):
    given = ["bench", "local-cases", "--cohort", KEY, "--sizes", "0", "--draws", "1", "--methods", "ai"]
    assert main([*given, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cohort"] == KEY
    assert main(given) == 0
    assert "ai: 0" in capsys.readouterr().out
    assert "recalibrated-score: 60" in describe_local_cases(found)


@pytest.mark.parametrize(
    ("given", "told"), [(("--cohort", "none"), "cohort: found 'none'"), (("--sizes", "ten"), "sizes: found ten")]
)
def test_what_there_is_not_is_refused(capsys, given, told):
    assert main(["bench", "local-cases", *given]) == 1
    assert told in capsys.readouterr().err


def test_an_unknown_method_is_refused(benchmark):
    with pytest.raises(UserError, match="method: found 'nobody'"):
        bench_local_cases(benchmark, KEY, (0,), 1, ("nobody",))
