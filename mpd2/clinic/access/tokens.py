"""Programs that act: each shows a token of its own, of which the settings hold the hash and the role."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from hashlib import sha256
from hmac import compare_digest

from mpd2.clinic.access.actions import Role
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.settings import PROGRAM, Token

MARK = "mpd2_"  # begins every token, so that one that has leaked is known for what it is
BYTES = 32  # of chance in each: nobody guesses it
VISIT = "interface"


def new_token() -> str:
    """A token nobody else has; it is shown once and kept nowhere here."""
    return MARK + secrets.token_urlsafe(BYTES)


def hash_of(token: str) -> str:
    """What the settings hold of a token.

    >>> hash_of("mpd2_example")[:16]
    'cab4c1ebf008227f'
    """
    return sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def settings_lines(name: str, role: Role, token: str) -> str:
    """What has to stand in the settings for a token to be taken."""
    return f'[[clinic.tokens]]\nname = "{name}"\nsha256 = "{hash_of(token)}"\nrole = "{role}"\n'


def holder_of(token: str, known: Sequence[Token]) -> Actor | None:
    """Whose token it is; nobody's if no hash fits. It takes as long whichever of them fits, and however much of it."""
    given = hash_of(token)
    fitting = [each for each in known if compare_digest(given, each.sha256)]
    return Actor(f"{PROGRAM}{fitting[0].name}", fitting[0].name, fitting[0].role, VISIT) if fitting else None
