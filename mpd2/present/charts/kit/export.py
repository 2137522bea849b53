"""A chart as a picture file, without a browser."""

from __future__ import annotations

from typing import Literal

import vl_convert

from mpd2.present.charts.kit.drawing import Drawing, finished
from mpd2.present.charts.kit.style import AltairChart

Kind = Literal["png", "svg"]
MIME: dict[Kind, str] = {"png": "image/png", "svg": "image/svg+xml"}
SCALE = 2.0  # pixels a unit in a PNG: sharp on a slide


def render(chart: Drawing | AltairChart | str, kind: Kind, background: str = "white") -> bytes:
    """A chart, or an SVG drawn by hand, as PNG or SVG."""
    if isinstance(chart, str):
        return _by_hand(chart, kind, background)
    drawing = chart if isinstance(chart, Drawing) else finished(chart)
    spec = {**drawing.to_dict(), "background": background}
    if kind == "png":
        return bytes(vl_convert.vegalite_to_png(spec, scale=SCALE))
    return str(vl_convert.vegalite_to_svg(spec)).encode()


def _by_hand(svg: str, kind: Kind, background: str) -> bytes:
    """An SVG on a ground that reaches beyond its edges."""
    start = svg.index(">") + 1
    ground = f'<rect x="-5%" y="-5%" width="110%" height="110%" fill="{background}"/>'
    whole = f"{svg[:start]}{ground}{svg[start:]}"
    return bytes(vl_convert.svg_to_png(whole, scale=SCALE)) if kind == "png" else whole.encode()
