"""Charts of the Robustness page, drawn from the tables of a tiny study."""

from __future__ import annotations

import pandas as pd
import pytest
from charts import read
from gallery import shipped
from tiny_study import tiny_tables

from mpd2.present.charts import robustness
from mpd2.present.charts.kit.drawing import Drawing
from mpd2.present.charts.kit.export import render
from mpd2.study.robustness import REPORTED


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    return tiny_tables()


def shown(drawing: Drawing) -> list[dict[str, object]]:
    """All data behind a chart."""
    return [row for rows in drawing.to_dict()["datasets"].values() for row in rows]


def of(rows: pd.DataFrame, **where: str) -> pd.DataFrame:
    for column, value in where.items():
        rows = rows[rows[column] == value]
    return rows


@pytest.mark.parametrize("metric", REPORTED)
def test_every_metric_of_every_method_can_be_drawn(tables: dict[str, pd.DataFrame], metric: str) -> None:
    rows = of(tables["resplits"], cohort="all")
    titles = {row["title"] for row in shown(robustness.resplits(rows, metric, "studio"))}
    assert titles == set(rows["title"])
    against = robustness.rivals(tables["rivals"], metric, "studio", "MPD²+")
    assert {row["title"] for row in shown(against) if "title" in row} == titles - {"MPD²+"}


def test_the_cheapest_method_stands_first(tables: dict[str, pd.DataFrame]) -> None:
    rows = of(tables["transfer"], cohort="origa")
    values = [row["value"] for row in shown(robustness.transfer(rows, "ORIGA", "studio")) if "value" in row]
    assert values == sorted(values)


def test_the_ai_alone_is_no_learning_curve_but_a_line_to_beat(tables: dict[str, pd.DataFrame]) -> None:
    rows = of(tables["recalibration"], cohort="refuge")
    spec = robustness.recalibration(rows, "REFUGE").to_dict()
    learned, alone = ([row["method"] for row in rows] for rows in spec["datasets"].values())
    assert {*learned} == {"mao"}
    assert {*alone} == {"ai"}


def test_all_of_it_can_be_printed(tables: dict[str, pd.DataFrame]) -> None:
    drawings = (
        robustness.transfer(of(tables["transfer"], cohort="refuge"), "REFUGE", "studio"),
        robustness.recalibration(of(tables["recalibration"], cohort="refuge"), "REFUGE"),
    )
    assert all(render(drawing, "svg") for drawing in drawings)


@pytest.mark.parametrize("cohort", ["refuge", "chaksu", "origa"])
def test_no_interval_of_a_cost_reaches_below_zero_and_the_chart_says_which_were_cut(cohort: str) -> None:
    rows = shipped("transfer", cohort=cohort, metric="TotalCost")
    picture = read(robustness.transfer(rows, cohort, "studio"))
    spans = picture.panel.spans(picture.panel.of("rule"))
    stored = rows.set_index("title")[["low", "high"]]
    assert {name: low for name, (low, _) in spans.items()} == pytest.approx(stored["low"].clip(lower=0).to_dict())
    assert {name: high for name, (_, high) in spans.items()} == pytest.approx(stored["high"].to_dict())
    said = "Intervals are cut at 0: total cost cannot be lower."
    assert (said in picture.titles) == bool((stored["low"] < 0).any())


def test_a_share_ends_at_all_cases() -> None:
    rows = shipped("resplits", cohort="all", metric="Defer").assign(low=-0.1, high=1.2)
    picture = read(robustness.resplits(rows, "Defer", "studio"))
    ends = [end for span in picture.panel.spans(picture.panel.of("rule")).values() for end in span]
    assert (min(ends), max(ends)) == pytest.approx((0, 1))
    assert "Intervals are cut at 0 and 1: share sent cannot be lower or higher." in picture.titles
