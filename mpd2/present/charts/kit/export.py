"""A chart as a picture file, without a browser."""

from __future__ import annotations

from typing import Literal

import vl_convert

from mpd2.present.charts.kit.drawing import Drawing
from mpd2.present.charts.kit.style import AltairChart

Kind = Literal["png", "svg"]
MIME: dict[Kind, str] = {"png": "image/png", "svg": "image/svg+xml"}
SCALE = 2.0  # pixels a unit in a PNG: sharp on a slide


def render(figure: Drawing | AltairChart, kind: Kind) -> bytes:
    """A figure as PNG or SVG, on white."""
    spec = {**figure.to_dict(), "background": "white"}
    if kind == "png":
        return bytes(vl_convert.vegalite_to_png(spec, scale=SCALE))
    return str(vl_convert.vegalite_to_svg(spec)).encode()
