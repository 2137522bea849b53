"""The tables of the record, as queries know them; migrations make them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Integer, MetaData, Table, Text

METADATA = MetaData()

IDENTITY = Table("identity", METADATA, Column("id", Text, primary_key=True))
"""One row: the record's own id, at random; the first entry follows it."""

ENTRIES = Table(
    "entries",
    METADATA,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("time", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("visit", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("granted", Integer, nullable=False),  # 1 or 0
    Column("case", Text, nullable=False),  # a pseudonym, or nothing
    Column("reason", Text, nullable=False),
    Column("about", Text, nullable=False),  # canonical JSON
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
)

TOMBSTONES = Table(
    "tombstones",
    METADATA,
    Column("first", BigInteger, primary_key=True, autoincrement=False),
    Column("last", BigInteger, nullable=False),
    Column("line", Text, nullable=False),  # what is signed, and the signature
)
"""What stands for entries that were erased, from `first` to `last`."""

CASE_KEYS = Table(
    "case_keys",
    METADATA,
    Column("lookup", Text, primary_key=True),  # keyed hash of the id
    Column("key", Text, nullable=False),  # at random; the pseudonym is made with it
    Column("case", Text, nullable=False),  # the pseudonym
)
"""What leads from the id of a case to its pseudonym; without its row no one finds the way."""

GUARDED = ("identity", "entries", "tombstones")
"""Tables that refuse to be changed; of entries those go that a tombstone stands for, and no other."""
