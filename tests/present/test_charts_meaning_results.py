"""What the charts of Risk, Robustness and Ablations say, read from the picture and compared with their tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from charts import Picture, number, read
from gallery import (
    ACTIVE,
    BUDGETS,
    EFFECTS,
    GALLERY,
    OBJECTIVE,
    PAIRED,
    PRINTED,
    RECALIBRATION,
    RESPLITS,
    RISK,
    RIVALS,
    RUN,
    TRANSFER,
    WIDTHS,
)

from mpd2.present.charts import risk
from mpd2.present.charts.ablations import KINDS
from mpd2.present.charts.kit.style import AI, OTHER, READER, ROUTER, mark_of
from mpd2.study.definition import TARGETS


def of(rows: pd.DataFrame, metric: str) -> pd.DataFrame:
    return rows[rows["metric"] == metric]


def near(values: dict[str, object]) -> object:
    return pytest.approx(values, abs=1e-5)


def check_forest(picture: Picture, rows: pd.DataFrame, order: list[str], value: str = "value") -> None:
    """Each row's dot and both ends of its interval are where the table has them, in this order from the top."""
    panel, stored = picture.panel, rows.set_index("title")
    assert panel.upright.names == order
    spans = panel.spans([rule for rule in panel.of("rule") if rule.x2 > rule.x])
    dots = panel.values([dot for dot in panel.of("symbol") if not dot.is_hollow])
    assert dots == near(stored[value].to_dict())
    assert {name: low for name, (low, _) in spans.items()} == near(
        stored["low"].clip(lower=0).to_dict() if value == "value" else stored["low"].to_dict()
    )
    assert {name: high for name, (_, high) in spans.items()} == near(stored["high"].to_dict())


def check_marks(picture: Picture, marks: dict[str, tuple[str, str]]) -> None:
    """Every row's dot and rule have the colour, and its dot the shape, of whom they are about."""
    panel = picture.panel
    for dot in (dot for dot in panel.of("symbol") if not dot.is_hollow):
        assert (dot.colour, dot.shape) == marks[panel.upright.name(dot.middle[1])]
    for rule in (rule for rule in panel.of("rule") if rule.x2 > rule.x):
        assert rule.colour == marks[panel.upright.name(rule.middle[1])][0]


def method_marks(rows: pd.DataFrame, active: str = ACTIVE) -> dict[str, tuple[str, str]]:
    return {row.title: tuple(mark_of(row.method, active)) for row in rows.itertuples()}


def line_at_zero(picture: Picture) -> float:
    """Where the upright line is."""
    [line] = [rule for rule in picture.panel.of("rule") if rule.x2 == rule.x]
    assert (line.y, line.y2) == (0, picture.panel.height)
    return picture.panel.across.value(line.x)


def test_marks_tell_the_active_run_the_ai_and_the_readers_apart():
    assert mark_of(ACTIVE, ACTIVE) == ROUTER
    assert (mark_of("ai", ACTIVE), mark_of("mean-reader", ACTIVE), mark_of("mao", ACTIVE)) == (AI, READER, OTHER)
    assert len({AI.colour, READER.colour, ROUTER.colour, OTHER.colour}) == 4


def test_resplits_show_the_mean_of_every_method_the_cheapest_first():
    rows = of(RESPLITS, "TotalCost")
    picture = read(GALLERY["robustness.resplits"]())
    check_forest(picture, rows, rows.sort_values("value", kind="stable")["title"].tolist())
    check_marks(picture, method_marks(rows))
    assert (picture.titles, picture.panel.across.title) == (["Mean total cost over resplits"], "total cost")


def test_rivals_show_differences_from_the_reference_with_a_line_at_none():
    rows = of(RIVALS, "TotalCost")
    picture = read(GALLERY["robustness.rivals"]())
    check_forest(picture, rows, rows.sort_values("difference", kind="stable")["title"].tolist(), "difference")
    check_marks(picture, method_marks(rows))
    assert line_at_zero(picture) == pytest.approx(0, abs=1e-6)
    assert (picture.titles, picture.panel.across.title) == (["Difference from MPD²+"], "total cost, less MPD²+")


