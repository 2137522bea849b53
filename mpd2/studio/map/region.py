"""A region of the map in words short enough for a link: a box, a lasso, or single cases.

The map's places are fixed, so a shape means the same region in every slice: `box:x0,y0,x1,y1`, `lasso:x,y,x,y,…`, in
the map's units, or `case:ID`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd

from mpd2.core.arrays import Bools, Floats

BOX, LASSO, CASE = "box", "lasso", "case"
PLACES = 2  # decimals of a coordinate: a hundredth of the distance between neighbours
MOST_CORNERS = 80  # of a lasso, so that a link stays a line


def words_of(selection: Mapping[str, Any]) -> list[str]:
    """What was chosen on the map: its boxes and lassos, or the cases clicked on.

    `selection`: Plotly's; a point's `customdata` is its case id, for a position misleads.
    """
    shapes = [_word(BOX, [(x, y) for x, y in zip(box["x"], box["y"], strict=True)]) for box in selection.get(BOX) or []]
    for lasso in selection.get(LASSO) or []:
        corners = list(zip(lasso["x"], lasso["y"], strict=True))
        shapes.append(_word(LASSO, corners[:: -(-len(corners) // MOST_CORNERS)]))
    if shapes:
        return shapes
    points = [point["customdata"] for point in selection.get("points") or [] if "customdata" in point]
    return [f"{CASE}:{name}" for name in dict.fromkeys(str(np.ravel(point)[0]) for point in points)]


def inside(words: Collection[str], table: pd.DataFrame) -> Bools:
    """Which cases a region holds, [N]. `table`: case_id, x, y; a word that says nothing counts for nothing."""
    chosen = np.zeros(len(table), bool)
    if not words:
        return chosen
    places = table[["x", "y"]].to_numpy(float)  # [N, 2]
    for word in words:
        kind, _, rest = word.partition(":")
        if kind == CASE:
            chosen |= (table["case_id"] == rest).to_numpy()
        elif (corners := _corners(rest)) is not None:
            if kind == BOX and len(corners) == 2:
                chosen |= ((places >= corners.min(0)) & (places <= corners.max(0))).all(-1)
            elif kind == LASSO:
                chosen |= _within(places, corners)
    return chosen


def _word(kind: str, corners: Collection[tuple[float, float]]) -> str:
    return f"{kind}:{','.join(f'{number:.{PLACES}f}' for corner in corners for number in corner)}"


def _corners(text: str) -> Floats | None:
    """The corners in a word, [K, 2]; None if it has none."""
    try:
        numbers = np.array([float(part) for part in text.split(",")])
    except ValueError:
        return None
    if len(numbers) % 2 or len(numbers) > 2 * MOST_CORNERS or not np.isfinite(numbers).all():
        return None
    return numbers.reshape(-1, 2)


def _within(places: Floats, corners: Floats) -> Bools:
    """Which places, [N, 2], lie within a line round corners, [K, 2]: a ray crosses it an odd number of times."""
    x, y = places[:, None, 0], places[:, None, 1]  # [N, 1]
    (x0, y0), (x1, y1) = corners.T, np.roll(corners, -1, axis=0).T  # [K]
    level = (y0 > y) != (y1 > y)  # [N, K]
    with np.errstate(divide="ignore", invalid="ignore"):
        crossed = level & (x < x0 + (y - y0) / (y1 - y0) * (x1 - x0))
    return np.asarray(crossed.sum(-1) % 2 == 1)
