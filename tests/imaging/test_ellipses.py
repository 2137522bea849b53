"""Ellipses, and what is measured of a mask by its second moments."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mpd2.core.errors import UserError
from mpd2.imaging.ellipses import Ellipse, ellipse_of_mask

ellipses = st.builds(
    Ellipse,
    x=st.floats(45, 55),
    y=st.floats(45, 55),
    width=st.floats(20, 80),
    height=st.floats(20, 80),
    angle=st.floats(-pi, pi),
)


@given(ellipses)
def test_an_ellipse_comes_back_from_its_own_mask(ellipse):
    found = ellipse_of_mask(ellipse.mask(101, 101))
    assert found is not None
    assert np.hypot(found.x - ellipse.x, found.y - ellipse.y) < 0.6
    assert found.vertical == pytest.approx(ellipse.vertical, rel=0.06)
    assert found.horizontal == pytest.approx(ellipse.horizontal, rel=0.06)
    assert found.area == pytest.approx(ellipse.area, rel=0.06)
    assert abs(found.angle) <= pi / 4 + 1e-9


@given(ellipses)
def test_vertical_and_horizontal_are_the_extent_of_the_outline(ellipse):
    x, y = ellipse.points(20_000).T
    assert np.ptp(y) == pytest.approx(ellipse.vertical, rel=1e-5)
    assert np.ptp(x) == pytest.approx(ellipse.horizontal, rel=1e-5)


def test_the_angle_turns_from_right_to_down():
    found = ellipse_of_mask(Ellipse(50, 50, 80, 30, 0.5).mask(101, 101))
    assert found is not None
    assert found.angle == pytest.approx(0.5, abs=0.02)
    assert (found.width, found.height) == (pytest.approx(80, rel=0.01), pytest.approx(30, rel=0.02))


def test_second_moments_have_no_bias_and_a_pixel_s_own_spread_added_would_give_one():
    random = np.random.default_rng(0)
    found, told = [], []
    for _ in range(400):
        ellipse = Ellipse(*random.uniform(19, 21, 2), *random.uniform(14, 18, 2), random.uniform(-pi, pi))
        measured = ellipse_of_mask(ellipse.mask(41, 41))
        found.append(measured.height * measured.width / 16)
        told.append(ellipse.height * ellipse.width / 16)
    off = np.mean(found) - np.mean(told)  # of a b / 4, which 1/12 on both moments would raise by 1/12
    assert abs(off) < 1 / 48


def test_soft_weights_count_as_shares_of_a_pixel():
    ellipse = Ellipse(40.3, 39.6, 30, 50, 0.3)
    soft = 1 / (1 + np.exp(30 * (ellipse.radius(np.arange(81)[None, :], np.arange(81)[:, None]) - 1)))
    found = ellipse_of_mask(soft)
    assert found is not None
    assert found.x == pytest.approx(40.3, abs=0.01)
    assert found.vertical == pytest.approx(ellipse.vertical, rel=0.01)


def test_an_empty_mask_has_no_ellipse_and_a_single_pixel_a_small_one():
    mask = np.zeros((9, 9), bool)
    assert ellipse_of_mask(mask) is None
    mask[4, 2] = True
    found = ellipse_of_mask(mask)
    assert (found.x, found.y) == (2, 4)
    assert 0.5 < found.width < 2


@given(ellipses, st.floats(0.3, 5))
def test_an_outline_at_another_resolution_covers_the_same_part_of_the_picture(ellipse, factor):
    larger = ellipse.scaled(factor)
    corners = (ellipse.points() + 0.5) * factor
    np.testing.assert_allclose(larger.points() + 0.5, corners, atol=1e-6)
    back = larger.scaled(1 / factor)
    np.testing.assert_allclose(
        [back.x, back.y, back.width, back.height], [ellipse.x, ellipse.y, ellipse.width, ellipse.height], atol=1e-6
    )


@given(ellipses, st.floats(0, 2 * pi))
def test_a_ray_from_the_centre_ends_on_the_outline(ellipse, direction):
    reach = float(ellipse.reach(direction))
    assert ellipse.radius(
        ellipse.x + reach * np.cos(direction), ellipse.y + reach * np.sin(direction)
    ) == pytest.approx(1)


def test_points_within_fill_an_ellipse_evenly():
    ellipse = Ellipse(10, 20, 30, 60, 0.7)
    x, y = ellipse.filling(2000).T
    assert ellipse.contains(x, y).all()
    assert (ellipse.radius(x, y) < 0.5).mean() == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize("broken", [{"width": 0.0}, {"height": -3.0}, {"x": float("nan")}, {"angle": float("inf")}])
def test_an_impossible_ellipse_is_refused_in_words(broken):
    with pytest.raises(UserError, match="both axes above 0"):
        Ellipse(**{"x": 1.0, "y": 1.0, "width": 2.0, "height": 2.0} | broken)