def test_transfer_shows_the_unseen_cohort_filled_and_the_seen_one_hollow():
    rows = of(TRANSFER, "TotalCost")
    picture = read(GALLERY["robustness.transfer"]())
    check_forest(picture, rows, rows.sort_values("value", kind="stable")["title"].tolist())
    hollow = picture.panel.values([dot for dot in picture.panel.of("symbol") if dot.is_hollow])
    assert hollow == near(rows.set_index("title")["known"].to_dict())
    assert "REFUGE unseen; hollow: trained on it" in picture.titles[0]


def test_recalibration_shows_cost_by_local_cases_with_its_band_and_the_ai_dashed():
    picture = read(GALLERY["robustness.recalibration"]())
    panel, rows = picture.panel, RECALIBRATION[RECALIBRATION["method"] != "ai"].sort_values("local", kind="stable")
    points = sorted(zip(rows["local"], rows["value"], strict=True))
    assert sorted(panel.places(panel.of("symbol"))) == [pytest.approx(point, abs=1e-3) for point in points]
    learned = {title: rows[rows["title"] == title] for title in picture.legend}
    for band, curve in zip(panel.of("area"), learned.values(), strict=True):
        corners = np.array(panel.curve(band))
        assert corners[: len(curve), 1] == pytest.approx(curve["low"], abs=1e-4)
        assert corners[len(curve) :, 1][::-1] == pytest.approx(curve["high"], abs=1e-4)
    [ai] = [line for line in panel.of("line") if line.dash]
    alone = RECALIBRATION[RECALIBRATION["method"] == "ai"].sort_values("local")
    assert [cost for _, cost in panel.curve(ai)] == pytest.approx(alone["value"], abs=1e-4)
    assert ai.colour == AI.colour
    assert set(picture.legend) == set(rows["title"])
    assert (panel.across.title, panel.upright.title) == ("labelled local cases", "total cost of a case")


def test_sample_size_shows_half_widths_in_points_with_rules_at_what_was_asked():
    picture = read(GALLERY["robustness.sample_size"]())
    panel = picture.panel
    assert list(picture.legend) == WIDTHS["title"].drop_duplicates().tolist()
    for line, (_, rows) in zip(panel.of("line"), WIDTHS.groupby("title", sort=False), strict=True):
        assert [x for x, _ in line.points] == [pytest.approx(place(panel.across, n), abs=0.6) for n in rows["cases"]]
        widths = 100 * rows["half_width"]
        assert [y for _, y in line.points] == [pytest.approx(place(panel.upright, width), abs=1) for width in widths]
        assert (line.dash in ("", "1,0")) == (rows["what"].iloc[0] in ("Sens", "Spec"))
    upright, level = panel.of("rule")
    assert upright.x == pytest.approx(place(panel.across, 1000), abs=0.6)
    assert level.y == pytest.approx(place(panel.upright, 3), abs=1)
    assert (panel.across.title, panel.upright.title) == ("cases", "± points, half of the 95 % interval")


def place(axis, value):
    """Where a value is on a logarithmic axis."""
    (one, start), *_, (other, end) = ((number(text), where) for text, where in axis.labels)
    return start + (end - start) * np.log(value / one) / np.log(other / one)


def test_levels_show_every_condition_in_the_tables_order_and_the_papers_hollow():
    rows = of(OBJECTIVE, "ClinicalCost")
    picture = read(GALLERY["ablations.levels"]())
    check_forest(picture, rows, rows["title"].tolist())
    hollow = picture.panel.values([dot for dot in picture.panel.of("symbol") if dot.is_hollow])
    assert hollow == near(rows.set_index("title")["published"].dropna().to_dict())
    check_marks(picture, {row.title: tuple(ROUTER if row.method == "full" else OTHER) for row in rows.itertuples()})
    assert picture.panel.across.title == "clinical cost"


def test_effects_show_changes_against_the_full_objective():
    picture = read(GALLERY["ablations.effects"]())
    check_forest(picture, EFFECTS, EFFECTS["title"].tolist(), "difference")
    assert line_at_zero(picture) == pytest.approx(0, abs=1e-6)
    assert picture.panel.across.title == "clinical cost, less full objective"


