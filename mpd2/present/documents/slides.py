"""A briefing as slides whose texts, tables and charts can be edited, 16 by 9; the first is one picture."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, time
from io import BytesIO
from math import inf

import numpy as np
import pandas as pd
from pptx import Presentation
from pptx.chart.chart import Chart
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.chart.series import BarSeries, XySeries
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE, XL_LABEL_POSITION, XL_LEGEND_POSITION, XL_MARKER_STYLE
from pptx.enum.shapes import MSO_SHAPE
from pptx.enum.text import MSO_ANCHOR, PP_ALIGN
from pptx.presentation import Presentation as Deck
from pptx.slide import Slide
from pptx.text.text import TextFrame
from pptx.util import Inches, Pt

from mpd2.core.text import count, interval
from mpd2.evaluation.clinical.per_thousand import SCREENED
from mpd2.present.charts.icon_array import before_and_after, in_words
from mpd2.present.charts.kit.export import render
from mpd2.present.charts.kit.style import AI as AI_MARK
from mpd2.present.charts.kit.style import OTHER, READER, ROUTER, Mark, mark_of
from mpd2.present.charts.overview import front_in_words
from mpd2.present.documents.board import picture_title
from mpd2.present.documents.briefing import Briefing
from mpd2.present.documents.html import IN_COSTS, PER_THOUSAND, PLAN, WHO_DECIDES
from mpd2.present.words.answer import KeyNumber
from mpd2.study.claims import AI

WIDTH, HEIGHT, MARGIN = 13.333, 7.5, 0.6  # inches
TOP, BOTTOM = 1.5, 6.8  # where content may stand
NAMES, NUMBERS, SPANS = 2.6, 1.0, 1.5  # relative widths of a table's columns: names, numbers, intervals
TITLE_ONLY = 5  # place of that layout in the template
FONT = "Arial"  # on every machine, or one of the same widths
INK, FAINT, LINE, PALE = "0e1917", "4c5a57", "d3dcd9", "f1f5f4"
CAVEATS = (
    (1100, 16, 8),
    (1700, 14, 6),
    (2600, 12, 4),
    (inf, 9, 2),
)  # up to so many letters: their size, points between
MARKERS = {
    "square": XL_MARKER_STYLE.SQUARE,
    "diamond": XL_MARKER_STYLE.DIAMOND,
    "circle": XL_MARKER_STYLE.CIRCLE,
    "triangle-up": XL_MARKER_STYLE.TRIANGLE,
}
"""The marks of the theme, by their Vega shape."""


def to_slides(briefing: Briefing) -> bytes:
    """The file, as PowerPoint and LibreOffice open it."""
    deck = Presentation()
    deck.slide_width, deck.slide_height = Inches(WIDTH), Inches(HEIGHT)
    deck.core_properties.title = f"{briefing.stamp.run}: {briefing.stamp.slice}"
    deck.core_properties.author = "MPD² Studio"
    deck.core_properties.created = deck.core_properties.modified = datetime.combine(briefing.stamp.made, time())
    for draw in DRAWN:
        draw(deck, briefing)
    file = BytesIO()
    deck.save(file)
    return file.getvalue()


# ---------------------------------------------------------------------------------- the slides


def _opening(deck: Deck, briefing: Briefing) -> None:
    """One picture of a thousand people, and what it says."""
    people = briefing.people
    slide = _slide(deck, briefing, f"{briefing.stamp.run}: is it worth it?")
    _write(_box(slide, MARGIN, 1.15, WIDTH - 2 * MARGIN, 0.9), people.said.headline, size=20)
    title = picture_title(briefing.stamp.point, briefing.task)
    picture = BytesIO(render(before_and_after(people.arrays, title, briefing.task), "png"))
    shape = slide.shapes.add_picture(picture, Inches(MARGIN), Inches(2.15), width=Inches(WIDTH - 2 * MARGIN))
    shape.name = " ".join(f"{name}: {in_words(cells, briefing.task)}" for name, cells in people.arrays)
    below = _box(slide, MARGIN, 2.2 + shape.height / Inches(1), WIDTH - 2 * MARGIN, 1.0)
    _write(below, f"{people.said.rates} {people.said.verdict}".strip(), size=11)
    if briefing.caution:
        _write(below, briefing.caution, size=11, bold=True, new=True)


def _per_thousand(deck: Deck, briefing: Briefing) -> None:
    slide = _slide(deck, briefing, PER_THOUSAND)
    _table(slide, briefing.people.counts, TOP + 3.4, size=14)
    frame = _box(slide, MARGIN, TOP + 3.6, WIDTH - 2 * MARGIN, BOTTOM - TOP - 3.6)
    _paragraphs(frame, briefing.people.notes, size=16)


def _deciders(deck: Deck, briefing: Briefing) -> None:
    slide = _slide(deck, briefing, WHO_DECIDES)
    _table(slide, briefing.deciders, TOP + 1.6, size=14)
    data = CategoryChartData(number_format="0")
    data.categories = briefing.deciders.iloc[:, 0].tolist()
    data.add_series(str(briefing.deciders.columns[1]), briefing.deciders.iloc[:, 1].tolist())
    chart = _chart(slide, XL_CHART_TYPE.BAR_CLUSTERED, data, top=TOP + 1.8)
    _name_axes(chart, None, f"of {count(SCREENED)} {briefing.task.people}", "0")
    chart.has_legend = False
    for point, mark in enumerate((AI_MARK, ROUTER, READER)):
        bar = chart.plots[0].series[0].points[point].format.fill
        bar.solid()
        bar.fore_color.rgb = RGBColor.from_string(mark.colour[1:])
    _label_bars(chart, "0")


def _plan(deck: Deck, briefing: Briefing) -> None:
    slide = _slide(deck, briefing, PLAN)
    _paragraphs(_box(slide, MARGIN, TOP - 0.2, WIDTH - 2 * MARGIN, 1.3), briefing.plan.words, size=14)
    load = briefing.plan.load
    data = CategoryChartData(number_format="0.0")
    data.categories = load["reader"].tolist()
    data.add_series("Readings a day", load["a_day"].tolist())
    if load["at_most"].notna().any():
        data.add_series("At most", [None if np.isnan(most) else most for most in load["at_most"]])
    chart = _chart(slide, XL_CHART_TYPE.COLUMN_CLUSTERED, data, top=TOP + 1.2)
    _name_axes(chart, None, "readings a day", "0")
    for series, mark in zip(chart.plots[0].series, (READER, OTHER), strict=False):
        _fill(series, mark)
    _label_bars(chart, "0.0")


def _costs(deck: Deck, briefing: Briefing) -> None:
    slide = _slide(deck, briefing, IN_COSTS)
    _write(_box(slide, MARGIN, TOP, WIDTH - 2 * MARGIN, 2.2), briefing.answer, size=20)
    width = (WIDTH - 2 * MARGIN) / len(briefing.numbers)
    for place, number in enumerate(briefing.numbers):
        _card(slide, number, MARGIN + place * width, width - 0.15)


def _methods(deck: Deck, briefing: Briefing) -> None:
    slide = _slide(deck, briefing, "Every method on the same cases, the cheapest first")
    _table(slide, briefing.methods, BOTTOM, size=10, active=briefing.stamp.run)


def _tradeoff(deck: Deck, briefing: Briefing) -> None:
    slide = _slide(deck, briefing, "Score against cost: up is better, left is cheaper")
    plane = briefing.plane
    kinds = {  # the longest first: LibreOffice does not draw a shorter series before it
        "Other methods": ~plane["method"].isin({briefing.active, AI}),
        "AI alone": (plane["method"] == AI) & (briefing.active != AI),
        briefing.stamp.run: plane["method"] == briefing.active,
    }
    data = XyChartData(number_format="0.000")
    parts = {name: plane[rows] for name, rows in kinds.items() if rows.any()}
    for name, points in parts.items():
        series = data.add_series(name)
        for cost, score in points[["cost_value", "score_value"]].to_numpy():
            series.add_data_point(cost, score)
    chart = _chart(slide, XL_CHART_TYPE.XY_SCATTER, data, bottom=BOTTOM - 0.5)
    _name_axes(chart, "total cost (less is better)", "F1 (more is better)", "0.00")
    chart.value_axis.minimum_scale = np.floor(10 * plane["score_value"].min()) / 10
    chart.category_axis.minimum_scale = np.floor(10 * plane["cost_value"].min()) / 10
    for series, points in zip(chart.plots[0].series, parts.values(), strict=True):
        mark = mark_of(points["method"].iloc[0], briefing.active)
        _mark_points(series, mark)
        if mark is not OTHER:
            label = series.points[0].data_label
            label.position = XL_LABEL_POSITION.ABOVE
            _write(label.text_frame, points["title"].iloc[0], size=11)
    words = _box(slide, MARGIN, BOTTOM - 0.45, WIDTH - 2 * MARGIN, 0.5)
    _write(words, front_in_words(plane), size=12, colour=FAINT)


def _cohorts(deck: Deck, briefing: Briefing) -> None:
    slide = _slide(deck, briefing, "Total cost in each cohort")
    rows = briefing.cohorts
    wide = rows.pivot(index="cohort", columns="method", values="value")
    sizes = rows.drop_duplicates("cohort").set_index("cohort")["n"]
    data = CategoryChartData(number_format="0.000")
    data.categories = [f"{cohort} (n = {sizes[cohort]})" for cohort in sizes.index]
    titles = dict(zip(rows["method"], rows["title"], strict=True))
    for method, title in titles.items():
        data.add_series(title, wide.loc[sizes.index, method].tolist())
    chart = _chart(slide, XL_CHART_TYPE.COLUMN_CLUSTERED, data, bottom=BOTTOM - 0.9)
    _name_axes(chart, None, "total cost", "0.00")
    for series, method in zip(chart.plots[0].series, titles, strict=True):
        _fill(series, mark_of(method, briefing.active))
    _label_bars(chart, "0.000")
    frame = _box(slide, MARGIN, BOTTOM - 0.85, WIDTH - 2 * MARGIN, 0.9)
    for place, (method, title) in enumerate(titles.items()):
        own = rows[rows["method"] == method].to_dict("records")
        ends = ", ".join(f"{row['cohort']} {interval(row['low'], row['high'])}" for row in own)
        _write(frame, f"95 % intervals of {title}: {ends}.", size=12, colour=FAINT, new=place > 0, after=0)


def _load(deck: Deck, briefing: Briefing) -> None:
    slide = _slide(deck, briefing, "Workload of the readers")
    _write(_box(slide, MARGIN, TOP - 0.2, WIDTH - 2 * MARGIN, 0.5), briefing.spread, size=14)
    data = CategoryChartData(number_format="0%")
    data.categories = briefing.load["reader"].tolist()
    data.add_series("Share of all readings", briefing.load["share"].tolist())
    chart = _chart(slide, XL_CHART_TYPE.COLUMN_CLUSTERED, data, top=TOP + 0.4)
    _name_axes(chart, None, "share of all readings", "0%")
    chart.has_legend = chart.has_title = False
    _fill(chart.plots[0].series[0], READER)
    _label_bars(chart, "0%")


def _caveats(deck: Deck, briefing: Briefing) -> None:
    slide = _slide(deck, briefing, "Limitations")
    frame = _box(slide, MARGIN, TOP, WIDTH - 2 * MARGIN, BOTTOM - TOP)
    letters = sum(map(len, briefing.caveats))
    size, after = next((size, after) for most, size, after in CAVEATS if letters <= most)
    for place, line in enumerate(briefing.caveats):
        _write(frame, f"•  {line}", size=size, new=place > 0, after=after)


DRAWN = (
    _opening, _per_thousand, _deciders, _plan, _costs, _methods, _tradeoff, _cohorts, _load, _caveats,
)  # fmt: skip
"""The slides in their order."""


# ---------------------------------------------------------------------------------- their parts


def _slide(deck: Deck, briefing: Briefing, title: str) -> Slide:
    """A slide with its title and the stamp at its foot."""
    slide = deck.slides.add_slide(deck.slide_layouts[TITLE_ONLY])
    heading = slide.shapes.title
    heading.left, heading.top = Inches(MARGIN), Inches(0.4)
    heading.width, heading.height = Inches(WIDTH - 2 * MARGIN), Inches(0.8)
    _write(heading.text_frame, title, size=28, bold=True)
    _write(_box(slide, MARGIN, 6.95, WIDTH - 2 * MARGIN, 0.35), str(briefing.stamp), size=10, colour=FAINT)
    return slide


def _table(slide: Slide, frame: pd.DataFrame, bottom: float, size: int, active: str | None = None) -> None:
    """A table from TOP down to `bottom`, the first column wide; the row of the run `active` marked."""
    space = Inches(MARGIN), Inches(TOP), Inches(WIDTH - 2 * MARGIN), Inches(bottom - TOP)
    table = slide.shapes.add_table(len(frame) + 1, len(frame.columns), *space).table
    widths = [NAMES, *(SPANS if "interval" in str(name) else NUMBERS for name in frame.columns[1:])]
    for column, share in zip(table.columns, widths, strict=True):
        column.width = Inches((WIDTH - 2 * MARGIN) * share / sum(widths))
    for row, cells in enumerate([frame.columns.to_numpy(), *frame.to_numpy()]):
        table.rows[row].height = Inches((bottom - TOP) / (len(frame) + 1))
        for column, text in enumerate(cells):
            cell = table.cell(row, column)
            cell.margin_top = cell.margin_bottom = Inches(0.01)
            cell.margin_left = cell.margin_right = Inches(0.06)
            cell.vertical_anchor = MSO_ANCHOR.MIDDLE
            cell.fill.solid()
            cell.fill.fore_color.rgb = RGBColor.from_string(PALE if cells[0] == active else "ffffff")
            bold = row == 0 or cells[0] == active
            _write(cell.text_frame, str(text), size=size, bold=bold, right=column > 0, after=0)


def _paragraphs(frame: TextFrame, texts: Iterable[str], size: int) -> None:
    for place, text in enumerate(filter(None, texts)):
        _write(frame, text, size=size, new=place > 0)


def _box(slide: Slide, left: float, top: float, width: float, height: float) -> TextFrame:
    frame = slide.shapes.add_textbox(Inches(left), Inches(top), Inches(width), Inches(height)).text_frame
    frame.word_wrap = True
    return frame


def _card(slide: Slide, number: KeyNumber, left: float, width: float) -> None:
    space = Inches(left), Inches(3.9), Inches(width), Inches(2.7)
    shape = slide.shapes.add_shape(MSO_SHAPE.RECTANGLE, *space)
    shape.fill.solid()
    shape.fill.fore_color.rgb = RGBColor.from_string(PALE)
    shape.line.color.rgb = RGBColor.from_string(LINE)
    shape.shadow.inherit = False
    frame = shape.text_frame
    frame.word_wrap = True
    frame.vertical_anchor = MSO_ANCHOR.TOP
    _write(frame, number.label, size=14)
    _write(frame, number.value, size=32, bold=True, new=True)
    _write(frame, f"95 % interval {number.span}" if number.span else "", size=12, new=True)
    for item in number.differences:
        _write(frame, str(item), size=11, colour=FAINT, new=True)


def _write(
    frame: TextFrame,
    text: str,
    size: int,
    bold: bool = False,
    colour: str = INK,
    new: bool = False,
    right: bool = False,
    after: int = 4,
) -> None:
    """Text in the first paragraph of a frame, or in a new one, with a space of so many points below it."""
    paragraph = frame.add_paragraph() if new else frame.paragraphs[0]
    paragraph.alignment = PP_ALIGN.RIGHT if right else PP_ALIGN.LEFT
    paragraph.space_after = Pt(after)
    run = paragraph.add_run()
    run.text = text
    run.font.name, run.font.size, run.font.bold = FONT, Pt(size), bold
    run.font.color.rgb = RGBColor.from_string(colour)


def _chart(
    slide: Slide,
    kind: XL_CHART_TYPE,
    data: CategoryChartData | XyChartData,
    top: float = TOP,
    bottom: float = BOTTOM,
) -> Chart:
    space = Inches(MARGIN), Inches(top), Inches(WIDTH - 2 * MARGIN), Inches(bottom - top)
    chart: Chart = slide.shapes.add_chart(kind, *space, data).chart
    chart.font.size, chart.font.name = Pt(12), FONT
    chart.has_title = False
    chart.has_legend = True
    chart.legend.position = XL_LEGEND_POSITION.BOTTOM
    chart.legend.include_in_layout = False
    return chart


def _name_axes(chart: Chart, across: str | None, up: str, form: str) -> None:
    for axis, name in ((chart.category_axis, across), (chart.value_axis, up)):
        axis.has_major_gridlines = False
        if name is not None:
            axis.has_title = True
            axis.axis_title.text_frame.text = name
            axis.tick_labels.number_format, axis.tick_labels.number_format_is_linked = form, False


def _mark_points(series: XySeries, mark: Mark) -> None:
    series.marker.style, series.marker.size = MARKERS[mark.shape], 11
    series.format.line.fill.background()
    series.marker.format.fill.solid()
    series.marker.format.fill.fore_color.rgb = RGBColor.from_string(mark.colour[1:])


def _fill(series: BarSeries, mark: Mark) -> None:
    series.format.fill.solid()
    series.format.fill.fore_color.rgb = RGBColor.from_string(mark.colour[1:])


def _label_bars(chart: Chart, form: str) -> None:
    plot = chart.plots[0]
    plot.gap_width = 60
    plot.has_data_labels = True
    plot.data_labels.number_format, plot.data_labels.number_format_is_linked = form, False
    plot.data_labels.font.size = Pt(11)
