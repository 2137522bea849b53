"""Curves as small as a word."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest

from mpd2.present.charts.kit.sparkline import HEIGHT, MARGIN, WIDTH, sparkline

SVG = "{http://www.w3.org/2000/svg}"


def parts(drawn: str) -> tuple[np.ndarray, tuple[float, float]]:
    """The points of the curve, [P, 2], and the dot."""
    tree = ElementTree.fromstring(drawn)
    line, dot = tree.find(f"{SVG}polyline"), tree.find(f"{SVG}circle")
    points = np.array([point.split(",") for point in line.get("points").split()], float)
    return points, (float(dot.get("cx")), float(dot.get("cy")))


def test_the_curve_fills_its_frame_and_the_dot_is_on_it() -> None:
    points, dot = parts(sparkline([0.4, 0.2, 0.3], 0.75))
    assert points[:, 0] == pytest.approx([MARGIN, WIDTH / 2, WIDTH - MARGIN])
    assert points[:, 1] == pytest.approx([MARGIN, HEIGHT - MARGIN, HEIGHT / 2])  # less is further down
    assert dot == pytest.approx((88, 19), abs=0.1)  # half-way between the last two


def test_what_is_not_known_is_left_out() -> None:
    points, _ = parts(sparkline([np.nan, 1.0, 1.0], 0.5))
    assert points[:, 0] == pytest.approx([WIDTH / 2, WIDTH - MARGIN])
    assert "polyline" not in sparkline([np.nan, np.nan], 0.5)
