"""Names beside points."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mpd2.present.charts.kit.labels import LETTER, NOWHERE, PLACES, POINT, SIZE, places

WIDTH, HEIGHT = 300.0, 200.0
points = st.lists(st.tuples(st.floats(0, WIDTH), st.floats(0, HEIGHT)), min_size=1, max_size=15).map(np.array)


def corners(point, name: str, side: str) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a name, worked out from what Vega is told."""
    mark, length = PLACES[side].mark(), LETTER * len(name)
    anchor = point[0] + mark["dx"]
    left = {"left": anchor, "center": anchor - length / 2, "right": anchor - length}[mark["align"]]
    middle = point[1] + mark["dy"]
    return left, middle - SIZE / 2, left + length, middle + SIZE / 2


def apart(one, other) -> bool:
    near = 1e-6
    return (
        one[2] <= other[0] + near or other[2] <= one[0] + near or one[3] <= other[1] + near or other[3] <= one[1] + near
    )


@given(points)
def test_no_name_covers_a_point_or_another_name_or_leaves_the_chart(spots):
    names = [f"Reader {place}" for place in range(len(spots))]
    found = places(spots, names, WIDTH, HEIGHT)
    boxes = [corners(spot, name, side) for spot, name, side in zip(spots, names, found, strict=True) if side]
    dots = [(x - POINT, y - POINT, x + POINT, y + POINT) for x, y in spots]
    assert all(apart(one, other) for one, other in combinations(boxes, 2))
    assert all(apart(box, dot) for box in boxes for dot in dots)
    assert all(left >= 0 and top >= 0 and right <= WIDTH and bottom <= HEIGHT for left, top, right, bottom in boxes)


def test_a_point_alone_has_its_name_clear_of_its_cross_and_at_the_edge_inside():
    spots = np.array([[100.0, 100.0], [298.0, 50.0]])
    assert places(spots, ["Anna", "Ben"], WIDTH, HEIGHT) == ["above right", "above left"]


def test_a_name_without_room_stands_nowhere():
    crowd = np.array([[150.0 + 8 * x, 100.0 + 8 * y] for x in range(-3, 4) for y in range(-3, 4)])
    assert places(crowd, ["Somebody"] * len(crowd), WIDTH, HEIGHT)[24] == NOWHERE


def test_who_has_no_name_needs_no_place():
    assert places(np.array([[100.0, 100.0]]), [""], WIDTH, HEIGHT) == [NOWHERE]
