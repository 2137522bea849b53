"""What shadow mode keeps: rows that are added and never changed, each of a day's work in the clinic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, ClassVar, NamedTuple

import orjson

from mpd2.core.cohort import UNKNOWN
from mpd2.core.files import short_hash


class Key(NamedTuple):
    """Which arrival: a case may come in more than once."""

    case: str
    time: datetime  # aware, UTC


@dataclass(frozen=True)
class Basis:
    """By what cases were decided: run, operating point, setting and the shape of the inputs; known by its digest."""

    content: Mapping[str, Any]  # plain values

    @property
    def digest(self) -> str:
        """Equal ones have the same."""
        return short_hash(dict(self.content))


@dataclass(frozen=True)
class Arrival:
    """A case that came in, with what was decided of it at once."""

    GIVEN: ClassVar[tuple[str, ...]] = ("cohort", "group", "inputs", "available")

    case: str
    time: datetime  # aware, UTC
    cohort: str  # its key, also one that the manifest does not know; may be empty
    group: str  # what it belongs to with others, such as a patient; may be empty
    inputs: bytes  # [S + D] float64: state and drawn columns, NaN where nothing was measured
    available: bytes  # [M] uint8: who could be asked
    basis: str  # digest of a `Basis`
    action: int  # 0 keeps the AI, j asks reader j − 1
    kept: int  # the label if nobody is asked
    positive: float | None  # P(positive) before anybody is asked; none where the run has no such thing
    price: float  # log-odds a case had to be worth to be sent, before the reader's own price
    beliefs: bytes  # [M + (1 + M) + 2 M or 0] float64: worth of asking, expected costs, P(says positive | truth)
    stop: str  # what the hard stop says; empty if nothing
    reason: str  # why, in a sentence or three
    by: str = ""  # who brought it in
    written: datetime = field(default_factory=lambda: datetime.now(UTC))
    number: int = 0  # of the row, the larger the later; given by the store
    place: str = ""  # among arrivals of its time, once the id of one of them is erased; until then their ids say it

    @property
    def key(self) -> Key:
        """Which arrival it is."""
        return Key(self.case, self.time)


@dataclass(frozen=True)
class Reading:
    """What a reader says of an arrival, or that they decline."""

    GIVEN: ClassVar[tuple[str, ...]] = ("says", "confidence", "declined")

    case: str
    time: datetime
    reader: str  # column
    at: datetime  # when it was read; of several by one reader the newest holds
    says: int  # 0 or 1; UNKNOWN where it was declined
    confidence: float | None = None  # 0 to 1
    declined: bool = False
    by: str = ""
    written: datetime = field(default_factory=lambda: datetime.now(UTC))
    number: int = 0

    @property
    def key(self) -> Key:
        """Which arrival it is about."""
        return Key(self.case, self.time)


@dataclass(frozen=True)
class Outcome:
    """What turned out to be true of an arrival, and what the clinic acted on."""

    GIVEN: ClassVar[tuple[str, ...]] = ("truth", "done")

    case: str
    time: datetime
    at: datetime  # when it became known; the newest holds
    truth: int  # 0 or 1; UNKNOWN where only what was done is known
    done: int = UNKNOWN  # the answer the clinic acted on, where it is known
    by: str = ""
    written: datetime = field(default_factory=lambda: datetime.now(UTC))
    number: int = 0

    @property
    def key(self) -> Key:
        """Which arrival it is about."""
        return Key(self.case, self.time)


@dataclass(frozen=True)
class Override:
    """A clinician's other choice for an arrival."""

    GIVEN: ClassVar[tuple[str, ...]] = ("choice", "reason")

    case: str
    time: datetime
    at: datetime  # the newest holds
    choice: str  # a reader's column, or ai
    reason: str
    by: str = ""
    written: datetime = field(default_factory=lambda: datetime.now(UTC))
    number: int = 0

    @property
    def key(self) -> Key:
        """Which arrival it is about."""
        return Key(self.case, self.time)


@dataclass(frozen=True)
class Setting:
    """What holds from a day on, until another one does."""

    GIVEN: ClassVar[tuple[str, ...]] = ("day", "weight", "confident")

    start: date  # of the day, UTC
    day: Mapping[str, str] = field(default_factory=dict)  # a `DaySetting` as parameters of a link
    weight: float | None = None  # what a miss weighs in decisions; none: as the run was fitted
    confident: float | None = None  # from which probability the AI is not overruled unread; none: it always may be
    compare_with: int | None = None  # so many of the clinic's first cases; none: those the run learned from
    at: datetime = field(default_factory=lambda: datetime.now(UTC))  # the newest of a day holds
    by: str = ""
    written: datetime = field(default_factory=lambda: datetime.now(UTC))
    number: int = 0

    def content(self) -> dict[str, Any]:
        """What it says, as plain values."""
        own = {} if self.compare_with is None else {"compare_with": self.compare_with}
        return {"day": dict(self.day), "weight": self.weight, "confident": self.confident, **own}

    def text(self) -> str:
        """The same as it is kept."""
        return orjson.dumps(self.content(), option=orjson.OPT_SORT_KEYS).decode()


@dataclass(frozen=True)
class Acknowledgement:
    """Somebody has seen an alarm, and says what is done about it."""

    GIVEN: ClassVar[tuple[str, ...]] = ("reason",)

    alarm: str  # its name and the day it rang
    at: datetime
    reason: str
    by: str = ""
    written: datetime = field(default_factory=lambda: datetime.now(UTC))
    number: int = 0


USUAL = Setting(date.min)
"""No limits, the costs of the manifest, decided as the run was fitted."""
