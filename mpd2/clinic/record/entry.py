"""One entry of the record: what is written of an action, and the hash that ties it to the entry before."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from mpd2.core.errors import UserError

LONGEST_REASON = 2000  # characters
LONGEST_ABOUT = 64 * 2**10  # characters, written as JSON
UNREADABLE = "\N{REPLACEMENT CHARACTER}"  # stands for what no database keeps

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """What somebody did, or tried to do."""

    number: int  # from 1, without a gap
    time: str  # UTC, to the microsecond
    actor: str  # their id at the provider of identities
    role: str
    visit: str
    action: str
    granted: bool
    case: str  # a pseudonym, or nothing
    reason: str
    about: dict[str, Any]
    previous: str  # hash of the entry before; of the first one, the record's own id
    hash: str = ""

    def text(self) -> str:
        """All but the hash as canonical JSON; its SHA-256 is the hash."""
        return canonical(
            {
                "about": self.about,
                "action": self.action,
                "actor": self.actor,
                "case": self.case,
                "granted": self.granted,
                "number": self.number,
                "previous": self.previous,
                "reason": self.reason,
                "role": self.role,
                "time": self.time,
                "visit": self.visit,
            }
        )


def canonical(value: Any) -> str:
    """The one way a value is written: keys sorted, no blanks, no escapes but those JSON asks for.

    >>> canonical({"b": [1, 2.5, None], "a": "é"})
    '{"a":"é","b":[1,2.5,null]}'
    """
    return _ENCODER.encode(value)


def digest(text: str) -> str:
    """SHA-256 of a text in UTF-8, in hexadecimal."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def now() -> str:
    """The time now, as it is written."""
    return written_time(datetime.now(UTC))


def written_time(moment: datetime) -> str:
    """A time as it is written: always as long, so that texts sort as times do.

    >>> written_time(datetime(2026, 3, 1, 9, 30, tzinfo=UTC))
    '2026-03-01T09:30:00.000000Z'
    """
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def read_time(text: str) -> datetime:
    """A time that was written."""
    return datetime.fromisoformat(text)


def is_time(text: str) -> bool:
    """Whether a text is a time as it is written here.

    >>> is_time("2026-03-01T09:30:00.000000Z"), is_time("2026-03-01T09:68:00.000000Z"), is_time("2026-03-01")
    (True, False, False)
    """
    try:
        return written_time(datetime.fromisoformat(text)) == text
    except (ValueError, OverflowError):
        return False


def kept_text(value: str, longest: int, name: str) -> str:
    """A text as every database can keep it; one that is too long is an error."""
    if len(value) > longest:
        raise UserError(f"{name}: found {len(value):,} characters, expected at most {longest:,}; nothing was done")
    return value.replace("\0", UNREADABLE).encode("utf-8", "replace").decode("utf-8")


def kept_about(about: dict[str, Any]) -> dict[str, Any]:
    """What else is said of an action, as plain values; what is none is kept as its text.

    >>> kept_about({"share": float("nan"), "runs": ("a", 1)})
    {'share': 'nan', 'runs': ['a', 1]}
    """
    plain: dict[str, Any] = _plain(about)
    if len(canonical(plain)) > LONGEST_ABOUT:
        raise UserError(f"record: what is to be written is longer than {LONGEST_ABOUT:,} characters; nothing was done")
    return plain


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)  # neither infinite nor no number
    if isinstance(value, dict):
        return {kept_text(str(key), LONGEST_ABOUT, "record"): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(part) for part in (sorted(value, key=str) if isinstance(value, set | frozenset) else value)]
    return kept_text(str(value), LONGEST_ABOUT, "record")
