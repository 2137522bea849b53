"""The rim by clock sector and quadrant."""

from __future__ import annotations

import numpy as np
import pytest

from mpd2.core.errors import UserError
from mpd2.imaging.ellipses import Ellipse
from mpd2.imaging.outlines import outlines_of_ellipses
from mpd2.imaging.rim import QUADRANTS, rim_between, rim_of

DISC = Ellipse(100, 100, 72, 80)


def test_a_cup_moved_down_leaves_the_rim_thinnest_at_six():
    rim = rim_between(DISC, Ellipse(100, 112, 36, 40))
    assert rim.thinnest == 6
    assert rim.hours[5] < 0.25 < rim.hours[11]


def test_a_cup_moved_to_the_right_thins_three_o_clock_which_is_nasal_in_a_right_eye():
    cup = Ellipse(112, 100, 36, 40)
    right, left = rim_between(DISC, cup, "R"), rim_between(DISC, cup, "L")
    assert right.thinnest == left.thinnest == 3
    assert right.quadrants["nasal"] == left.quadrants["temporal"] < right.quadrants["temporal"]


def test_a_concentric_cup_leaves_the_same_rim_all_round():
    np.testing.assert_allclose(rim_between(DISC, Ellipse(100, 100, 54, 60)).hours, 0.25, atol=1e-9)


def test_widths_agree_with_counted_pixels():
    disc, cup = Ellipse(400, 400, 700, 760, 0.2), Ellipse(420, 380, 300, 420, -0.4)
    rim = rim_between(disc, cup)
    y, x = np.mgrid[:801, :801]
    hour = np.round(np.arctan2(x - 400, 400 - y) * 6 / np.pi).astype(int) % 12
    radius = np.hypot(x - 400, y - 400)
    for at in range(12):
        here = (hour == at) & disc.contains(x, y)
        radial = 1 / np.maximum(radius[here], 1)  # every pixel by the share of a ray it stands for
        counted = 1 - (radial * cup.contains(x[here], y[here])).sum() / radial.sum()
        assert rim.hours[at - 1] == pytest.approx(counted, abs=0.02)


def test_a_cup_beside_the_centre_leaves_the_whole_radius_where_it_is_not():
    rim = rim_between(DISC, Ellipse(100, 125, 10, 10))
    assert rim.hours[11] == 1
    assert 0 < rim.hours[5] < 1


def test_the_isnt_rule_needs_to_know_the_eye():
    disc, cup = Ellipse(0, 0, 80, 80), Ellipse(-3, -1, 46, 32)  # a right eye: more rim below and towards the nose
    assert rim_between(disc, cup).follows_isnt is None
    assert rim_between(disc, cup).quadrants == {}
    assert tuple(rim_between(disc, cup, "R").quadrants) == QUADRANTS
    assert rim_between(disc, cup, "R").follows_isnt is True
    assert rim_between(disc, cup, "L").follows_isnt is False


def test_the_rim_is_said_in_words():
    known = rim_between(DISC, Ellipse(100, 112, 36, 40), "R").sentences()
    assert known[0].startswith("The rim is thinnest at 6 o'clock: 0.")
    assert known[1].startswith("Inferior 0.")
    assert "does not" in known[2]
    assert "not known" in rim_between(DISC, DISC.scaled(0.5)).sentences()[1]


def test_there_is_no_rim_without_a_cup():
    assert rim_of(outlines_of_ellipses(DISC, None)) is None
    assert rim_of(outlines_of_ellipses(DISC, Ellipse(100, 100, 30, 30)), "L") is not None


def test_an_unknown_laterality_is_refused():
    with pytest.raises(UserError, match="R, L or nothing"):
        rim_between(DISC, DISC, "OD")
