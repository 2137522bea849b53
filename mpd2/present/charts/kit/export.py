"""A chart as a picture file, without a browser."""

from __future__ import annotations

from typing import Literal

import vl_convert

from mpd2.present.charts.kit.drawing import Drawing, finished
from mpd2.present.charts.kit.style import AltairChart

Kind = Literal["png", "svg"]
MIME: dict[Kind, str] = {"png": "image/png", "svg": "image/svg+xml"}
SCALE = 2.0  # pixels a unit in a PNG: sharp on a slide


def render(chart: Drawing | AltairChart, kind: Kind, background: str = "white") -> bytes:
    """A chart as PNG or SVG."""
    drawing = chart if isinstance(chart, Drawing) else finished(chart)
    spec = {**drawing.to_dict(), "background": background}
    if kind == "png":
        return bytes(vl_convert.vegalite_to_png(spec, scale=SCALE))
    return str(vl_convert.vegalite_to_svg(spec)).encode()
