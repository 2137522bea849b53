"""A curve as small as a word: drawn by hand, because a whole charting library for each would keep a page waiting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mpd2.present.charts.kit.style import OTHER, ROUTER

WIDTH, HEIGHT, MARGIN = 120, 28, 4


def sparkline(values: Sequence[float], place: float) -> str:
    """An SVG of values at even steps from 0 to 1, scaled to fill it, and a dot where the curve is at `place`.

    Missing values are left out; with none at all there is nothing but the frame.
    """
    finite = np.isfinite(values)
    across = np.linspace(0, 1, len(values))[finite]
    up = np.asarray(values, float)[finite]
    if not len(up):
        return _svg("")
    lowest, spread = up.min(), np.ptp(up) or 1.0
    x = MARGIN + across * (WIDTH - 2 * MARGIN)
    y = HEIGHT - MARGIN - (up - lowest) / spread * (HEIGHT - 2 * MARGIN)
    points = " ".join(f"{left:.1f},{top:.1f}" for left, top in zip(x, y, strict=True))
    here = MARGIN + place * (WIDTH - 2 * MARGIN)
    return _svg(
        f'<polyline points="{points}" fill="none" stroke="{OTHER.colour}" stroke-width="1.5" stroke-linejoin="round"/>'
        f'<circle cx="{here:.1f}" cy="{np.interp(here, x, y):.1f}" r="2.5" fill="{ROUTER.colour}"/>'
    )


def _svg(inside: str) -> str:
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">{inside}</svg>'
