"""What the charts of the Clinic page say, read from the picture and compared with their tables."""

from __future__ import annotations

import pandas as pd
import pytest
from charts import read
from gallery import GALLERY, MONITORED, PARTS, THRESHOLD, UPDATED, WEEKS

from mpd2.present.charts.clinical import clinic
from mpd2.present.charts.kit.style import ALARM, READER, ROUTER


def near(values: object) -> object:
    return pytest.approx(values, abs=1e-3)


def test_weeks_go_from_left_to_right_with_the_difference_and_its_band():
    panel = read(GALLERY["clinic.weekly"]()).panel
    rows = WEEKS.sort_values("week")
    assert panel.across.names == rows["week"].tolist()
    [line] = [mark for mark in panel.of("line") if mark.colour == ROUTER.colour]
    assert [panel.upright.value(y) for _, y in line.points] == near(rows["value"].tolist())
    [band] = panel.of("area")
    ends = [panel.upright.value(y) for _, y in band.points]
    assert ends[: len(rows)] == near(rows["low"].tolist())
    assert ends[len(rows) :] == near(rows["high"].tolist()[::-1])


def test_a_week_before_anything_is_known_has_no_point():
    weeks = pd.concat([WEEKS, WEEKS.head(1).assign(week="2026-09-27", value=None, low=None, high=None, n=0)])
    panel = read(clinic.weekly(weeks, "missed", "of 1,000 people")).panel
    assert len(panel.of("symbol")) == len(WEEKS)


def test_a_single_week_has_its_interval_too():
    panel = read(clinic.weekly(WEEKS.head(1), "missed", "of 1,000 people")).panel
    [ends] = [mark for mark in panel.of("rule") if mark.colour == ROUTER.colour]
    drawn = sorted(panel.upright.value(y) for _, y in ends.points)
    assert drawn == near(sorted(WEEKS.head(1)[["low", "high"]].to_numpy()[0].tolist()))


def test_of_many_weeks_the_last_and_some_others_are_named():
    days = [f"{day:%Y-%m-%d}" for day in pd.date_range("2026-01-04", periods=40, freq="7D")]
    weeks = pd.DataFrame({"week": days, "value": 1.0, "low": 0.5, "high": 2.0, "n": 9})
    names = read(clinic.weekly(weeks, "missed", "of 1,000 people")).panel.across.names
    assert len(names) <= clinic.MOST_DATES
    assert names[-1] == days[-1]


def test_every_part_has_its_difference_with_n_in_its_name():
    panel = read(GALLERY["clinic.by_part"]()).panel
    dots = {panel.upright.name(mark.middle[1]): panel.across.value(mark.middle[0]) for mark in panel.of("symbol")}
    assert dots == {
        f"{part} (n = {n})": near(value) for part, n, value in PARTS[["part", "n", "value"]].to_numpy().tolist()
    }


def test_a_monitor_shows_its_path_its_limit_and_where_it_rings_first():
    panel = read(GALLERY["clinic.monitored"]()).panel
    [line] = [mark for mark in panel.of("line") if mark.colour == READER.colour]
    assert panel.curve(line) == [near(point) for point in MONITORED[["number", "value"]].to_numpy().tolist()]
    [limit] = [mark for mark in panel.of("rule") if mark.colour == ALARM.colour]
    assert panel.upright.value(limit.middle[1]) == near(THRESHOLD)
    [alarm] = panel.of("symbol")
    first = MONITORED[MONITORED["value"] >= THRESHOLD].iloc[0]
    assert panel.places([alarm]) == [near((first["number"], first["value"]))]


def test_of_a_long_path_a_part_is_drawn_and_its_end_always():
    path = pd.DataFrame({"number": range(1, 10_001), "value": 0.1, "day": "2026-11-01"})
    path.loc[5003, "value"] = 9.0
    panel = read(clinic.monitored(path, 4.5, "inputs")).panel
    [line] = [mark for mark in panel.of("line") if mark.colour == READER.colour]
    drawn = panel.curve(line)
    assert len(drawn) <= clinic.MOST_POINTS + 2
    assert drawn[-1] == near((10_000, 0.1))
    assert max(value for _, value in drawn) == near(9.0)


def test_readers_have_their_rate_of_today_and_hollow_what_was_learned():
    panel = read(GALLERY["clinic.reader_rates"]()).panel
    today = [mark for mark in panel.of("symbol") if not mark.is_hollow]
    before = [mark for mark in panel.of("symbol") if mark.is_hollow]
    assert len(today) == len(UPDATED)
    assert len(before) == UPDATED["learned"].notna().sum()
