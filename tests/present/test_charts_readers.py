"""Charts of the Readers page."""

from __future__ import annotations

import pandas as pd
import pytest
from charts import number, read
from contrasts import luminance
from gallery import AGAINST_AI, AVAILABILITY, CAPACITY, KAPPA, LOAD, POINTS, RUN, SHEET

from mpd2.present.charts import readers
from mpd2.present.charts.kit.style import AI, ALARM, OTHER, READER, ROUTER

FINE = 0.003  # what reading a picture of 900 pixels can miss


def test_readers_are_named_and_whoever_the_legend_names_is_not() -> None:
    points = pd.DataFrame({
        "kind": ["reader", "ai", "run", "reader"], "title": ["Anna", "AI", "Router", "Ben"],
        "Sens": [0.80, 0.70, 0.75, 0.81], "Spec": [0.95, 0.85, 0.80, 0.95],
        "Sens_low": [0.70, 0.60, 0.65, 0.71], "Spec_low": [0.90, 0.80, 0.75, 0.90],
    })  # fmt: skip
    anna, ai, run, ben = readers.label_places(points)
    assert (ai, run) == ("", "")
    assert anna
    assert ben
    assert anna != ben


def test_each_reader_is_joined_to_the_run_on_the_same_cases() -> None:
    picture = read(readers.f1_barbell(SHEET, RUN))
    panel = picture.panel
    assert picture.legend == {readers.READER_ALONE: READER.colour, RUN: ROUTER.colour}
    assert panel.upright.names == ["Ben (n = 120)", "Anna (n = 80)"]  # the largest difference on top
    spans = panel.spans(panel.of("rule"))
    points = panel.of("symbol")
    alone, run = (panel.values([point for point in points if point.colour == mark.colour]) for mark in (READER, ROUTER))
    assert {(point.colour, point.shape) for point in points} == {tuple(READER), tuple(ROUTER)}
    for name, (_, row) in zip(panel.upright.names, SHEET.iterrows(), strict=True):
        assert alone[name] == pytest.approx(row["F1"], abs=FINE)
        assert run[name] == pytest.approx(row["method_f1"], abs=FINE)
        assert spans[name] == pytest.approx((row["F1"], row["method_f1"]), abs=FINE)


def test_sensitivity_is_upright_and_specificity_across_with_whole_intervals() -> None:
    picture = read(readers.operating_points(POINTS, RUN))
    panel = picture.panel
    assert (panel.across.title, panel.upright.title) == ("specificity", "sensitivity")
    assert picture.legend == {readers.READER_ALONE: READER.colour, "AI alone": AI.colour, RUN: ROUTER.colour}
    across, upright = panel.of("rule", 0), panel.of("rule", 1)
    for place, row in enumerate(POINTS.itertuples()):
        mark = {"reader": READER, "ai": AI, "run": ROUTER}[row.kind]
        point = panel.of("symbol")[place]
        assert panel.places([point])[0] == pytest.approx((row.Spec, row.Sens), abs=FINE)
        assert (point.colour, point.shape) == (mark.colour, mark.shape)
        ends = [panel.across.value(end) for end in (across[place].x, across[place].x2)]
        assert ends == pytest.approx([row.Spec_low, row.Spec_high], abs=FINE)
        ends = [panel.upright.value(end) for end in (upright[place].y2, upright[place].y)]
        assert ends == pytest.approx([row.Sens_low, row.Sens_high], abs=FINE)


def test_bars_are_cases_sent_the_busiest_on_top_with_interval_preference_and_capacity() -> None:
    picture = read(readers.load(LOAD, CAPACITY))
    panel = picture.panel
    hard, soft = (LOAD[LOAD["kind"] == kind].set_index("title") for kind in ("hard", "soft"))
    assert panel.upright.names == ["Ben", "Anna", "Chi"]
    assert picture.legend == {"cases sent": READER.colour, "preferred by the models": ROUTER.colour}
    assert panel.across.title == "cases"
    bars, diamonds = panel.spans(panel.of("rect")), panel.values(panel.of("symbol"))
    level = [rule for rule in panel.of("rule") if rule.x < rule.x2]
    ends = panel.spans(level)
    for name, row in hard.iterrows():
        assert bars[name] == pytest.approx((0, row["cases"]), abs=0.2)
        assert ends[name] == pytest.approx((row["low"], row["high"]), abs=0.2)
        assert diamonds[name] == pytest.approx(soft.at[name, "cases"], abs=0.2)
    [limit] = [rule for rule in panel.of("rule") if rule not in level]
    assert panel.across.value(limit.x) == pytest.approx(CAPACITY, abs=0.2)
    assert (limit.colour, bool(limit.dash)) == (ALARM.colour, True)


def test_a_cell_says_which_share_of_a_cohort_a_reader_has_read() -> None:
    panel = read(readers.availability(AVAILABILITY)).panel
    said = {(panel.upright.name(word.middle[1]), panel.across.name(word.middle[0])): word.text
            for word in panel.of("text")}  # fmt: skip
    for row in AVAILABILITY.itertuples():
        assert said[row.title, f"{row.cohort_title} n = {row.n}"] == f"{row.share:.0%}"
    cells = sorted(panel.of("rect"), key=lambda cell: luminance(cell.fill))
    shares = [number(said[panel.upright.name(cell.middle[1]), panel.across.name(cell.middle[0])]) for cell in cells]
    assert shares == sorted(shares, reverse=True)  # the darker, the more


def test_agreement_is_in_its_cell_and_too_few_cases_are_grey() -> None:
    panel = read(readers.kappa(KAPPA)).panel
    words: dict[tuple[str, str], list[str]] = {}
    for word in panel.of("text"):
        words.setdefault((panel.across.name(word.x), panel.upright.name(word.middle[1])), []).append(word.text)
    for row in KAPPA.itertuples():
        kappa = [f"{row.kappa:.2f}"] if row.kappa == row.kappa else []
        assert sorted(words[row.first_title, row.second_title]) == sorted([*kappa, str(row.n)])
    [grey] = [cell for cell in panel.of("rect") if cell.fill == OTHER.colour]
    assert (panel.across.name(grey.middle[0]), panel.upright.name(grey.middle[1])) == ("Anna", "Ben")


def test_where_they_disagree_blue_is_the_reader_right_and_orange_the_ai() -> None:
    picture = read(readers.disagreement(AGAINST_AI))
    panel = picture.panel
    assert picture.legend == {"the reader is right": READER.colour, "the AI is right": AI.colour}
    assert panel.upright.names == ["Ben", "Anna"]  # who disagrees most on top, who has read nothing left out
    blue, orange = (panel.spans([bar for bar in panel.of("rect") if bar.fill == mark.colour]) for mark in (READER, AI))
    for row in AGAINST_AI.dropna(subset="differ").itertuples():
        right = row.reader_right / row.n
        assert blue[row.title] == pytest.approx((0, right), abs=FINE)
        assert orange[row.title] == pytest.approx((right, row.differ), abs=FINE)
