"""Charts of the report for a meeting."""

from __future__ import annotations

import pytest
from charts import read
from gallery import A_DAY, ACTIVE, BY_COHORT, SHARES

from mpd2.present.charts import report
from mpd2.present.charts.kit.style import AI, ALARM, READER, ROUTER


def test_each_cohort_has_every_method_with_its_whole_interval() -> None:
    picture = read(report.cohort_costs(BY_COHORT, ACTIVE), None)
    assert picture.headers == ["REFUGE", "ORIGA"]
    for panel, cohort in zip(picture.panels, picture.headers, strict=True):
        rows = BY_COHORT[BY_COHORT["cohort"] == cohort].set_index("title")
        spans, values = panel.spans(panel.of("rule")), panel.values(panel.of("symbol"))
        assert set(spans) == set(rows.index)
        for title, row in rows.iterrows():
            assert spans[title] == pytest.approx((row["low"], row["high"]), abs=0.005)
            assert values[title] == pytest.approx(row["value"], abs=0.005)
        marks = {panel.upright.name(point.middle[1]): (point.colour, point.shape) for point in panel.of("symbol")}
        assert marks == {"AI only": tuple(AI), rows.index[rows["method"] == ACTIVE][0]: tuple(ROUTER)}


def test_a_bar_is_a_readers_share_of_all_readings() -> None:
    panel = read(report.reader_load(SHARES), None).panel
    assert panel.upright.names == SHARES["reader"].tolist()
    assert panel.across.title == "share of all readings"
    spans = panel.spans(panel.of("rect"))
    for row in SHARES.itertuples():
        assert spans[row.reader] == pytest.approx((0, row.share), abs=0.005)
    assert {bar.fill for bar in panel.of("rect")} == {READER.colour}


def test_a_plan_shows_readings_a_day_and_a_tick_at_the_most_there_can_be() -> None:
    picture = read(report.plan_load(A_DAY), None)
    panel = picture.panel
    assert panel.upright.names == A_DAY["reader"].tolist()
    bars = [bar for bar in panel.of("rect") if bar.fill == READER.colour]
    assert {name: end for name, (_, end) in panel.spans(bars).items()} == pytest.approx(
        {"Ben": 12.5, "Anna": 4.0}, abs=0.1
    )
    (tick,) = [mark for mark in panel.of("rect") if mark.fill == ALARM.colour]
    assert panel.across.value(tick.middle[0]) == pytest.approx(13.0, abs=0.1)
    assert picture.titles == ["Readings a day; ticks: at most"]
    free = read(report.plan_load(A_DAY.assign(at_most=float("nan"))), None)
    assert free.titles == ["Readings a day"]
