"""What the charts of Budget, Case and Map say, read from the picture and compared with their tables."""

from __future__ import annotations

import numpy as np
import pytest
from charts import Mark, Panel, read
from gallery import (
    ACTIONS,
    ATTRIBUTION,
    BEFORE,
    CASES,
    CURVE,
    GALLERY,
    MIX,
    NOW,
    OPTIMUM,
    ORIGINAL,
    PAINTS,
    PLACES,
    RANGES,
    TRAINED,
)
from strategies import TASK

from mpd2.core.text import percent
from mpd2.present.charts import case
from mpd2.present.charts import map as map_charts
from mpd2.present.charts.clinical import optic_disc
from mpd2.present.charts.kit.style import AI, ALARM, OTHER, READER, ROUTER

COST_COLOURS = {"TotalCost": ROUTER.colour, "ClinicalCost": ALARM.colour, "ExpertCost": READER.colour}


def near(values: object) -> object:
    return pytest.approx(values, abs=1e-4)


def of_colour(marks: list[Mark], colour: str) -> list[Mark]:
    return [mark for mark in marks if mark.colour == colour]


def by_row(panel: Panel, marks: list[Mark]) -> dict[str, Mark]:
    return {panel.upright.name(mark.middle[1]): mark for mark in marks}


# ------------------------------------------------------------------------------------------------------------ Budget


@pytest.mark.parametrize("metric", COST_COLOURS)
def test_each_cost_has_its_own_line_and_band(metric):
    panel = read(GALLERY["budget.cost_curve"]()).panel
    rows, colour = CURVE[CURVE["metric"] == metric], COST_COLOURS[metric]
    shares = (rows["sent"] / rows["n"]).tolist()
    [line] = of_colour(panel.of("line"), colour)
    assert panel.curve(line) == [near(point) for point in zip(shares, rows["value"], strict=True)]
    [band] = of_colour(panel.of("area"), colour)
    ends = [*zip(shares, rows["low"], strict=True), *reversed(list(zip(shares, rows["high"], strict=True)))]
    assert panel.curve(band) == [near(point) for point in ends]


def test_the_setting_now_is_filled_with_both_ends_and_the_one_before_is_hollow():
    panel = read(GALLERY["budget.cost_curve"]()).panel
    for metric, colour in COST_COLOURS.items():
        [now] = [dot for dot in of_colour(panel.of("symbol"), colour) if not dot.is_hollow]
        assert panel.places([now]) == [near((0.35, NOW[metric].value))]
        bars = [rule for rule in of_colour(panel.of("rule"), colour) if rule.y2 - rule.y < panel.height - 1]
        [bar] = bars
        low, high = panel.upright.value(bar.y2), panel.upright.value(bar.y)
        assert (panel.across.value(bar.x), low, high) == near((0.35, NOW[metric].low, NOW[metric].high))
        hollow = [dot for dot in of_colour(panel.of("symbol"), colour) if dot.is_hollow and dot.shape == "circle"]
        assert panel.places(hollow) == [near((0.6, BEFORE[metric].value))]


def test_trained_routers_and_the_optimum_stand_at_their_share():
    picture = read(GALLERY["budget.cost_curve"]())
    panel, trained = picture.panel, TRAINED.iloc[0]
    [diamond] = [dot for dot in panel.of("symbol") if dot.shape == "diamond"]
    assert panel.places([diamond]) == [near((trained["deferral"], trained["value"]))]
    [dashed] = [rule for rule in panel.of("rule") if rule.dash]
    assert panel.across.value(dashed.x) == near(OPTIMUM[0])
    [name] = panel.of("text")
    assert name.text == f"★ {OPTIMUM[1]}"
    assert picture.legend == {"total cost": ROUTER.colour, "clinical cost": ALARM.colour, "expert cost": READER.colour}
    assert (panel.across.title, panel.upright.title) == ("share of cases sent", "cost of a case")


def test_the_load_has_a_bar_now_a_tick_before_and_a_tick_for_the_places():
    picture = read(GALLERY["budget.load"]())
    panel, rows = picture.panel, PLACES.to_pandas().set_index("name")
    assert panel.upright.names == rows.index.tolist()
    bars = of_colour(panel.of("rect"), READER.colour)
    assert panel.spans(bars) == {name: near((0, now)) for name, now in rows["now"].items()}
    assert panel.values(of_colour(panel.of("rect"), OTHER.colour)) == near(rows["before"].astype(float).to_dict())
    assert panel.values(of_colour(panel.of("rect"), ALARM.colour)) == near(rows["capacity"].dropna().to_dict())
    [away] = panel.of("text")
    assert (away.text, panel.upright.name(away.y)) == ("away", "Chi")
    assert panel.across.value(panel.width) == near(40)
    assert panel.across.title == "readings (n = 300 cases)"


