"""A photograph with its marks: each lies where it was measured, and the picture is whole in itself."""

from __future__ import annotations

import base64
import re
from io import BytesIO
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from mpd2.imaging.ellipses import Ellipse
from mpd2.imaging.field import find_field
from mpd2.imaging.outlines import Outlines, outlines_of_ellipses
from mpd2.imaging.simulation.render import Shot, draw_eye, render
from mpd2.present.charts.clinical import photograph as charts
from mpd2.present.charts.kit.export import render as exported

SVG = "{http://www.w3.org/2000/svg}"
EYE = draw_eye(0.6, np.random.default_rng(0))
PIXELS = render(EYE, Shot())
FIELD = find_field(PIXELS)
OUTLINES = outlines_of_ellipses(EYE.disc, EYE.cup)


def drawn(marks: str) -> ElementTree.Element:
    return ElementTree.fromstring(f'<svg xmlns="http://www.w3.org/2000/svg">{marks}</svg>')


def test_a_picture_is_whole_in_itself_and_described() -> None:
    svg = charts.picture(PIXELS, FIELD, charts.whole(FIELD), charts.outline_marks(OUTLINES), "An eye & more")
    root = ElementTree.fromstring(svg)
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == "An eye & more"
    image = root.find(f"{SVG}image")
    assert image is not None
    href = image.get("href", "")
    assert href.startswith("data:image/jpeg;base64,")
    inner = Image.open(BytesIO(base64.b64decode(href.partition(",")[2])))
    assert max(inner.size) <= charts.SIDE
    assert not inner.getexif()
    assert exported(svg, "png").startswith(b"\x89PNG")


def test_outlines_are_those_that_were_measured() -> None:
    ellipses = drawn(charts.outline_marks(OUTLINES)).findall(f".//{SVG}ellipse")
    sizes = {round(float(each.get("ry", "0")) * 2, 1) for each in ellipses}
    assert sizes == {round(EYE.disc.height, 1), round(EYE.cup.height, 1)}
    colours = {each.get("stroke") for each in ellipses}
    assert {charts.DISC, charts.CUP} <= colours


def test_the_frame_around_the_disc_holds_it_in_its_middle() -> None:
    frame = charts.around(EYE.disc, FIELD)
    assert frame.left < EYE.disc.x - EYE.disc.horizontal / 2
    assert frame.left + frame.width > EYE.disc.x + EYE.disc.horizontal / 2
    assert abs(frame.left + frame.width / 2 - EYE.disc.x) <= 1
    assert charts.cut(PIXELS, FIELD, frame).shape == (frame.height, frame.width, 3)
    assert charts.around(Ellipse(0, 0, 400, 400), FIELD) == charts.whole(FIELD)


def test_a_pixel_lies_where_it_was_in_whatever_frame() -> None:
    pixels = np.zeros((100, 120, 3), np.uint8)
    pixels[:] = 40
    pixels[30, 70] = 255
    field = find_field(pixels)  # no border: all of it
    frame = charts.Frame(60, -10, 50, 50)
    part = charts.cut(pixels, field, frame)
    assert part[30 + 10, 70 - 60].tolist() == [255, 255, 255]
    assert not part[:10].any()  # beyond the edge


def test_nothing_outside_of_the_field_of_view_is_shown() -> None:
    burnt = PIXELS.copy()
    burnt[:12, :60] = 255
    field = find_field(burnt)
    part = charts.cut(burnt, field, charts.Frame(0, 0, 60, 12))
    assert not part.any()


def test_a_picture_of_a_large_photograph_is_no_larger_than_a_screen() -> None:
    large = np.kron(PIXELS, np.ones((4, 4, 1), np.uint8))
    assert charts.cut(large, find_field(large), charts.Frame(0, 0, 2048, 2048)).shape == (charts.SIDE, charts.SIDE, 3)


def test_the_ruler_spans_the_disc_and_says_the_ratio_by_height() -> None:
    marks = charts.ruler_marks(OUTLINES, 512)
    lines = re.findall(r' d="([^"]+)"', marks)
    ys = [float(y) for line in lines for y in re.findall(r"[ML][-\d.]+ ([-\d.]+)", line)]
    assert min(ys) == pytest.approx(EYE.disc.y - EYE.disc.vertical / 2, abs=0.1)
    assert max(ys) == pytest.approx(EYE.disc.y + EYE.disc.vertical / 2, abs=0.1)
    assert [text.text for text in drawn(marks).iter(f"{SVG}text")] == ["0.60"]


def test_a_thin_rim_stands_out() -> None:
    widths = np.full(12, 0.4)
    widths[5] = 0.08  # six o'clock
    root = drawn(charts.rim_marks(OUTLINES, widths, 512))
    texts = list(root.iter(f"{SVG}text"))
    assert len(texts) == 12
    bold = [text for text in texts if text.get("font-weight") == "700"]
    assert [text.text for text in bold] == ["0.08"]
    assert float(bold[0].get("y", "0")) > EYE.disc.y + EYE.disc.vertical / 2  # below
    assert abs(float(bold[0].get("x", "0")) - EYE.disc.x) < 0.1 * EYE.disc.horizontal


def test_cells_mark_what_is_poor_where_it_is() -> None:
    cells = np.zeros((4, 4))
    cells[0, 3], cells[2, 2] = 1.0, np.nan
    squares = list(drawn(charts.cell_marks(cells, FIELD)).iter(f"{SVG}rect"))
    assert len(squares) == 1
    assert float(squares[0].get("x", "0")) == pytest.approx(FIELD.left + 0.75 * FIELD.side, abs=0.1)
    assert float(squares[0].get("y", "0")) == pytest.approx(FIELD.top, abs=0.1)


@pytest.mark.parametrize(
    ("outlines", "words"),
    [
        (Outlines(None, None), "No disc is outlined."),
        (Outlines(Ellipse(0, 0, 70, 80), None), "The disc is outlined, without a cup."),
    ],
)
def test_what_is_not_there_is_said_and_not_drawn(outlines: Outlines, words: str) -> None:
    assert charts.outlines_in_words(outlines) == words
    assert charts.rim_marks(outlines, np.full(12, 0.3), 512) == ""
    assert "<text" not in charts.ruler_marks(outlines, 512)