def test_budget_control_shows_both_deferrals_over_their_target_and_the_line_of_equality():
    picture = read(GALLERY["ablations.budget_control"]())
    panel, rows = picture.panel, BUDGETS[BUDGETS["metric"].isin(KINDS)]
    rows = rows.assign(target=rows["method"].map(TARGETS)).dropna(subset=["target"])
    for metric, mark in (("DeferSoft", ROUTER), ("DeferHard", OTHER)):
        stored = of(rows, metric)
        for column, hollow in (("value", False), ("published", True)):
            drawn = [dot for dot in panel.of("symbol") if dot.is_hollow == hollow and dot.colour == mark.colour]
            known = stored.dropna(subset=[column])
            expected = sorted(zip(known["target"].astype(float), known[column], strict=True))
            assert sorted(panel.places(drawn)) == [pytest.approx(point, abs=1e-5) for point in expected]
        ends = sorted((panel.upright.value(rule.y2), panel.upright.value(rule.y)) for rule in panel.of("rule")
                      if rule.colour == mark.colour)  # fmt: skip
        assert ends == [pytest.approx(end, abs=1e-5) for end in sorted(zip(stored["low"], stored["high"], strict=True))]
        assert picture.legend[KINDS[metric]] == mark.colour
    [equal] = panel.of("line")
    assert all(target == pytest.approx(value, abs=1e-5) for target, value in panel.curve(equal))
    assert (panel.across.title, panel.upright.title) == ("target", "realised deferral")


def test_risk_shows_a_line_and_a_band_a_method_and_names_them_in_their_order():
    panel = read(GALLERY["risk.risk_curves"]()).panel
    lines = {tuple(np.round([cost for _, cost in panel.curve(line)], 4)): line for line in panel.of("line")}
    assert len(lines) == RISK["method"].nunique()
    bands = [np.array(panel.curve(band)) for band in panel.of("area")]
    for method, rows in RISK.groupby("method"):
        rows = rows.sort_values("stratum")
        line = next(drawn for costs, drawn in lines.items() if np.allclose(costs, rows["value"], atol=2e-4))
        assert line.colour == mark_of(method, ACTIVE).colour
        ends = np.concatenate([rows["low"], rows["high"][::-1]])
        assert any(np.allclose(band[:, 1], ends, atol=2e-4) for band in bands), method
    names = [word.text for word in sorted(panel.of("text"), key=lambda word: -word.y)]
    last = RISK[RISK["stratum"] == RISK["stratum"].max()].sort_values("value", kind="stable")
    assert names == last["title"].tolist()
    beside = {
        panel_mark.middle[1]: panel_mark.colour for panel_mark in panel.of("symbol") if panel_mark.x > panel.width
    }
    colours = [beside[place] for place in sorted(beside, reverse=True)]
    assert colours == [mark_of(method, ACTIVE).colour for method in last["method"]]


def test_risk_has_its_strata_across_and_cost_from_zero_upright():
    picture = read(GALLERY["risk.risk_curves"]())
    assert picture.panel.across.names == ["1", "2", "3", "4", "5"]
    assert picture.panel.upright.value(picture.panel.height) == pytest.approx(0, abs=1e-6)
    assert picture.panel.upright.title == "clinical cost of a case"
    assert picture.titles == ["Clinical cost by structural risk"]
    without = read(risk.risk_curves(RISK, ACTIVE, "Structural risk", bands=False)).panel
    assert not without.of("area")


def test_runs_stand_against_the_one_that_is_named():
    picture = read(GALLERY["runs.against"]())
    check_forest(picture, PAIRED, PAIRED["title"].tolist(), "difference")
    check_marks(picture, method_marks(PAIRED, active=""))
    assert picture.titles == [f"Difference in total cost to {RUN}"]


def test_ours_less_the_papers_has_our_interval_around_it():
    picture = read(GALLERY["runs.less_paper"]())
    ends = {end: PRINTED[end] - PRINTED["published"] for end in ("low", "high")}
    rows = PRINTED.assign(**ends)
    check_forest(picture, rows, rows["title"].tolist(), "difference")
    check_marks(picture, method_marks(rows, "paper"))
    assert line_at_zero(picture) == pytest.approx(0, abs=1e-6)
    assert picture.panel.across.title == "total cost, ours less the paper's"
