"""The chart of the gain: every bar as long as the table says, with its interval and its words."""

from __future__ import annotations

import pytest
from charts import read
from gallery import GAIN
from strategies import TASK

from mpd2.present.charts.clinical.gain import in_people, split
from mpd2.present.charts.kit.style import AI, READER


def test_bars_intervals_and_words_are_those_of_the_table() -> None:
    panel = read(split(GAIN, TASK)).panel
    bars = {(panel.upright.name(bar.middle[1]), bar.colour): bar for bar in panel.of("rect")}
    for outcome, quantity in (("false alarms", "alarm"), ("glaucomas missed", "missed")):
        for step, mark in (("recalibration", AI), ("readers", READER)):
            rows = GAIN[(GAIN["quantity"] == quantity) & (GAIN["step"] == step)]
            bar = bars.pop((outcome, mark.colour))
            ends = sorted(panel.across.value(end) for end in (bar.x, bar.x2))
            assert ends == pytest.approx(sorted([0.0, -rows["change"].item()]), abs=0.3)
    assert not bars
    spans = [sorted(panel.across.value(end) for end in (rule.x, rule.x2)) for rule in panel.of("rule", 0)]
    assert sorted(spans) == [
        pytest.approx(list(ends), abs=0.3)
        for ends in sorted(in_people(GAIN, TASK)[["low", "high"]].itertuples(index=False))
    ]
    words = sorted(text.text for text in panel.of("text"))
    assert words == sorted(["55 fewer", "111 fewer", "4 more", "3 fewer"])


def test_a_step_that_changes_nothing_says_so() -> None:
    same = GAIN.assign(change=0.0, low=0.0, high=0.0)
    assert set(in_people(same, TASK)["words"]) == {"as many"}
    assert read(split(same, TASK)).titles
