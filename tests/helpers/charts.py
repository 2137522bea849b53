"""Reads a chart as a person does: from the picture, in the units of its axes.

A chart is drawn to SVG and turned into facts: titles, axes with their labels, legends, and every mark with its place,
colour, shape and text. Places are turned back into values by the labels of the axes, so what a test compares with a
table is what is drawn, however the chart was made.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from mpd2.present.charts.kit.drawing import Drawing, finished
from mpd2.present.charts.kit.export import render
from mpd2.present.charts.kit.style import AltairChart

SVG = "{http://www.w3.org/2000/svg}"
WIDE = 900  # pixels of a picture that is read, so that labels are far apart
BASELINE = 0.3  # of a letter's height, from the middle of a text to where it is anchored
Pair = tuple[float, float]


@dataclass(frozen=True)
class Mark:
    """One thing drawn. Places are in pixels from the upper left of its panel."""

    kind: str  # Vega's word: symbol, rule, rect, line, area, text
    layer: str
    points: tuple[Pair, ...]  # corners, ends, or the one place of a symbol or a text
    fill: str = "none"
    stroke: str = "none"
    shape: str = ""  # of a symbol
    text: str = ""
    opacity: float = 1.0
    dash: str = ""

    @property
    def colour(self) -> str:
        """What one sees: the fill, or the outline of what is hollow."""
        return self.fill if self.fill != "none" else self.stroke

    @property
    def is_hollow(self) -> bool:
        """Whether only its outline is drawn."""
        return self.fill == "none"

    @property
    def x(self) -> float:
        """Where it begins, from the left."""
        return min(x for x, _ in self.points)

    @property
    def y(self) -> float:
        """Where it begins, from above."""
        return min(y for _, y in self.points)

    @property
    def x2(self) -> float:
        """Where it ends at the right."""
        return max(x for x, _ in self.points)

    @property
    def y2(self) -> float:
        """Where it ends below."""
        return max(y for _, y in self.points)

    @property
    def middle(self) -> Pair:
        """Its centre."""
        return (self.x + self.x2) / 2, (self.y + self.y2) / 2


@dataclass(frozen=True)
class Axis:
    """An axis with the places of its labels, in pixels."""

    upright: bool
    title: str = ""
    labels: tuple[tuple[str, float], ...] = ()
    anchors: frozenset[str] = frozenset()  # which ends of the labels are at their places

    @property
    def names(self) -> list[str]:
        """The labels from left to right, or from the top down."""
        return [text for text, _ in sorted(self.labels, key=lambda label: label[1])]

    def name(self, place: float) -> str:
        """The label nearest to a place: which row or column something stands in."""
        return min(self.labels, key=lambda label: abs(label[1] - place))[0]

    def value(self, place: float) -> float:
        """What a place stands for, by the labels on both sides of it; beyond the last, as between the last two."""
        known = sorted((where, number(text)) for text, where in self.labels if text)
        where, values = (np.array(part) for part in zip(*known, strict=True))
        left = int(np.clip(np.searchsorted(where, place) - 1, 0, len(where) - 2))
        slope = (values[left + 1] - values[left]) / (where[left + 1] - where[left])
        return float(values[left] + slope * (place - where[left]))


@dataclass
class Panel:
    """One plot: its axes and its marks."""

    width: float
    height: float
    axes: list[Axis] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)

    @property
    def across(self) -> Axis:
        """The axis along the bottom or the top."""
        return next(axis for axis in self.axes if not axis.upright and axis.labels)

    @property
    def upright(self) -> Axis:
        """The axis at the side."""
        return next(axis for axis in self.axes if axis.upright and axis.labels)

    def of(self, kind: str, layer: int | None = None) -> list[Mark]:
        """Marks of a kind, all or those of one layer, in the order they are drawn."""
        layers = list(dict.fromkeys(mark.layer for mark in self.marks if mark.kind == kind))
        wanted = layers if layer is None else [layers[layer]]
        return [mark for mark in self.marks if mark.kind == kind and mark.layer in wanted]

    def outside(self, slack: float = 0.5) -> list[Mark]:
        """Marks, texts apart, that are not wholly within the plot: a domain that cuts its data off."""
        shown = [mark for mark in self.marks if mark.kind != "text"]
        ends = [(mark, min(mark.x, mark.y), mark.x2 - self.width, mark.y2 - self.height) for mark in shown]
        return [mark for mark, first, right, below in ends if first < -slack or right > slack or below > slack]

    def spans(self, marks: Sequence[Mark]) -> dict[str, Pair]:
        """By row, from which value to which a level mark reaches."""
        rows = {self.upright.name(mark.middle[1]): mark for mark in marks}
        return {name: (self.across.value(mark.x), self.across.value(mark.x2)) for name, mark in rows.items()}

    def values(self, marks: Sequence[Mark]) -> dict[str, float]:
        """By row, the value at which a mark stands."""
        return {self.upright.name(mark.middle[1]): self.across.value(mark.middle[0]) for mark in marks}

    def places(self, marks: Sequence[Mark]) -> list[Pair]:
        """Marks in the units of both axes."""
        return [(self.across.value(mark.middle[0]), self.upright.value(mark.middle[1])) for mark in marks]

    def curve(self, mark: Mark) -> list[Pair]:
        """The corners of a line or an area in the units of both axes."""
        return [(self.across.value(x), self.upright.value(y)) for x, y in mark.points]


@dataclass
class Picture:
    """All there is to read of a chart."""

    svg: str
    panels: list[Panel] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)  # title and subtitle of the whole, then of its parts
    legend: dict[str, str] = field(default_factory=dict)  # colour by name
    headers: list[str] = field(default_factory=list)  # of facets, from the top down
    row_axes: list[Axis] = field(default_factory=list)  # of facets, one each
    shared_axes: list[Axis] = field(default_factory=list)

    @property
    def panel(self) -> Panel:
        """The only plot."""
        [panel] = self.panels
        return panel

    @cached_property
    def texts(self) -> list[tuple[str, str, float]]:
        """Every text with its colour and opacity."""
        found = ET.fromstring(self.svg).iter(f"{SVG}text")
        return [
            ("".join(text.itertext()), text.get("fill", "black"), float(text.get("opacity", "1"))) for text in found
        ]


def read(chart: Drawing | AltairChart, width: int | None = WIDE, background: str = "white") -> Picture:
    """The facts of a chart drawn `width` pixels wide; None leaves the width it has."""
    drawing = chart if isinstance(chart, Drawing) else finished(chart)
    svg = render(drawing.of_width(width) if width else drawing, "svg", background).decode()
    picture = Picture(svg)
    _walk(ET.fromstring(svg), picture, None)
    for place, panel in enumerate(picture.panels):
        panel.axes += picture.row_axes[place : place + 1] + picture.shared_axes
    return picture


def number(text: str) -> float:
    """A label of an axis as a number.

    >>> number("−0.05"), number("20%"), number("1,000")
    (-0.05, 0.2, 1000.0)
    """
    plain = text.replace("\N{MINUS SIGN}", "-").replace(",", "").replace("\N{NO-BREAK SPACE}", "").strip()
    return float(plain.rstrip("%")) / 100 if plain.endswith("%") else float(plain)


def _walk(node: ET.Element, picture: Picture, panel: Panel | None) -> None:
    """Collect what is below a node; a group with a background that has a size is a plot, but for one of lines."""
    words = node.get("class", "").split()
    role = next((word for word in words if word.startswith("role-")), "")
    if role == "role-axis":
        if panel is not None:
            panel.axes.append(_axis(node))
    elif role == "role-legend":
        entries = _legend(node)
        assert not set(entries) & set(picture.legend), "a legend stands there twice"
        picture.legend |= entries
    elif role == "role-title":
        picture.titles += _texts(node)
    elif role in ("role-row-header", "role-column-footer"):
        parts = list(node.iter(f"{SVG}g"))
        picture.headers += [
            text for part in parts if "role-title-text" in part.get("class", "") for text in _texts(part)
        ]
        axes = [_axis(part) for part in parts if part.get("aria-roledescription") == "axis"]
        (picture.row_axes if role == "role-row-header" else picture.shared_axes).extend(axes)
    elif role == "role-mark" and "mark-group" not in words:
        if panel is not None:
            panel.marks += [mark for item in node for mark in _marks(item, words)]
    elif any(word.endswith("_pathgroup") or word == "pathgroup" for word in words):
        for line in node.iter(f"{SVG}g"):
            if "role-mark" in line.get("class", "") and panel is not None:
                names = line.get("class", "").split()
                panel.marks += [mark for item in line for mark in _marks(item, names)]
    else:
        ground = next((child for child in node if child.get("class") == "background"), None)
        size = re.search(r"h([\d.]+)v([\d.]+)", ground.get("d", "")) if ground is not None else None
        if size is not None and any(_is_drawn(child) for child in node.iter()):
            inside = Panel(float(size[1]), float(size[2]))
            for child in node:
                _walk(child, picture, inside)
            if inside.marks:
                picture.panels.append(inside)
            return
        for child in node:
            _walk(child, picture, panel)


def _is_drawn(node: ET.Element) -> bool:
    return "role-mark" in node.get("class", "")


def _axis(node: ET.Element) -> Axis:
    title, labels, anchors, upright = "", [], set(), "Y-axis" in node.get("aria-label", "")
    for group in node.iter(f"{SVG}g"):
        if "role-axis-title" in group.get("class", ""):
            title = " ".join(_texts(group))
        if "role-axis-label" in group.get("class", ""):
            for text in group:
                if float(text.get("opacity", "1")):
                    x, y = _moved(text)
                    anchors.add(text.get("text-anchor", "start"))
                    size = float(text.get("font-size", "10px").removesuffix("px"))
                    labels.append((" ".join(_texts(text)), y - BASELINE * size if upright else x))
    return Axis(upright, title, tuple(labels), frozenset(anchors))


def _legend(node: ET.Element) -> dict[str, str]:
    """Colour by label; a gradient has none."""
    groups = [group for group in node.iter(f"{SVG}g") if "role-legend-" in group.get("class", "")]
    symbols = [part for group in groups if "role-legend-symbol" in group.get("class", "") for part in group]
    labels = [text for group in groups if "role-legend-label" in group.get("class", "") for text in _texts(group)]
    seen = ("transparent", "none")
    colours = [next((c for c in (part.get("fill"), part.get("stroke")) if c and c not in seen), "") for part in symbols]
    return dict(zip(labels, colours, strict=True)) if symbols else {}


def _marks(item: ET.Element, words: list[str]) -> Iterator[Mark]:
    kind = next(word for word in words if word.startswith("mark-")).removeprefix("mark-")
    x, y = _moved(item)
    mark = Mark(
        kind,
        words[-1],
        ((x, y),),
        fill=item.get("fill", "none"),
        stroke=item.get("stroke", "none"),
        opacity=float(item.get("opacity", "1")) * float(item.get("fill-opacity", "1")),
        dash=item.get("stroke-dasharray", ""),
    )
    if kind == "rule":
        yield replace(mark, points=((x, y), (x + float(item.get("x2", 0)), y + float(item.get("y2", 0)))))
    elif kind == "symbol":
        yield replace(mark, shape=_shape(item.get("d", "")))
    elif kind == "text":
        yield replace(mark, text=" ".join(_texts(item)))
    elif item.tag == f"{SVG}path" and item.get("d"):
        yield replace(mark, points=tuple((x + left, y + top) for left, top in _corners(item.get("d", ""))))


def _texts(node: ET.Element) -> list[str]:
    found = [node] if node.tag == f"{SVG}text" else list(node.iter(f"{SVG}text"))
    return [" ".join(part.strip() for part in text.itertext() if part.strip()) for text in found]


def _moved(node: ET.Element) -> Pair:
    place = re.match(r"translate\(([^,]+),([^)]+)\)", node.get("transform", ""))
    return (float(place[1]), float(place[2])) if place else (0.0, 0.0)


def _shape(path: str) -> str:
    """Vega's name of a symbol, by the strokes it is drawn with."""
    if "A" in path:
        return "circle"
    if path.count("L") == 3:
        return "diamond"
    if path.count("L") == 2:
        first = number(re.match(r"M[^,]+,(-?[\d.]+)", path)[1])
        return "triangle-up" if first < 0 else "triangle-down"
    return "square" if len(re.findall("[hvHV]", path)) == 3 else "cross"


def _corners(path: str) -> Iterator[Pair]:
    """The corners of a path of straight strokes."""
    x = y = 0.0
    for stroke, rest in re.findall(r"([MLHVhvZ])([^MLHVhvZ]*)", path):
        parts = [float(part) for part in re.findall(r"-?[\d.]+(?:e-?\d+)?", rest)]
        if stroke in "ML":
            x, y = parts
        elif stroke in "Hh":
            x = parts[0] if stroke == "H" else x + parts[0]
        elif stroke in "Vv":
            y = parts[0] if stroke == "V" else y + parts[0]
        else:
            continue
        yield x, y
