"""The report for a meeting: the same briefing as a page and as slides."""

import base64
import re
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from io import BytesIO

import numpy as np
import pytest
from briefings import STAMP, briefing_of, outcome
from pptx import Presentation
from pptx.enum.shapes import MSO_SHAPE_TYPE
from strategies import TASK

from mpd2.core.policy import DECIDERS
from mpd2.evaluation.clinical.per_thousand import Programme
from mpd2.planning.roster_and_limits import Limits
from mpd2.present.charts.icon_array import in_words
from mpd2.present.charts.kit.style import AI, OTHER, READER, ROUTER
from mpd2.present.documents.briefing import Stamp
from mpd2.present.documents.html import to_html
from mpd2.present.documents.slides import DRAWN, to_slides
from mpd2.present.words.people import ALONE

NASTY = '<script>alert("1")</script> & "co"'


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


def table_of(slide) -> list[str]:
    (table,) = [shape.table for shape in slide.shapes if shape.has_table]
    return [cell.text for cell in table.iter_cells()]


def test_the_page_needs_nothing_but_itself(page):
    links = [attributes[name] for _, attributes in Page(page).tags for name in ("src", "href") if name in attributes]
    assert len(links) == 5
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
        for mark in (*str(STAMP).removesuffix(".").split(", "), "n = 54", "0123456789ab", "1.2.3", "2026-03-04"):
            assert mark in text


def test_the_page_is_the_same_for_the_same_briefing(briefing, page):
    assert to_html(briefing) == page


def test_slides_open_with_one_picture_of_a_thousand_people_and_end_with_the_caveats(briefing, deck):
    first, *_, last = deck.slides
    (picture,) = [shape for shape in first.shapes if shape.shape_type == MSO_SHAPE_TYPE.PICTURE]
    for name, people in briefing.people.arrays:
        assert f"{name}: {in_words(people, TASK)}" in picture.name
        assert people["people"].sum() == 1000
    said = briefing.people.said
    for text in (said.headline, said.rates, said.verdict, briefing.caution):
        assert text
        assert text in words_of(first)
    assert all(caveat in words_of(last) for caveat in briefing.caveats)


def test_the_page_opens_with_the_same_picture_and_words(briefing, page):
    read = Page(page)
    pictures = [attributes for tag, attributes in read.tags if tag == "img"]
    assert all(f"{name}: {in_words(people, TASK)}" in pictures[0]["alt"] for name, people in briefing.people.arrays)
    drawn = base64.b64decode(pictures[0]["src"].split(",", 1)[1]).decode()
    assert "With Router" in drawn
    places = [read.text.index(text) for text in (briefing.people.said.headline, briefing.people.said.rates,
              briefing.caution, "Per 1,000 screened", "Who decides", "The plan of the day", "In costs per case",
              "Every method on the same cases", "Limitations")]  # fmt: skip
    assert places == sorted(places)


def test_counts_per_thousand_are_those_of_the_picture(briefing, page, deck):
    (_, before), (_, after) = briefing.people.arrays
    rows = briefing.people.counts.set_index("")
    for became, row in (("missed", "Glaucomas missed"), ("alarm", "False alarms")):
        for people, column in ((before, ALONE), (after, "Router")):
            assert rows[column][row].split()[0] == str(people[people["outcome"] == became]["people"].sum())
    assert rows["Router"]["Read by a reader"].split()[0] == str(after[after["who"] == "reader"]["people"].sum())
    for cell in briefing.people.counts.to_numpy().ravel():
        assert cell in Page(page).text
        assert cell in table_of(deck.slides[1])


def test_three_deciders_add_up_to_everybody_and_their_errors_to_all_errors(briefing, page, deck):
    rows, (_, after) = briefing.deciders, briefing.people.arrays[-1]
    assert rows["Who decides"].str.lower().tolist() == [words.lower() for words in DECIDERS]
    assert rows["People"].sum() == 1000
    assert rows["Glaucomas missed"].sum() == after[after["outcome"] == "missed"]["people"].sum()
    assert rows["False alarms"].sum() == after[after["outcome"] == "alarm"]["people"].sum()
    assert list(charts_of(deck)[0].plots[0].series[0].values) == rows["People"].tolist()
    for who in rows["Who decides"]:
        assert who in Page(page).text


def test_money_is_told_where_a_price_is_given_and_nowhere_else(small_cohort, briefing):
    assert "Readings and work-ups" not in set(briefing.people.counts[""])
    dear = briefing_of(small_cohort, programme=Programme(price=20.0, work_up=100.0), currency=NASTY)
    rows = dear.people.counts.set_index("")["Router"]
    readings, alarms, money = (
        float(re.search(r"[\d,]+", rows[name].removeprefix(NASTY))[0].replace(",", ""))
        for name in ("Readings", "False alarms", "Readings and work-ups")
    )
    assert money == pytest.approx(20 * readings + 100 * alarms, abs=60)  # both are rounded
    read, slide = Page(to_html(dear)), Presentation(BytesIO(to_slides(dear))).slides[1]
    assert "script" not in {tag for tag, _ in read.tags}
    assert f"costs {NASTY}\xa020" in read.text
    assert dear.people.notes[0] in words_of(slide)
    assert rows["Readings and work-ups"] in read.text
    assert rows["Readings and work-ups"] in table_of(slide)


