"""A briefing as slides whose texts, tables and charts can be edited: six of them, 16 by 9."""

from __future__ import annotations

from datetime import datetime, time
from io import BytesIO

from pptx import Presentation
from pptx.chart.chart import Chart
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.chart.series import BarSeries, XySeries
from pptx.dml.color import RGBColor
from pptx.enum.chart import XL_CHART_TYPE, XL_LABEL_POSITION, XL_LEGEND_POSITION, XL_MARKER_STYLE
from pptx.enum.shapes import MSO_SHAPE
from pptx.enum.text import PP_ALIGN
from pptx.presentation import Presentation as Deck
from pptx.slide import Slide
from pptx.text.text import TextFrame
from pptx.util import Inches, Pt

from mpd2.exports.briefing import Briefing
from mpd2.figures.common import mark_of
from mpd2.findings import AI
from mpd2.headlines import KeyNumber
from mpd2.theme import OTHER, READER, Mark

WIDTH, HEIGHT, MARGIN = 13.333, 7.5, 0.6  # inches
TOP, BOTTOM = 1.5, 6.8  # where content may stand
TITLE_ONLY = 5  # place of that layout in the template
INK, FAINT, LINE, PALE = "0e1917", "4c5a57", "d3dcd9", "f1f5f4"
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
    for draw in (_opening, _methods, _tradeoff, _cohorts, _load, _caveats):
        draw(deck, briefing)
    file = BytesIO()
    deck.save(file)
    return file.getvalue()


# ---------------------------------------------------------------------------------- the slides


def _opening(deck: Deck, briefing: Briefing) -> None:
    slide = _slide(deck, briefing, f"{briefing.stamp.run}: is it worth it?")
    _write(_box(slide, MARGIN, TOP, WIDTH - 2 * MARGIN, 1.8), briefing.answer, size=20)
    width = (WIDTH - 2 * MARGIN) / len(briefing.numbers)
    for place, number in enumerate(briefing.numbers):
        _card(slide, number, MARGIN + place * width, width - 0.15)


def _methods(deck: Deck, briefing: Briefing) -> None:
    frame = briefing.methods
    slide = _slide(deck, briefing, "Every method on the same cases, the cheapest first")
    space = Inches(MARGIN), Inches(TOP), Inches(WIDTH - 2 * MARGIN), Inches(BOTTOM - TOP)
    table = slide.shapes.add_table(len(frame) + 1, len(frame.columns), *space).table
    table.columns[0].width = Inches(3.2)
    for column in list(table.columns)[1:]:
        column.width = Inches((WIDTH - 2 * MARGIN - 3.2) / (len(frame.columns) - 1))
    for row, cells in enumerate([frame.columns.to_numpy(), *frame.to_numpy()]):
        table.rows[row].height = Inches((BOTTOM - TOP) / (len(frame) + 1))
        for column, text in enumerate(cells):
            cell = table.cell(row, column)
            cell.margin_top = cell.margin_bottom = Inches(0.02)
            cell.fill.solid()
            cell.fill.fore_color.rgb = RGBColor.from_string(PALE if cells[0] == briefing.stamp.run else "ffffff")
            _write(cell.text_frame, str(text), size=10, bold=row == 0 or cells[0] == briefing.stamp.run)


def _tradeoff(deck: Deck, briefing: Briefing) -> None:
    slide = _slide(deck, briefing, "Better is up, cheaper is left")
    plane = briefing.plane
    kinds = {
        briefing.stamp.run: plane["method"] == briefing.active,
        "AI alone": (plane["method"] == AI) & (briefing.active != AI),
        "Other methods": ~plane["method"].isin({briefing.active, AI}),
    }
    data = XyChartData(number_format="0.000")
    parts = {name: plane[rows] for name, rows in kinds.items() if rows.any()}
    for name, points in parts.items():
        series = data.add_series(name)
        for cost, score in points[["cost_value", "score_value"]].to_numpy():
            series.add_data_point(cost, score)
    chart = _chart(slide, XL_CHART_TYPE.XY_SCATTER, data)
    _name_axes(chart, "total cost", "F1", "0.00")
    for series, points in zip(chart.plots[0].series, parts.values(), strict=True):
        mark = OTHER if len(points) > 1 else mark_of(points["method"].iloc[0], briefing.active)
        _mark_points(series, mark)
        for place, (title, on_front) in enumerate(zip(points["title"], points["on_front"], strict=True)):
            if on_front or len(points) == 1:
                label = series.points[place].data_label
                label.position = XL_LABEL_POSITION.RIGHT
                _write(label.text_frame, title, size=11)


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
    chart = _chart(slide, XL_CHART_TYPE.COLUMN_CLUSTERED, data)
    _name_axes(chart, None, "total cost", "0.00")
    for series, method in zip(chart.plots[0].series, titles, strict=True):
        _fill(series, mark_of(method, briefing.active))
    _label_bars(chart, "0.000")


def _load(deck: Deck, briefing: Briefing) -> None:
    slide = _slide(deck, briefing, "How the work is spread")
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
    slide = _slide(deck, briefing, "Before you rely on this")
    frame = _box(slide, MARGIN, TOP, WIDTH - 2 * MARGIN, BOTTOM - TOP)
    for place, line in enumerate(briefing.caveats):
        _write(frame, f"•  {line}", size=16, new=place > 0)


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
    _write(frame, number.label, size=14)
    _write(frame, number.value, size=32, bold=True, new=True)
    _write(frame, number.span, size=12, new=True)
    for item in number.differences:
        _write(frame, f"{item.change} against {item.against}", size=11, colour=FAINT, new=True)


def _write(frame: TextFrame, text: str, size: int, bold: bool = False, colour: str = INK, new: bool = False) -> None:
    """Text in the first paragraph of a frame, or in a new one."""
    paragraph = frame.add_paragraph() if new else frame.paragraphs[0]
    paragraph.alignment = PP_ALIGN.LEFT
    paragraph.space_after = Pt(4)
    run = paragraph.add_run()
    run.text = text
    run.font.size, run.font.bold = Pt(size), bold
    run.font.color.rgb = RGBColor.from_string(colour)


def _chart(slide: Slide, kind: XL_CHART_TYPE, data: CategoryChartData | XyChartData, top: float = TOP) -> Chart:
    space = Inches(MARGIN), Inches(top), Inches(WIDTH - 2 * MARGIN), Inches(BOTTOM - top)
    chart: Chart = slide.shapes.add_chart(kind, *space, data).chart
    chart.font.size = Pt(12)
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
