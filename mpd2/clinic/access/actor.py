"""Who acts: an argument of every function that changes something."""

from __future__ import annotations

from dataclasses import dataclass

from mpd2.clinic.access.actions import Role


@dataclass(frozen=True)
class Actor:
    """Somebody who acts, as the provider of identities names them."""

    id: str  # unique in the installation; owner of what they make
    name: str  # as shown
    role: Role
    visit: str = ""  # which visit of theirs, for the record
    email: str = ""  # an address that the provider says is theirs; empty where it has not verified any


LOCAL = Actor("local", "this machine's user", Role.ADMIN)
"""The single user of an installation without login."""
