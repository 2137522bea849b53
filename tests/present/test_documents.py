"""The report for a meeting: the same briefing as a page and as slides."""

import base64
import re
from datetime import date
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pytest
from pptx import Presentation

from mpd2.core.policy import Policy, route
from mpd2.evaluation import curves, tables
from mpd2.evaluation.evidence import Evidence, Outcome
from mpd2.evaluation.intervals import resample_weights
from mpd2.present.charts.kit.style import AI, OTHER, READER, ROUTER
from mpd2.present.documents.briefing import Stamp, brief
from mpd2.present.documents.html import to_html
from mpd2.present.documents.slides import to_slides

NASTY = '<script>alert("1")</script> & "co"'
STAMP = Stamp("Router", "test cases of all cohorts", 54, "0123456789abcdef", "1.2.3", date(2026, 3, 4))


def outcome(cohort, title: str, defer: float, seed: int) -> Outcome:
    """Two members that send about a share `defer` of cases to readers by lot."""
    rng = np.random.default_rng(seed)
    allocation = rng.random((2, len(cohort), cohort.readers)) * cohort.available
    chances = (rng.random((2, len(cohort))) < defer).astype(float)
    policy = Policy(chances, allocation / allocation.sum(-1, keepdims=True), cohort.available)
    return Outcome(title, None, route(policy, cohort, "staged"), policy, "staged")


def briefing_of(cohort, active: str = "mine", title: str = "Router", stamp: Stamp = STAMP):
    outcomes = {
        "mine": outcome(cohort, title, 0.5, 1),
        "ai": outcome(cohort, "AI only", 0.0, 2),
        "other": outcome(cohort, "Another", 0.8, 3),
    }
    evidence = Evidence(cohort, cohort.manifest.default_costs(), outcomes)
    weights = resample_weights(cohort, resamples=40)
    drawn_up = {name: getattr(tables, name)(evidence, weights) for name in ("overall", "cohorts", "collapse")}
    drawn_up["paired"] = tables.paired(evidence, active, weights)
    drawn_up["tradeoff"] = curves.tradeoff(evidence, weights)
    return brief(evidence, drawn_up, active, stamp)


@pytest.fixture(scope="module")
def briefing(small_cohort):
    return briefing_of(small_cohort)


@pytest.fixture(scope="module")
def page(briefing):
    return to_html(briefing)


@pytest.fixture(scope="module")
def deck(briefing):
    return Presentation(BytesIO(to_slides(briefing)))


class Page(HTMLParser):
    """What is in a page: its tags with their attributes, and its text."""

    def __init__(self, page: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page.decode())

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def charts_of(deck):
    return [shape.chart for slide in deck.slides for shape in slide.shapes if shape.has_chart]


def words_of(slide) -> str:
    return "\n".join(shape.text_frame.text for shape in slide.shapes if shape.has_text_frame)


def test_the_page_needs_nothing_but_itself(page):
    links = [attributes[name] for _, attributes in Page(page).tags for name in ("src", "href") if name in attributes]
    assert len(links) == 3
    for link in links:
        kind, data = link.split(",", 1)
        assert kind == "data:image/svg+xml;base64"
        drawing = base64.b64decode(data).decode()
        assert not re.search(r"<image|<script|(?<!xmlns=)(?<!xlink=)\"https?:", drawing)
    assert "url(" not in page.decode()


def test_a_title_cannot_become_markup(small_cohort):
    stamp = Stamp(NASTY, NASTY, 54, NASTY, NASTY, date(2026, 3, 4))
    page = Page(to_html(briefing_of(small_cohort, title=NASTY, stamp=stamp)))
    assert "script" not in {tag for tag, _ in page.tags}
    assert NASTY in page.text


def test_every_picture_says_what_it_shows(page):
    pictures = [attributes for tag, attributes in Page(page).tags if tag == "img"]
    assert all(picture["alt"] for picture in pictures)


def test_both_formats_are_stamped_with_run_slice_data_version_and_date(page, deck):
    shown = [Page(page).text, *map(words_of, deck.slides)]
    for text in shown:
        for mark in ("Router", "test cases of all cohorts", "n = 54", "0123456789ab", "1.2.3", "2026-03-04"):
            assert mark in text


def test_the_page_is_the_same_for_the_same_briefing(briefing, page):
    assert to_html(briefing) == page


def test_slides_open_with_the_answer_and_end_with_the_caveats(briefing, deck):
    first, *_, last = deck.slides
    assert briefing.answer in words_of(first)
    assert all(number.value in words_of(first) for number in briefing.numbers)
    assert all(caveat in words_of(last) for caveat in briefing.caveats)


def test_every_difference_comes_with_its_interval_and_which_is_better(briefing, page, deck):
    differences = [item for number in briefing.numbers for item in number.differences]
    assert differences
    for item in differences:
        text = (
            f"{item.change} against {item.against} (95\xa0% interval {item.span}){f', {item.sense}' * bool(item.sense)}"
        )
        assert item.span
        assert text in Page(page).text
        assert text in words_of(deck.slides[0])


