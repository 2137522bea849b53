"""The Clinic page in words."""

from __future__ import annotations

from datetime import date

import pandas as pd
from strategies import TASK

from mpd2.present.words import clinic

ROWS = pd.DataFrame({
    "part": ["all"] * 3 + ["REFUGE"],
    "metric": ["missed", "false_alarms", "agreement", "missed"],
    "would": [10.0, 59.0, 912.0, 4.0],
    "done": [11.0, 120.0, float("nan"), 2.0],
    "difference": [-1.0, -61.0, float("nan"), 2.0],
    "low": [-6.4, -88.0, 880.0, -3.0],
    "high": [4.4, -35.0, 931.0, 7.0],
    "n": [1210, 1210, 1210, 400],
})  # fmt: skip


def test_the_comparison_names_both_errors_with_intervals_the_agreement_and_how_many_it_is_about():
    said = clinic.compared_in_words(ROWS, TASK)
    assert f"missed {TASK.positives} −1 (−6 to +4) a 1,000" in said
    assert "false alarms −61 (−88 to −35) a 1,000" in said
    assert "same answer 91\N{NO-BREAK SPACE}% (88 to 93\N{NO-BREAK SPACE}%)" in said
    assert "1,210 outcomes" in said
    assert "however often one looks" in said


def test_before_an_outcome_is_known_nothing_is_claimed():
    assert "nothing can be compared" in clinic.compared_in_words(ROWS.assign(n=0), TASK)
    assert "awaited of every case with an outcome (7)" in clinic.compared_in_words(ROWS.assign(n=0), TASK, left_out=7)
    assert ", 7 more await a reading, " in clinic.compared_in_words(ROWS, TASK, left_out=7)
    assert "nothing can be compared" in clinic.compared_in_words(ROWS.head(0), TASK)


def test_the_table_has_every_number_with_its_interval_and_its_unit():
    table = clinic.compared_table(ROWS)
    assert table["part"].tolist() == ["all", "all", "all", "REFUGE"]
    first = table.iloc[0]
    assert (first["would"], first["done"], first["difference"]) == ("10.0", "11.0", "−1.0")
    assert first["interval"] == "−6.4 to +4.4"
    assert first["what"] == "Missed of 1,000"
    assert table["interval"].iloc[2] == "880.0 to 931.0"
    assert table["difference"].iloc[2] == "–"


def test_a_number_nobody_knows_is_left_out_of_the_table():
    assert clinic.compared_table(ROWS.assign(metric="new")).empty


def test_alarms_come_first_and_what_knows_too_little_last():
    said = clinic.watch_in_words([
        clinic.Standing("AI"), clinic.Standing("inputs"), clinic.Standing("cost", waits=True),
        clinic.Standing("readers", (("errors of Ben: higher", date(2026, 11, 3)),)),
    ])  # fmt: skip
    assert said == "errors of Ben: higher since 3 November 2026 · AI and inputs ok · cost: too little known yet"


def test_of_many_alarms_the_oldest_are_named_and_the_others_counted():
    rung = tuple((f"errors of reader {i}: lower", date(2026, 11, 9 - i)) for i in range(5))
    said = clinic.watch_in_words([clinic.Standing("readers", rung)])
    assert said.startswith("errors of reader 4: lower since 5 November 2026")
    assert said.endswith("· 2 more alarms")
