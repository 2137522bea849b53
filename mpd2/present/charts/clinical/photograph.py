"""A photograph with what was measured on it: outlines, a vertical ruler, the rim by clock sector, where it is poor.

Drawn by hand as SVG in the photograph's own pixels, so that the same marks lie over a picture on a page, in a file and
under the outlines that are dragged. Marks bring their own dark edge and are read on any photograph, in either theme.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from math import cos, degrees, pi, sin
from typing import NamedTuple
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from mpd2.core.arrays import Floats
from mpd2.core.text import decimal
from mpd2.imaging.ellipses import Ellipse
from mpd2.imaging.field import Field
from mpd2.imaging.outlines import Outlines
from mpd2.present.charts.kit.style import AI, ALARM, READER, ROUTER

DISC, CUP, RIM, THIN, HEAT = AI.colour, ALARM.colour, READER.colour, ALARM.colour, ROUTER.colour
LIGHT, EDGE = "#ffffff", "#000000"
SIDE = 720  # pixels of a picture that is shown
ROOM = 2.4  # disc heights of a picture around the disc
HOURS = 12
NARROW = 0.15  # of the disc's radius: a rim thinner than this is marked
STRONGEST = 0.75  # opacity of a cell at its worst


class Frame(NamedTuple):
    """The part of a photograph that is shown, in its pixels; it may reach beyond the photograph's edges."""

    left: int
    top: int
    width: int
    height: int


def whole(field: Field) -> Frame:
    """All of the field of view."""
    return Frame(field.left, field.top, field.side, field.side)


def around(disc: Ellipse, field: Field) -> Frame:
    """The disc and what lies about it; all of the field where that is not more."""
    side = max(round(ROOM * max(disc.vertical, disc.horizontal)), 1)
    if side >= field.side:
        return whole(field)
    return Frame(round(disc.x - side / 2), round(disc.y - side / 2), side, side)


def cut(pixels: NDArray[np.uint8], field: Field, frame: Frame, side: int = SIDE) -> NDArray[np.uint8]:
    """What lies within a frame, at most [side, side, 3]; black outside of the field of view."""
    left, top, width, height = frame
    part = np.zeros((height, width, 3), np.uint8)
    rows, columns = pixels.shape[:2]
    y0, y1, x0, x1 = max(top, 0), min(top + height, rows), max(left, 0), min(left + width, columns)
    if y0 < y1 and x0 < x1:
        seen = np.where(field.inside[y0:y1, x0:x1, None], pixels[y0:y1, x0:x1], np.uint8(0))
        part[y0 - top : y1 - top, x0 - left : x1 - left] = seen
    image = Image.fromarray(part)
    if max(image.size) > side:
        image.thumbnail((side, side), Image.Resampling.LANCZOS)
    return np.asarray(image)


def data_uri(pixels: NDArray[np.uint8]) -> str:
    """Pixels as a JPEG that stands in a page by itself."""
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=88)
    return f"data:image/jpeg;base64,{base64.b64encode(file.getvalue()).decode()}"


def picture(pixels: NDArray[np.uint8], field: Field, frame: Frame, marks: str, words: str) -> str:
    """An SVG of a photograph within a frame, with marks over it and its description."""
    shown = data_uri(cut(pixels, field, frame))
    left, top = frame.left - 0.5, frame.top - 0.5  # a pixel has its centre at a whole number
    place = f'x="{left}" y="{top}" width="{frame.width}" height="{frame.height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left} {top} {frame.width} {frame.height}" '
        f'width="{SIDE}" height="{SIDE * frame.height / frame.width:.0f}" role="img"><title>{escape(words)}</title>'
        f'<image {place} preserveAspectRatio="none" href="{shown}"/>{marks}</svg>'
    )


def outlines_in_words(outlines: Outlines) -> str:
    """What the outlines say, for who does not see them.

    >>> outlines_in_words(Outlines(Ellipse(0, 0, 70, 80), Ellipse(0, 0, 35, 48)))
    'Disc and cup are outlined: the cup is 0.60 of the height and 0.50 of the width of the disc.'
    """
    ratios = outlines.ratios
    if ratios is None:
        return "The disc is outlined, without a cup." if outlines.disc else "No disc is outlined."
    return (
        f"Disc and cup are outlined: the cup is {decimal(ratios.vertical, 2)} of the height and "
        f"{decimal(ratios.horizontal, 2)} of the width of the disc."
    )


def outline_marks(outlines: Outlines) -> str:
    """Both outlines, each with a name."""
    return "".join(
        f'<g class="{name}">{_ellipse(ellipse, EDGE, 4.5, 0.5)}{_ellipse(ellipse, colour, 2.5)}</g>'
        for name, ellipse, colour in (("disc", outlines.disc, DISC), ("cup", outlines.cup, CUP))
        if ellipse is not None
    )


