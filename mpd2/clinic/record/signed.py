"""Signed lines: a statement as canonical JSON with its signature, one a line of a file."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from mpd2.clinic.record.entry import canonical
from mpd2.clinic.record.keys import Keys

Kind = Literal["checkpoint", "tombstone"]


class Damaged(Exception):
    """Something that is not as it was written; the message says what."""


@dataclass(frozen=True)
class Signed:
    """A statement and its signature."""

    kind: Kind
    says: dict[str, Any]
    signature: str

    @property
    def text(self) -> str:
        """What is signed."""
        return canonical(self.says)

    @property
    def line(self) -> str:
        """As it is written: the signature is that of the text between the first colon and `,"signature"`."""
        return f'{{"{self.kind}":{self.text},"signature":"{self.signature}"}}'


def signed(kind: Kind, says: dict[str, Any], keys: Keys) -> Signed:
    """A statement, signed."""
    return Signed(kind, says, keys.sign(canonical(says)))


def read_signed(line: str, kind: Kind, words: tuple[str, ...], numbers: tuple[str, ...]) -> Signed:
    """A line as it was written, with these texts and whole numbers in it; anything else is `Damaged`."""
    try:
        given = json.loads(line)
        found = Signed(kind, given[kind], given["signature"])
        right = found.line == line
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Damaged("is not a line that was written here") from None
    says = found.says
    fits = isinstance(says, dict) and set(says) == {*words, *numbers}
    if not (
        right
        and fits
        and all(isinstance(says[word], str) for word in words)
        and all(type(says[number]) is int for number in numbers)
    ):
        raise Damaged("is not a line that was written here")
    return found
