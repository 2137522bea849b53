"""What this installation is: its settings and its record. Without them, a single local user and nothing written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from mpd2.clinic.access.actions import Action
from mpd2.clinic.access.actor import Actor


class Record(Protocol):
    """Where what is done is written down."""

    def append(
        self, by: Actor, action: Action, *, granted: bool, case: str | None, reason: str, about: dict[str, Any]
    ) -> None:
        """Write one entry; when it returns, the entry is on disk. Raises `UserError` where it cannot be."""


@dataclass(frozen=True)
class Installation:
    """One server, or several that share a workshop."""

    record: Record | None = None

    @classmethod
    def here(cls) -> Installation:
        """The installation this process belongs to."""
        return cls()