def ruler_marks(outlines: Outlines, size: float, beyond_rim: bool = False) -> str:
    """A ruler beside the disc in tenths of its height, the cup's part thick; `size`: pixels of the frame's height.

    Where the rim is shown by sector it stands `beyond_rim`.
    """
    disc, cup = outlines.disc, outlines.cup
    if disc is None:
        return ""
    gap = 0.16 * size if beyond_rim else 0.12 * disc.vertical
    x, tick = disc.x + disc.horizontal / 2 + gap, 0.02 * size
    top = disc.y - disc.vertical / 2
    ticks = [
        (x, y, x + tick * (1.0 if tenth % 5 else 1.8), y)
        for tenth, y in enumerate(top + disc.vertical * np.arange(11) / 10)
    ]
    lines = _lines([(x, top, x, top + disc.vertical), *ticks], LIGHT, 1.5)
    if cup is None:
        return f'<g class="ruler">{lines}</g>'
    ends = (cup.y - cup.vertical / 2, cup.y + cup.vertical / 2)
    thick = _lines([(x, ends[0], x, ends[1])], CUP, 5)
    across = _lines([(cup.x, end, x, end) for end in ends], LIGHT, 1, dashed=True)
    label = _text(x + 2.2 * tick, sum(ends) / 2, decimal(cup.vertical / disc.vertical, 2), size)
    return f'<g class="ruler">{across}{lines}{thick}{label}</g>'


def rim_marks(outlines: Outlines, widths: Floats, size: float) -> str:
    """The rim by clock sector: an arc around the disc for each hour, [12], one o'clock first; a thin one stands out.

    `widths` are `Rim.hours`, in disc radii.
    """
    disc = outlines.disc
    if disc is None or outlines.cup is None:
        return ""
    arcs = []
    for hour, width in enumerate(widths, start=1):
        thin = bool(width < NARROW)
        start, end = (2 * pi * (hour + edge) / HOURS - pi / 2 for edge in (-0.44, 0.44))
        outer = [_beyond(disc, angle, 0.05 * size) for angle in np.linspace(start, end, 7)]
        arcs.append(_path(outer, THIN if thin else RIM, 2 + 8 * float(np.clip(width, 0, 0.5))))
        x, y = _beyond(disc, (start + end) / 2, 0.1 * size)
        arcs.append(_text(x, y, decimal(float(width), 2), size, middle=True, bold=thin))
    return f'<g class="rim">{"".join(arcs)}</g>'


def cell_marks(cells: Floats, field: Field, colour: str = ALARM.colour, kind: str = "poor") -> str:
    """A map of cells, [K, K] from 0 to 1, over the field's square; 0 is left clear, NaN is outside of the field.

    For a map of quality give 1 − quality: what is poor is marked.
    """
    step = field.side / len(cells)
    squares = [
        f'<rect x="{field.left + column * step:.1f}" y="{field.top + row * step:.1f}" width="{step:.1f}" '
        f'height="{step:.1f}" fill-opacity="{STRONGEST * min(float(value), 1.0):.2f}"/>'
        for (row, column), value in np.ndenumerate(cells)
        if not np.isnan(value) and value > 0.02
    ]
    return f'<g class="{kind}" fill="{colour}">{"".join(squares)}</g>'


def _ellipse(ellipse: Ellipse, colour: str, width: float, opacity: float = 1.0) -> str:
    place = f"translate({ellipse.x:.2f} {ellipse.y:.2f}) rotate({degrees(ellipse.angle):.2f})"
    return (
        f'<ellipse rx="{ellipse.width / 2:.2f}" ry="{ellipse.height / 2:.2f}" transform="{place}" fill="none" '
        f'stroke="{colour}" stroke-width="{width}" stroke-opacity="{opacity}" vector-effect="non-scaling-stroke"/>'
    )


def _lines(ends: Sequence[tuple[float, float, float, float]], colour: str, width: float, dashed: bool = False) -> str:
    """Straight lines, on a dark edge of their own."""
    data = "".join(f"M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" for x0, y0, x1, y1 in ends)
    dashes = ' stroke-dasharray="4 4"' if dashed else ""
    return _stroke(data, EDGE, width + 2, 0.5, dashes) + _stroke(data, colour, width, 1.0, dashes)


def _path(points: Sequence[tuple[float, float]], colour: str, width: float) -> str:
    data = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return _stroke(data, EDGE, width + 2, 0.5) + _stroke(data, colour, width, 1.0)


def _stroke(data: str, colour: str, width: float, opacity: float, more: str = "") -> str:
    return (
        f'<path d="{data}" fill="none" stroke="{colour}" stroke-width="{width:.1f}" stroke-opacity="{opacity}" '
        f'vector-effect="non-scaling-stroke"{more}/>'
    )


def _text(x: float, y: float, words: str, size: float, middle: bool = False, bold: bool = False) -> str:
    anchor = ' text-anchor="middle"' if middle else ""
    weight = 700 if bold else 500
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" dominant-baseline="central" fill="{LIGHT}" stroke="{EDGE}" '
        f'stroke-width="{size / 160:.2f}" paint-order="stroke" font-family="Inter, sans-serif" '
        f'font-size="{size / 30:.1f}" font-weight="{weight}"{anchor}>{escape(words)}</text>'
    )


def _beyond(disc: Ellipse, direction: float, gap: float) -> tuple[float, float]:
    """A point a gap beyond the disc's outline, in a direction from its centre."""
    reach = float(disc.reach([direction])[0]) + gap
    return disc.x + reach * cos(direction), disc.y + reach * sin(direction)
