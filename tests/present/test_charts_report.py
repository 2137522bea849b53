"""Charts of the report for a meeting."""

from __future__ import annotations

import pytest
from charts import read
from gallery import ACTIVE, BY_COHORT, SHARES

from mpd2.present.charts import report
from mpd2.present.charts.kit.style import AI, READER, ROUTER


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
