"""Somebody of every role, and somebody else of the same."""

from __future__ import annotations

from mpd2.clinic.access.actions import Role
from mpd2.clinic.access.actor import Actor

PEOPLE = {role: Actor(f"{role}@test", f"A {role}", role) for role in Role}
ADMIN, RESEARCHER, VIEWER = PEOPLE[Role.ADMIN], PEOPLE[Role.RESEARCHER], PEOPLE[Role.VIEWER]
OWNER = Actor("owner@test", "Whoever made it", Role.RESEARCHER)
