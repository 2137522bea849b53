"""The one function that asks whether somebody may do something, and writes down that they do."""

from __future__ import annotations

from typing import Any

from mpd2.clinic.access.actions import RULES, Action, Role
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.installation import Installation
from mpd2.core.errors import UserError


class NotAllowed(UserError):
    """Somebody asked for what their role, or somebody else's ownership, does not allow."""


def may(by: Actor, action: Action, owner: str | None = None) -> bool:
    """Whether an actor may do something; what has an `owner` is changed by them and by admins alone."""
    allowed = by.role in RULES.get(action, frozenset())
    return allowed and (owner is None or owner == by.id or by.role is Role.ADMIN)


def authorise(
    by: Actor,
    action: Action,
    owner: str | None = None,
    case: str | None = None,
    reason: str = "",
    against: str = "",
    **about: Any,
) -> None:
    """Let an actor go on with an action, which is first written into the record; `NotAllowed` if they may not.

    Called by the function that acts, before it does. `case` is the id of the case it is about, `about` what else the
    record should hold: names, hashes, choices; nothing that identifies a person. An attempt that is refused is recorded
    as well. `against`: what else speaks against it than role and owner, in words.
    """
    record = Installation.here().record
    granted = may(by, action, owner) and not against
    if record is not None:
        record.append(by, action, granted=granted, case=case, reason=reason, about=about)
    if not granted:
        raise NotAllowed(refusal(by, action, owner) if not may(by, action, owner) else f"{action}: {against}")


def refusal(by: Actor, action: Action, owner: str | None = None) -> str:
    """Why somebody may not do something, in words."""
    roles = RULES.get(action, frozenset())
    if by.role in roles:
        whose = f"this belongs to {owner}; only they or" if owner else "this was made before there were owners; only"
        return f"{action}: {whose} an admin may do it"
    able = " or ".join(sorted(roles)) or "nobody"
    return f"{action}: you are signed in as {by.role}; this takes the role of {able}"