def test_both_name_the_cheapest_other_method(briefing, page, deck):
    assert "The cheapest other method, " in briefing.answer
    assert briefing.answer in Page(page).text
    assert briefing.answer in words_of(deck.slides[0])


def test_marks_on_slides_are_those_of_the_methods(briefing, deck):
    plane, cohorts, load = charts_of(deck)
    colours = {series.name: str(series.marker.format.fill.fore_color.rgb) for series in plane.plots[0].series}
    assert colours == {
        "Other methods": OTHER.colour[1:], "AI alone": AI.colour[1:], briefing.stamp.run: ROUTER.colour[1:],
    }  # fmt: skip
    bars = {series.name: str(series.format.fill.fore_color.rgb) for series in cohorts.plots[0].series}
    assert bars == {"Router": ROUTER.colour[1:], "AI only": AI.colour[1:], "Another": OTHER.colour[1:]}
    assert str(load.plots[0].series[0].format.fill.fore_color.rgb) == READER.colour[1:]


def test_costs_are_across_and_scores_upright_on_the_slide(briefing, deck):
    plane = charts_of(deck)[0]
    assert plane.category_axis.axis_title.text_frame.text == "total cost (less is better)"
    assert plane.value_axis.axis_title.text_frame.text == "F1 (more is better)"
    across = sorted(float(x.text) for x in plane._chartSpace.xpath("//c:xVal//c:v"))
    assert across == pytest.approx(sorted(briefing.plane["cost_value"]))


def test_the_table_of_a_page_is_that_of_the_briefing_with_the_run_marked(briefing, page):
    rows = re.findall(r"<tr( class=\"active\")?>(.*?)</tr>", page.decode().split("<tbody>")[1].split("</tbody>")[0])
    cells = [re.findall(r"<td>(.*?)</td>", row) for _, row in rows]
    assert cells == briefing.methods.to_numpy().tolist()
    assert [row[0] for (active, _), row in zip(rows, cells, strict=True) if active] == ["Router"]


def test_the_interval_of_a_method_holds_its_total_cost(briefing):
    for cost, ends in zip(briefing.methods["Total cost"], briefing.methods.iloc[:, -1], strict=True):
        low, high = map(float, ends.split(" to "))
        assert low < float(cost) < high


def test_charts_on_slides_hold_their_numbers(briefing, deck):
    plane, cohorts, load = charts_of(deck)
    points = sorted(score for series in plane.plots[0].series for score in series.values)
    assert points == pytest.approx(sorted(briefing.plane["score_value"]))
    assert [value for series in cohorts.plots[0].series for value in series.values] == pytest.approx(
        briefing.cohorts["value"].tolist()
    )
    assert list(load.plots[0].series[0].values) == pytest.approx(briefing.load["share"].tolist())
    assert list(load.plots[0].categories) == briefing.load["reader"].tolist()


def test_nothing_stands_outside_a_slide(deck):
    assert len(deck.slides) == 6
    for shape in (shape for slide in deck.slides for shape in slide.shapes):
        assert min(shape.left, shape.top) >= 0
        assert shape.left + shape.width <= deck.slide_width
        assert shape.top + shape.height <= deck.slide_height


def test_no_text_on_a_slide_depends_on_a_font_only_some_machines_have(deck):
    frames = [shape.text_frame for slide in deck.slides for shape in slide.shapes if shape.has_text_frame]
    frames += [cell.text_frame for slide in deck.slides for shape in slide.shapes if shape.has_table
               for cell in shape.table.iter_cells()]  # fmt: skip
    assert {run.font.name for frame in frames for line in frame.paragraphs for run in line.runs} == {"Arial"}
    assert {chart.font.name for chart in charts_of(deck)} == {"Arial"}


def test_the_longest_series_of_points_comes_first(deck):
    lengths = [len(list(series.values)) for series in charts_of(deck)[0].plots[0].series]
    assert lengths == sorted(lengths, reverse=True)


def test_columns_of_cohorts_come_with_their_intervals(briefing, deck):
    told = words_of(deck.slides[3])
    for row in briefing.cohorts.itertuples():
        assert f"{row.cohort} {row.low:.3f} to {row.high:.3f}" in told


def test_methods_are_listed_by_what_they_cost(briefing):
    total = briefing.methods["Total cost"].astype(float)
    assert total.is_monotonic_increasing
    assert set(briefing.methods["Method"]) == {"Router", "AI only", "Another"}


def test_shares_of_the_load_add_up(briefing):
    assert briefing.load["share"].sum() == pytest.approx(1)


def test_a_run_that_asks_nobody_can_be_reported_too(small_cohort):
    briefing = briefing_of(small_cohort, active="ai")
    assert briefing.spread == "No case is sent to a reader."
    assert not briefing.load["cases"].any()
    assert to_html(briefing)
    assert len(Presentation(BytesIO(to_slides(briefing))).slides) == 6


def test_caveats_say_where_readings_come_from(small_cohort, briefing):
    told = " ".join(briefing.caveats)
    for entry in small_cohort.manifest.cohorts:
        assert f"{entry.name} {entry.readings}" in told
        assert entry.credit in briefing.caveats
