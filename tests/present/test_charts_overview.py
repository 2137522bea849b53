"""Charts of the Overview page."""

from __future__ import annotations

import pandas as pd
import pytest
from charts import read
from gallery import ACTIVE, PAIRED, PLANE, shipped

from mpd2.present.charts.kit.export import render
from mpd2.present.charts.kit.style import AI, OTHER, ROUTER
from mpd2.present.charts.overview import differences, front_in_words, tradeoff

FINE = 0.003  # what reading a picture of 900 pixels can miss


@pytest.fixture
def plane() -> pd.DataFrame:
    """Four methods, of which two are on the front and one is in the paper."""
    frame = pd.DataFrame(
        {
            "method": ["studio", "ai", "mao", "own'run"],
            "title": ["MPD² (studio)", "AI only", "Mao two-stage", "My own"],
            "score_value": [0.82, 0.51, 0.84, 0.7],
            "cost_value": [0.17, 0.38, 0.21, 0.25],
            "on_front": [True, False, True, False],
            "front_share": [0.9, 0.0, 0.6, 0.1],
            "score_published": [None, None, 0.76, None],
            "cost_published": [None, None, 0.21, None],
        }
    ).assign(score="F1", cost="TotalCost", n=899)
    ends = {f"{axis}_{end}": frame[f"{axis}_value"] + by for axis in ("score", "cost")
            for end, by in (("low", -0.02), ("high", 0.02))}  # fmt: skip
    return frame.assign(**ends)


def drawn(figure: object) -> str:
    return render(figure, "svg").decode()


def test_the_ai_and_the_active_run_are_named(plane: pd.DataFrame) -> None:
    picture = drawn(tradeoff(plane, "studio"))
    assert all(f">{title}<" in picture for title in ("MPD² (studio)", "AI only"))
    assert ">My own<" not in picture


def test_the_front_is_told_from_cheap_to_dear(plane: pd.DataFrame) -> None:
    assert front_in_words(plane).endswith(": MPD² (studio) (90\xa0%), Mao two-stage (60\xa0%).")


def test_any_run_can_be_the_active_one(plane: pd.DataFrame) -> None:
    assert ">My own<" in drawn(tradeoff(plane, "own'run"))
    assert drawn(tradeoff(plane, "ai")).count(">AI only<") == 1
    assert drawn(tradeoff(plane, "oracle"))  # not in the plane at all


def test_the_papers_numbers_are_drawn_only_when_asked_for(plane: pd.DataFrame) -> None:
    without, beside = (drawn(tradeoff(plane, "studio", printed)) for printed in (False, True))
    assert "in the paper: Mao two-stage" not in without
    assert beside.count("in the paper: ") == 1


def test_differences_are_sorted_with_the_undeployable_last() -> None:
    paired = pd.DataFrame({"method": ["oracle", "ai", "mao"], "title": ["Oracle", "AI only", "Mao two-stage"]})
    paired = paired.assign(difference=[-0.1, 0.2, 0.01], low=[-0.2, 0.1, -0.1], high=[0.0, 0.3, 0.1])
    figure = differences(paired.assign(reference="studio", metric="TotalCost", n=899), "studio")
    picture = drawn(figure)
    places = [picture.index(f">{title}<") for title in ("Mao two-stage", "AI only", "Oracle")]
    assert places == sorted(places)
    assert "Difference in total cost to the active run" in picture


def test_each_method_is_drawn_at_its_cost_and_its_score_in_its_own_mark() -> None:
    panel = read(tradeoff(PLANE, ACTIVE)).panel
    assert panel.across.title == "total cost (less is better)"
    assert panel.upright.title == "F1 (more is better)"
    marks = {"ai": AI, ACTIVE: ROUTER}
    points = panel.of("symbol")
    for row, point, place in zip(PLANE.itertuples(), points, panel.places(points), strict=True):
        mark = marks.get(row.method, OTHER)
        assert place == pytest.approx((row.cost_value, row.score_value), abs=FINE)
        assert (point.colour, point.shape, point.is_hollow) == (mark.colour, mark.shape, False)
        assert (point.opacity == 1) == row.on_front


def test_the_active_run_has_both_its_intervals_from_end_to_end() -> None:
    panel = read(tradeoff(PLANE, ACTIVE)).panel
    own = PLANE[PLANE["method"] == ACTIVE].iloc[0]
    across, upright = (panel.of("rule", layer)[0] for layer in (0, 1))
    assert {across.colour, upright.colour} == {ROUTER.colour}
    costs = [panel.across.value(end) for end in (across.x, across.x2)]
    scores = [panel.upright.value(end) for end in (upright.y2, upright.y)]
    assert costs == pytest.approx([own["cost_low"], own["cost_high"]], abs=FINE)
    assert scores == pytest.approx([own["score_low"], own["score_high"]], abs=FINE)
    assert panel.across.value(upright.middle[0]) == pytest.approx(own["cost_value"], abs=FINE)


def test_the_front_goes_through_those_nobody_beats_from_cheap_to_dear() -> None:
    panel = read(tradeoff(PLANE, ACTIVE)).panel
    [line] = panel.of("line")
    corners = panel.curve(line)
    front = PLANE[PLANE["on_front"]].sort_values("cost_value")
    for cost, score in front[["cost_value", "score_value"]].to_numpy():
        assert any(abs(x - cost) < FINE and abs(y - score) < FINE for x, y in corners)
    assert [x for x, _ in corners] == sorted(x for x, _ in corners)
    assert line.dash


def test_what_the_paper_prints_is_hollow_and_where_the_paper_says() -> None:
    panel = read(tradeoff(PLANE, ACTIVE, True)).panel
    hollow = [point for point in panel.of("symbol") if point.is_hollow]
    printed = PLANE.dropna(subset="score_published")
    places = sorted(panel.places(hollow))
    assert places == [
        (pytest.approx(cost, abs=FINE), pytest.approx(score, abs=FINE))
        for cost, score in sorted(printed[["cost_published", "score_published"]].to_numpy().tolist())
    ]


@pytest.mark.parametrize("metric", ["TotalCost", "F1"])
def test_every_difference_is_drawn_with_both_ends_of_its_interval(metric: str) -> None:
    rows = shipped("paired", reference=ACTIVE, metric=metric).set_index("title")
    picture = read(differences(rows.reset_index(), ACTIVE))
    panel = picture.panel
    spans = panel.spans([rule for rule in panel.of("rule") if rule.x < rule.x2])
    values = panel.values(panel.of("symbol"))
    assert set(spans) == set(values) == set(rows.index)
    for title, row in rows.iterrows():
        assert spans[title] == pytest.approx((row["low"], row["high"]), abs=FINE)
        assert values[title] == pytest.approx(row["difference"], abs=FINE)


def test_the_line_of_no_difference_stands_at_0_and_the_ai_has_its_mark() -> None:
    panel = read(differences(PAIRED, ACTIVE)).panel
    [zero] = [rule for rule in panel.of("rule") if rule.x == rule.x2]
    assert panel.across.value(zero.x) == pytest.approx(0, abs=FINE)
    [ai] = [point for point in panel.of("symbol") if panel.upright.name(point.middle[1]) == "AI only"]
    assert (ai.colour, ai.shape) == (AI.colour, AI.shape)
    assert panel.across.title == "total cost, method less active run"
