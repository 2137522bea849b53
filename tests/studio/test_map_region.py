"""A region of the map in words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpd2.studio.map.region import MOST_CORNERS, inside, words_of

numbers = st.floats(-20, 20)
TABLE = pd.DataFrame(
    {"case_id": ["low", "middle", "high", "right"], "x": [0.0, 2.0, 4.0, 9.0], "y": [0.0, 2.0, 4.0, 2.0]}
)


def held(*words: str) -> list[str]:
    return TABLE["case_id"][inside(words, TABLE)].tolist()


def test_cases_that_were_clicked_on_are_named_each_once():
    points = [{"customdata": ["r1"], "point_index": 7}, {"customdata": "r2"}, {"customdata": ["r1"]}, {}]
    assert words_of({"points": points}) == ["case:r1", "case:r2"]
    assert words_of({}) == []


def test_a_box_is_its_corners_whichever_way_it_was_drawn():
    assert words_of({"box": [{"x": [5, -1.004], "y": [3, 1]}], "points": [{"customdata": "low"}]}) == [
        "box:5.00,3.00,-1.00,1.00"
    ]
    assert held("box:5,3,-1,1") == held("box:-1,1,5,3") == ["middle"]


def test_a_lasso_holds_what_it_goes_round():
    bay = {"lasso": [{"x": [-1, 5, 5, 3, 3, -1], "y": [-1, -1, 5, 5, 1, 1]}]}  # an L lying on its side
    assert held(*words_of(bay)) == ["low", "high"]


def test_regions_add_up():
    assert held("box:-1,-1,1,1", "case:right") == ["low", "right"]


def test_a_long_lasso_is_thinned_to_fit_a_link():
    angle = np.linspace(0, 2 * np.pi, 1000)
    [word] = words_of({"lasso": [{"x": 2 + 3 * np.cos(angle), "y": 2 + 3 * np.sin(angle)}]})
    assert word.count(",") < 2 * MOST_CORNERS
    assert held(word) == ["low", "middle", "high"]


@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=30), st.tuples(numbers, numbers, numbers, numbers))
def test_a_lasso_along_a_box_holds_what_the_box_holds(places, corners):
    x0, y0, x1, y1 = (round(corner, 2) + 0.005 for corner in corners)  # no place lies on the line itself
    table = pd.DataFrame(np.round(places, 2), columns=["x", "y"]).assign(case_id="?")
    box, lasso = f"box:{x0},{y0},{x1},{y1}", f"lasso:{x0},{y0},{x1},{y0},{x1},{y1},{x0},{y1}"
    assert inside([box], table).tolist() == inside([lasso], table).tolist()


@pytest.mark.parametrize("word", ["", "box:", "box:1,2,3", "lasso:1,2,x", "lasso:nan,1,2,3", f"lasso:{'1,' * 9999}1"])
def test_what_cannot_be_read_holds_nothing(word):
    assert held(word) == []
