"""What the decision curve and the map of winners say, read from the picture and compared with their tables."""

from __future__ import annotations

import numpy as np
import pytest
from charts import Picture, read
from gallery import ACTIVE, DECISION_CURVE, GALLERY, MARKED, NAMED, STRATEGIES, WINNERS

from mpd2.present.charts.clinical import decision_curve as charts
from mpd2.present.charts.kit.style import AI, OTHER, READER, ROUTER


@pytest.fixture(scope="module")
def curves() -> Picture:
    return read(GALLERY["decision_curve.curves"]())


@pytest.fixture(scope="module")
def winners() -> Picture:
    return read(GALLERY["decision_curve.winners"]())


def across(picture: Picture, place: float) -> float:
    """The ratio at a place of the log axis."""
    known = sorted((where, np.log(float(text))) for text, where in picture.panel.across.labels)
    return float(np.exp(np.interp(place, *zip(*known, strict=True))))


def bottom() -> float:
    """How far below 0 curves are followed, per 1,000."""
    return max(-charts.DEEPEST * 1000 * DECISION_CURVE["high"].max(), -1000)


def drawn(method: str) -> list[float]:
    """What the table has of a strategy from the least ratio on, per 1,000, as far as it is followed."""
    rows = DECISION_CURVE[DECISION_CURVE["method"] == method].sort_values("ratio")
    values = 1000 * rows["value"].to_numpy()
    return values[values >= bottom()].tolist()


@pytest.mark.parametrize("method", STRATEGIES)
def test_every_strategy_has_its_line_in_its_colour(curves: Picture, method: str) -> None:
    lines = [(line, [curves.panel.upright.value(y) for _, y in line.points]) for line in curves.panel.of("line")]
    expected = drawn(method)
    [line] = [
        line for line, values in lines if len(values) == len(expected) and np.allclose(values, expected, atol=0.05)
    ]
    assert line.colour == charts.mark(method, ACTIVE).colour
    assert across(curves, line.x2) == pytest.approx(50)


def test_marks_are_those_of_other_charts() -> None:
    assert charts.mark(ACTIVE, ACTIVE) == ROUTER
    assert (charts.mark("ai", ACTIVE), charts.mark("always-defer", ACTIVE)) == (AI, READER)
    assert charts.mark("mao", ACTIVE) == OTHER
    assert charts.mark("mpd2-plus", "mpd2-plus") == ROUTER != charts.mark("mpd2-plus", ACTIVE)


def test_a_threshold_that_moves_is_dashed_and_what_looks_at_nobody_dotted(curves: Picture) -> None:
    dashes = {line.dash for line in curves.panel.of("line") if line.colour == AI.colour}
    assert len(dashes) == 2
    assert charts.DASHES["treat-all"] == charts.DASHES["treat-none"] == charts.DOTTED


def test_the_active_run_the_ai_and_the_recalibrated_ai_have_bands(curves: Picture) -> None:
    bands = {band.colour: np.array([curves.panel.upright.value(y) for _, y in band.points]) for band in
             curves.panel.of("area")}  # fmt: skip
    assert set(bands) == {charts.mark(name, ACTIVE).colour for name in (ACTIVE, *charts.BANDS)}
    rows = DECISION_CURVE[DECISION_CURVE["method"] == ACTIVE].sort_values("ratio")
    expected = 1000 * np.concatenate([rows["low"], rows["high"][::-1]])
    assert bands[ROUTER.colour] == pytest.approx(expected, abs=0.1)


def test_names_stand_beside_the_lines_in_their_order(curves: Picture) -> None:
    last = DECISION_CURVE[(DECISION_CURVE["ratio"] == 50) & DECISION_CURVE["method"].isin(NAMED)]
    beside = [word for word in curves.panel.of("text") if word.x > curves.panel.width - 1]
    assert [word.text for word in sorted(beside, key=lambda word: -word.y)] == last.sort_values("value")[
        "title"
    ].tolist()
    places = sorted(word.y for word in beside)
    assert min(np.diff(places)) >= 12


def test_ratios_are_marked_if_they_are_on_the_axis(curves: Picture) -> None:
    inside = {name: ratio for name, ratio in MARKED.items() if ratio <= 50}
    assert [across(curves, rule.x) for rule in curves.panel.of("rule")] == pytest.approx(
        list(inside.values()), rel=1e-3
    )
    words = [word.text for word in curves.panel.of("text") if word.x < curves.panel.width - 1]
    assert words == [f"{name}: {ratio:.3g}" for name, ratio in inside.items()]


def test_axes_say_ratio_and_people(curves: Picture) -> None:
    assert curves.panel.across.names == ["1", "2", "5", "10", "20", "50"]
    assert curves.panel.across.title == "false alarms that one miss weighs as much as"
    assert curves.panel.upright.title == "net benefit per 1,000 screened"


def test_cells_stand_in_order_of_ratio_and_fee_in_the_winners_colour(winners: Picture) -> None:
    panel = winners.panel
    assert panel.across.names == ["1 : 1", "1.33 : 1", "50 : 1"]
    assert panel.upright.names == ["10×", "1×", "0×"]
    for row in WINNERS.itertuples():
        full = charts.mark(row.method, ACTIVE).colour
        [cell] = [cell for cell in panel.of("rect") if not cell.is_hollow
                  and panel.across.name(cell.middle[0]) == f"{row.ratio:.3g} : 1"
                  and panel.upright.name(cell.middle[1]) == f"{row.fee:g}×"]  # fmt: skip
        assert (cell.fill == full) == row.beyond_chance
        [word] = [word.text for word in panel.of("text") if cell.x < word.x < cell.x2 and cell.y < word.y < cell.y2]
        assert word == (f"{row.margin:.0f}" if row.beyond_chance else f"≈ {row.margin:.0f}")


def test_the_tables_own_costs_are_framed_and_the_legend_names_winners_once(winners: Picture) -> None:
    [frame] = [cell for cell in winners.panel.of("rect") if cell.is_hollow]
    place = (winners.panel.across.name(frame.middle[0]), winners.panel.upright.name(frame.middle[1]))
    assert place == ("1.33 : 1", "1×")
    named = dict(zip(WINNERS["title"], WINNERS["method"], strict=True))
    assert winners.legend == {title: charts.mark(method, ACTIVE).colour for title, method in named.items()}
