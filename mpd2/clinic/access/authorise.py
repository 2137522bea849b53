"""The one function that asks whether somebody may do something, and writes down that they do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from mpd2.clinic.access.actions import RULES, Action, Role
from mpd2.clinic.access.actor import Actor
from mpd2.clinic.installation import Installation, Said
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
        said, waiting = Said(by, action, granted, case, reason, about), _waiting.get()
        if waiting is None:
            record.append_all([said])
        else:
            waiting.append(said)
    if not granted:
        raise NotAllowed(refusal(by, action, owner) if not may(by, action, owner) else f"{action}: {against}")


@contextmanager
def recorded_together() -> Iterator[None]:
    """Let the record have what is authorised within the block when the block ends, all of it on disk at once.

    Only what is done after the block has then been written down before. An error in the block leaves nothing out.
    """
    waiting: list[Said] = []
    token = _waiting.set(waiting)
    try:
        yield
    finally:
        _waiting.reset(token)
        record = Installation.here().record if waiting else None
        if record is not None:
            record.append_all(waiting)


def refusal(by: Actor, action: Action, owner: str | None = None) -> str:
    """Why somebody may not do something, in words."""
    roles = RULES.get(action, frozenset())
    if by.role in roles:
        whose = f"this belongs to {owner}; only they or" if owner else "this was made before there were owners; only"
        return f"{action}: {whose} an admin may do it"
    able = " or ".join(sorted(roles)) or "nobody"
    return f"{action}: you are signed in as {by.role}; this takes the role of {able}"


_waiting: ContextVar[list[Said] | None] = ContextVar("waiting", default=None)  # for the record, in this block