# -------------------------------------------------------------------------------------------------------------- Case


def test_the_eye_has_the_cup_inside_the_disc_to_scale():
    picture = read(optic_disc.optic_disc(optic_disc.outlines(0.8, 0.5)), None)
    panel = picture.panel
    disc, cup = (of_colour(panel.of("line"), colour)[0] for colour in (AI.colour, ALARM.colour))
    width, height = disc.x2 - disc.x, disc.y2 - disc.y
    assert width == pytest.approx(height, rel=0.01)
    assert (cup.x2 - cup.x) / width == pytest.approx(0.5, rel=0.01)
    assert (cup.y2 - cup.y) / height == pytest.approx(0.8, rel=0.01)
    assert cup.middle == pytest.approx(disc.middle, abs=0.5)
    assert {word.text for word in panel.of("text")} == {"disc", "cup"}


def test_the_policy_shows_each_share_its_spread_and_who_is_chosen():
    picture = read(GALLERY["case.policy_bars"]())
    panel, rows = picture.panel, ACTIONS.set_index("who")
    assert panel.upright.names == ["AI", "Ben", "Anna", "Chi"]  # the AI, then by share, then whoever is no longer there
    assert read(case.policy_bars(ACTIONS, TASK)).panel.upright.names == ["AI", "Ben", "Anna"]
    bars = panel.of("rect", 0)
    assert panel.spans(bars) == {name: near((0, share)) for name, share in rows["share"].items()}
    colours = {name: bar.colour for name, bar in by_row(panel, bars).items()}
    assert colours == {"AI": AI.colour, "Ben": READER.colour, "Anna": READER.colour, "Chi": OTHER.colour}
    spread = panel.spans(panel.of("rule"))
    assert spread == {name: near((row["least"], row["most"])) for name, row in rows[rows["available"]].iterrows()}
    before = panel.values(panel.of("rect", 1))
    assert before == near(ORIGINAL.set_index("who")["share"].to_dict())
    chosen, second = panel.of("symbol")
    assert (panel.upright.name(chosen.y), chosen.colour, chosen.shape, chosen.is_hollow) == ("Ben", *ROUTER, False)
    assert (panel.upright.name(second.y), second.colour, second.shape, second.is_hollow) == ("Anna", *ROUTER, True)
    words = {panel.upright.name(word.y - 4): word.text for word in panel.of("text")}
    assert words == {"AI": f"{percent(0.2, 0)}, cost 0.42", "Ben": f"{percent(0.7, 0)}, cost 0.23",
                     "Anna": f"{percent(0.1, 0)}, cost 0.31", "Chi": "not available"}  # fmt: skip


def test_inputs_stand_on_the_range_of_training_and_are_flagged():
    picture = read(GALLERY["case.input_ranges"]())
    panel, rows = picture.panel, RANGES.set_index("input")
    lowest, highest = (place for _, place in sorted(panel.across.labels, key=lambda label: label[1]))
    assert panel.across.names == ["lowest", "highest"]
    assert panel.upright.names == rows.index.tolist()

    def share(place: float) -> float:
        return (place - lowest) / (highest - lowest)

    for layer, (first, second) in enumerate((("zero", "one"), ("q5", "q95"), ("q25", "q75"))):
        for name, bar in by_row(panel, panel.of("rect", layer)).items():
            ends = rows.assign(zero=0.0, one=1.0).loc[name, [first, second]].tolist()
            assert [share(bar.x), share(bar.x2)] == near(ends)
    medians = {name: share(tick.middle[0]) for name, tick in by_row(panel, panel.of("rect", 3)).items()}
    assert medians == near(rows["q50"].to_dict())
    points = by_row(panel, panel.of("symbol"))
    assert {name: share(dot.x) for name, dot in points.items()} == near(
        rows["place"].clip(upper=1 + case.EDGE).to_dict()
    )
    marks = {name: case.FLAGS[flag] for name, flag in rows["flag"].items()}
    assert {name: (dot.colour, dot.shape) for name, dot in points.items()} == {n: tuple(m) for n, m in marks.items()}
    assert picture.legend == {flag: mark.colour for flag, mark in case.FLAGS.items()}
    values = {panel.upright.name(word.y + 8): word.text for word in panel.of("text")}
    assert values == {"vCDR": "0.62", "Quality risk": "0.91", "ViM": "7.50"}


