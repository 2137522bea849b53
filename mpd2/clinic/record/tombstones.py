"""Tombstones: what stands, signed, for entries that were erased, so that the chain goes on from them."""

from __future__ import annotations

from typing import Any

from mpd2.clinic.record.entry import Entry
from mpd2.clinic.record.keys import Keys
from mpd2.clinic.record.signed import Signed, read_signed, signed

WORDS, NUMBERS = ("erased", "from", "hash", "key", "previous", "record", "to"), ("first", "last")


def tombstone(record: str, first: Entry, last: Entry, span: tuple[str, str], erased: str, keys: Keys) -> Signed:
    """What is kept of the entries from `first` to `last`: numbers, span of time, and the hashes at both ends."""
    says: dict[str, Any] = {
        "erased": erased,
        "first": first.number,
        "from": span[0],
        "hash": last.hash,
        "key": keys.public.id,
        "last": last.number,
        "previous": first.previous,
        "record": record,
        "to": span[1],
    }
    return signed("tombstone", says, keys)


def read_tombstone(line: str) -> Signed:
    """A tombstone as it was written."""
    return read_signed(line, "tombstone", WORDS, NUMBERS)
