"""Charts of calibration and subgroups show what their tables say."""

from __future__ import annotations

import pytest
from charts import read
from gallery import CALIBRATION, GALLERY, SLOPES, SUBGROUPS
from strategies import TASK

from mpd2.evaluation.clinical.subgroups import Comparisons
from mpd2.present.charts.clinical import calibration, subgroups
from mpd2.present.charts.kit.style import AI, READER
from mpd2.present.words import calibration as calibration_words
from mpd2.present.words import subgroups as subgroup_words


def near(values: dict[str, float]) -> object:
    return pytest.approx(values, abs=0.004)


def test_a_reliability_curve_has_a_point_a_bin_and_the_diagonal() -> None:
    picture = read(GALLERY["calibration.reliability"]())
    panel = picture.panel
    points = sorted(panel.places(panel.of("symbol")))
    expected = sorted(zip(CALIBRATION["predicted"], CALIBRATION["observed"], strict=True))
    assert points == [pytest.approx(point, abs=0.005) for point in expected]
    [diagonal] = [line for line in panel.of("line") if line.dash]
    assert panel.curve(diagonal) == [pytest.approx(place, abs=0.001) for place in ((0, 0), (1, 1))]
    spans = sorted(sorted(panel.upright.value(end) for end in (rule.y, rule.y2)) for rule in panel.of("rule"))
    ends = sorted([low, high] for low, high in zip(CALIBRATION["low"], CALIBRATION["high"], strict=True))
    assert spans == [pytest.approx(each, abs=0.005) for each in ends]
    assert picture.legend["AI only"] == AI.colour


def test_one_forecast_alone_needs_no_legend() -> None:
    alone = CALIBRATION[CALIBRATION["name"] == "ai"]
    picture = read(calibration.reliability(alone, "said to have glaucoma"))
    assert not picture.legend
    assert {dot.colour for dot in picture.panel.of("symbol")} == {READER.colour}


def test_slopes_are_those_there_are_with_a_line_at_one() -> None:
    panel = read(GALLERY["calibration.slopes"]()).panel
    there = SLOPES.dropna().set_index("title")
    assert panel.values(panel.of("symbol")) == near(there["slope"].to_dict())
    [line] = [rule for rule in panel.of("rule") if rule.dash]
    assert panel.across.value(line.x) == pytest.approx(1.0, abs=0.004)


def test_levels_show_each_group_with_as_many_as_the_metric_is_about_and_the_ai_hollow() -> None:
    panel = read(GALLERY["subgroups.levels"]()).panel
    names = ["REFUGE (n = 40)", "ORIGA (n = 42)", "Small cup (n = 4)", "Large cup (n = 114)"]
    assert panel.upright.names == names
    rows = SUBGROUPS.set_axis(names)
    full, hollow = ([dot for dot in panel.of("symbol") if dot.is_hollow == open_] for open_ in (False, True))
    assert panel.values(full) == near(rows["value"].to_dict())
    assert panel.values(hollow) == near(rows["beside"].to_dict())
    healthy = SUBGROUPS.assign(metric="Spec")
    assert read(subgroups.levels(healthy)).panel.upright.names[0] == "REFUGE (n = 360)"


def test_gaps_have_a_thick_and_a_thin_interval_and_leave_out_what_is_not_compared() -> None:
    panel = read(GALLERY["subgroups.gaps"]()).panel
    rows = SUBGROUPS.dropna(subset="gap").set_axis(["REFUGE (n = 40)", "ORIGA (n = 42)", "Large cup (n = 114)"])
    assert panel.values(panel.of("symbol")) == near(rows["gap"].to_dict())
    _, narrow, wide = (panel.spans(panel.of("rule", layer)) for layer in range(3))
    assert {name: low for name, (low, _) in narrow.items()} == near(rows["gap_low"].to_dict())
    assert {name: high for name, (_, high) in wide.items()} == near(rows["wide_high"].to_dict())


def test_words_count_comparisons_and_name_what_stands_out() -> None:
    assert subgroup_words.multiplicity(Comparisons(48, 2.4, 9, 1)).endswith("Judged all together, 1 does.")
    assert subgroup_words.multiplicity(Comparisons(48, 2.4, 3, 0)).endswith("Judged all together, none do.")
    said = subgroup_words.largest(SUBGROUPS)
    assert said == "Sensitivity in large cup +20.0 points (+9.0 to +33.0) against all other cases."
    assert subgroup_words.largest(SUBGROUPS.assign(beyond_all=False)) == ""
    assert subgroup_words.largest(SUBGROUPS.assign(metric="Defer")) == ""


def test_words_say_what_each_forecast_expects_and_whether_chance_explains_the_rest() -> None:
    rows = SLOPES.assign(n=200, events=30, apart=[-0.2, 0.01, 0.0], ece=[0.21, 0.02, 0.02], by_chance=0.02)
    said = calibration_words.of_truth(rows.iloc[:2], TASK)
    assert said == (
        "15\xa0% of the cases have glaucoma. Anna expects 35\xa0%; in bins, predicted and observed are 21.0 points "
        "apart, more than chance explains. Ben expects 14\xa0%; in bins, predicted and observed are 2.0 points apart, "
        "about what chance explains."
    )
    assert calibration_words.of_readers(rows) == (
        "Of 3 readers, 2 say what their model expects as nearly as chance allows; the slopes of 2 of 2 agree with 1."
    )