def test_attributions_point_to_whom_they_speak_for_the_strongest_first():
    picture = read(GALLERY["case.attribution_bars"]())
    panel, rows = picture.panel, ATTRIBUTION.assign(name=["vCDR = 0.62", "ViM = 7.50", "Quality risk = 0.30"])
    rows = rows.set_index("name")
    assert panel.upright.names == ["ViM = 7.50", "Quality risk = 0.30", "vCDR = 0.62"]
    bars = panel.of("rect")
    assert panel.spans(bars) == {n: near((min(0, adds), max(0, adds))) for n, adds in rows["adds"].items()}
    for name, bar in by_row(panel, bars).items():
        assert bar.colour == (READER.colour if rows.loc[name, "adds"] > 0 else AI.colour)
    assert panel.spans(panel.of("rule")) == {n: near((row["least"], row["most"])) for n, row in rows.iterrows()}
    assert picture.legend == {"towards a reader": READER.colour, "towards the AI": AI.colour}
    assert {word.text for word in panel.of("text")} >= {"+0.40", "+0.80"}


# --------------------------------------------------------------------------------------------------------------- Map


def test_who_reads_a_region_stands_beside_who_reads_the_rest():
    picture = read(GALLERY["map.region_mix"]())
    panel = picture.panel
    assert panel.upright.names == ["Ben", "Anna"]
    for where, mark in (("region", map_charts.REGION), ("rest", map_charts.REST)):
        rows = MIX[MIX["where"] == where].set_index("reader")
        dots = [dot for dot in panel.of("symbol") if (dot.colour, dot.shape) == mark]
        assert panel.values(dots) == near(rows["share"].to_dict())
        spans = panel.spans(of_colour(panel.of("rule"), mark.colour))
        assert spans == {name: near((row["low"], row["high"])) for name, row in rows.iterrows()}
        assert picture.legend[where] == mark.colour
    assert panel.across.title == "share of the readings there"


def test_the_printed_map_has_each_case_in_its_place_and_its_colour():
    right, decides = read(GALLERY["map_print.for_paper"](), None).panels
    for panel in (right, decides):
        x = [dot.x for dot in panel.of("symbol")]
        y = [dot.y for dot in panel.of("symbol")]
        assert np.corrcoef(x, CASES["x"])[0, 1] == pytest.approx(1)
        assert np.corrcoef(y, CASES["y"])[0, 1] == pytest.approx(-1)  # upwards
        assert [dot.opacity for dot in panel.of("symbol")] == [map_charts.FADED, 1, map_charts.FADED, map_charts.FADED]
    colours = {0.0: READER.colour, 1.0: ALARM.colour}  # right and wrong
    for dot, wrong in zip(right.of("symbol"), CASES["ai_wrong"], strict=True):
        shown = tuple(int(part) for part in dot.fill[4:-1].split(","))
        assert shown == tuple(int(colours[wrong][i : i + 2], 16) for i in (1, 3, 5))
        assert dot.shape == AI.shape
    marks = map_charts.kinds(CASES["action"].cat.categories, "action")
    assert [(dot.fill, dot.shape) for dot in decides.of("symbol")] == [tuple(marks[who]) for who in CASES["action"]]


@pytest.mark.parametrize("name", map_charts.PANELS)
def test_the_map_on_screen_is_coloured_from_wrong_to_right_and_by_how_much_is_deferred(name):
    paint, _ = map_charts.PANELS[name]
    [points] = map_charts.one_panel(CASES, name, PAINTS[name]).data
    values = CASES[paint.column]
    assert np.allclose(points.marker.color, 1 - values if paint.flipped else values)
    assert np.allclose(points.x, CASES["x"])
    assert np.allclose(points.y, CASES["y"])
    scale = map_charts.one_panel(CASES, name, PAINTS[name]).layout.coloraxis
    assert (scale.cmin, scale.cmax) == (0, 1)
    ends = dict(zip(scale.colorbar.tickvals, scale.colorbar.ticktext, strict=True))
    assert ends == ({0: "wrong", 1: "right"} if paint.flipped else {0: "d = 0", 1: "d = 1"})
    first, last = scale.colorscale[0][1], scale.colorscale[-1][1]
    assert (first, last) == ((ALARM.colour, READER.colour) if paint.flipped else ("#3D6CB0", "#E0AC00"))


def test_each_panel_of_four_is_under_its_own_title():
    figure = map_charts.four_panels(CASES)
    titles = [title.text for title in figure.layout.annotations]
    assert titles == [paint.title for paint, _ in map_charts.PANELS.values()]
    for title, points, (paint, mark) in zip(
        figure.layout.annotations, figure.data, map_charts.PANELS.values(), strict=True
    ):
        across = figure.layout[points.xaxis.replace("x", "xaxis")].domain
        upright = figure.layout[points.yaxis.replace("y", "yaxis")].domain
        assert across[0] <= title.x <= across[1]
        assert title.y == pytest.approx(upright[1])
        assert points.marker.symbol == mark.shape
        values = CASES[paint.column]
        assert np.allclose(points.marker.color, 1 - values if paint.flipped else values)
