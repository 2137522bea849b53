"""Scenarios that tests share."""

from __future__ import annotations

from mpd2.studio.shell.scenario import Scenario

STUDIO_AS_FITTED = Scenario("studio", floor=None)
"""The study's router on the test cases at the paper's operating point, whose numbers are stored."""
