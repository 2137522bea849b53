"""The chart of who decides: every part as wide as its share, in its one colour."""

from __future__ import annotations

import pytest
from charts import read
from gallery import DECIDED

from mpd2.core.policy import DECIDED_BY, DECIDERS
from mpd2.present.charts.clinical.deciders import who_decides
from mpd2.present.charts.kit.style import AI, DECIDER_MARKS, READER, RULE
from mpd2.present.charts.map import kinds


def test_every_part_is_as_wide_as_its_share_and_they_fill_the_bar() -> None:
    panel = read(who_decides(DECIDED)).panel
    colours = dict(zip(DECIDERS, DECIDER_MARKS, strict=True))
    bars = {(panel.upright.name(bar.middle[1]), bar.colour): bar for bar in panel.of("rect")}
    ends = {}
    for row in DECIDED.to_dict("records"):
        place = f"{row['part']} (n = {row['n']})"
        bar = bars.get((place, colours[row["who"]].colour))
        if row["share"]:
            left, right = sorted(panel.across.value(end) for end in (bar.x, bar.x2))
            assert right - left == pytest.approx(row["share"], abs=0.005)
            assert left == pytest.approx(ends.get(place, 0.0), abs=0.005)  # the AI first, then the rule, then readers
            ends[place] = right
    assert list(ends.values()) == pytest.approx([1, 1, 1], abs=0.005)


def test_each_who_decides_has_one_colour_everywhere() -> None:
    marks = (AI, RULE, READER)
    assert len({mark.colour for mark in marks}) == 3
    assert tuple(kinds(DECIDERS, "decider").values()) == marks
    by_reader = kinds([*DECIDED_BY[:2], "Anna", "Ben"], "action")
    assert [by_reader[who] for who in DECIDED_BY[:2]] == [AI, RULE]
    assert len({mark.colour for mark in by_reader.values()}) == 4