def test_readings_that_nobody_gave_are_named_first_where_they_matter(small_cohort, briefing):
    decisions = outcome(small_cohort, "Router", 0.5, 1).decisions
    asked = (decisions.consulted >= 0).sum(-1).mean(0)
    real = [entry.readings == "real" for entry in small_cohort.manifest.cohorts]
    share = asked[~np.array(real)[small_cohort.source]].sum() / asked.sum()
    assert briefing.caution.startswith(
        f"{100 * share:.0f}\xa0% of the readings asked for here were not given by people"
    )
    assert "those of REFUGE are semi-synthetic and those of ORIGA are induced" in briefing.caution
    people = small_cohort.subset(cohorts=["chaksu"])
    assert briefing_of(people).caution == ""
    assert briefing_of(small_cohort, active="ai").caution == ""
    entries = [entry.model_dump() | {"readings": "unknown"} for entry in small_cohort.manifest.cohorts]
    nobody = replace(small_cohort, manifest=small_cohort.manifest.but(cohorts=entries))
    assert briefing_of(nobody).caution == "Where 100\xa0% of the readings asked for here come from is not known."


def test_the_plan_of_the_day_is_that_of_budget(small_cohort, page, deck, briefing):
    limits = Limits(budget=0.5, capacity=((small_cohort.manifest.columns[0], 3),))
    plan = briefing_of(small_cohort, limits=limits).plan
    sent = int(re.search(r"(\d+) of 54 cases are sent", plan.words[1])[1])
    assert sent <= 27
    assert "50\xa0% of cases sent; REFUGE 1 at most 3 a day" in plan.words[0]
    assert plan.load["at_most"].dropna().tolist() == [3]
    assert plan.load["a_day"].sum() == pytest.approx(sent * 300 / 54)
    for text in briefing.plan.words:
        assert text in Page(page).text
        assert text in words_of(deck.slides[3])
    assert list(charts_of(deck)[1].plots[0].series[0].values) == pytest.approx(briefing.plan.load["a_day"].tolist())


def test_every_difference_comes_with_its_interval_and_which_is_better(briefing, page, deck):
    differences = [item for number in briefing.numbers for item in number.differences]
    assert differences
    for item in differences:
        text = (
            f"{item.change} against {item.against} (95\xa0% interval {item.span}){f', {item.sense}' * bool(item.sense)}"
        )
        assert item.span
        assert text in Page(page).text
        assert text in words_of(deck.slides[4])


def test_both_name_the_cheapest_other_method(briefing, page, deck):
    assert "The cheapest other method, " in briefing.answer
    assert briefing.answer in Page(page).text
    assert briefing.answer in words_of(deck.slides[4])


def test_marks_on_slides_are_those_of_the_methods(briefing, deck):
    *_, plane, cohorts, load = charts_of(deck)
    colours = {series.name: str(series.marker.format.fill.fore_color.rgb) for series in plane.plots[0].series}
    assert colours == {
        "Other methods": OTHER.colour[1:], "AI alone": AI.colour[1:], briefing.stamp.run: ROUTER.colour[1:],
    }  # fmt: skip
    bars = {series.name: str(series.format.fill.fore_color.rgb) for series in cohorts.plots[0].series}
    assert bars == {"Router": ROUTER.colour[1:], "AI only": AI.colour[1:], "Another": OTHER.colour[1:]}
    assert str(load.plots[0].series[0].format.fill.fore_color.rgb) == READER.colour[1:]


def test_costs_are_across_and_scores_upright_on_the_slide(briefing, deck):
    plane = charts_of(deck)[2]
    assert plane.category_axis.axis_title.text_frame.text == "total cost (less is better)"
    assert plane.value_axis.axis_title.text_frame.text == "F1 (more is better)"
    across = sorted(float(x.text) for x in plane._chartSpace.xpath("//c:xVal//c:v"))
    assert across == pytest.approx(sorted(briefing.plane["cost_value"]))


def test_the_table_of_a_page_is_that_of_the_briefing_with_the_run_marked(briefing, page):
    rows = re.findall(r"<tr( class=\"active\")?>(.*?)</tr>", page.decode().split("<tbody>")[3].split("</tbody>")[0])
    cells = [re.findall(r"<td>(.*?)</td>", row) for _, row in rows]
    assert cells == briefing.methods.to_numpy().tolist()
    assert [row[0] for (active, _), row in zip(rows, cells, strict=True) if active] == ["Router"]


def test_the_interval_of_a_method_holds_its_total_cost(briefing):
    for cost, ends in zip(briefing.methods["Total cost"], briefing.methods.iloc[:, -1], strict=True):
        low, high = map(float, ends.split(" to "))
        assert low < float(cost) < high


def test_charts_on_slides_hold_their_numbers(briefing, deck):
    *_, plane, cohorts, load = charts_of(deck)
    points = sorted(score for series in plane.plots[0].series for score in series.values)
    assert points == pytest.approx(sorted(briefing.plane["score_value"]))
    assert [value for series in cohorts.plots[0].series for value in series.values] == pytest.approx(
        briefing.cohorts["value"].tolist()
    )
    assert list(load.plots[0].series[0].values) == pytest.approx(briefing.load["share"].tolist())
    assert list(load.plots[0].categories) == briefing.load["reader"].tolist()


def test_nothing_stands_outside_a_slide(deck):
    assert len(deck.slides) == len(DRAWN)
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
    lengths = [len(list(series.values)) for series in charts_of(deck)[2].plots[0].series]
    assert lengths == sorted(lengths, reverse=True)


def test_columns_of_cohorts_come_with_their_intervals(briefing, deck):
    told = words_of(deck.slides[7])
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
    assert len(Presentation(BytesIO(to_slides(briefing))).slides) == len(DRAWN)


def test_caveats_say_where_readings_come_from(small_cohort, briefing):
    told = " ".join(briefing.caveats)
    for entry in small_cohort.manifest.cohorts:
        assert f"{entry.name} {entry.readings}" in told
        assert entry.credit in briefing.caveats
