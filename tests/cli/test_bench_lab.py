"""The benchmark of the lab: what it prints, and what of it needs no browser."""

from __future__ import annotations

import pytest
from small_table import small_table

from mpd2.cli import parser
from mpd2.cli.bench import lab
from mpd2.cli.bench.as_text import describe_lab
from mpd2.core.table_file import load_cohort

TIMINGS = {
    "press_to_first_epoch_on_screen_seconds": 2.34,
    "ten_seeds": {"routers": 10, "epochs": 150, "seconds": 45.2, "routers_per_minute": 13.3},
    "study": {"trials": 80, "epochs_at_most": 60, "seconds": 120.4},
    "three_ablations": {"routers": 120, "epochs": 150, "seconds_extrapolated": 900.3, "extrapolated_from_epochs": 2},
    "rerun_seconds_of_another_visitor": {
        "idle": {"p50": 0.1, "p95": 0.2, "n": 30}, "training": {"p50": 0.15, "p95": 0.3, "n": 30}, "ratio_p95": 1.5,
    },
}  # fmt: skip


def test_times_are_printed_in_words():
    text = describe_lab(TIMINGS)
    assert "press to first epoch on screen                          2.3" in text
    assert "extrapolated from 2 epochs  900" in text
    assert "training                           0.15    0.30" in text
    assert "the 95 % are 1.5 times as long" in text


def test_its_size_can_be_chosen():
    args = parser().parse_args(["bench", "lab", "--trials", "3", "--reruns", "5"])
    assert (args.subject, args.trials, args.reruns) == ("lab", 3, 5)


def test_all_ablations_are_extrapolated_from_a_few_epochs(tmp_path, monkeypatch):
    monkeypatch.setattr(lab, "TIMED", 1)
    timings = lab._ablations(load_cohort(small_table(tmp_path, cases=4)))
    assert timings["routers"] == 120
    assert timings["seconds_extrapolated"] > 0


def test_a_study_shows_how_far_it_has_come(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(lab, "TRIAL_EPOCHS", 10)
    assert lab._study_seconds(load_cohort(small_table(tmp_path, cases=4)), f"{tmp_path}/tuning.db", trials=1) > 0
    assert "0/1 trials, epoch 10/10" in capsys.readouterr().err


def test_waiting_ends(monkeypatch):
    monkeypatch.setattr(lab, "LONGEST", 0.0)
    with pytest.raises(lab.UserError, match="in vain"):
        lab._wait_until(lambda: False)
